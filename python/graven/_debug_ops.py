"""Printing and checks of values when a program runs."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from graven import _engine, nest
from graven import _functions as ops
from graven._dtypes import DType, as_dtype, float32
from graven._ragged import RaggedTensor
from graven._scopes import control_dependencies, name_scope
from graven._sparse import SparseTensor
from graven._types import DTypeLike, Name, Tensor, TensorLike, has_dtype
from graven.errors import InvalidArgumentError

convert_to_tensor = _engine.convert_to_tensor

_STREAMS = ("stdout", "stderr", "log(info)", "log(warning)", "log(error)")


# --- print.


def _stream_name(stream: Any) -> str:
    if isinstance(stream, str) and (stream.startswith("file://") or stream in _STREAMS):
        return stream
    if stream is sys.stderr or stream is sys.__stderr__ or stream is _STDERR:
        return "stderr"
    if stream is sys.stdout or stream is sys.__stdout__:
        return "stdout"
    raise ValueError(
        f"Unsupported output stream {stream}. Supported streams are sys.stdout, sys.stderr, "
        f"{', '.join(_STREAMS)}, and file:// followed by a path"
    )


_STDERR = sys.stderr


def print_(
    *inputs: Any,
    output_stream: Any = _STDERR,
    summarize: int = 3,
    sep: str = " ",
    end: str = "\n",
    name: Name = None,
) -> Any:
    """Prints values each time that it runs, in a traced function too.

    Args:
      *inputs: Tensors, variables, Python values, and structures of them.
      output_stream: sys.stderr, sys.stdout, their names, "log(info)", "log(warning)",
        "log(error)", or "file://" and a path, to which is appended.
      summarize: How many elements at both ends of each dimension are shown; -1 means all.
      sep: What stands between two inputs.
      end: What stands at the end.
      name: A name for the node while a function is traced.

    Returns:
      None eagerly; the operation while a function is traced.

    Raises:
      ValueError: There is no such stream.

    Source: tf.print, OpDefs "StringFormat" and "PrintV2".
    """
    stream = _stream_name(output_stream)
    with name_scope(name or "print"):
        if len(inputs) == 1 and isinstance(inputs[0], Tensor) and _is_string_scalar(inputs[0]):
            text = inputs[0]
        else:
            text = _formatted(inputs, sep, -1 if summarize is None else summarize)
        return ops._print(text, output_stream=stream, end=end)


def _is_string_scalar(tensor: Tensor) -> bool:
    return bool(tensor.dtype.name == "string" and tensor.shape.rank == 0)


class _Verbatim(str):
    """Text that stands in a structure without quotes."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def _ragged_text(value: Any, summarize: int) -> str:
    if not isinstance(value, list):
        return repr(value.decode() if isinstance(value, bytes) else value)
    shown = [_ragged_text(part, summarize) for part in value]
    if summarize >= 0 and len(shown) > 2 * summarize:
        shown = [*shown[:summarize], "...", *shown[len(shown) - summarize :]]
    return f"[{', '.join(shown)}]"


def _template(leaf: Any, tensors: list[Tensor], placeholder: str, summarize: int) -> Any:
    """What stands for a leaf in the text; tensors gets those that fill its placeholders."""
    if isinstance(leaf, SparseTensor):
        tensors += [leaf.indices, leaf.values, leaf.dense_shape]
        x = placeholder
        return _Verbatim(f"SparseTensor(indices={x}, values={x}, shape={x})")
    if isinstance(leaf, RaggedTensor):
        if isinstance(leaf.row_splits, _engine.EagerTensor):
            return _Verbatim(_ragged_text(leaf.to_list(), summarize))
        parts = [leaf.flat_values, *leaf.nested_row_splits]
        tensors += parts
        return _Verbatim(f"RaggedTensor({', '.join([placeholder] * len(parts))})")
    if has_dtype(leaf):
        tensors.append(convert_to_tensor(leaf))
        return _Verbatim(placeholder)
    return leaf


