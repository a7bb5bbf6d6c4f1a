"""Functions of shapes and movement whose signature in TensorFlow is not that of one op."""

from __future__ import annotations

import builtins
import math
from collections.abc import Sequence
from numbers import Integral
from typing import Any, overload

from graven import _engine
from graven import raw_ops as raw
from graven._dtypes import DType, as_dtype, bool_, float32, int32, int64
from graven._dtypes import string as string_
from graven._functions import broadcast_to, expand_dims, reshape, squeeze
from graven._indexed_slices import IndexedSlices
from graven._scopes import name_scope
from graven._tensor_shape import TensorShape
from graven._trace_types import CompositeTensor
from graven._types import DTypeLike, Name, ShapeLike, Tensor, TensorLike
from graven._unsupported import refuse
from graven.errors import UnimplementedError

# Constants of up to this many elements stand in a graph as such; larger ones are filled at run
# time.
_MAX_CONSTANT = 1000

constant = _engine.constant
convert_to_tensor = _engine.convert_to_tensor


def _static_sizes(shape: ShapeLike) -> list[int] | None:
    """The sizes, if they are Python numbers."""
    if isinstance(shape, TensorShape):
        return [int(size or 0) for size in shape] if shape.is_fully_defined() else None
    if isinstance(shape, int):
        return [shape]
    if isinstance(shape, (list, tuple)) and all(isinstance(size, int) for size in shape):
        return list(shape)
    return None


def _with_tensors_as_sizes(shape: ShapeLike) -> ShapeLike:
    """The shape with numbers for its eager integer scalars, whose dtype then cuts no other size."""

    def is_size(size: Any) -> bool:
        return isinstance(size, int) or (
            isinstance(size, _engine.EagerTensor) and size.dtype.is_integer and size.shape.rank == 0
        )

    if isinstance(shape, (list, tuple)) and all(is_size(size) for size in shape):
        return [int(size) for size in shape]
    return shape


def _filled(value: Any, shape: ShapeLike, dtype: DTypeLike, name: str) -> Tensor:
    dtype = as_dtype(dtype)
    if _engine.executing_eagerly():
        shape = _with_tensors_as_sizes(shape)
    sizes = _static_sizes(shape)
    if sizes is not None:
        count = 1
        for size in sizes:
            if size < 0 and not _engine.executing_eagerly():
                raise ValueError(f"Dimension {size} must be >= 0")
            count *= size
        if count < _MAX_CONSTANT and not _engine.executing_eagerly():
            return constant(value, dtype, sizes, name)
    with name_scope(name) as scope:
        if isinstance(shape, TensorShape) and not shape.is_fully_defined():
            raise ValueError(
                f"A tensor needs a fully known shape, not {shape}: tf.shape(x) gives the sizes "
                "when the function runs"
            )
        dims = shape if isinstance(shape, Tensor) else sizes_tensor(shape)
        if dims.shape.rank == 0:  # The size of a vector.
            dims = raw.ExpandDims(dims, 0)
        return raw.Fill(dims, constant(value, dtype), name=scope)


def sizes_tensor(shape: ShapeLike) -> Tensor:
    """A shape as a vector of integers: int32, or int64 where a number does not fit."""
    sizes = _static_sizes(shape)
    if sizes is not None:
        fits = all(-(2**31) <= size < 2**31 for size in sizes)
        return constant(sizes, int32 if fits else int64)
    return convert_to_tensor(shape)


def zeros(
    shape: ShapeLike, dtype: DTypeLike = float32, name: Name = None, layout: Any = None
) -> Tensor:
    """Makes a tensor of zeros.

    Args:
      shape: The sizes: a list, a TensorShape or an integer tensor of shape [rank].
      dtype: Any dtype; strings are empty, bools False.
      name: A name for the node while a function is traced.
      layout: Refused unless None: Graven has one device.

    Returns:
      The zeros.

    Source: tf.zeros.
    """
    refuse("zeros", layout=layout)
    dtype = as_dtype(dtype)
    value: Any = False if dtype == bool_ else "" if dtype == string_ else 0
    return _filled(value, shape, dtype, name or "zeros")


