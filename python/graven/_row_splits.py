"""Where the rows of a ragged tensor are split, from lengths, row numbers, starts and limits."""

from __future__ import annotations

from typing import Any

from graven import _engine
from graven import _functions as ops


def partition(value: Any, name: str) -> Any:
    """Returns a vector of int32 or int64; Python numbers and narrower arrays become int64.

    Raises:
      ValueError: It has another rank or dtype.
    """
    narrow = getattr(getattr(value, "dtype", None), "name", None) == "int32"
    try:
        tensor = _engine.convert_to_tensor(value, "int32" if narrow else "int64")
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} must have dtype int32 or int64, got {value!r}") from error
    tensor.shape.assert_has_rank(1)
    return tensor


def of_lengths(lengths: Any) -> Any:
    """Row splits of the rows' lengths."""
    zero = ops.zeros([1], lengths.dtype)
    return ops.concat([zero, ops.cumsum(lengths)], axis=0)


def of_row_numbers(row_numbers: Any, num_rows: Any) -> Any:
    """Row splits of the row that each value lies in, an ascending vector."""
    ones = ops.ones_like(row_numbers)
    return of_lengths(ops.unsorted_segment_sum(ones, row_numbers, num_rows))


def of_uniform_length(length: Any, num_rows: Any) -> Any:
    """Row splits of rows of one length."""
    return ops.range(num_rows + 1) * length


def check_ascending(splits: Any, source: str) -> None:
    """Raises an InvalidArgumentError, now or when the graph runs, unless splits go up from 0."""
    text = f"Arguments to {source} do not form a valid RaggedTensor"
    ops.assert_equal(splits[0], _zero(splits), message=f"{text}: rows begin at the first value")
    ops.assert_non_negative(splits[1:] - splits[:-1], message=f"{text}: rows have lengths")


def check_end(splits: Any, num_values: Any, source: str) -> None:
    """Raises the same unless the splits end at the number of values."""
    text = f"Arguments to {source} do not form a valid RaggedTensor"
    ops.assert_equal(splits[-1], num_values, message=f"{text}: rows end at the last value")


def check_row_numbers(row_numbers: Any, source: str) -> None:
    """Raises the same unless each value lies in the row of the one before or in a later one."""
    text = f"Arguments to {source} do not form a valid RaggedTensor"
    ops.assert_non_negative(row_numbers[1:] - row_numbers[:-1], message=f"{text}: rows ascend")
    ops.assert_non_negative(row_numbers[:1], message=f"{text}: rows are counted from 0")


def _zero(like: Any) -> Any:
    return _engine.constant(0, like.dtype)