def _formatted(inputs: Sequence[Any], sep: str, summarize: int) -> Tensor:
    import pprint  # Takes milliseconds.

    text_without_tensors = " ".join(
        pprint.pformat(nest.map_structure(lambda x: "" if has_dtype(x) else x, value))
        for value in inputs
    )
    placeholder = "{}"
    while placeholder in text_without_tensors:
        placeholder = f"{{{placeholder}}}"
    tensors: list[Tensor] = []
    templates = []
    for value in inputs:
        if isinstance(value, str):
            templates.append(value)
            continue
        leaves = [_template(leaf, tensors, placeholder, summarize) for leaf in nest.flatten(value)]
        templates.append(pprint.pformat(nest.pack_sequence_as(value, leaves)))
    return ops._format(tensors, sep.join(templates), placeholder, summarize)


print_.__name__ = print_.__qualname__ = "print"


# --- Assertions.


def _summary(value: TensorLike, summarize: int | None) -> str:
    tensor = convert_to_tensor(value)
    count = 3 if summarize is None else summarize
    if tensor.shape.rank == 0:
        return str(tensor.numpy()) if count else ""
    flat = tensor.numpy().reshape(-1)
    shown = [str(x) for x in (flat if count < 0 else flat[:count])]
    return ", ".join(shown if len(shown) == flat.size else [*shown, "..."])


def Assert(  # noqa: N802
    condition: TensorLike, data: Sequence[TensorLike], summarize: int | None = None,
    name: Name = None,
) -> Any:  # fmt: skip
    """Checks a condition each time that it runs, in a traced function too.

    Args:
      condition: A bool scalar.
      data: What the message shows if it does not hold.
      summarize: How many elements of each are shown; None means 3, -1 all.
      name: A name for the node while a function is traced.

    Returns:
      None eagerly; the operation while a function is traced.

    Raises:
      InvalidArgumentError: The condition does not hold.

    Source: tf.debugging.Assert, OpDef "Assert".
    """
    if _engine.executing_eagerly():
        if not condition:
            shown = "\n".join(_summary(value, summarize) for value in data)
            raise InvalidArgumentError(
                None, None, f"Expected '{condition}' to be true. Summarized data: {shown}"
            )
        return None
    return ops._assert(condition, list(data), summarize, name)


def _name(tensor: Tensor) -> str:
    return tensor.name if isinstance(tensor, _engine.SymbolicTensor) else "eager"


def _prefix(message: str | None) -> str:
    return f"{message}.  " if message else ""


# --- Shapes of several tensors.


class _Sizes:
    """A tensor, the sizes asked for, and whether they are those of the last dimensions only."""

    def __init__(self, value: TensorLike, wanted: Any, message: str | None) -> None:
        self.tensor = convert_to_tensor(value)
        self.label = _name(self.tensor)
        if _engine.executing_eagerly():
            self.label = f"shape={self.tensor.shape} dtype={self.tensor.dtype.name}"
        if not hasattr(wanted, "__iter__"):
            raise ValueError(
                f"{_prefix(message)}Tensor {self.label}.  Specified shape must be an iterable.  "
                "An iterable has the attribute `__iter__` or `__getitem__`.  Received specified "
                f"shape: {wanted}"
            )
        self.wanted = list(wanted)
        self.is_innermost = bool(self.wanted) and self.wanted[0] in (..., "*")
        for at, size in enumerate(self.wanted):
            if at > 0 and size in (..., "*"):
                raise ValueError(
                    f"{_prefix(message)}Tensor {self.label} specified shape index {at}.  Symbol "
                    "`...` or `*` for a variable number of unspecified dimensions is only allowed "
                    "as the first entry"
                )
        if self.is_innermost:
            del self.wanted[0]
        if not self.wanted:
            self.wanted = [1]  # A scalar counts as a vector of one.

    def check_rank(
        self, message: str | None, name: str, data: Sequence[TensorLike] | None,
        summarize: int | None,
    ) -> Any:  # fmt: skip
        rank = len(self.wanted)
        if self.is_innermost and rank == 1:
            return None
        ranks = [0, 1] if rank == 1 else [rank]
        return ops._assert_rank_for_shape(
            self.tensor, ranks, self.is_innermost, message, data or [], summarize, name
        )

    def size(self, at: int) -> Any:
        """The size of a dimension: a number if it is known, else a tensor."""
        known = self.tensor.shape.rank
        if known == 0:
            return 1
        if known is not None and self.tensor.shape[at] is not None:
            return self.tensor.shape[at]
        sizes = ops.shape(self.tensor)
        if known is None and len(self.wanted) == 1:
            # Found to be a scalar, it is a vector of one.
            sizes = ops.concat([[1], sizes], 0)
            at = -1
        return sizes[at]