def ones(
    shape: ShapeLike, dtype: DTypeLike = float32, name: Name = None, layout: Any = None
) -> Tensor:
    """Makes a tensor of ones.

    Args:
      shape: The sizes: a list, a TensorShape or an integer tensor of shape [rank].
      dtype: Any numeric dtype, or bool.
      name: A name for the node while a function is traced.
      layout: Refused unless None: Graven has one device.

    Returns:
      The ones.

    Source: tf.ones.
    """
    refuse("ones", layout=layout)
    dtype = as_dtype(dtype)
    return _filled(True if dtype == bool_ else 1, shape, dtype, name or "ones")


def zeros_like(
    input: TensorLike, dtype: DTypeLike = None, name: Name = None, layout: Any = None
) -> Tensor:
    """Makes zeros of the shape, and unless another is given the dtype, of a tensor.

    Args:
      input: Any dtype and shape.
      dtype: The dtype of the zeros; None means that of the input.
      name: A name for the node while a function is traced.
      layout: Refused unless None: Graven has one device.

    Returns:
      The zeros.

    Source: tf.zeros_like.
    """
    refuse("zeros_like", layout=layout)
    x = convert_to_tensor(input)
    wanted = x.dtype if dtype is None else as_dtype(dtype)
    if not _engine.executing_eagerly() and x.shape.is_fully_defined():
        return zeros(x.shape, wanted, name or "zeros_like")
    if wanted == x.dtype:
        return raw.ZerosLike(x, name=name or "zeros_like")
    return zeros(shape(x), wanted, name or "zeros_like")


def ones_like(
    input: TensorLike, dtype: DTypeLike = None, name: Name = None, layout: Any = None
) -> Tensor:
    """Makes ones of the shape, and unless another is given the dtype, of a tensor.

    Args:
      input: Any dtype and shape.
      dtype: The dtype of the ones; None means that of the input.
      name: A name for the node while a function is traced.
      layout: Refused unless None: Graven has one device.

    Returns:
      The ones.

    Source: tf.ones_like.
    """
    refuse("ones_like", layout=layout)
    x = convert_to_tensor(input)
    wanted = x.dtype if dtype is None else as_dtype(dtype)
    return ones(shape(x), wanted, name or "ones_like")


def fill(dims: ShapeLike, value: TensorLike, name: Name = None, layout: Any = None) -> Tensor:
    """Makes a tensor of one value.

    Args:
      dims: The sizes, integers of shape [rank].
      value: A scalar of any dtype.
      name: A name for the node while a function is traced.
      layout: Refused unless None: Graven has one device.

    Returns:
      A tensor of the value's dtype and the given sizes.

    Raises:
      InvalidArgumentError: The value is no scalar, or a size is negative.

    Source: tf.fill, OpDef "Fill".
    """
    refuse("fill", layout=layout)
    return raw.Fill(sizes_tensor(dims), value, name=name)


def shape(input: TensorLike, out_type: DTypeLike = None, name: Name = None) -> Tensor:
    """Returns the shape of a tensor as a tensor.

    Args:
      input: Any dtype, shape [d0, ..., dn].
      out_type: int32 (None) or int64.
      name: A name for the node while a function is traced.

    Returns:
      The sizes, shape [rank].

    Source: tf.shape, OpDef "Shape".
    """
    x = convert_to_tensor(input)
    wanted = as_dtype(out_type or int32)
    if not _engine.executing_eagerly() and x.shape.is_fully_defined():
        return constant(x.shape.as_list(), wanted, None, name or "Shape")
    return raw.Shape(x, out_type=wanted, name=name)


def size(input: TensorLike, out_type: DTypeLike = None, name: Name = None) -> Tensor:
    """Returns the number of elements of a tensor as a scalar.

    Args:
      input: Any dtype and shape.
      out_type: int32 (None) or int64.
      name: A name for the node while a function is traced.

    Returns:
      The number of elements.

    Source: tf.size, OpDef "Size".
    """
    x = convert_to_tensor(input)
    wanted = as_dtype(out_type or int32)
    if not _engine.executing_eagerly() and x.shape.is_fully_defined():
        return constant(x.shape.num_elements(), wanted, None, name or "Size")
    return raw.Size(x, out_type=wanted, name=name)


