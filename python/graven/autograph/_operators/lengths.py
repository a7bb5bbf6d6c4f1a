"""`len` of tensors."""

from __future__ import annotations

from typing import Any

from graven import _engine
from graven import _functions as ops
from graven._debug_ops import Assert
from graven._ragged import RaggedTensor
from graven._scopes import control_dependencies


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
        known = tensor.shape.as_list()[0]
        return ops.shape(tensor)[0] if known is None else known
    sizes = ops.shape(tensor)
    has_rows = Assert(ops.greater(ops.rank(tensor), 0), ["len requires non-zero rank, got", sizes])
    with control_dependencies([has_rows]):
        return ops.identity(sizes)[0]