def _as_number(size: Any) -> int | None:
    try:
        return int(size)
    except (TypeError, ValueError):
        return None


def assert_shapes(
    shapes: Any, data: Sequence[TensorLike] | None = None, summarize: int | None = None,
    message: str | None = None, name: Name = None,
) -> Any:  # fmt: skip
    """Checks the sizes of several tensors, and that those of one name are equal.

    Args:
      shapes: Pairs of a tensor and its sizes, or a dictionary. A size is a number, a name, or None
        or "." for any. If the first one is ... or "*", the others are those of the last
        dimensions. A scalar counts as a vector of one; None in place of sizes asks for nothing.
      data: What the message shows; None means the sizes.
      summarize: How many elements of each are shown; None means 3, -1 all.
      message: What stands in front of the error's message.
      name: A name for the nodes while a function is traced.

    Returns:
      None eagerly; the operation while a function is traced.

    Raises:
      ValueError: Sizes are known, and others than asked for.
      InvalidArgumentError: They are found to be others when the check runs.

    Source: tf.debugging.assert_shapes.
    """
    pairs = shapes.items() if isinstance(shapes, dict) else shapes
    with name_scope(name or "assert_shapes"):
        rows = [_Sizes(value, wanted, message) for value, wanted in pairs if wanted is not None]
        checks = [row.check_rank(message, name or "assert_rank", data, summarize) for row in rows]
        with control_dependencies([check for check in checks if check is not None]):
            checks += _size_checks(rows, data, summarize, message)
        return group(*(check for check in checks if check is not None))


def _size_checks(
    rows: list[_Sizes], data: Sequence[TensorLike] | None, summarize: int | None,
    message: str | None,
) -> list[Any]:  # fmt: skip
    checks = []
    named: dict[Any, tuple[Any, str]] = {}
    for row in rows:
        for i, symbol in enumerate(row.wanted):
            if symbol is None or symbol == ".":
                continue
            at = i - len(row.wanted) if row.is_innermost else i
            size, number = row.size(at), _as_number(symbol)
            if number is None and symbol not in named:
                named[symbol] = size, f"Specified by tensor {row.label} dimension {at}"
                continue
            wanted, source = named[symbol] if number is None else (number, "Specified explicitly")
            if isinstance(size, int) and isinstance(wanted, int):
                if size != wanted:
                    raise ValueError(
                        f"{_prefix(message)}{source}.  Tensor {row.label} dimension {at} must have "
                        f"size {wanted}.  Received size {size}, shape {row.tensor.shape}"
                    )
                continue
            shown = data
            if shown is None:
                shown = [message or "", source, f"Tensor {row.label} dimension", at,
                         "must have size", wanted, "Received shape: ",
                         ops.shape(row.tensor)]  # fmt: skip
            checks.append(Assert(ops.equal(size, wanted), shown, summarize=summarize))
    return checks


# --- Python values.