def rank(input: TensorLike, name: Name = None) -> Tensor:
    """Returns the number of dimensions of a tensor as an int32 scalar.

    Args:
      input: Any dtype and shape.
      name: A name for the node while a function is traced.

    Returns:
      The rank.

    Source: tf.rank, OpDef "Rank".
    """
    x = convert_to_tensor(input)
    if not _engine.executing_eagerly() and x.shape.rank is not None:
        return constant(x.shape.rank, int32, None, name or "Rank")
    return raw.Rank(x, name=name)


def is_tensor(x: Any) -> bool:
    """Tells whether a value is one of TensorFlow's: a tensor, a variable, or made of tensors.

    Args:
      x: Any object.

    Source: tf.is_tensor.
    """
    return isinstance(x, (Tensor, _engine.VariableBase, CompositeTensor)) or hasattr(
        type(x), "_as_graph_element"
    )


def concat(values: Sequence[TensorLike], axis: TensorLike, name: Name = "concat") -> Tensor:
    """Joins tensors along an axis.

    Args:
      values: Tensors of one dtype; their shapes agree but for the axis.
      axis: The axis, negative counts from the end.
      name: A name for the node while a function is traced.

    Returns:
      The joined tensor.

    Raises:
      InvalidArgumentError: Shapes do not agree, or there is no such axis.

    Source: tf.concat, OpDef "ConcatV2".
    """
    if not isinstance(values, (list, tuple)):
        values = [values]
    if len(values) == 1:
        return raw.Identity(values[0], name=name)
    return raw.ConcatV2(values, axis, name=name)


def stack(values: Sequence[TensorLike], axis: int = 0, name: Name = "stack") -> Tensor:
    """Puts tensors of one shape together along a new axis.

    Args:
      values: Tensors of one dtype and shape.
      axis: Where the new axis is, negative counts from the end of the result.
      name: A name for the node while a function is traced.

    Returns:
      A tensor with one dimension more.

    Raises:
      InvalidArgumentError: Shapes differ.
      ValueError: There is no such axis.

    Source: tf.stack, OpDef "Pack".
    """
    if axis == 0:
        try:
            return convert_to_tensor(values, name=name)
        except (TypeError, ValueError):
            pass  # Values that make no list of one dtype: the first one's dtype rules below.
    if not isinstance(values, (list, tuple)):
        values = list(values)
    rank = convert_to_tensor(values[0]).shape.rank if values else None
    if rank is not None and not -rank - 1 <= axis <= rank:
        raise ValueError(f"Argument `axis` = {axis} not in range [{-rank - 1}, {rank + 1})")
    return raw.Pack(values, axis=axis, name=name)


def where(
    condition: TensorLike, x: TensorLike = None, y: TensorLike = None, name: Name = None
) -> Tensor:
    """Chooses elements by a condition, or finds where it holds.

    Args:
      condition: bool; without x and y any numeric dtype.
      x: The elements where it holds. The three broadcast.
      y: The elements where it does not, of the dtype of x.
      name: A name for the node while a function is traced.

    Returns:
      The chosen elements; or, without x and y, the indices of those that are not 0, int64 of
      shape [count, rank].

    Raises:
      ValueError: Only one of x and y is given.

    Source: tf.where, OpDefs "SelectV2" and "Where".
    """
    if x is None and y is None:
        return raw.Where(convert_to_tensor(condition), name=name)
    if x is None or y is None:
        raise ValueError(
            f"Argument `x` and `y` must both be non-None or both be None. Received: x={x}, y={y}"
        )
    return raw.SelectV2(condition, x, y, name=name)


def gather(
    params: TensorLike,
    indices: TensorLike,
    validate_indices: bool | None = None,
    axis: TensorLike = None,
    batch_dims: int = 0,
    name: Name = None,
) -> Tensor:
    """Takes slices of a tensor along an axis.

    Args:
      params: The tensor to take from.
      indices: int32 or int64, of any shape.
      validate_indices: Accepted; indices are always checked, as by TensorFlow.
      axis: The axis; None means the first after the batch dimensions.
      batch_dims: How many leading dimensions of params and indices go together.
      name: A name for the node while a function is traced.

    Returns:
      The slices: params without the axis, and the dimensions of indices in its place.

    Raises:
      InvalidArgumentError: An index is outside of the axis.

    Source: tf.gather, OpDef "GatherV2".
    """
    axis = batch_dims if axis is None else axis
    if _reads_variable(params) and batch_dims == 0 and isinstance(axis, int) and axis == 0:
        return params.sparse_read(indices, name=name)  # type: ignore[no-any-return]
    return raw.GatherV2(params, indices, axis, batch_dims=batch_dims, name=name)


