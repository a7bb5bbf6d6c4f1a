"""Errors that ops raise: one class for each of TensorFlow's error codes.

Source: tf.errors.
"""

from typing import Any as _Any

from graven import _public

OK = 0
CANCELLED = 1
UNKNOWN = 2
INVALID_ARGUMENT = 3
DEADLINE_EXCEEDED = 4
NOT_FOUND = 5
ALREADY_EXISTS = 6
PERMISSION_DENIED = 7
RESOURCE_EXHAUSTED = 8
FAILED_PRECONDITION = 9
ABORTED = 10
OUT_OF_RANGE = 11
UNIMPLEMENTED = 12
INTERNAL = 13
UNAVAILABLE = 14
DATA_LOSS = 15
UNAUTHENTICATED = 16


class OpError(Exception):
    """What all errors of ops derive from.

    Args:
      node_def: The node that failed, or None.
      op: The Operation that failed, or None.
      message: What must hold, and what came.
      error_code: One of the codes of this module.
      *args: Kept for callers that pass experimental payloads.
    """

    def __init__(
        self, node_def: _Any, op: _Any, message: str, error_code: int, *args: _Any
    ) -> None:
        super().__init__()
        self._node_def = node_def
        self._op = op
        self._message = message
        self._error_code = error_code
        self._payloads = args[0] if args else {}

    def __reduce__(self) -> tuple[_Any, ...]:
        return self.__class__, (self._node_def, self._op, self._message)

    @property
    def message(self) -> str:
        """What went wrong."""
        return self._message

    @property
    def op(self) -> _Any:
        """The Operation that failed, if it is known."""
        return self._op

    @property
    def node_def(self) -> _Any:
        """The node that failed, if it is known."""
        return self._node_def

    @property
    def error_code(self) -> int:
        """The number of the class."""
        return self._error_code

    @property
    def experimental_payloads(self) -> _Any:
        """Further details, by key."""
        return self._payloads

    def __str__(self) -> str:
        return self._message


class CancelledError(OpError):
    """A call was cancelled."""

    def __init__(self, node_def: _Any, op: _Any, message: str, *args: _Any) -> None:
        super().__init__(node_def, op, message, CANCELLED, *args)


class UnknownError(OpError):
    """An error that has no class of its own."""

    def __init__(
        self, node_def: _Any, op: _Any, message: str, *args: _Any, error_code: int = UNKNOWN
    ) -> None:
        super().__init__(node_def, op, message, error_code, *args)


class InvalidArgumentError(OpError):
    """An op was given an argument that it cannot work with."""

    def __init__(self, node_def: _Any, op: _Any, message: str, *args: _Any) -> None:
        super().__init__(node_def, op, message, INVALID_ARGUMENT, *args)


class DeadlineExceededError(OpError):
    """Something took longer than it was given."""

    def __init__(self, node_def: _Any, op: _Any, message: str, *args: _Any) -> None:
        super().__init__(node_def, op, message, DEADLINE_EXCEEDED, *args)


class NotFoundError(OpError):
    """Something that was asked for, such as a file, does not exist."""

    def __init__(self, node_def: _Any, op: _Any, message: str, *args: _Any) -> None:
        super().__init__(node_def, op, message, NOT_FOUND, *args)


class AlreadyExistsError(OpError):
    """Something that was to be made exists."""

    def __init__(self, node_def: _Any, op: _Any, message: str, *args: _Any) -> None:
        super().__init__(node_def, op, message, ALREADY_EXISTS, *args)


class PermissionDeniedError(OpError):
    """The caller may not do this."""

    def __init__(self, node_def: _Any, op: _Any, message: str, *args: _Any) -> None:
        super().__init__(node_def, op, message, PERMISSION_DENIED, *args)


class ResourceExhaustedError(OpError):
    """Memory, or something else of which there is an end, ran out."""

    def __init__(self, node_def: _Any, op: _Any, message: str, *args: _Any) -> None:
        super().__init__(node_def, op, message, RESOURCE_EXHAUSTED, *args)


