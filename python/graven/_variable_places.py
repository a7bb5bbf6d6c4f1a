"""Which elements a slice of a variable, or rows of its batches, stand for.

A write of them is one ResourceScatterNdUpdate, which takes indices of elements or rows.
"""

from __future__ import annotations

from typing import Any

from graven import _engine
from graven import _functions as ops


def updates_of_slice(current: Any, rank: int, key: Any, value: Any) -> tuple[list[Any], Any]:
    """Finds the elements of a slice by slicing their places.

    Args:
      current: The value of the variable.
      rank: Its rank, 1 or more.
      key: What stands in the brackets.
      value: What the slice is to get.

    Returns:
      For each axis the indices of the elements, int64, and the value in the shape of the slice.
    """
    sizes = ops.shape(current, out_type="int64")
    places = ops.reshape(ops.range(ops.reduce_prod(sizes)), sizes)[key]
    indices, step = [], _engine.constant(1, "int64")
    for axis in reversed(range(rank)):
        size = sizes[axis]
        indices.append((places // step) % size)
        step = step * size
    updates = ops.broadcast_to(_without_leading_ones(value, places), ops.shape(places))
    return indices[::-1], updates


def _without_leading_ones(value: Any, places: Any) -> Any:
    """The value in the rank of the places that it goes to, if it has more dimensions, of size 1."""
    if value.shape.rank is None or places.shape.rank is None:
        return value
    extra = value.shape.rank - places.shape.rank
    if extra <= 0:
        return value
    return ops.reshape(value, ops.shape(value)[extra:])


def places_in_batches(rows: Any) -> Any:
    """Puts the numbers of the batches before the numbers of rows.

    Args:
      rows: Numbers of rows; all dimensions but the last are those of the batches.

    Returns:
      The same with one more dimension, of the indices of each row.

    Raises:
      ValueError: The rank is not known.
    """
    rank = rows.shape.rank
    if rank is None:
        raise ValueError("batch_scatter_update needs indices of known rank")
    sizes = ops.shape(rows)
    columns = []
    for axis in range(rank - 1):
        along = [-1 if axis == i else 1 for i in range(rank)]
        batches = ops.cast(ops.range(sizes[axis]), rows.dtype)
        columns.append(ops.broadcast_to(ops.reshape(batches, along), sizes))
    return ops.stack([*columns, rows], axis=-1)
