"""Element types of tensors: tf.float32 and its kin.

Source: tf.dtypes.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from graven import _engine

if TYPE_CHECKING:
    pass

_FLOATS = {"bfloat16", "float16", "float32", "float64"}
_UNSIGNED = {"uint8", "uint16", "uint32", "uint64"}
_SIGNED = {"int8", "int16", "int32", "int64"}
_COMPLEX = {"complex64", "complex128"}
_SIZES = {"bool": 1, "bfloat16": 2, "float16": 2, "resource": 1, "variant": 1, "string": 1}
# Largest finite numbers of the floats; the smallest are their negatives.
_LARGEST = {
    "float16": 65504.0,
    "bfloat16": float.fromhex("0x1.fep+127"),
    "float32": float.fromhex("0x1.fffffep+127"),
    "float64": sys.float_info.max,
}


class DType:
    """The type of the elements of a tensor. There is one object for each type.

    Args:
      type_enum: TensorFlow's number of a type, or its name.

    Attributes:
      name: TensorFlow's name, such as "float32".
      as_datatype_enum: TensorFlow's number of it.

    Source: tf.DType.
    """

    __slots__ = ("__weakref__", "as_datatype_enum", "name")

    name: str
    as_datatype_enum: int

    def __new__(cls, type_enum: int | str) -> DType:
        """Returns the DType of a number or name."""
        return as_dtype(type_enum)

    @property
    def as_numpy_dtype(self) -> Any:
        """The NumPy class of such elements; object for strings and resources."""
        if self.name in ("string", "resource", "variant"):
            return object
        if self.name == "bfloat16":
            import ml_dtypes

            return ml_dtypes.bfloat16
        import numpy as np

        return np.bool_ if self.name == "bool" else getattr(np, self.name)

    @property
    def base_dtype(self) -> DType:
        """The type itself: there are no reference types."""
        return self

    @property
    def real_dtype(self) -> DType:
        """The type of the real part."""
        return {"complex64": float32, "complex128": float64}.get(self.name, self)

    @property
    def is_bool(self) -> bool:
        """Whether it is bool."""
        return self.name == "bool"

    @property
    def is_integer(self) -> bool:
        """Whether it is an integer type, bool not counted."""
        return self.name in _SIGNED or self.name in _UNSIGNED

    @property
    def is_unsigned(self) -> bool:
        """Whether it is an integer type without negative numbers."""
        return self.name in _UNSIGNED

    @property
    def is_floating(self) -> bool:
        """Whether it is a real floating-point type."""
        return self.name in _FLOATS

    @property
    def is_complex(self) -> bool:
        """Whether it is a complex type."""
        return self.name in _COMPLEX

    @property
    def is_numeric(self) -> bool:
        """Whether it is a type of numbers."""
        return self.is_integer or self.is_floating or self.is_complex

    @property
    def is_numpy_compatible(self) -> bool:
        """Whether NumPy has arrays of it."""
        return self.name not in ("resource", "variant")

    @property
    def size(self) -> int:
        """Bytes of one element; 1 for types of objects."""
        return _SIZES.get(self.name) or int(self.name.lstrip("uintfloacmpex")) // 8

    @property
    def max(self) -> Any:
        """The largest value: a Python int of integers, a NumPy scalar of floats."""
        if self.is_integer:
            return 2 ** (self.size * 8 - (not self.is_unsigned)) - 1
        if self.is_floating:
            return self.as_numpy_dtype(_LARGEST[self.name])
        raise TypeError(f"Cannot find maximum value of {self}.")

    @property
    def min(self) -> Any:
        """The smallest value: a Python int of integers, a NumPy scalar of floats."""
        if self.is_integer:
            return 0 if self.is_unsigned else -(2 ** (self.size * 8 - 1))
        if self.is_floating:
            return self.as_numpy_dtype(-_LARGEST[self.name])
        raise TypeError(f"Cannot find minimum value of {self}.")

    @property
    def limits(self) -> tuple[Any, Any]:
        """The range of a pixel's intensity: 0 and 1 of floats, 0 and the largest integer."""
        if self.is_floating:
            return 0, 1
        if self.is_bool:
            return False, True
        if self.is_integer:
            return 0, self.max
        raise ValueError(f"{self} does not have defined limits.")

    def is_compatible_with(self, other: Any) -> bool:
        """Tells whether it is the same type.

        Args:
          other: What tf.as_dtype takes.
        """
        return self is as_dtype(other)

    def is_subtype_of(self, other: Any) -> bool:
        """Tells whether it is the same type: dtypes have no other subtypes.

        Args:
          other: A DType.
        """
        return self is other

    def most_specific_common_supertype(self, types: Any) -> DType | None:
        """Returns the type if all are it, else None.

        Args:
          types: DTypes.
        """
        return self if all(other is self for other in types) else None

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if other is None or isinstance(other, DType):
            return False
        try:
            return self is as_dtype(other)
        except TypeError:
            return False

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return self.as_datatype_enum

    def __int__(self) -> int:
        return self.as_datatype_enum

    def __reduce__(self) -> tuple[Any, ...]:
        return as_dtype, (self.name,)

    def __copy__(self) -> DType:
        return self

    def __deepcopy__(self, memo: Any) -> DType:
        return self

    def __str__(self) -> str:
        return f"<dtype: {self.name!r}>"

    def __repr__(self) -> str:
        return f"tf.{self.name}"


