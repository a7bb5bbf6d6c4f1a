"""Hashable stand-ins for tensors and variables, and what unpickles tensors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from graven import _engine

if TYPE_CHECKING:
    import numpy as np


class Reference:
    """Stands for an object whose own == compares values: equal if it is the same object.

    Source: what tf.Tensor.ref() returns.
    """

    __slots__ = ("__weakref__", "_identity", "_wrapped")

    def __init__(self, wrapped: Any) -> None:
        self._wrapped = wrapped
        # Python may have several objects for one tensor of the engine.
        is_tensor = isinstance(wrapped, _engine.Tensor)
        self._identity = (is_tensor, wrapped._id if is_tensor else id(wrapped))

    def deref(self) -> Any:
        """Returns the object."""
        return self._wrapped

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Reference) and self._identity == other._identity

    def __hash__(self) -> int:
        return hash(self._identity)

    def __repr__(self) -> str:
        return f"<Reference wrapping {self._wrapped!r}>"


def tensor_from_pickle(array: np.ndarray[Any, Any], dtype: str) -> _engine.Tensor:
    """Rebuilds a pickled tensor."""
    return _engine.constant(array, dtype)
