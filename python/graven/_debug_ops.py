"""Printing and checks of values when a program runs."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from graven import _engine, nest
from graven import raw_ops as raw
from graven._dtypes import DType, as_dtype, float32, int32
from graven._functions import rank as rank_of
from graven._functions import reduce_all, reduce_any
from graven._scopes import control_dependencies, name_scope
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
        return raw.PrintV2(text, output_stream=stream, end=end, name="PrintV2")


def _is_string_scalar(tensor: Tensor) -> bool:
    return bool(tensor.dtype.name == "string" and tensor.shape.rank == 0)


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
        leaves = []
        for leaf in nest.flatten(value):
            if has_dtype(leaf):
                tensors.append(convert_to_tensor(leaf))
                leaf = placeholder
            leaves.append(leaf)
        templates.append(pprint.pformat(nest.pack_sequence_as(value, leaves)))
    template = sep.join(templates).replace(f"'{placeholder}'", placeholder)
    return raw.StringFormat(
        tensors, template=template, placeholder=placeholder, summarize=summarize
    )


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
    values = [convert_to_tensor(value) for value in data]
    return raw.Assert(
        condition, values, summarize=3 if summarize is None else summarize, name=name or "Assert"
    )


def _known_value(tensor: Tensor) -> Any:
    """The value, if it is there while tracing; else None."""
    if isinstance(tensor, _engine.EagerTensor):
        return tensor
    return tensor.op.get_attr("value") if tensor.op.type == "Const" else None


def _check_all(
    holds: Callable[[Any, Any], Tensor], x: Tensor, y: Tensor, claim: str, message: str | None,
    summarize: int | None, also_read: Sequence[Any] = (),
) -> Any:  # fmt: skip
    """Checks that a comparison holds for all elements; now, if all that it reads is known now."""
    if _engine.executing_eagerly():
        if bool(reduce_all(holds(x, y))):
            return None
        text = [f"Condition {claim} did not hold."]
        for name, value in (("x", x), ("y", y)):
            text.append(f"First elements of {name}:\n[{_summary(value, summarize)}]")
        raise InvalidArgumentError(None, None, "\n".join([message or "", *text]).lstrip("\n"))
    data: list[Any] = [message] if message else []
    data += [f"Condition {claim} did not hold element-wise:", f"x ({_name(x)}) = ", x,
             f"y ({_name(y)}) = ", y]  # fmt: skip
    condition = reduce_all(holds(x, y))
    known_x, known_y = _known_value(x), _known_value(y)
    reads_later = any(isinstance(value, _engine.SymbolicTensor) for value in also_read)
    if known_x is not None and known_y is not None and not reads_later:
        with _engine.InitScope():
            result = bool(reduce_all(holds(convert_to_tensor(known_x), convert_to_tensor(known_y))))
        if not result:
            text = [part if isinstance(part, str) else str(_known_value(part)) for part in data]
            raise InvalidArgumentError(None, None, "\n".join(text))
    return Assert(condition, data, summarize=summarize)


def _name(tensor: Tensor) -> str:
    return tensor.name if isinstance(tensor, _engine.SymbolicTensor) else "eager"


def _comparison(
    function: str, symbol: str, holds: Callable[[Any, Any], Tensor]
) -> Callable[..., Any]:
    def check(
        x: TensorLike, y: TensorLike, message: str | None = None, summarize: int | None = None,
        name: Name = None,
    ) -> Any:  # fmt: skip
        with name_scope(name or function):
            # Each as it comes: y cut to the dtype of x might equal what it does not.
            first, second = convert_to_tensor(x), convert_to_tensor(y)
            return _check_all(holds, first, second, f"x {symbol} y", message, summarize)

    return _described(check, function, symbol)


def _described(check: Callable[..., Any], function: str, symbol: str) -> Callable[..., Any]:
    check.__name__ = check.__qualname__ = function
    check.__doc__ = f"""Checks that x {symbol} y holds for all elements, which broadcast.

    Args:
      x: A tensor.
      y: A tensor of its dtype.
      message: What stands in front of the error's message.
      summarize: How many elements the message shows; None means 3, -1 all.
      name: A name for the nodes while a function is traced.

    Returns:
      None eagerly; the operation while a function is traced.

    Raises:
      InvalidArgumentError: It does not hold: when it runs, or while tracing if both are known.

    Source: tf.debugging.{function}, OpDef "Assert".
    """
    return check


assert_equal = _comparison("assert_equal", "==", raw.Equal)
assert_less = _comparison("assert_less", "<", raw.Less)
assert_less_equal = _comparison("assert_less_equal", "<=", raw.LessEqual)
assert_greater = _comparison("assert_greater", ">", raw.Greater)
assert_greater_equal = _comparison("assert_greater_equal", ">=", raw.GreaterEqual)
_none_equal = _comparison("assert_none_equal", "!=", raw.NotEqual)


def assert_none_equal(
    x: TensorLike, y: TensorLike, summarize: int | None = None, message: str | None = None,
    name: Name = None,
) -> Any:  # fmt: skip
    # TensorFlow has the options in this order here.
    return _none_equal(x, y, message, summarize, name)


_described(assert_none_equal, "assert_none_equal", "!=")


def _sign(function: str, symbol: str, holds: Callable[[Any, Any], Tensor]) -> Callable[..., Any]:
    def check(
        x: TensorLike, message: str | None = None, summarize: int | None = None, name: Name = None
    ) -> Any:
        with name_scope(name or function):
            tensor = convert_to_tensor(x)
            zero = convert_to_tensor(0, tensor.dtype)
            return _check_all(holds, tensor, zero, f"x {symbol} 0", message, summarize)

    check.__name__ = check.__qualname__ = function
    check.__doc__ = f"""Checks that x {symbol} 0 holds for all elements.

    Args:
      x: A tensor of numbers.
      message: What stands in front of the error's message.
      summarize: How many elements the message shows; None means 3, -1 all.
      name: A name for the nodes while a function is traced.

    Returns:
      None eagerly; the operation while a function is traced.

    Raises:
      InvalidArgumentError: It does not hold: when it runs, or while tracing if x is known.

    Source: tf.debugging.{function}, OpDef "Assert".
    """
    return check


assert_positive = _sign("assert_positive", ">", raw.Greater)
assert_negative = _sign("assert_negative", "<", raw.Less)
assert_non_negative = _sign("assert_non_negative", ">=", raw.GreaterEqual)
assert_non_positive = _sign("assert_non_positive", "<=", raw.LessEqual)


def assert_near(
    x: TensorLike, y: TensorLike, rtol: TensorLike = None, atol: TensorLike = None,
    message: str | None = None, summarize: int | None = None, name: Name = None,
) -> Any:  # fmt: skip
    """Checks that |x - y| < atol + rtol * |y| holds for all elements.

    Args:
      x: A tensor of floats.
      y: A tensor of its dtype.
      rtol: The relative tolerance; None means ten times the dtype's precision.
      atol: The absolute tolerance, likewise.
      message: What stands in front of the error's message.
      summarize: How many elements the message shows; None means 3, -1 all.
      name: A name for the nodes while a function is traced.

    Returns:
      None eagerly; the operation while a function is traced.

    Raises:
      InvalidArgumentError: It does not hold.
      ValueError: x is not of floats.

    Source: tf.debugging.assert_near, OpDef "Assert".
    """
    precision = {"float16": 2**-10, "bfloat16": 2**-7, "float32": 2**-23, "float64": 2**-52}
    with name_scope(name or "assert_near"):
        first = convert_to_tensor(x)
        second = convert_to_tensor(y, first.dtype)
        if not (first.dtype.is_floating or first.dtype.is_complex):
            raise ValueError(f"assert_near needs floats, not {first.dtype.name}")
        real = first.dtype.real_dtype
        default = 10 * precision[real.name]
        tolerances = [default if rtol is None else rtol, default if atol is None else atol]

        def magnitude(value: Tensor) -> Tensor:
            return raw.ComplexAbs(value, Tout=real) if first.dtype.is_complex else raw.Abs(value)

        def holds(a: Tensor, b: Tensor) -> Tensor:
            relative, absolute = (convert_to_tensor(value, real) for value in tolerances)
            return raw.Less(magnitude(a - b), absolute + relative * magnitude(b))

        claim = "|x - y| < atol + rtol * |y|"
        return _check_all(holds, first, second, claim, message, summarize, tolerances)


class _RankWish(NamedTuple):
    """What a rank must be, given others: in words, of numbers that are known, and of tensors."""

    words: str
    is_met: Callable[[int, list[int]], bool]
    holds: Callable[[Tensor, list[Tensor]], Tensor]


_THE_SAME = _RankWish("", lambda x, ranks: x == ranks[0], lambda x, ranks: raw.Equal(x, ranks[0]))
_AT_LEAST = _RankWish(
    "at least ", lambda x, ranks: x >= ranks[0], lambda x, ranks: raw.GreaterEqual(x, ranks[0])
)
_ONE_OF = _RankWish(
    "in ",
    lambda x, ranks: x in ranks,
    lambda x, ranks: reduce_any(raw.Equal(x, convert_to_tensor(ranks, int32))),
)


def _check_rank(
    x: TensorLike, ranks: Sequence[Any], wish: _RankWish, message: str | None, name: str,
    data: Sequence[TensorLike] | None = None, summarize: int | None = None,
) -> Any:  # fmt: skip
    with name_scope(name):
        tensor = convert_to_tensor(x)
        wanted = [_rank_tensor(rank) for rank in ranks]
        values = [_known_value(rank) for rank in wanted]
        numbers = [int(value) for value in values if value is not None]
        known = tensor.shape.rank
        claim = f"Tensor {_name(tensor)} must have rank {wish.words}"
        if known is not None and len(numbers) == len(wanted):
            if not wish.is_met(known, numbers):
                expected = tuple(numbers) if wish is _ONE_OF else numbers[0]
                raise ValueError(
                    f"{_prefix(message)}{claim}{expected}.  Received rank {known}, "
                    f"shape {tensor.shape}"
                )
            return None if _engine.executing_eagerly() else raw.NoOp()
        shown = data
        if shown is None:
            shown = [message or "", claim, *wanted, "Received shape: ", raw.Shape(tensor)]
        return Assert(wish.holds(rank_of(tensor), wanted), shown, summarize=summarize)


def assert_rank(
    x: TensorLike, rank: TensorLike, message: str | None = None, name: Name = None
) -> Any:
    """Checks the rank of a tensor: while tracing if it is known then, else when it runs.

    Args:
      x: A tensor of any dtype.
      rank: What its rank must be: a number, or an int32 scalar.
      message: What stands in front of the error's message.
      name: A name for the nodes while a function is traced.

    Returns:
      None eagerly; the operation while a function is traced.

    Raises:
      ValueError: The rank is known and another, or `rank` is no scalar.
      TypeError: `rank` is not of int32.
      InvalidArgumentError: It is found to be another when the check runs.

    Source: tf.debugging.assert_rank.
    """
    return _check_rank(x, [rank], _THE_SAME, message, name or "assert_rank")


def assert_rank_at_least(
    x: TensorLike, rank: TensorLike, message: str | None = None, name: Name = None
) -> Any:
    """Checks that a tensor has a rank or a higher one, as assert_rank does.

    Args:
      x: A tensor of any dtype.
      rank: The least that its rank may be: a number, or an int32 scalar.
      message: What stands in front of the error's message.
      name: A name for the nodes while a function is traced.

    Returns:
      None eagerly; the operation while a function is traced.

    Raises:
      ValueError: The rank is known and lower.
      InvalidArgumentError: It is found to be lower when the check runs.

    Source: tf.debugging.assert_rank_at_least.
    """
    return _check_rank(x, [rank], _AT_LEAST, message, name or "assert_rank_at_least")


def assert_rank_in(
    x: TensorLike, ranks: Iterable[TensorLike], message: str | None = None, name: Name = None
) -> Any:
    """Checks that the rank of a tensor is one of several, as assert_rank does.

    Args:
      x: A tensor of any dtype.
      ranks: The ranks that it may have: numbers, or int32 scalars.
      message: What stands in front of the error's message.
      name: A name for the nodes while a function is traced.

    Returns:
      None eagerly; the operation while a function is traced.

    Raises:
      ValueError: The rank is known and another.
      InvalidArgumentError: It is found to be another when the check runs.

    Source: tf.debugging.assert_rank_in.
    """
    return _check_rank(x, list(ranks), _ONE_OF, message, name or "assert_rank_in")


def _prefix(message: str | None) -> str:
    return f"{message}.  " if message else ""


def _rank_tensor(rank: Any) -> Tensor:
    tensor = convert_to_tensor(rank)
    if tensor.dtype != int32:
        raise TypeError(f"A rank must be of type tf.int32; got {tensor.dtype!r}")
    if tensor.shape.rank != 0:
        raise ValueError("Rank must be a scalar.")
    return tensor


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
        ranks, wish = [len(self.wanted)], _THE_SAME
        if self.is_innermost:
            if ranks[0] == 1:
                return None
            wish = _AT_LEAST
        elif ranks[0] == 1:
            ranks, wish = [0, 1], _ONE_OF
        return _check_rank(self.tensor, ranks, wish, message, name, data, summarize)

    def size(self, at: int) -> Any:
        """The size of a dimension: a number if it is known, else a tensor."""
        known = self.tensor.shape.rank
        if known == 0:
            return 1
        if known is not None and self.tensor.shape[at] is not None:
            return self.tensor.shape[at]
        sizes = raw.Shape(self.tensor)
        if known is None and len(self.wanted) == 1:
            # Found to be a scalar, it is a vector of one.
            sizes = raw.ConcatV2([[1], sizes], 0)
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
                         raw.Shape(row.tensor)]  # fmt: skip
            checks.append(Assert(raw.Equal(size, wanted), shown, summarize=summarize))
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
    from graven._sparse import SparseTensor

    is_array = _engine.is_array_like(values) and not isinstance(values, _engine.VariableBase)
    if isinstance(values, (Tensor, SparseTensor, str, bytes)) or is_array:
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


def assert_scalar(tensor: TensorLike, message: str | None = None, name: Name = None) -> Tensor:
    """Checks that a tensor is a scalar, and returns it.

    Args:
      tensor: A tensor of any dtype.
      message: What stands in front of the error's message.
      name: A name for the scope while a function is traced.

    Returns:
      The tensor.

    Raises:
      ValueError: It has another rank.

    Source: tf.debugging.assert_scalar.
    """
    with name_scope(name or "assert_scalar"):
        value = convert_to_tensor(tensor)
        if value.shape.rank != 0:
            raise ValueError(f"{_prefix(message)}Expected a scalar, got shape {value.shape}")
        return value


def assert_type(
    tensor: TensorLike, tf_type: DTypeLike, message: str | None = None, name: Name = None
) -> None:
    """Checks the dtype of a tensor.

    Args:
      tensor: A tensor.
      tf_type: The dtype that it must have.
      message: What stands in front of the error's message.
      name: A name for the scope while a function is traced.

    Raises:
      TypeError: It is another.

    Source: tf.debugging.assert_type.
    """
    wanted = as_dtype(tf_type)
    with name_scope(name or "assert_type"):
        value = convert_to_tensor(tensor)
        if value.dtype != wanted:
            raise TypeError(
                f"{_prefix(message)}{_name(value)} must be of type {wanted!r}; got {value.dtype!r}"
            )


def assert_integer(x: TensorLike, message: str | None = None, name: Name = None) -> None:
    """Checks that a tensor holds integers.

    Args:
      x: A tensor.
      message: The error's message, if another is wished.
      name: A name for the scope while a function is traced.

    Raises:
      TypeError: It does not.

    Source: tf.debugging.assert_integer.
    """
    with name_scope(name or "assert_integer"):
        value = convert_to_tensor(x)
        if not value.dtype.is_integer:
            raise TypeError(message or f"Expected an integer dtype, got {value.dtype!r}")


def assert_all_finite(x: TensorLike, message: str, name: Name = None) -> Tensor:
    """Gives the tensor back, after a check that it holds neither NaN nor infinities.

    Args:
      x: A tensor of floats.
      message: What stands in front of the error's message.
      name: A name for the scope while a function is traced.

    Returns:
      The tensor; the check runs before it is used.

    Raises:
      InvalidArgumentError: It holds some.

    Source: tf.debugging.assert_all_finite, OpDef "CheckNumerics".
    """
    with name_scope(name or "VerifyFinite"):
        value = convert_to_tensor(x)
        checked = raw.CheckNumerics(value, message=message)
        with control_dependencies([checked]):
            return raw.Identity(value)


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
        return raw.NoOp(name=name or "group_deps")