_BY_NAME: dict[str, DType] = {}
_BY_NUMBER: dict[int, DType] = {}


def _make(name: str, number: int) -> DType:
    dtype = object.__new__(DType)
    dtype.name = name
    dtype.as_datatype_enum = number
    _BY_NAME[name] = dtype
    _BY_NUMBER[number] = dtype
    return dtype


float32: DType = _make("float32", 1)
float64: DType = _make("float64", 2)
int32: DType = _make("int32", 3)
uint8: DType = _make("uint8", 4)
int16: DType = _make("int16", 5)
int8: DType = _make("int8", 6)
string: DType = _make("string", 7)
complex64: DType = _make("complex64", 8)
int64: DType = _make("int64", 9)
bool_: DType = _make("bool", 10)
bfloat16: DType = _make("bfloat16", 14)
uint16: DType = _make("uint16", 17)
complex128: DType = _make("complex128", 18)
float16: DType = _make("float16", 19)
resource: DType = _make("resource", 20)
variant: DType = _make("variant", 21)
uint32: DType = _make("uint32", 22)
uint64: DType = _make("uint64", 23)
half: DType = float16
double: DType = float64
_BY_NAME.update(half=float16, float=float32, double=float64)

# Not int and complex, which have no size that everybody agrees on.
_PYTHON: dict[type, DType] = {float: float32, bool: bool_, object: string}


def _of_numpy(value: Any) -> DType | None:
    """The DType of a NumPy dtype or class of scalars; None for anything else."""
    import numpy as np

    if not isinstance(value, np.dtype):
        if not (isinstance(value, type) and issubclass(value, np.generic)):
            return None
        value = np.dtype(value)
    return string if value.kind in "OSU" else _BY_NAME.get(value.name)


def as_dtype(type_value: Any) -> DType:
    """Returns the DType that a value stands for.

    Args:
      type_value: A DType, its name or number, a NumPy dtype or class, float, bool, or what has one
        of these as its dtype.

    Returns:
      The DType.

    Raises:
      TypeError: The value stands for no type of elements.

    Source: tf.dtypes.as_dtype.
    """
    if isinstance(type_value, DType):
        return type_value
    found: DType | None = None
    if isinstance(type_value, str):
        found = _BY_NAME.get(type_value)
    elif isinstance(type_value, int):
        found = _BY_NUMBER.get(type_value)
    else:
        is_class = isinstance(type_value, type)  # whose "dtype" is a descriptor
        inner = type_value if is_class else getattr(type_value, "dtype", type_value)
        if isinstance(inner, DType):
            found = inner
        elif is_class:
            found = _PYTHON.get(type_value)
        # Nothing of NumPy's can have come before somebody imported it.
        if found is None and "numpy" in sys.modules:
            found = _of_numpy(inner)
    if found is None:
        raise TypeError(
            f"Cannot convert the argument `type_value`: {type_value!r} to a TensorFlow DType."
        )
    return found


_engine.register_dtypes(_BY_NUMBER, as_dtype)
