"""Conditions of staged statements."""

from __future__ import annotations

from typing import Any

from graven import _engine
from graven import _functions as ops
from graven._dtypes import bool_
from graven._ragged import RaggedTensor
from graven.autograph._operators.staged_list import StagedList


def refuse_ragged(condition: Any) -> None:
    """Raises a TypeError for a ragged tensor, which has no truth."""
    if isinstance(condition, RaggedTensor):
        raise TypeError("A RaggedTensor cannot be used as a condition.")


def as_condition(value: Any) -> Any:
    """Returns what a statement asks for the truth of; of a list in the graph, if it has elements.

    Args:
      value: The condition as the user wrote it.
    """
    return ops.greater(value.size(), 0) if isinstance(value, StagedList) else value


def scalar_condition(condition: Any, statement: str) -> Any:
    """Returns the condition of a staged statement as a bool scalar.

    Args:
      condition: A dense tensor or a variable.
      statement: "if statement" or "while loop", for the message.

    Raises:
      ValueError: It is no bool, or has more than one element. What is not known of the shape is
        checked when the function runs.
    """
    tensor = _engine.convert_to_tensor(condition)
    if tensor.dtype != bool_:
        raise ValueError(
            f"condition of {statement} expected to be `tf.bool` scalar, got {tensor}; to use as "
            "boolean Tensor, use `tf.cast`; to check for None, use `is not None`"
        )
    if tensor.shape.rank == 0:
        return tensor
    count = tensor.shape.num_elements()
    if count is not None and count != 1:
        raise ValueError(
            f"condition of {statement} expected to be `tf.bool` scalar, got {tensor} of shape "
            f"{tensor.shape}; to use as boolean Tensor, use `tf.cast` and `tf.reduce_any` or "
            "`tf.reduce_all`; to check for None, use `is not None`"
        )
    return ops.reshape(tensor, [])
