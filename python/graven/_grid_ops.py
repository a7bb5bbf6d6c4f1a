"""Tensors made by a rule: even steps, grids, repeated slices, masks of lengths."""

from __future__ import annotations

import builtins
from typing import Any

from graven import _engine
from graven import raw_ops as raw
from graven._array_ops import (
    boolean_mask,
    cast,
    concat,
    gather,
    range,
    shape,
    size,
    stack,
    where,
    zeros_like,
)
from graven._axes import at_axis
from graven._dtypes import as_dtype, bool_, int32, int64
from graven._functions import broadcast_to, expand_dims, reduce_max, reshape, tile
from graven._functions import slice as slice_
from graven._math_ops import truediv
from graven._scopes import name_scope
from graven._tensor_shape import TensorShape
from graven._types import DTypeLike, Name, Tensor, TensorLike
from graven.errors import InvalidArgumentError

constant = _engine.constant
convert_to_tensor = _engine.convert_to_tensor


def linspace(
    start: TensorLike, stop: TensorLike, num: TensorLike, name: Name = None, axis: int = 0
) -> Tensor:
    """Makes numbers at equal distances from starts to stops, both included.

    Args:
      start: Any real dtype and shape.
      stop: The same dtype, a shape that broadcasts with start's.
      num: How many numbers, an integer scalar, at least 0.
      name: A name for the scope while a function is traced.
      axis: Where the axis of the numbers is inserted; negative counts from the end.

    Returns:
      The numbers, with num elements along the new axis: start's dtype, float64 for integers.

    Raises:
      TypeError: num is no integer.
      ValueError: The axis is none of the result.
      InvalidArgumentError: num is negative.

    Source: tf.linspace.
    """
    with name_scope(name or "linspace"):
        if isinstance(num, int) and num < 0:
            message = f"[LinSpace] Requires num >= 0: {num}"
            if not _engine.executing_eagerly():
                raise ValueError(message)
            raise InvalidArgumentError(None, None, message)
        first = convert_to_tensor(start)
        last = convert_to_tensor(stop, first.dtype)
        if first.shape.rank != 0 or last.shape.rank != 0:
            both = shape(first + last)
            first, last = broadcast_to(first, both), broadcast_to(last, both)
        rank = first.shape.rank
        if rank is not None:
            if not -rank - 1 <= axis <= rank:
                raise ValueError(f"axis must be in [{-rank - 1}, {rank}], got {axis}")
            axis %= rank + 1
        count = cast(_integers(num, "num"), int32)
        zero, one = constant(0), constant(1)
        # A negative count makes a range that runs the wrong way, which is refused.
        intervals = raw.Maximum(count - one, one)
        steps = where(count >= zero, intervals, constant(-1))
        step = truediv(last - first, cast(intervals, first.dtype))
        first, last = (cast(expand_dims(end, axis), step.dtype) for end in (first, last))
        places = reshape(cast(range(one, steps), step.dtype), at_axis(first, axis, -1, 1))
        inner = first + expand_dims(step, axis) * places
        numbers = concat([first, inner, last], axis)
        # Fewer than two are cut off both ends.
        sizes = at_axis(first, axis, count, -1)
        return slice_(numbers, zeros_like(sizes) if rank is None else [0] * (rank + 1), sizes)


def _integers(value: TensorLike, argument: str) -> Tensor:
    tensor = convert_to_tensor(value, None, int32)
    if not tensor.dtype.is_integer:
        raise TypeError(f"Argument `{argument}` must be of integers, got {tensor.dtype!r}")
    return tensor


def meshgrid(*args: TensorLike, indexing: str = "xy", name: Name = None) -> list[Tensor]:
    """Repeats vectors over the grid that they span.

    Args:
      *args: Tensors of any dtype; each counts as a vector.
      indexing: "xy" makes the first vector run along the second axis of the grid and the second
        one along the first, "ij" each along its own.
      name: A name for the scope while a function is traced.

    Returns:
      A tensor of the grid's shape for each vector.

    Raises:
      ValueError: indexing is another word.

    Source: tf.meshgrid.
    """
    if indexing not in ("xy", "ij"):
        raise ValueError(f"Argument `indexing` must be either 'xy' or 'ij', got '{indexing}'")
    with name_scope(name or "meshgrid"):
        vectors = [reshape(arg, [-1]) for arg in args]
        axes = list(builtins.range(len(vectors)))
        if indexing == "xy" and len(vectors) > 1:
            axes[0], axes[1] = 1, 0
        # The sizes of the grid, axis by axis: swapping the first two twice changes nothing.
        grid = _sizes_of([vectors[axis] for axis in axes])
        grids = []
        for vector, axis in zip(vectors, axes, strict=True):
            along = [1] * len(vectors)
            along[axis] = -1
            grids.append(broadcast_to(reshape(vector, along), grid))
        return grids


