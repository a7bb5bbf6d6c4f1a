"""Functions of numbers whose signature in TensorFlow is not that of one op."""

from __future__ import annotations

import builtins
from collections.abc import Iterable, Sequence
from numbers import Integral
from typing import Any

from graven import _engine
from graven import raw_ops as raw
from graven._axes import axes_apart
from graven._dtypes import as_dtype, float32, float64, int32, int64
from graven._dtypes import string as string_
from graven._functions import (
    cast,
    concat,
    gather,
    identity,
    ones_like,
    reduce_max,
    reduce_sum,
    reshape,
    shape,
    squeeze,
    transpose,
    where,
    zeros_like,
)
from graven._indexed_slices import IndexedSlices
from graven._scopes import name_scope
from graven._types import Axes, DTypeLike, Name, Tensor, TensorLike, has_dtype
from graven._unsupported import refuse, unsupported

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


def clip_by_value(
    t: TensorLike, clip_value_min: TensorLike, clip_value_max: TensorLike, name: Name = None
) -> Any:
    """Moves elements into an interval.

    Args:
      t: Any real dtype; IndexedSlices stay what they are, and each row is clipped by itself.
      clip_value_min: The lower end; broadcasts to t.
      clip_value_max: The upper end; broadcasts to t.
      name: A name for the node while a function is traced.

    Returns:
      The clipped elements.

    Source: tf.clip_by_value.
    """
    if isinstance(t, IndexedSlices):
        return t._with_values(clip_by_value(t.values, clip_value_min, clip_value_max, name))
    with name_scope(name or "clip_by_value") as scope:
        x = convert_to_tensor(t, None, None, "t")
        return raw.Maximum(raw.Minimum(x, clip_value_max), clip_value_min, name=scope or None)


def matmul(
    a: TensorLike,
    b: TensorLike,
    transpose_a: bool = False,
    transpose_b: bool = False,
    adjoint_a: bool = False,
    adjoint_b: bool = False,
    a_is_sparse: bool = False,
    b_is_sparse: bool = False,
    output_type: DTypeLike = None,
    grad_a: bool = False,
    grad_b: bool = False,
    name: Name = None,
) -> Tensor:
    """Multiplies matrices, or batches of them.

    Args:
      a: Any numeric dtype, shape [..., m, k].
      b: The same dtype, shape [..., k, n]; the batch dimensions broadcast.
      transpose_a: Take a as [..., k, m].
      transpose_b: Take b as [..., n, k].
      adjoint_a: Transpose a and take the complex conjugate.
      adjoint_b: Transpose b and take the complex conjugate.
      a_is_sparse: Accepted; a hint that changes no result.
      b_is_sparse: Accepted; a hint that changes no result.
      output_type: Refused unless None, which is the dtype of a.
      grad_a: Refused unless False.
      grad_b: Refused unless False.
      name: A name for the node while a function is traced.

    Returns:
      The products, shape [..., m, n].

    Raises:
      ValueError: A matrix is to be both transposed and adjoint.
      InvalidArgumentError: The inner dimensions differ.

    Source: tf.linalg.matmul, OpDefs "MatMul" and "BatchMatMulV2".
    """
    refuse("matmul", output_type=output_type, grad_a=grad_a, grad_b=grad_b)
    if transpose_a and adjoint_a:
        raise ValueError(
            f"Only one of `transpose_a` and `adjoint_a` can be True. Received `transpose_a`="
            f"{transpose_a}, `adjoint_a`={adjoint_a}."
        )
    if transpose_b and adjoint_b:
        raise ValueError(
            f"Only one of `transpose_b` and `adjoint_b` can be True. Received `transpose_b`="
            f"{transpose_b}, `adjoint_b`={adjoint_b}."
        )
    x = convert_to_tensor(a)
    y = convert_to_tensor(b, None, x.dtype)
    is_matrix = x.shape.rank in (None, 2) and y.shape.rank in (None, 2)
    if is_matrix and (x.shape.rank is not None or y.shape.rank is not None):
        if adjoint_a:
            x, transpose_a = conj(x), True
        if adjoint_b:
            y, transpose_b = conj(y), True
        return raw.MatMul(x, y, transpose_a=transpose_a, transpose_b=transpose_b, name=name)
    if transpose_a:
        x, adjoint_a = conj(x), True
    if transpose_b:
        y, adjoint_b = conj(y), True
    return raw.BatchMatMulV2(x, y, adj_x=adjoint_a, adj_y=adjoint_b, name=name or "MatMul")


def matvec(
    a: TensorLike,
    b: TensorLike,
    transpose_a: bool = False,
    adjoint_a: bool = False,
    a_is_sparse: bool = False,
    b_is_sparse: bool = False,
    name: Name = None,
) -> Tensor:
    """Multiplies matrices by vectors.

    Args:
      a: Any numeric dtype, shape [..., m, k].
      b: The same dtype, shape [..., k].
      transpose_a: Take a as [..., k, m].
      adjoint_a: Transpose a and take the complex conjugate.
      a_is_sparse: Accepted; a hint that changes no result.
      b_is_sparse: Accepted; a hint that changes no result.
      name: A name for the scope while a function is traced.

    Returns:
      The products, shape [..., m].

    Source: tf.linalg.matvec.
    """
    with name_scope(name or "MatVec"):
        x = convert_to_tensor(a)
        product = matmul(
            x,
            raw.ExpandDims(b, -1),
            transpose_a=transpose_a,
            adjoint_a=adjoint_a,
        )
        return squeeze(product, [-1])