def _reads_variable(params: Any) -> bool:
    return not isinstance(params, Tensor) and hasattr(params, "sparse_read")


def gather_nd(
    params: TensorLike,
    indices: TensorLike,
    batch_dims: int = 0,
    name: Name = None,
    bad_indices_policy: str = "",
) -> Tensor:
    """Takes slices of a tensor at places given by several axes.

    Args:
      params: The tensor to take from.
      indices: int32 or int64, shape [..., depth]: the first `depth` axes of params.
      batch_dims: How many leading dimensions of params and indices go together.
      name: A name for the node while a function is traced.
      bad_indices_policy: Refused unless "": a bad index is an error.

    Returns:
      The slices, shape indices.shape[:-1] + params.shape[depth:].

    Raises:
      InvalidArgumentError: An index is outside of its axis.
      ValueError: batch_dims is negative, or not less than the rank of params or of indices.

    Source: tf.gather_nd, OpDef "GatherNd".
    """
    refuse("gather_nd", bad_indices_policy=bad_indices_policy or None)
    if batch_dims == 0:
        if not isinstance(params, Tensor) and hasattr(params, "gather_nd"):
            return params.gather_nd(indices, name=name)  # type: ignore[no-any-return]
        return raw.GatherNd(params, indices, name=name)
    if batch_dims < 0:
        raise ValueError("tf.gather_nd does not allow negative batch_dims.")
    with name_scope(name or "GatherNd"):
        x, places = convert_to_tensor(params), convert_to_tensor(indices)
        for tensor, label in ((places, "indices"), (x, "params")):
            if tensor.shape.rank is not None and batch_dims >= tensor.shape.rank:
                raise ValueError(
                    f"Argument `batch_dims` = {batch_dims} must be less than rank(`{label}`) = "
                    f"{tensor.shape.rank}"
                )
        sizes = shape(places, places.dtype)
        columns = []
        known = places.shape.rank
        if known is None:
            raise ValueError("tf.gather_nd with batch_dims needs indices of known rank")
        for axis in builtins.range(batch_dims):
            count = range(0, sizes[axis], dtype=places.dtype)
            to = [1] * known
            to[axis] = -1
            columns.append(broadcast_to(reshape(count, to), concat([sizes[:-1], [1]], 0)))
        return raw.GatherNd(x, concat([*columns, places], -1))


def tensor_scatter_nd_update(
    tensor: TensorLike, indices: TensorLike, updates: TensorLike, name: Name = None
) -> Tensor:
    """Replaces slices of a tensor, in a copy of it.

    Args:
      tensor: Any dtype.
      indices: int16, int32 or int64, shape [..., depth]: the first `depth` axes of the tensor.
      updates: The slices, shape indices.shape[:-1] + tensor.shape[depth:].
      name: A name for the node while a function is traced.

    Returns:
      A tensor of the same shape.

    Raises:
      InvalidArgumentError: An index is outside of its axis, or the shapes do not fit.

    Source: tf.tensor_scatter_nd_update, OpDef "TensorScatterUpdate".
    """
    return raw.TensorScatterUpdate(tensor, indices, updates, name=name)