class FailedPreconditionError(OpError):
    """The system is not in the state that this needs, such as a variable without a value."""

    def __init__(self, node_def: _Any, op: _Any, message: str, *args: _Any) -> None:
        super().__init__(node_def, op, message, FAILED_PRECONDITION, *args)


class TraceLockError(FailedPreconditionError):
    """A function would trace arguments that the trace lock does not list.

    Source: Graven's own; see trace_lock.
    """


class InputSignatureError(TypeError, ValueError):
    """The arguments of a call do not fit the input_signature of a function.

    TensorFlow up to 2.11 raises a ValueError here, and later a TypeError: this is both.

    Source: Graven's own.
    """


class AbortedError(OpError):
    """A call was given up, because of another."""

    def __init__(self, node_def: _Any, op: _Any, message: str, *args: _Any) -> None:
        super().__init__(node_def, op, message, ABORTED, *args)


class OutOfRangeError(OpError):
    """Something went past its end, such as an iterator."""

    def __init__(self, node_def: _Any, op: _Any, message: str, *args: _Any) -> None:
        super().__init__(node_def, op, message, OUT_OF_RANGE, *args)


class UnimplementedError(OpError):
    """Graven does not do this."""

    def __init__(self, node_def: _Any, op: _Any, message: str, *args: _Any) -> None:
        super().__init__(node_def, op, message, UNIMPLEMENTED, *args)


class InternalError(OpError):
    """The engine broke one of its own rules."""

    def __init__(self, node_def: _Any, op: _Any, message: str, *args: _Any) -> None:
        super().__init__(node_def, op, message, INTERNAL, *args)


class UnavailableError(OpError):
    """Something cannot be reached now."""

    def __init__(self, node_def: _Any, op: _Any, message: str, *args: _Any) -> None:
        super().__init__(node_def, op, message, UNAVAILABLE, *args)


class DataLossError(OpError):
    """Data was lost, or is damaged."""

    def __init__(self, node_def: _Any, op: _Any, message: str, *args: _Any) -> None:
        super().__init__(node_def, op, message, DATA_LOSS, *args)


class UnauthenticatedError(OpError):
    """The caller has not said who it is."""

    def __init__(self, node_def: _Any, op: _Any, message: str, *args: _Any) -> None:
        super().__init__(node_def, op, message, UNAUTHENTICATED, *args)


class OperatorNotAllowedInGraphError(TypeError):
    """Python asked a symbolic tensor for what only a value has, such as its truth.

    Source: tf.errors.OperatorNotAllowedInGraphError.
    """


class InaccessibleTensorError(ValueError):
    """A tensor of a function that is finished was used outside of it.

    Source: InaccessibleTensorError of TensorFlow's sources, which has no public name there.
    """


_CLASSES: dict[int, type[OpError]] = {
    CANCELLED: CancelledError,
    UNKNOWN: UnknownError,
    INVALID_ARGUMENT: InvalidArgumentError,
    DEADLINE_EXCEEDED: DeadlineExceededError,
    NOT_FOUND: NotFoundError,
    ALREADY_EXISTS: AlreadyExistsError,
    PERMISSION_DENIED: PermissionDeniedError,
    RESOURCE_EXHAUSTED: ResourceExhaustedError,
    FAILED_PRECONDITION: FailedPreconditionError,
    ABORTED: AbortedError,
    OUT_OF_RANGE: OutOfRangeError,
    UNIMPLEMENTED: UnimplementedError,
    INTERNAL: InternalError,
    UNAVAILABLE: UnavailableError,
    DATA_LOSS: DataLossError,
    UNAUTHENTICATED: UnauthenticatedError,
}


def _class_of_code(code: int) -> type[OpError]:
    return _CLASSES.get(code, UnknownError)


_public.complete(__name__)
