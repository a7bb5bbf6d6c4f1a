"""What programs give in either system, as values that can be compared."""

from collections.abc import Callable
from typing import Any

import graven
import numpy as np
import tensorflow


def plain(result: Any) -> Any:
    """Tensors as text, everything else as it is."""
    if isinstance(result, list | tuple):
        return [plain(part) for part in result]
    for tf in (graven, tensorflow):
        if isinstance(result, tf.Tensor | tf.Variable):
            return f"{result.dtype.name} {np.asarray(result.numpy()).tolist()}"
        if isinstance(result, tf.IndexedSlices):
            return ["slices", *(plain(p) for p in (result.values, result.indices))]
        if isinstance(result, tf.DType):
            return result.name
        if isinstance(result, tf.TensorShape):
            return str(result)
    return result


def attempt(f: Callable[[], Any]) -> Any:
    """What f returns, or the class of what it raises."""
    try:
        return plain(f())
    except Exception as error:
        return class_of(error)


def class_of(error: Exception) -> str:
    """The name of an error's class, or of what TensorFlow raises where Graven has its own."""
    own = isinstance(error, graven.errors.InputSignatureError)
    return "TypeError" if own else type(error).__name__


def says(phrase: str, f: Callable[[], Any]) -> Any:
    """The class of what f raises, and whether its message holds a phrase."""
    try:
        return plain(f())
    except Exception as error:
        return [class_of(error), phrase in str(error)]