def one_hot(
    indices: TensorLike,
    depth: TensorLike,
    on_value: TensorLike = None,
    off_value: TensorLike = None,
    axis: int | None = None,
    dtype: DTypeLike = None,
    name: Name = None,
) -> Tensor:
    """Makes vectors that are off everywhere but at an index.

    Args:
      indices: uint8, int8, int32 or int64, of any shape; one outside of the depth is off
        everywhere.
      depth: The length of the vectors.
      on_value: What stands at the index, 1 by default.
      off_value: What stands elsewhere, 0 by default.
      axis: Where the new axis is; None means last.
      dtype: The dtype; None means that of the values, float32 without any.
      name: A name for the node while a function is traced.

    Returns:
      A tensor with one dimension more than indices.

    Raises:
      TypeError: The values have other dtypes than the one asked for.

    Source: tf.one_hot, OpDef "OneHot".
    """
    with name_scope(name or "one_hot") as scope:
        on, off = (
            None if value is None else convert_to_tensor(value, None, dtype)
            for value in (on_value, off_value)
        )
        given = on if on is not None else off
        wanted = as_dtype(dtype if dtype is not None else float32 if given is None else given.dtype)
        if on is None:
            on = constant(True if wanted == bool_ else 1, wanted, None, "on_value")
        if off is None:
            off = constant(False if wanted == bool_ else 0, wanted, None, "off_value")
        for value, label in ((on, "on_value"), (off, "off_value")):
            if value.dtype != wanted:
                raise TypeError(
                    f"dtype {value.dtype!r} of {label} does not match dtype {wanted!r} of one_hot"
                )
        axis = -1 if axis is None else axis
        return raw.OneHot(indices, depth, on, off, axis=axis, name=scope or None)


def range(
    start: TensorLike,
    limit: TensorLike = None,
    delta: TensorLike = 1,
    dtype: DTypeLike = None,
    name: Name = "range",
) -> Tensor:
    """Makes the numbers from a start to before a limit.

    Args:
      start: The first number; the limit if it is the only one given.
      limit: Where to stop.
      delta: The step, not 0.
      dtype: The dtype; None means the widest of int32, int64, float32 and float64 among the
        arguments.
      name: A name for the node while a function is traced.

    Returns:
      The numbers, a vector.

    Raises:
      InvalidArgumentError: The step is 0, or leads away from the limit.

    Source: tf.range, OpDef "Range".
    """
    if limit is None:
        start, limit = 0, start
    with name_scope(name or "range") as scope:
        parts = []
        wanted = None if dtype is None else as_dtype(dtype)
        for value, label in ((start, "start"), (limit, "limit"), (delta, "delta")):
            parts.append(
                value
                if isinstance(value, Tensor)
                else convert_to_tensor(value, wanted, None, label)
            )
        order = ["int32", "int64", "float32", "float64"]
        if wanted is None:
            for part in parts:
                if part.dtype.name not in order:
                    raise ValueError(f"tf.range takes no {part.dtype.name}")
            wanted = max((part.dtype for part in parts), key=lambda t: order.index(t.name))
        parts = [part if part.dtype == wanted else cast(part, wanted) for part in parts]
        return raw.Range(parts[0], parts[1], parts[2], name=scope or None)


def _check_cast(x: Tensor, wanted: DType) -> None:
    if x.dtype != wanted and string_ in (x.dtype, wanted):
        raise UnimplementedError(
            None, None, f"Cast {x.dtype.name} to {wanted.name} is not supported"
        )


@overload
def cast(x: IndexedSlices, dtype: DTypeLike, name: Name = None) -> IndexedSlices: ...
@overload
def cast(x: TensorLike, dtype: DTypeLike, name: Name = None) -> Tensor: ...
def cast(x: TensorLike | IndexedSlices, dtype: DTypeLike, name: Name = None) -> Any:
    """Converts the elements of a tensor to another dtype.

    Args:
      x: Any numeric dtype or bool; IndexedSlices stay what they are.
      dtype: The dtype wanted; floats are cut off on the way to integers.
      name: A name for the node while a function is traced.

    Returns:
      x itself if it has the dtype, else the converted elements.

    Raises:
      UnimplementedError: Strings cannot be cast.

    Source: tf.cast, OpDef "Cast".
    """
    wanted = as_dtype(dtype)
    if isinstance(x, Tensor):
        _check_cast(x, wanted)
        return x if x.dtype == wanted else raw.Cast(x, DstT=wanted, name=name)
    if isinstance(x, IndexedSlices):
        return x._with_values(cast(x.values, wanted, name))
    with name_scope(name or "Cast") as scope:
        tensor = convert_to_tensor(x, None, None, "x")
        _check_cast(tensor, wanted)
        return (
            tensor if tensor.dtype == wanted else raw.Cast(tensor, DstT=wanted, name=scope or None)
        )


# How many bits of an integer a float holds.
_PRECISION = {"bfloat16": 8, "float16": 11, "float32": 24, "float64": 53}