def tensordot(a: TensorLike, b: TensorLike, axes: Any, name: Name = None) -> Tensor:
    """Sums products over axes of two tensors.

    Args:
      a: Any numeric dtype.
      b: The same dtype.
      axes: A number: that many last axes of a and first axes of b; or two lists of axes.
      name: A name for the scope while a function is traced.

    Returns:
      The sums, shape: the other axes of a, then those of b.

    Raises:
      ValueError: The axes do not fit the tensors.

    Source: tf.tensordot.
    """
    with name_scope(name or "Tensordot"):
        x = convert_to_tensor(a, None, None, "a")
        y = convert_to_tensor(b, None, None, "b")
        ranks = [x.shape.rank, y.shape.rank]
        if isinstance(axes, Integral):
            axes = int(axes)
            most = min((rank for rank in ranks if rank is not None), default=axes)
            if axes < 0 or axes > most:
                raise ValueError(f"`axes` of tensordot must be in [0, {most}], not {axes}")
            of_x, of_y = list(builtins.range(-axes, 0)), list(builtins.range(axes))
        else:
            of_x, of_y = ([int(i)] if isinstance(i, Integral) else list(i) for i in axes)
            for operand, rank, axes_of_it in zip("ab", ranks, (of_x, of_y), strict=True):
                if rank is not None and any(not -rank <= i < rank for i in axes_of_it):
                    raise ValueError(
                        f"`axes` of {operand} in tensordot must be in [{-rank}, {rank}), not "
                        f"{axes_of_it}"
                    )
        if len(of_x) != len(of_y):
            raise ValueError(f"tensordot needs as many axes of a as of b, not {axes}")
        (free_x, of_x), (free_y, of_y) = axes_apart(x, of_x), axes_apart(y, of_y)
        sizes_x, sizes_y = shape(x), shape(y)
        free = concat([_elements(sizes_x, free_x), _elements(sizes_y, free_y)], 0)
        inner = raw.Prod(_elements(sizes_x, of_x), 0)
        left = reshape(transpose(x, _joined(free_x, of_x)), raw.Pack([-1, inner]))
        right = reshape(transpose(y, _joined(of_y, free_y)), raw.Pack([inner, -1]))
        return reshape(matmul(left, right), free)


def _elements(sizes: Tensor, axes: Any) -> Tensor:
    return gather(sizes, convert_to_tensor(axes, int32))


def _joined(first: Any, second: Any) -> Any:
    return first + second if isinstance(first, list) else concat([first, second], 0)


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


def l2_normalize(
    x: TensorLike, axis: Axes = None, epsilon: float = 1e-12, name: Name = None
) -> Tensor:
    """Divides a tensor by its Euclidean norm along axes.

    Args:
      x: Any floating or complex dtype.
      axis: The axes; None means all.
      epsilon: The squared norm is at least this.
      name: A name for the scope while a function is traced.

    Returns:
      A tensor of x's shape.

    Source: tf.math.l2_normalize.
    """
    with name_scope(name or "l2_normalize") as scope:
        tensor = convert_to_tensor(x)
        if tensor.dtype.is_complex:
            parts = real(tensor), imag(tensor)
            squares = reduce_sum(raw.Square(parts[0]) + raw.Square(parts[1]), axis, True)
            factor = raw.Rsqrt(raw.Maximum(squares, epsilon))
            return complex(parts[0] * factor, parts[1] * factor, scope or None)
        squares = reduce_sum(raw.Square(tensor), axis, True)
        return raw.Mul(tensor, raw.Rsqrt(raw.Maximum(squares, epsilon)), name=scope or None)


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


def norm(
    tensor: TensorLike,
    ord: Any = "euclidean",
    axis: Axes = None,
    keepdims: bool = False,
    name: Name = None,
) -> Tensor:
    """The norm of vectors or, elementwise, of tensors.

    Args:
      tensor: Any floating or complex dtype.
      ord: "euclidean", 1, 2, a positive number or infinity. Norms of matrices other than
        "euclidean" ("fro") are refused.
      axis: The axes; None means all.
      keepdims: Keep the reduced axes, with size 1.
      name: A name for the scope while a function is traced.

    Returns:
      The norms.

    Raises:
      NotImplementedError: The norm is one of matrices.

    Source: tf.norm.
    """
    with name_scope(name or "norm"):
        x = convert_to_tensor(tensor)
        is_matrix = isinstance(axis, (list, tuple)) and len(axis) == 2
        if is_matrix and ord not in ("fro", "euclidean"):
            raise unsupported(f"tf.norm: Graven has no norm {ord!r} of matrices yet")
        if ord in ("fro", "euclidean", 2, 2.0):
            squares = x * conj(x)
            return raw.Sqrt(real(reduce_sum(squares, axis, keepdims)))
        sizes = abs(x)
        if ord in (1, 1.0):
            return reduce_sum(sizes, axis, keepdims)
        if ord == float("inf"):
            return reduce_max(sizes, axis, keepdims)
        if isinstance(ord, (int, float)) and ord > 0:
            return raw.Pow(reduce_sum(raw.Pow(sizes, ord), axis, keepdims), 1.0 / ord)
        raise ValueError(f"'ord' must be a supported vector norm, got {ord!r}")
