"""Functions of numbers whose signature in TensorFlow is not that of one op."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from graven import _engine
from graven import raw_ops as raw
from graven._dtypes import as_dtype, float32, float64, int64
from graven._dtypes import string as string_
from graven._functions import (
    cast,
    identity,
    ones_like,
    where,
    zeros_like,
)
from graven._indexed_slices import IndexedSlices
from graven._scopes import name_scope
from graven._types import DTypeLike, Name, Tensor, TensorLike, has_dtype

convert_to_tensor = _engine.convert_to_tensor


def add(x: TensorLike, y: TensorLike, name: Name = None) -> Tensor:
    """x + y, element by element; strings are joined.

    Args:
      x: Any numeric dtype, or string.
      y: The same dtype; the shapes broadcast.
      name: A name for the node while a function is traced.

    Returns:
      The sums.

    Source: tf.math.add, OpDefs "AddV2" and "Add".
    """
    if isinstance(x, Tensor) and isinstance(y, Tensor):
        return (raw.Add if x.dtype == string_ else raw.AddV2)(x, y, name=name or "Add")
    with name_scope(name or "Add") as scope:
        first = convert_to_tensor(x, None, None, "x")
        second = convert_to_tensor(y, None, first.dtype, "y")
        op = raw.Add if first.dtype == string_ else raw.AddV2
        return op(first, second, name=scope or None)


def add_n(inputs: Sequence[TensorLike], name: Name = None) -> Tensor:
    """Sums tensors of one shape.

    Args:
      inputs: Tensors of one numeric dtype and shape, or IndexedSlices.
      name: A name for the node while a function is traced.

    Returns:
      The sum; a single input itself.

    Raises:
      ValueError: There are no inputs.

    Source: tf.math.add_n, OpDef "AddN".
    """
    tensors = [convert_to_tensor(v) for v in inputs] if isinstance(inputs, Iterable) else []
    if not tensors:
        raise ValueError(
            "Inputs must be an iterable of at least one Tensor/IndexedSlices with the same dtype "
            "and shape."
        )
    if len(tensors) == 1:
        return identity(tensors[0], name=name) if name else tensors[0]
    return raw.AddN(tensors, name=name)


def divide(x: TensorLike, y: TensorLike, name: Name = None) -> Tensor:
    """x / y as Python divides: integers as floats.

    Args:
      x: Any numeric dtype.
      y: The same dtype; the shapes broadcast.
      name: A name for the scope while a function is traced.

    Returns:
      The quotients; float64 of int32 and int64, float32 of shorter integers.

    Source: tf.math.divide.
    """
    if name is None:
        wanted = y.dtype if has_dtype(y) else None
        quotient: Tensor = (x if isinstance(x, Tensor) else convert_to_tensor(x, wanted)) / y
        return quotient
    with name_scope(name):
        return divide(x, y)


def truediv(x: TensorLike, y: TensorLike, name: Name = None) -> Tensor:
    """x / y as Python divides: integers as floats.

    Args:
      x: Any numeric dtype.
      y: The same dtype; the shapes broadcast.
      name: A name for the scope while a function is traced.

    Returns:
      The quotients; float64 of int32 and int64, float32 of shorter integers.

    Source: tf.math.truediv.
    """
    return divide(x, y, name)


def divide_no_nan(x: TensorLike, y: TensorLike, name: Name = None) -> Tensor:
    """x / y, element by element, and 0 where y is 0.

    Args:
      x: Any numeric dtype.
      y: The same dtype; the shapes broadcast.
      name: A name for the node while a function is traced.

    Returns:
      The quotients; float64 of int32 and int64, float32 of shorter integers.

    Source: tf.math.divide_no_nan, OpDef "DivNoNan".
    """
    dividend = convert_to_tensor(x, y.dtype if has_dtype(y) else None)
    divisor = convert_to_tensor(y, dividend.dtype)
    if dividend.dtype.is_integer:
        wide = float64 if dividend.dtype.size >= 4 else float32
        dividend, divisor = cast(dividend, wide), cast(divisor, wide)
    return raw.DivNoNan(dividend, divisor, name=name)


def equal(x: TensorLike, y: TensorLike, name: Name = None) -> Tensor:
    """x == y, element by element.

    Args:
      x: Any dtype.
      y: The same dtype; the shapes broadcast.
      name: A name for the node while a function is traced.

    Returns:
      bool.

    Source: tf.math.equal, OpDef "Equal".
    """
    return raw.Equal(x, y, name=name)


def not_equal(x: TensorLike, y: TensorLike, name: Name = None) -> Tensor:
    """x != y, element by element.

    Args:
      x: Any dtype.
      y: The same dtype; the shapes broadcast.
      name: A name for the node while a function is traced.

    Returns:
      bool.

    Source: tf.math.not_equal, OpDef "NotEqual".
    """
    return raw.NotEqual(x, y, name=name)


def logical_xor(x: TensorLike, y: TensorLike, name: Name = "LogicalXor") -> Tensor:
    """Whether one of x and y holds and the other does not.

    Args:
      x: bool.
      y: bool; the shapes broadcast.
      name: A name for the scope while a function is traced.

    Returns:
      bool.

    Source: tf.math.logical_xor.
    """
    with name_scope(name or "LogicalXor"):
        return raw.LogicalAnd(raw.LogicalOr(x, y), raw.LogicalNot(raw.LogicalAnd(x, y)))


def abs(x: TensorLike, name: Name = None) -> Tensor:
    """|x|, element by element; of complex numbers a real number.

    Args:
      x: Any signed dtype.
      name: A name for the node while a function is traced.

    Returns:
      The absolute values.

    Source: tf.math.abs, OpDefs "Abs" and "ComplexAbs".
    """
    tensor = convert_to_tensor(x)
    if tensor.dtype.is_complex:
        return raw.ComplexAbs(tensor, Tout=tensor.dtype.real_dtype, name=name)
    return raw.Abs(tensor, name=name)


def real(input: TensorLike, name: Name = None) -> Tensor:
    """The real part, element by element.

    Args:
      input: Any numeric dtype.
      name: A name for the node while a function is traced.

    Returns:
      The real dtype; a real input itself.

    Source: tf.math.real, OpDef "Real".
    """
    x = convert_to_tensor(input)
    return raw.Real(x, Tout=x.dtype.real_dtype, name=name) if x.dtype.is_complex else x


def imag(input: TensorLike, name: Name = None) -> Tensor:
    """The imaginary part, element by element.

    Args:
      input: Any numeric dtype.
      name: A name for the node while a function is traced.

    Returns:
      The real dtype; zeros for a real input.

    Source: tf.math.imag, OpDef "Imag".
    """
    x = convert_to_tensor(input)
    return raw.Imag(x, Tout=x.dtype.real_dtype, name=name) if x.dtype.is_complex else zeros_like(x)


def angle(input: TensorLike, name: Name = None) -> Tensor:
    """The angle of a complex number, element by element.

    Args:
      input: Any floating or complex dtype.
      name: A name for the node while a function is traced.

    Returns:
      The real dtype, in [-pi, pi]; 0 or pi for a real input.

    Source: tf.math.angle, OpDef "Angle".
    """
    x = convert_to_tensor(input)
    if x.dtype.is_complex:
        return raw.Angle(x, Tout=x.dtype.real_dtype, name=name)
    return where(x < 0, 3.141592653589793 * ones_like(x), zeros_like(x))


def conj(x: TensorLike, name: Name = None) -> Tensor:
    """The complex conjugate, element by element; a real number itself.

    Args:
      x: Any numeric dtype.
      name: A name for the node while a function is traced.

    Returns:
      The conjugates.

    Source: tf.math.conj, OpDef "Conj".
    """
    tensor = convert_to_tensor(x)
    return raw.Conj(tensor, name=name) if tensor.dtype.is_complex else tensor


def complex(real: TensorLike, imag: TensorLike, name: Name = None) -> Tensor:
    """Complex numbers of two real ones, element by element.

    Args:
      real: float32 or float64.
      imag: The same dtype; the shapes broadcast.
      name: A name for the node while a function is traced.

    Returns:
      complex64 or complex128.

    Source: tf.dtypes.complex, OpDef "Complex".
    """
    first = convert_to_tensor(real, None, None, "real")
    second = convert_to_tensor(imag, None, None, "imag")
    if first.dtype != second.dtype or first.dtype not in (float32, float64):
        raise TypeError(
            f"The `real` and `imag` components have incorrect types: {first.dtype.name} "
            f"{second.dtype.name}. They must be consistent, and one of {[float32, float64]}"
        )
    tout = "complex64" if first.dtype == float32 else "complex128"
    return raw.Complex(first, second, Tout=tout, name=name or "Complex")


def argmax(
    input: TensorLike, axis: TensorLike = None, output_type: DTypeLike = int64, name: Name = None
) -> Tensor:
    """The index of the largest element along an axis; of equal ones the first.

    Args:
      input: Any real dtype, or bool.
      axis: The axis; None means 0.
      output_type: int32 or int64.
      name: A name for the node while a function is traced.

    Returns:
      The indices; the input's shape without the axis.

    Source: tf.math.argmax, OpDef "ArgMax".
    """
    axis = 0 if axis is None else axis
    return raw.ArgMax(input, axis, output_type=as_dtype(output_type), name=name)


def argmin(
    input: TensorLike, axis: TensorLike = None, output_type: DTypeLike = int64, name: Name = None
) -> Tensor:
    """The index of the smallest element along an axis; of equal ones the first.

    Args:
      input: Any real dtype, or bool.
      axis: The axis; None means 0.
      output_type: int32 or int64.
      name: A name for the node while a function is traced.

    Returns:
      The indices; the input's shape without the axis.

    Source: tf.math.argmin, OpDef "ArgMin".
    """
    axis = 0 if axis is None else axis
    return raw.ArgMin(input, axis, output_type=as_dtype(output_type), name=name)


def cumsum(
    x: TensorLike,
    axis: TensorLike = 0,
    exclusive: bool = False,
    reverse: bool = False,
    name: Name = None,
) -> Tensor:
    """Sums up to each element along an axis.

    Args:
      x: Any numeric dtype.
      axis: The axis, negative counts from the end.
      exclusive: Leave out the element itself.
      reverse: Sum from the end.
      name: A name for the node while a function is traced.

    Returns:
      The sums, of x's shape.

    Source: tf.math.cumsum, OpDef "Cumsum".
    """
    return raw.Cumsum(x, axis, exclusive=exclusive, reverse=reverse, name=name)


def cumprod(
    x: TensorLike,
    axis: TensorLike = 0,
    exclusive: bool = False,
    reverse: bool = False,
    name: Name = None,
) -> Tensor:
    """Multiplies up to each element along an axis.

    Args:
      x: Any numeric dtype.
      axis: The axis, negative counts from the end.
      exclusive: Leave out the element itself.
      reverse: Multiply from the end.
      name: A name for the node while a function is traced.

    Returns:
      The products, of x's shape.

    Source: tf.math.cumprod, OpDef "Cumprod".
    """
    return raw.Cumprod(x, axis, exclusive=exclusive, reverse=reverse, name=name)


def log_sigmoid(x: TensorLike, name: Name = None) -> Tensor:
    """log(sigmoid(x)), element by element, without overflow.

    Args:
      x: Any floating dtype.
      name: A name for the scope while a function is traced.

    Returns:
      The logarithms.

    Source: tf.math.log_sigmoid.
    """
    with name_scope(name or "LogSigmoid"):
        return raw.Neg(raw.Softplus(raw.Neg(x)))


def scalar_mul(scalar: TensorLike, x: TensorLike, name: Name = None) -> Any:
    """Multiplies a tensor by a scalar.

    Args:
      scalar: A scalar of x's dtype.
      x: Any numeric dtype; IndexedSlices stay what they are.
      name: A name for the node while a function is traced.

    Returns:
      The products.

    Raises:
      ValueError: The scalar has dimensions.

    Source: tf.math.scalar_mul.
    """
    if isinstance(x, IndexedSlices):
        return x._with_values(scalar_mul(scalar, x.values, name))
    tensor = convert_to_tensor(x)
    factor = convert_to_tensor(scalar, tensor.dtype)
    if factor.shape.rank not in (None, 0):
        raise ValueError(f"The input scalar must be a 0-D value. Received shape {factor.shape}.")
    return raw.Mul(factor, tensor, name=name)


def accumulate_n(inputs: Sequence[TensorLike], shape: Any = None, name: Name = None) -> Tensor:
    """Sums tensors of one shape.

    Args:
      inputs: Tensors of one dtype and shape.
      shape: Their shape, if it is to be checked.
      name: A name for the node while a function is traced.

    Returns:
      The sum.

    Raises:
      ValueError: There are no inputs, or they have several dtypes.

    Source: tf.math.accumulate_n.
    """
    tensors = [convert_to_tensor(value) for value in inputs]
    if not tensors or any(tensor.dtype != tensors[0].dtype for tensor in tensors):
        raise ValueError(
            "inputs must be a list of at least one Tensor with the same dtype and shape"
        )
    result = add_n(tensors, name)
    if shape is not None:
        result.shape.assert_is_compatible_with(shape)
    return result