def _limit(value: Any, x: DType) -> Any:
    """What dtype x holds that is nearest to a limit of another dtype, from the side of zero."""
    if not x.is_floating:
        return value
    size = abs(int(value if isinstance(value, Integral) else float(value)))
    dropped = max(0, size.bit_length() - _PRECISION[x.name])
    return math.copysign(float(size >> dropped << dropped), value)


def _clipped(x: Tensor, wanted: DType) -> Tensor:
    """The elements of a real tensor, no further from zero than a real dtype goes."""
    if not x.dtype.is_floating and x.dtype == wanted:
        return x
    low = _limit(max(x.dtype.min, wanted.min), x.dtype)
    high = _limit(min(x.dtype.max, wanted.max), x.dtype)
    return raw.Minimum(raw.Maximum(x, constant(low, x.dtype)), constant(high, x.dtype))


def saturate_cast(value: TensorLike, dtype: DTypeLike, name: Name = None) -> Tensor:
    """Converts to another dtype; what it cannot hold becomes its largest or smallest value.

    The largest and smallest are those that the dtype of the value holds too, so that a float32
    of 1e10 becomes the int32 2147483520. Infinities become finite. Where TensorFlow's cast of
    large floats to 64 bits overflows nevertheless, the limit is given here.

    Args:
      value: Any numeric dtype; of complex numbers real dtypes take the real part.
      dtype: The numeric dtype wanted.
      name: A name for the node while a function is traced.

    Returns:
      The converted elements.

    Raises:
      TypeError: One of the dtypes has no limits: bool or string.

    Source: tf.saturate_cast.
    """
    wanted = as_dtype(dtype)
    with name_scope(name or "saturate_cast"):
        x = convert_to_tensor(value)
        for each in (x.dtype, wanted):
            if not (each.is_integer or each.is_floating or each.is_complex):
                raise TypeError(f"Cannot find minimum value of {each!r}.")
        if x.dtype.is_complex and not wanted.is_complex:
            x = raw.Real(input=x, Tout=x.dtype.real_dtype)
        if not x.dtype.is_complex:
            return cast(_clipped(x, wanted.real_dtype), wanted)
        own, real = x.dtype.real_dtype, wanted.real_dtype
        if own.max > real.max:
            parts = (raw.Real(input=x, Tout=own), raw.Imag(input=x, Tout=own))
            x = raw.Complex(
                real=_clipped(parts[0], real), imag=_clipped(parts[1], real), Tout=x.dtype
            )
        return cast(x, wanted)


def boolean_mask(
    tensor: TensorLike, mask: TensorLike, axis: TensorLike = None, name: Name = "boolean_mask"
) -> Tensor:
    """Keeps the slices of a tensor for which a mask holds.

    Args:
      tensor: Any dtype.
      mask: bool, its shape the sizes of the dimensions from the axis on.
      axis: The first dimension that the mask is for; None means 0.
      name: A name for the node while a function is traced.

    Returns:
      The slices, in order, along one dimension.

    Raises:
      ValueError: The mask is a scalar, or its shape does not fit.

    Source: tf.boolean_mask.
    """
    with name_scope(name or "boolean_mask"):
        x = convert_to_tensor(tensor, None, None, "tensor")
        where_ = convert_to_tensor(mask, None, None, "mask")
        depth = where_.shape.rank
        if depth == 0:
            raise ValueError("mask cannot be scalar.")
        if depth is None:
            raise ValueError(
                "Number of mask dimensions must be specified, even if some dimensions are None."
            )
        first: Any = 0 if axis is None else axis
        if not isinstance(first, Tensor) or _engine.executing_eagerly():
            first = int(first)
            if first < 0:
                first += rank(x) if x.shape.rank is None else x.shape.rank
        if isinstance(first, int):
            x.shape[first : first + depth].assert_is_compatible_with(where_.shape)
        sizes = shape(x)
        masked = raw.Prod(sizes[first : first + depth], [0], keep_dims=True)
        flat = reshape(x, concat([sizes[:first], masked, sizes[first + depth :]], 0))
        indices = squeeze(raw.Where(reshape(where_, [-1])), [1])
        return gather(flat, indices, axis=first)


