"""Functions of tensors that take ragged tensors, too: concat, stack, size and rank."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

from graven import _engine
from graven import _functions as ops
from graven import _row_splits as row_splits_of
from graven._dtypes import as_dtype
from graven._public import function as public_function
from graven._ragged import RaggedTensor
from graven._scopes import control_dependencies, name_scope
from graven._sparse import SparseTensor
from graven._unsupported import unsupported


def _concat(values: Any, axis: Any, name: str | None = None) -> Any:
    """Joins ragged tensors, among which there may be others, along an axis."""
    with name_scope(name or "RaggedConcat"):
        return _joined(values, axis, is_stack=False)


def _stack(values: Any, axis: Any = 0, name: str | None = None) -> Any:
    """Joins ragged tensors, among which there may be others, along a new axis."""
    with name_scope(name or "RaggedStack"):
        return _joined(values, axis, is_stack=True)


def stack(values: Any, axis: int = 0, name: str | None = None) -> Any:
    """Stacks ragged or other tensors of one rank, of any sizes, along a new axis.

    Args:
      values: A list of tensors and RaggedTensors of one rank and dtype.
      axis: Where the new dimension is, an int.
      name: The scope of the nodes.

    Returns:
      A RaggedTensor of one dimension more; a tensor where scalars, or the last dimension of
      tensors, are stacked.

    Raises:
      TypeError: The axis is no int.
      ValueError: The list is empty, the axis out of range, or ranks or row splits differ in kind.
      InvalidArgumentError: Sizes outside of the axis differ; in a Function when it runs.

    Source: tf.ragged.stack.
    """
    return _stack(values, axis, name)


def _joined(values: Any, axis: Any, is_stack: bool) -> Any:
    values = list(values) if isinstance(values, list | tuple) else [values]
    if not values:
        raise ValueError("rt_inputs may not be empty.")
    parts = _converted(values)
    if len(parts) == 1 and not is_stack:
        return parts[0]
    rank = parts[0].shape.rank
    if rank is not None:
        for part in parts:
            part.shape.assert_has_rank(rank)
    axis = _positive_axis(axis, None if rank is None else rank + is_stack)
    return _joined_parts(parts, axis, is_stack)


def _converted(values: Sequence[Any]) -> list[Any]:
    """The values as tensors and ragged tensors of one dtype of row splits."""
    dtype = next((v.dtype for v in values if isinstance(v, RaggedTensor | _engine.Tensor)), None)
    parts = [
        value
        if isinstance(value, RaggedTensor | _engine.Tensor)
        else _engine.convert_to_tensor(value, dtype)
        for value in values
    ]
    if len({p.row_splits.dtype for p in parts if isinstance(p, RaggedTensor)}) > 1:
        raise ValueError(
            "Input RaggedTensors have mismatched row_splits dtypes: all must be int32, or int64."
        )
    return parts


def _positive_axis(axis: Any, rank: int | None) -> int:
    if not isinstance(axis, int) or isinstance(axis, bool):
        raise TypeError(f"axis must be an int; got {type(axis).__name__}")
    if rank is None:
        if axis < 0:
            raise ValueError("axis may only be negative if the rank is statically known")
        return axis
    if not -rank <= axis < rank:
        raise ValueError(f"axis={axis} out of bounds: expected {-rank}<=axis<{rank}")
    return axis % rank


def _joined_parts(parts: list[Any], axis: int, is_stack: bool) -> Any:
    rank = parts[0].shape.rank
    if is_stack and rank == 1 and axis == 0:
        sizes = [ops.shape(part) for part in parts]
        return RaggedTensor.from_row_lengths(ops.concat(parts, 0), ops.concat(sizes, 0))
    splits_dtype = next((p.row_splits.dtype for p in parts if isinstance(p, RaggedTensor)), None)
    if splits_dtype is None:
        splits_dtype = as_dtype("int64")
        if rank is not None and axis in (rank - 1, rank - 1 + is_stack):
            return (ops.stack if is_stack else ops.concat)(parts, axis)
    ragged = [
        part
        if isinstance(part, RaggedTensor)
        else RaggedTensor.from_tensor(part, row_splits_dtype=splits_dtype)
        for part in parts
    ]
    ragged_rank = max(part.ragged_rank for part in ragged)
    ragged = [_of_ragged_rank(part, ragged_rank, splits_dtype) for part in ragged]
    if axis == 0:
        return _along_rows(ragged, is_stack)
    if axis == 1:
        return _within_rows(ragged, is_stack)
    first = ragged[0].row_splits
    text = "Inputs must have identical ragged splits"
    checks = [ops.assert_equal(first, part.row_splits, message=text) for part in ragged[1:]]
    with control_dependencies([check for check in checks if check is not None]):
        values = _joined_parts([part.values for part in ragged], axis - 1, is_stack)
        return RaggedTensor.from_row_splits(values, ops.identity(first), validate=False)


def _of_ragged_rank(x: Any, ragged_rank: int, splits_dtype: Any) -> Any:
    """The same tensor, more of whose dimensions are cut by row splits."""
    if ragged_rank == 0:
        return x
    if not isinstance(x, RaggedTensor):
        x = RaggedTensor.from_tensor(x, row_splits_dtype=splits_dtype)
    if x.ragged_rank == ragged_rank:
        return x
    return x.with_values(_of_ragged_rank(x.values, ragged_rank - 1, splits_dtype))


def _along_rows(parts: Sequence[RaggedTensor], is_stack: bool) -> RaggedTensor:
    """The rows of one after those of another; as a row each if they are stacked."""
    values = ops.concat([part.flat_values for part in parts], 0)
    levels = zip(*(part.nested_row_splits for part in parts), strict=True)
    splits = [_concat_splits(of_level) for of_level in levels]
    if is_stack:
        num_rows = ops.stack([part.nrows() for part in parts])
        splits.insert(0, row_splits_of.of_lengths(num_rows))
    return RaggedTensor.from_nested_row_splits(values, splits, validate=False)


def _concat_splits(all_splits: Sequence[Any]) -> Any:
    pieces = [all_splits[0]]
    end = all_splits[0][-1]
    for splits in all_splits[1:]:
        pieces.append(splits[1:] + end)
        end = end + splits[-1]
    return ops.concat(pieces, 0)


def _within_rows(parts: Sequence[RaggedTensor], is_stack: bool) -> RaggedTensor:
    """The first rows one after the other, then the second ones, and so on."""
    count, num_rows = len(parts), parts[0].nrows()
    text = "Input tensors have incompatible shapes: their numbers of rows differ"
    checks = [ops.assert_equal(num_rows, part.nrows(), message=text) for part in parts[1:]]
    with control_dependencies([check for check in checks if check is not None]):
        rows = ops.reshape(ops.range(num_rows * count), [count, -1])
        mixed = gather_rows(
            _along_rows(parts, is_stack=False), ops.reshape(ops.transpose(rows), [-1])
        )
        if is_stack:
            ends = ops.range(num_rows + 1) * count
            made = RaggedTensor.from_row_splits(mixed, ends, validate=False)
        else:
            ends = mixed.row_splits[::count]
            made = RaggedTensor.from_row_splits(mixed.values, ends, validate=False)
    known = next((p.shape[0] for p in parts if p.shape.rank and p.shape[0] is not None), None)
    if known is not None and made.shape.rank is not None:
        made = made._with_static_shape([known, *made.shape[1:]])
    return made


def gather_rows(x: RaggedTensor, rows: Any) -> RaggedTensor:
    """Returns the rows of these numbers.

    Args:
      x: A RaggedTensor.
      rows: A vector of the dtype of its row splits.
    """
    starts = ops.gather(x.row_splits, rows)
    lengths = ops.gather(x.row_lengths(), rows)
    splits = row_splits_of.of_lengths(lengths)
    # Where each value comes from: its place in its row, and the start of that.
    shift = ops.repeat(starts - splits[:-1], lengths)
    places = ops.range(splits[-1]) + shift
    values = x.values
    if isinstance(values, RaggedTensor):
        values = gather_rows(values, places)
    else:
        values = ops.gather(values, places)
    return RaggedTensor.from_row_splits(values, splits, validate=False)


def _size(input: Any, out_type: Any = None, name: str | None = None) -> Any:
    given = {} if out_type is None else {"out_type": out_type}
    return public_function("size")(input.flat_values, name=name, **given)


def _rank(input: Any, name: str | None = None) -> Any:
    with name_scope(name or "RaggedRank"):
        return ops.rank(input.flat_values) + input.ragged_rank


for _name, _handler in (("concat", _concat), ("stack", _stack), ("size", _size), ("rank", _rank)):
    _engine.dispatch(_name, RaggedTensor, _handler)


def _refuse_bincount(arr: Any, **others: Any) -> NoReturn:
    del others
    raise unsupported(f"tf.math.bincount: Graven does not support arr of {type(arr).__name__} yet")


for _class in (RaggedTensor, SparseTensor):
    _engine.dispatch("math.bincount", _class, _refuse_bincount)
