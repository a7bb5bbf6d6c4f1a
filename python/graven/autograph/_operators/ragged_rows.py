"""Rows of a ragged tensor by a number that may be a tensor."""

from __future__ import annotations

from typing import Any

from graven import _functions as ops
from graven._ragged import RaggedTensor


def ragged_row(ragged: Any, i: Any) -> Any:
    """Returns a row: a dense tensor, or a ragged one of a lower rank.

    Args:
      ragged: A RaggedTensor.
      i: The number of the row.
    """
    splits = ragged.row_splits
    return _rows(ragged.values, splits[i], splits[i + 1])


def _rows(values: Any, start: Any, end: Any) -> Any:
    if not isinstance(values, RaggedTensor):
        return values[start:end]
    splits = values.row_splits[start : end + 1]
    inner = _rows(values.values, splits[0], splits[-1])
    return RaggedTensor.from_row_splits(inner, ops.subtract(splits, splits[0]), validate=False)
