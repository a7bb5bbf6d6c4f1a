"""The values of tensors that are known while a graph is built.

Source: tf.get_static_value.
"""

from __future__ import annotations

from typing import Any

from graven import _engine
from graven._dtypes import string
from graven._type_spec import is_tensor


def static_scalar(value: Any) -> Any:
    """The value of a scalar, if it is known now, for int(), float() and bool(); else None.

    It makes no NumPy array: what only traces loops does not import NumPy.

    Args:
      value: A tensor; what is none is its own value.
    """
    if not is_tensor(value):
        return value
    return _engine.static_value(value) if isinstance(value, _engine.Tensor) else None


def get_static_value(tensor: Any, partial: bool = False) -> Any:
    """The value of a tensor, if it is known now.

    That of an eager tensor is; of a graph one that follows from constants and known shapes through
    ops of small results.

    Args:
      tensor: A tensor; what is none is its own value.
      partial: Of stacked scalars of which some are known, an array of these, and None for others.

    Returns:
      A NumPy array, or None.

    Source: tf.get_static_value.
    """
    import numpy as np

    if not is_tensor(tensor):
        return tensor
    if not isinstance(tensor, _engine.Tensor):
        return None
    value = _engine.static_value(tensor)
    if value is not None:
        array = value.numpy()
        is_eager = hasattr(tensor, "numpy")
        return array if is_eager else np.array(array, object if value.dtype == string else None)
    if not partial:
        return None
    op = tensor.op
    if op.type in ("Identity", "StopGradient"):
        return get_static_value(op.inputs[0], partial=True)
    if op.type != "Pack" or op.get_attr("axis") != 0:
        return None
    return np.array([get_static_value(item, partial=True) for item in op.inputs], object)
