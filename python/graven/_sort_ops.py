"""Elements in the order of their values."""

from __future__ import annotations

from typing import Any, NamedTuple

from graven import _engine
from graven import raw_ops as raw
from graven._axes import swapped_with_last
from graven._dtypes import as_dtype, int32
from graven._functions import shape as shape_of
from graven._functions import transpose
from graven._scopes import name_scope
from graven._types import DTypeLike, Name, Tensor, TensorLike

convert_to_tensor = _engine.convert_to_tensor


class TopKV2(NamedTuple):
    """The largest elements of each row, and where they stand."""

    values: Tensor
    indices: Tensor


def top_k(
    input: TensorLike,
    k: TensorLike = 1,
    sorted: bool = True,
    index_type: DTypeLike = int32,
    name: Name = None,
) -> TopKV2:
    """Finds the k largest elements of each row, the last axis, and their places.

    Of equal elements the first comes first; NaN counts as more than all numbers.

    Args:
      input: Any real dtype, shape [..., n].
      k: How many, a scalar integer in [0, n].
      sorted: The largest first. Graven's result always is.
      index_type: int16, int32 or int64.
      name: A name for the node while a function is traced.

    Returns:
      values in input's dtype and indices in index_type, both of shape [..., k].

    Raises:
      InvalidArgumentError: input is a scalar, or k is not in [0, n].

    Source: tf.math.top_k, OpDef "TopKV2".
    """
    values, indices = raw.TopKV2(
        input, k, sorted=sorted, index_type=as_dtype(index_type), name=name
    )
    return TopKV2(values, indices)


def _sorted(values: TensorLike, axis: int, direction: str) -> tuple[TopKV2, bool, Any]:
    """All elements along an axis in order, whether as `_flipped` values, and the axes' order."""
    if direction not in ("ASCENDING", "DESCENDING"):
        raise ValueError(
            f'Argument `direction` should be one of "ASCENDING" or "DESCENDING". '
            f"Received: direction={direction}"
        )
    if not isinstance(axis, int):
        raise ValueError("axis must be a constant scalar")
    x = convert_to_tensor(values)
    is_flipped = direction == "ASCENDING"
    rank = x.shape.rank
    order = None
    if axis != -1 and axis + 1 != rank:
        if rank is not None and not -rank <= axis < rank:
            raise ValueError(f"axis must be in [{-rank}, {rank}), got {axis}")
        order = swapped_with_last(x, axis)
        x = transpose(x, order)
    columns = x.shape[-1] if rank else None
    k = shape_of(x)[-1] if columns is None and rank != 0 else columns or 0
    return top_k(_flipped(x) if is_flipped else x, k), is_flipped, order


def _flipped(x: Tensor) -> Tensor:
    """The same numbers in reverse order, without overflow: -1 - x for integers."""
    return -x if x.dtype.is_floating else raw.Invert(x)


def sort(
    values: TensorLike, axis: int = -1, direction: str = "ASCENDING", name: Name = None
) -> Tensor:
    """Sorts a tensor along an axis.

    Args:
      values: Any real dtype, at least one axis.
      axis: The axis; negative counts from the end.
      direction: "ASCENDING" or "DESCENDING". NaN comes first in both.
      name: A name for the scope while a function is traced.

    Returns:
      The sorted tensor, in values' dtype and shape.

    Raises:
      ValueError: The axis is not one of values, or the direction is another word.
      InvalidArgumentError: values is a scalar.

    Source: tf.sort.
    """
    with name_scope(name or "sort"):
        found, is_flipped, order = _sorted(values, axis, direction)
        ordered = _flipped(found.values) if is_flipped else found.values
        return ordered if order is None else transpose(ordered, order)


def argsort(
    values: TensorLike,
    axis: int = -1,
    direction: str = "ASCENDING",
    stable: bool = False,
    name: Name = None,
) -> Tensor:
    """The indices that sort a tensor along an axis.

    Args:
      values: Any real dtype, at least one axis.
      axis: The axis; negative counts from the end.
      direction: "ASCENDING" or "DESCENDING". NaN comes first in both.
      stable: Accepted; equal elements keep their order in any case.
      name: A name for the scope while a function is traced.

    Returns:
      int32, the shape of values.

    Raises:
      ValueError: The axis is not one of values, or the direction is another word.
      InvalidArgumentError: values is a scalar.

    Source: tf.argsort.
    """
    with name_scope(name or "argsort"):
        found, _, order = _sorted(values, axis, direction)
        return found.indices if order is None else transpose(found.indices, order)
