"""`len` of tensors."""

from __future__ import annotations

from typing import Any

from graven import _engine
from graven import _functions as ops
from graven._debug_ops import Assert
from graven._ragged import RaggedTensor
from graven._scopes import control_dependencies
from graven._tensor_shape import parts_of


def number_of_rows(value: Any) -> Any:
    """Returns the number of rows as a tensor; a size that the trace leaves open stays so.

    Args:
      value: What tensor_length takes.
    """
    if not isinstance(value, _engine.Tensor):
        return _engine.convert_to_tensor(tensor_length(value))
    parts = parts_of(value.shape)
    if parts and not (parts[0] is None or isinstance(parts[0], int)):
        return ops.shape(value)[0]
    return _engine.convert_to_tensor(tensor_length(value))


def tensor_length(value: Any) -> Any:
    """Returns the number of rows of a dense tensor, a variable or a ragged tensor.

    Args:
      value: The tensor.

    Returns:
      A Python int if it is known, else an integer scalar.

    Raises:
      ValueError: The tensor is a scalar. If the rank is not known while a function is traced, an
        InvalidArgumentError says that at run time.
    """
    if isinstance(value, RaggedTensor):
        return value.nrows()
    tensor = _engine.convert_to_tensor(value)
    rank = tensor.shape.rank
    if rank == 0:
        raise ValueError(f"len requires a non-scalar tensor, got one of shape {tensor.shape}")
    if rank is not None:
        known = tensor.shape[0]
        return ops.shape(tensor)[0] if known is None else known
    sizes = ops.shape(tensor)
    has_rows = Assert(ops.greater(ops.rank(tensor), 0), ["len requires non-zero rank, got", sizes])
    with control_dependencies([has_rows]):
        return ops.identity(sizes)[0]
