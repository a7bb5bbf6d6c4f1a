"""What counts as a tensor to the operators, and Python values that become tensors."""

from __future__ import annotations

import sys
from typing import Any

from graven import _engine, _nest
from graven._type_spec import CompositeTensor

_DENSE = (_engine.Tensor, _engine.VariableBase)
_PYTHON = (bool, int, float, complex, str, bytes)


def is_dense(value: Any) -> bool:
    """Tells whether a value is a dense tensor or a variable, on which control flow is staged."""
    return isinstance(value, _DENSE)


def is_eager() -> bool:
    """Tells whether ops run at once. Then tensors have values, and Python's control flow does."""
    return _engine.executing_eagerly()


def to_tensor(value: Any) -> Any:
    """Returns a leaf as a tensor: a variable is read, Python and NumPy values are converted.

    Composite tensors and tensor arrays stay as they are. Returns None for another object.
    """
    if isinstance(value, _engine.Tensor):
        return value
    if isinstance(value, _engine.VariableBase) or _is_number_or_string(value):
        return _engine.convert_to_tensor(value)
    if isinstance(value, CompositeTensor) or is_tensor_array(value):
        return value
    if hasattr(type(value), "__tf_tensor__"):
        return _engine.convert_to_tensor(value)
    return None


def _is_number_or_string(value: Any) -> bool:
    """Tells whether a value is one of Python's or NumPy's, arrays included."""
    if isinstance(value, _PYTHON):
        return True
    numpy = sys.modules.get("numpy")  # There are no values of a module that is not there.
    return numpy is not None and isinstance(value, (numpy.generic, numpy.ndarray))


def dense_leaf(value: Any, dtype: Any = None) -> Any:
    """Returns a leaf as a dense tensor, Python's numbers in a dtype; None of what is none."""
    if isinstance(value, CompositeTensor) or is_tensor_array(value):
        return None
    tensor = to_tensor(value)
    if tensor is None or dtype is None or is_dense(value):
        return tensor
    return _engine.convert_to_tensor(value, dtype_hint=dtype)


def is_tensor_array(value: Any) -> bool:
    """Tells whether a value is a tf.TensorArray."""
    return type(value).__name__ == "TensorArray" and type(value).__module__.startswith("graven.")


def python_numbers_to_tensors(value: Any) -> Any:
    """Returns a structure with tensors in the place of Python's numbers and strings."""

    def converted(leaf: Any) -> Any:
        return _engine.convert_to_tensor(leaf) if _is_number_or_string(leaf) else leaf

    if not _nest.is_nested(value):
        return converted(value)
    return _nest.map_structure(converted, value)


def dtype_of(tensor: Any) -> Any:
    """The dtype of what to_tensor returns; None of composite values that have none."""
    if not getattr(type(tensor), "_has_dtype", True):
        return None
    return getattr(tensor, "dtype", None)


def type_name(value: Any) -> str:
    """The name of a value's class, for messages."""
    return type(value).__name__