def eye(
    num_rows: TensorLike,
    num_columns: TensorLike = None,
    batch_shape: Any = None,
    dtype: DTypeLike = float32,
    name: Name = None,
) -> Tensor:
    """Makes a matrix with ones on its diagonal.

    Args:
      num_rows: The number of rows.
      num_columns: The number of columns; None means as many as rows.
      batch_shape: Sizes of dimensions in front.
      dtype: Any numeric dtype.
      name: A name for the node while a function is traced.

    Returns:
      The matrix, or a batch of them.

    Source: tf.eye.
    """
    with name_scope(name or "eye"):
        columns = num_rows if num_columns is None else num_columns
        equal = raw.Equal(expand_dims(range(num_rows), 1), expand_dims(range(columns), 0))
        matrix = cast(equal, dtype)
        if batch_shape is None or (isinstance(batch_shape, (list, tuple)) and not batch_shape):
            return matrix
        return broadcast_to(matrix, concat([batch_shape, shape(matrix)], 0))


def strided_slice(
    input_: TensorLike,
    begin: TensorLike,
    end: TensorLike,
    strides: TensorLike = None,
    begin_mask: int = 0,
    end_mask: int = 0,
    ellipsis_mask: int = 0,
    new_axis_mask: int = 0,
    shrink_axis_mask: int = 0,
    var: Any = None,
    name: Name = None,
) -> Tensor:
    """Takes a piece of a tensor with strides: what x[begin:end:strides] does.

    Args:
      input_: Any dtype.
      begin: Where it starts, for each dimension.
      end: Where it ends.
      strides: The steps, not 0; None means 1.
      begin_mask: Bit i: begin[i] is ignored.
      end_mask: Bit i: end[i] is ignored.
      ellipsis_mask: Bit i: an ellipsis stands there.
      new_axis_mask: Bit i: a new dimension stands there.
      shrink_axis_mask: Bit i: the dimension is dropped.
      var: Refused unless None.
      name: A name for the node while a function is traced.

    Returns:
      The piece.

    Source: tf.strided_slice, OpDef "StridedSlice".
    """
    refuse("strided_slice", var=var)
    first = convert_to_tensor(begin)
    return raw.StridedSlice(
        input_,
        first,
        end,
        ones_like(first) if strides is None else strides,
        begin_mask=begin_mask,
        end_mask=end_mask,
        ellipsis_mask=ellipsis_mask,
        new_axis_mask=new_axis_mask,
        shrink_axis_mask=shrink_axis_mask,
        name=name,
    )


@overload
def identity(input: IndexedSlices, name: Name = None) -> IndexedSlices: ...
@overload
def identity(input: TensorLike, name: Name = None) -> Tensor: ...
def identity(input: TensorLike | IndexedSlices, name: Name = None) -> Any:
    """Returns a tensor of the same value, which is another node while a function is traced.

    Args:
      input: Any dtype and shape; IndexedSlices stay what they are.
      name: A name for the node.

    Returns:
      The tensor.

    Source: tf.identity, OpDef "Identity".
    """
    if isinstance(input, IndexedSlices):
        return input._with_values(identity(input.values, name))
    return raw.Identity(input, name=name)


@overload
def stop_gradient(input: IndexedSlices, name: Name = None) -> IndexedSlices: ...
@overload
def stop_gradient(input: TensorLike, name: Name = None) -> Tensor: ...
def stop_gradient(input: TensorLike | IndexedSlices, name: Name = None) -> Any:
    """Returns a tensor of the same value, through which no gradient flows back.

    Args:
      input: Any dtype and shape; IndexedSlices stay what they are.
      name: A name for the node.

    Returns:
      The tensor.

    Source: tf.stop_gradient, OpDef "StopGradient".
    """
    if isinstance(input, IndexedSlices):
        return input._with_values(stop_gradient(input.values, name))
    return raw.StopGradient(input, name=name)


def identity_n(input: Sequence[TensorLike], name: Name = None) -> list[Tensor]:
    """Returns tensors of the same values, by one node while a function is traced.

    Args:
      input: Tensors of any dtypes and shapes.
      name: A name for the node.

    Returns:
      The tensors.

    Source: tf.identity_n, OpDef "IdentityN".
    """
    return list(raw.IdentityN(input, name=name))
