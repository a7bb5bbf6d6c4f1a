"""What a RaggedTensor is not: a tensor, a condition, a key, an operand."""

from __future__ import annotations

from typing import Any, NoReturn

from graven._unsupported import refused_operator

# What programs do where an op or an operator takes no ragged tensors.
_INSTEAD = (
    "compute with x.flat_values and put the result back by x.with_flat_values, or call a function "
    "for each row by tf.map_fn"
)


def _operator(symbol: str) -> Any:
    return refused_operator(symbol, "ragged tensors", _INSTEAD)


_equal, _not_equal = map(_operator, ("==", "!="))


class RefusedOperators:
    """The operators of TensorFlow's RaggedTensor, until their family of ops is here."""

    def __tf_tensor__(self, dtype: Any = None, name: str | None = None) -> NoReturn:
        """Refuses to be a tensor, as ops ask for that do not take it as it is."""
        raise ValueError(
            f"Attempt to convert a value ({self!r}) with an unsupported type ({type(self)}) to a "
            f"Tensor. Few functions of Graven take ragged tensors yet: {_INSTEAD}. See "
            "docs/errors/not-in-graven.md"
        )

    def __bool__(self) -> bool:
        raise TypeError("RaggedTensor may not be used as a boolean.")

    def __eq__(self, other: object) -> Any:
        return False if other is None else _equal(self, other)

    def __ne__(self, other: object) -> Any:
        return True if other is None else _not_equal(self, other)

    def __hash__(self) -> int:
        raise TypeError("RaggedTensor is unhashable. See docs/errors/unhashable-tensor.md")

    __lt__, __le__, __gt__, __ge__ = map(_operator, ("<", "<=", ">", ">="))
    __neg__, __invert__, __abs__ = map(_operator, ("-", "~", "abs"))
    __add__ = __radd__ = _operator("+")
    __sub__ = __rsub__ = _operator("-")
    __mul__ = __rmul__ = _operator("*")
    __truediv__ = __rtruediv__ = _operator("/")
    __floordiv__ = __rfloordiv__ = _operator("//")
    __mod__ = __rmod__ = _operator("%")
    __pow__ = __rpow__ = _operator("**")
    __and__ = __rand__ = _operator("&")
    __or__ = __ror__ = _operator("|")
    __xor__ = __rxor__ = _operator("^")
