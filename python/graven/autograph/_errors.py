"""Exceptions that leave converted code, told in the user's lines.

An exception passes through converted code, operators and the engine untouched, so that user code
can catch it as it was. The outermost caller of converted code re-writes it: a new exception, whose
text has the frames of the user's and then the original text. Converted code carries the files and
lines of the user's, so that a traceback is all that is needed.
"""

from __future__ import annotations

import contextlib
import itertools
import linecache
import weakref
from collections.abc import Iterator
from types import MemberDescriptorType, TracebackType
from typing import Any, NamedTuple

from graven import _tracebacks, errors
from graven._tracebacks import is_traceback_filtering_enabled
from graven.autograph import _causes, _conversion
from graven.autograph._status import state

MAX_LINES = 400  # of an endless recursion the first and the last are enough
MAX_REPEATED = 3  # as in Python's tracebacks

_COMPREHENSIONS = ("<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>")

_NOT_PICKLED = ("obj",)  # of an AttributeError, as with Python's own

# Classes that are made again with another text. Subclasses are not: a program that catches one
# may look for what its `__init__` makes of its arguments.
_SAME_CLASS: frozenset[type] = frozenset(
    {
        AssertionError,
        AttributeError,
        NameError,
        NotImplementedError,
        RuntimeError,
        StopIteration,
        TypeError,
        UnboundLocalError,
        ValueError,
        _conversion.ConversionError,
        errors.InaccessibleTensorError,
        errors.OperatorNotAllowedInGraphError,
    }
)


class StagingError(Exception):
    """What an exception becomes whose class cannot be made of a text.

    The class that is raised derives from this one and from the original class, and has the
    attributes of the original.
    """

    _text = ""
    _original: type[Exception] | None = None

    def __str__(self) -> str:
        return self._text

    def __reduce__(self) -> Any:
        reduced: Any = super().__reduce__()
        if self._original is None or reduced[0] is not type(self):
            return reduced
        members = {
            name: value
            for name in _members(self._original)
            if name not in _NOT_PICKLED and (value := getattr(self, name, None)) is not None
        }
        return _unpickled, (self._original, self.args, members), *reduced[2:]


class MultilineKeyError(KeyError):
    """A KeyError that prints its text as it is, with its lines.

    Args:
      text: The text.
    """

    def __str__(self) -> str:
        return str(self.args[0])

    def __reduce__(self) -> tuple[Any, ...]:
        return _multiline_key_error, (self.args, vars(self))


def _multiline_key_error(args: tuple[Any, ...], attributes: dict[str, Any]) -> MultilineKeyError:
    error = MultilineKeyError(*args)
    vars(error).update(attributes)
    return error


# To be seen as the class that the user's code raised.
MultilineKeyError.__name__ = MultilineKeyError.__qualname__ = KeyError.__name__
MultilineKeyError.__module__ = KeyError.__module__