def assert_proper_iterable(values: Any) -> None:
    """Checks that a value is an iterable of values, and not a tensor, an array or a text.

    Args:
      values: Any object.

    Raises:
      TypeError: It is none.

    Source: tf.debugging.assert_proper_iterable.
    """
    from graven._ragged import RaggedTensor
    from graven._sparse import SparseTensor

    is_array = _engine.is_array_like(values) and not isinstance(values, _engine.VariableBase)
    if isinstance(values, (Tensor, SparseTensor, RaggedTensor, str, bytes)) or is_array:
        raise TypeError(
            f'Expected argument "values" to be a "proper" iterable.  Found: {type(values)}'
        )
    if not hasattr(values, "__iter__"):
        raise TypeError(f'Expected argument "values" to be iterable.  Found: {type(values)}')


def assert_same_float_dtype(tensors: Sequence[Any] | None = None, dtype: DTypeLike = None) -> DType:
    """Checks that tensors have one floating dtype, and returns it.

    Args:
      tensors: Tensors or variables; None among them is passed over.
      dtype: The dtype that they must have; None takes that of the first.

    Returns:
      The dtype; float32 if there is nothing that has one.

    Raises:
      ValueError: The dtypes differ, or are not floating.

    Source: tf.debugging.assert_same_float_dtype.
    """
    found: DType | None = None if dtype is None else as_dtype(dtype)
    for tensor in tensors or ():
        if tensor is None:
            continue
        if found is None:
            found = tensor.dtype
        elif tensor.dtype != found:
            raise ValueError(f"{tensor}, type={tensor.dtype}, must be of the same type ({found}).")
    if found is None:
        return float32
    if not found.is_floating:
        raise ValueError(f"Expected floating point type, got {found!r}.")
    return found


# --- group.


def group(*inputs: Any, name: Name = None) -> Any:
    """Makes an operation that runs after all inputs have run.

    Args:
      *inputs: Tensors, operations, and structures of them.
      name: A name for the node while a function is traced.

    Returns:
      None eagerly; the operation while a function is traced.

    Source: tf.group, OpDef "NoOp".
    """
    if _engine.executing_eagerly():
        return None
    before = [leaf for leaf in nest.flatten(list(inputs)) if leaf is not None]
    with control_dependencies(before):
        return ops.no_op(name=name or "group_deps")


# --- enable_check_numerics.


def _check_limit(name: str, limit: int | None) -> None:
    if limit is not None and (isinstance(limit, bool) or not isinstance(limit, int) or limit < 0):
        raise ValueError(f"{name} must be None or an int that is not negative, not {limit!r}.")


def enable_check_numerics(
    stack_height_limit: int | None = 30, path_length_limit: int | None = 50
) -> None:
    """Checks the floating outputs of all ops, from now on, for NaN and infinities.

    The op that makes one is an InvalidArgumentError that names it, its inputs, dtype and shape, and
    if it was computed at once how many elements there are of each kind, if it was traced the lines
    of the program where it was.

    It holds for this thread: for ops that it computes at once, and for Functions that it calls.
    Each Function is traced anew, with checks, also for arguments that it had a trace for; without
    checks the earlier traces are used again. A concrete function stays as it is: of one that was
    traced without checks only the results are looked at. As in TensorFlow a constant is no op
    unless it is traced, complex numbers are not looked at, and neither are the outputs of ops that
    only move or choose elements, such as Reshape, Slice or Maximum.

    Args:
      stack_height_limit: How many of those lines are shown, the last ones; None means all.
      path_length_limit: How many characters of a path are shown, the last ones; None means all.
        Where the checks are on already, both stay as they are.

    Raises:
      ValueError: A limit is no int, or negative.

    Source: tf.debugging.enable_check_numerics.
    """
    _check_limit("stack_height_limit", stack_height_limit)
    _check_limit("path_length_limit", path_length_limit)
    _engine.enable_check_numerics(stack_height_limit, path_length_limit)


def disable_check_numerics() -> None:
    """Ends what enable_check_numerics began on this thread, if it did.

    Source: tf.debugging.disable_check_numerics.
    """
    _engine.disable_check_numerics()
