"""tf.ragged.constant: ragged tensors of nested Python lists."""

from __future__ import annotations

from typing import Any

from graven import _engine
from graven._dtypes import as_dtype
from graven._ragged import RaggedTensor
from graven._unsupported import unsupported


def _depth(value: Any) -> int:
    """The depth of nested lists, at least what their empty ones need."""
    if not isinstance(value, list | tuple):
        return 0
    return 1 + max((_depth(item) for item in value), default=0)


def _has_leaf(value: Any) -> bool:
    """Whether nested lists hold anything but lists."""
    return not isinstance(value, list | tuple) or any(_has_leaf(item) for item in value)


def constant(
    pylist: Any,
    dtype: Any = None,
    ragged_rank: int | None = None,
    inner_shape: Any = None,
    name: str | None = None,
    row_splits_dtype: Any = "int64",
) -> Any:
    """Makes a RaggedTensor of nested lists.

    Args:
      pylist: Nested lists or tuples, whose leaves are all at one depth.
      dtype: The dtype of the values; found from the leaves by default.
      ragged_rank: How many dimensions are cut by row splits; all but the last by default.
      inner_shape: Refused unless None.
      name: Accepted; no op is made.
      row_splits_dtype: int64 or int32.

    Returns:
      A RaggedTensor; a tensor where there is nothing to split, as in a plain list.

    Raises:
      ValueError: The leaves are at different depths.

    Source: tf.ragged.constant.
    """
    del name
    if inner_shape is not None:
        raise unsupported("tf.ragged.constant does not take inner_shape in Graven yet")
    depth = _depth(pylist)
    if ragged_rank is None:
        ragged_rank = max(depth - 1, 0)
    elif ragged_rank >= max(depth, 1) and _has_leaf(pylist):
        raise ValueError(f"pylist has depth {depth}, too little for ragged_rank {ragged_rank}.")
    if ragged_rank == 0:
        return _engine.convert_to_tensor(pylist, dtype)
    level: list[Any] = list(pylist)
    all_splits: list[Any] = []
    for _ in range(ragged_rank):
        splits = [0]
        below: list[Any] = []
        for row in level:
            if not isinstance(row, list | tuple):
                raise ValueError(f"all scalar values must have the same nesting depth: {pylist}")
            below += row
            splits.append(len(below))
        all_splits.append(_engine.convert_to_tensor(splits, as_dtype(row_splits_dtype)))
        level = below
    if dtype is None and not level:
        dtype = "float32"
    values: Any = _engine.convert_to_tensor(level, None if dtype is None else as_dtype(dtype))
    for tensor in reversed(all_splits):
        values = RaggedTensor(values, tensor, _private=True)
    return values