def _sizes_of(vectors: list[Tensor]) -> Any:
    known = [vector.shape[0] for vector in vectors]
    return known if None not in known else stack([size(vector) for vector in vectors])


def sequence_mask(
    lengths: TensorLike,
    maxlen: TensorLike | None = None,
    dtype: DTypeLike = bool_,
    name: Name = None,
) -> Tensor:
    """Makes masks whose first elements hold: mask[..., j] = j < lengths[...].

    Args:
      lengths: Integers of any shape.
      maxlen: The size of the last axis, a scalar; None means the largest of lengths.
      dtype: Of the result.
      name: A name for the scope while a function is traced.

    Returns:
      The masks, shape lengths.shape + [maxlen].

    Raises:
      ValueError: maxlen is no scalar.

    Source: tf.sequence_mask.
    """
    with name_scope(name or "SequenceMask"):
        counts = convert_to_tensor(lengths)
        if maxlen is None:
            largest = reduce_max(counts)
            limit = raw.Maximum(constant(0, largest.dtype), largest)
        else:
            limit = convert_to_tensor(maxlen)
        if limit.shape.rank not in (None, 0):
            raise ValueError("Argument `maxlen` must be scalar for sequence_mask")
        places = range(constant(0, limit.dtype), limit, constant(1, limit.dtype))
        mask = places < cast(expand_dims(counts, -1), limit.dtype)
        return mask if as_dtype(dtype) == bool_ else cast(mask, dtype)


def repeat(
    input: TensorLike, repeats: TensorLike, axis: int | None = None, name: Name = None
) -> Tensor:
    """Repeats the slices of a tensor along an axis, each one behind itself.

    Args:
      input: Any dtype.
      repeats: How often: an integer scalar or vector, which broadcasts to the axis.
      axis: The axis; None repeats the elements of the flattened tensor.
      name: A name for the scope while a function is traced.

    Returns:
      The repeated tensor; its size along the axis is the sum of repeats.

    Raises:
      TypeError: repeats has no integers.
      ValueError: The axis is not one of input, or repeats has more than one axis.
      InvalidArgumentError: repeats does not fit the axis, or is negative.

    Source: tf.repeat.
    """
    with name_scope(name or "Repeat"):
        x = convert_to_tensor(input)
        counts = _integers(repeats, "repeats")
        if counts.dtype not in (int32, int64):
            counts = cast(counts, int32)
        if (counts.shape.rank or 0) > 1:
            raise ValueError(f"repeats must be a scalar or a vector, got shape {counts.shape}")
        if axis is None or x.shape.rank == 0:
            x, at = reshape(x, [-1]), 0
        else:
            at = _axis_of(x, axis)
        known = None if x.shape.rank is None else x.shape[at]
        length = known if known is not None else shape(x)[at]
        if counts.shape.rank == 1 and counts.shape[0] != 1:
            TensorShape([counts.shape[0]]).assert_is_compatible_with([known])
        places = expand_dims(range(length), 1)
        if counts.shape.num_elements() == 1:  # All alike: nothing to be marked.
            often = reshape(counts, [1])
            repeated = reshape(tile(places, concat([constant([1], often.dtype), often], 0)), [-1])
            return gather(x, repeated, axis=at)
        counts = broadcast_to(counts, [length])
        # Row i of the mask marks places for all repetitions of slice i.
        mask = sequence_mask(counts)
        places = tile(places, concat([[1], shape(mask)[1:]], 0))
        return gather(x, boolean_mask(places, mask), axis=at)


def _axis_of(x: Tensor, axis: int) -> int:
    rank = x.shape.rank
    if rank is None:
        return axis
    if not -rank <= axis < rank:
        raise ValueError(f"axis must be in [{-rank}, {rank}), got {axis}")
    return axis % rank