class ErrorMetadata(NamedTuple):
    """What a re-written exception carries as `ag_error_metadata`.

    Attributes:
      frames: The frames of the user's, outermost first.
      cause_message: The original class and text.
    """

    frames: tuple[UserFrame, ...]
    cause_message: str

    def get_message(self) -> str:
        """Returns the whole text."""
        lines: list[str] = []
        for frame, run in itertools.groupby(self.frames):
            count = len(list(run))
            lines += frame.lines() * min(count, MAX_REPEATED)
            if count > MAX_REPEATED:
                lines.append(f"    [the last frame repeated {count - MAX_REPEATED} more times]")
        if len(lines) > MAX_LINES:
            left_out = len(lines) - MAX_LINES
            lines[MAX_LINES // 2 : -MAX_LINES // 2] = [f"    [{left_out} more lines]"]
        cause = [f"    {line}" for line in self.cause_message.split("\n")]
        return "\n".join(["in user code:", "", *lines, "", *cause]) + "\n"


class UserFrame(NamedTuple):
    """One frame of the user's.

    Attributes:
      file: The name of the file.
      line: The number of the line.
      function: The name of the function.
      mark: "*" if it was converted, "**" if converted code called it as it is, else "".
    """

    file: str
    line: int
    function: str
    mark: str

    def lines(self) -> list[str]:
        """Returns the lines of the text about this frame."""
        mark = f"  {self.mark}" if self.mark else ""
        place = f'    File "{self.file}", line {self.line}, in {self.function}{mark}'
        source = linecache.getline(self.file, self.line).strip()
        return [place, f"        {source}"] if source else [place]


class rewriting_errors:  # noqa: N801 (used like a function)
    """Re-writes an exception that leaves a `with` statement, if that is the outermost one."""

    __slots__ = ()

    def __enter__(self) -> None:
        state.rewriting += 1

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        state.rewriting -= 1
        if state.rewriting or not isinstance(error, Exception):
            return
        new = rewritten(error, traceback)
        if new is not None:
            raise new.with_traceback(traceback) from None


def rewritten(error: Exception, traceback: TracebackType | None) -> Exception | None:
    """Returns the exception to raise in the place of another, None for the other itself.

    Args:
      error: The original.
      traceback: Where it went through.
    """
    if hasattr(error, "ag_pass_through") or hasattr(error, "ag_error_metadata"):
        return None
    frames = tuple(_user_frames(traceback))
    if not any(frame.mark == "*" for frame in frames):
        return None
    metadata = ErrorMetadata(frames, f"{type(error).__name__}: {_causes.told(error, traceback)}")
    new = _again(error, metadata.get_message())
    new.ag_error_metadata = metadata  # type: ignore[attr-defined]
    return new


# --- Frames


def _is_left_out(module: Any) -> bool:
    """Whether frames of a module are ours; with traceback filtering off only AutoGraph's are."""
    if not is_traceback_filtering_enabled():
        return isinstance(module, str) and module.startswith("graven.autograph.")
    return _tracebacks.is_ours(module)


def _walk(traceback: TracebackType | None) -> Iterator[TracebackType]:
    while traceback is not None:
        yield traceback
        traceback = traceback.tb_next


def _user_frames(traceback: TracebackType | None) -> list[UserFrame]:
    frames: list[UserFrame] = []
    for entry in _walk(traceback):
        code = entry.tb_frame.f_code
        converted = _conversion.converted_frame(code)
        if converted is not None:
            function, is_part = converted.function, converted.is_helper
            if function in _COMPREHENSIONS:
                function = code.co_qualname.removesuffix(f".<locals>.{function}").split(".")[-1]
                is_part = True
            frame = UserFrame(code.co_filename, entry.tb_lineno, function, "*")
            # A part, such as a branch, belongs to the frame before it, and has the line.
            if is_part and frames and frames[-1]._replace(line=frame.line) == frame:
                frames.pop()
            frames.append(frame)
        elif not _is_left_out(entry.tb_frame.f_globals.get("__name__")):
            mark = "**" if not frames or frames[-1].mark == "*" else ""
            frames.append(UserFrame(code.co_filename, entry.tb_lineno, code.co_name, mark))
    return frames


# --- Classes


def _again(error: Exception, text: str) -> Exception:
    """Returns an exception like another with another text."""
    kind = type(error)
    if isinstance(error, errors.OpError):
        new = _op_error(error, text)
    elif kind is KeyError:
        new = MultilineKeyError(text)
    elif kind in _SAME_CLASS or _has_only_a_text(kind):
        new = kind(text)
    else:
        new = _staging_error(error, text)
    _carry_over(error, new)
    return new


def _has_only_a_text(kind: type[Exception]) -> bool:
    """Whether a class does with its arguments what Exception does, and no more."""
    return (
        kind.__init__ is Exception.__init__
        and kind.__new__ is Exception.__new__
        and kind.__str__ is Exception.__str__
    )


def _carry_over(error: Exception, new: Exception) -> None:
    """Gives an exception the attributes and notes of another. Its arguments are its own."""
    for name, value in vars(error).items():
        vars(new).setdefault(name, value)
    for name in _members(type(error)):
        with contextlib.suppress(AttributeError, TypeError):
            value = getattr(error, name)
            if getattr(new, name, None) is not value:
                setattr(new, name, value)


def _members(kind: type[Exception]) -> Iterator[str]:
    """Yields the attributes that do not lie in the dictionary, such as errno of an OSError."""
    for base in kind.__mro__[:-1]:
        for name, member in vars(base).items():
            if isinstance(member, MemberDescriptorType) and not name.startswith("__"):
                yield name


def _op_error(error: errors.OpError, text: str) -> Exception:
    kind = type(error)
    if kind is errors.OpError:
        return errors.OpError(error.node_def, error.op, text, error.error_code)
    try:
        return kind(error.node_def, error.op, text)  # type: ignore[call-arg]
    except TypeError:  # a class of the user's, with arguments of its own
        return _staging_error(error, text)


# By the original class. An entry lasts as long as exceptions of the class.
_STAGING_CLASSES: weakref.WeakValueDictionary[type[Exception], type[StagingError]]
_STAGING_CLASSES = weakref.WeakValueDictionary()


def _staging_class(original: type[Exception]) -> type[StagingError]:
    made = _STAGING_CLASSES.get(original)
    if made is None:
        body = {"__module__": __name__, "_original": original}
        made = type("StagingError", (StagingError, original), body)
        _STAGING_CLASSES[original] = made
    return made


def _staging_error(error: Exception, text: str) -> StagingError:
    try:
        made = _staging_class(type(error))
        new = made.__new__(made, *error.args)
    except TypeError:  # a class that cannot be derived from, or made without arguments of its own
        new = StagingError()
    new.args = error.args
    new._text = text
    return new


def _unpickled(
    original: type[Exception], arguments: tuple[Any, ...], members: dict[str, Any]
) -> StagingError:
    """Makes a StagingError again, but for what lies in its dictionary."""
    made = _staging_class(original)
    new = made.__new__(made, *arguments)
    new.args = arguments
    for name, value in members.items():
        setattr(new, name, value)
    return new
