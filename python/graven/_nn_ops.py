"""Functions of neural networks whose signature in TensorFlow is not that of one op."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral
from typing import Any

from graven import _engine
from graven import raw_ops as raw
from graven._axes import moved_to_end, swapped_with_last
from graven._dtypes import bfloat16, bool_, float16, float32
from graven._dtypes import string as string_
from graven._engine import PublicFunction
from graven._functions import (
    cast,
    concat,
    conv2d,
    expand_dims,
    gather,
    one_hot,
    reduce_mean,
    reshape,
    shape,
    squeeze,
    transpose,
    uniform,
    where,
    zeros_like,
)
from graven._scopes import name_scope
from graven._types import Name, Tensor, TensorLike
from graven._unsupported import refuse, unsupported

convert_to_tensor = _engine.convert_to_tensor

__all__ = ["one_hot"]


def _is_last(x: Tensor, axis: int) -> bool:
    """Whether an axis, which is checked as far as the rank is known, is the last one."""
    known = x.shape.rank
    if axis == -1 or (known is not None and axis == known - 1):
        return True
    if known is not None and not -known <= axis < known:
        from graven.errors import InvalidArgumentError

        raise InvalidArgumentError(
            None,
            None,
            f"`dim` must be in the range [{-known}, {known}) where {known} is the "
            f"number of dimensions in the input. Received: dim={axis}",
        )
    return False


def _along_axis(op: str, logits: TensorLike, axis: int | None, name: Name) -> Tensor:
    x = convert_to_tensor(logits)
    function: PublicFunction = getattr(raw, op)
    if axis is None or _is_last(x, int(axis)):
        return function(x, name=name)
    order = swapped_with_last(x, int(axis))
    return transpose(function(transpose(x, order)), order, name=name or op)


def softmax(logits: TensorLike, axis: int | None = None, name: Name = None) -> Tensor:
    """exp(x) / sum(exp(x)) along an axis.

    Args:
      logits: Any floating dtype, at least one dimension.
      axis: The axis; None means the last.
      name: A name for the node while a function is traced.

    Returns:
      A tensor of the same shape that sums to 1 along the axis.

    Raises:
      InvalidArgumentError: There is no such axis.

    Source: tf.nn.softmax, OpDef "Softmax".
    """
    return _along_axis("Softmax", logits, axis, name)


def log_softmax(logits: TensorLike, axis: int | None = None, name: Name = None) -> Tensor:
    """x - log(sum(exp(x))) along an axis.

    Args:
      logits: Any floating dtype, at least one dimension.
      axis: The axis; None means the last.
      name: A name for the node while a function is traced.

    Returns:
      A tensor of the same shape.

    Raises:
      InvalidArgumentError: There is no such axis.

    Source: tf.nn.log_softmax, OpDef "LogSoftmax".
    """
    return _along_axis("LogSoftmax", logits, axis, name)


def relu6(features: TensorLike, name: Name = None) -> Tensor:
    """min(max(x, 0), 6), element by element.

    Args:
      features: Any real dtype.
      name: A name for the node while a function is traced.

    Returns:
      A tensor of the same shape.

    Source: tf.nn.relu6, OpDef "Relu6".
    """
    return raw.Relu6(features, name=name)


def leaky_relu(features: TensorLike, alpha: float = 0.2, name: Name = None) -> Tensor:
    """x where it is positive, alpha * x elsewhere.

    Args:
      features: Any floating dtype.
      alpha: The slope for negative numbers.
      name: A name for the node while a function is traced.

    Returns:
      A tensor of the same shape.

    Source: tf.nn.leaky_relu, OpDef "LeakyRelu".
    """
    x = convert_to_tensor(features)
    if x.dtype.is_integer:
        x = cast(x, float32)
    return raw.LeakyRelu(x, alpha=alpha, name=name)


def gelu(features: TensorLike, approximate: bool = False, name: Name = None) -> Tensor:
    """x times the probability that a standard normal number is below x.

    Args:
      features: Any floating dtype.
      approximate: Use tanh, as the paper that introduced it does.
      name: A name for the scope while a function is traced.

    Returns:
      A tensor of the same shape.

    Raises:
      ValueError: The dtype is not floating.

    Source: tf.nn.gelu; Hendrycks and Gimpel, arXiv:1606.08415.
    """
    with name_scope(name or "Gelu"):
        x = convert_to_tensor(features)
        if not x.dtype.is_floating:
            raise ValueError(
                f"`features.dtype` must be a floating point tensor. Received: {x.dtype}"
            )
        if approximate:
            inner = 0.7978845608028654 * (x + 0.044715 * raw.Pow(x, 3))
            return 0.5 * x * (1.0 + raw.Tanh(inner))
        return 0.5 * x * (1.0 + raw.Erf(x / cast(1.4142135623730951, x.dtype)))


def silu(features: TensorLike, beta: float = 1.0) -> Tensor:
    """x * sigmoid(beta * x), element by element.

    Args:
      features: Any floating dtype.
      beta: The slope inside.

    Returns:
      A tensor of the same shape.

    Source: tf.nn.silu.
    """
    x = convert_to_tensor(features)
    return x * raw.Sigmoid(x if beta == 1.0 else beta * x)


def softmax_cross_entropy_with_logits(
    labels: TensorLike, logits: TensorLike, axis: int = -1, name: Name = None
) -> Tensor:
    """-sum(labels * log_softmax(logits)) along an axis.

    Args:
      labels: Probabilities, of the shape and dtype of logits.
      logits: Any floating dtype.
      axis: The axis of the classes.
      name: A name for the scope while a function is traced.

    Returns:
      The losses; the shape without the axis.

    Raises:
      InvalidArgumentError: The shapes differ.

    Source: tf.nn.softmax_cross_entropy_with_logits, OpDef "SoftmaxCrossEntropyWithLogits".
    """
    with name_scope(name or "softmax_cross_entropy_with_logits"):
        x = convert_to_tensor(logits, None, None, "logits")
        p = convert_to_tensor(labels, None, x.dtype, "labels")
        short = x.dtype in (float16, bfloat16)
        wide = cast(x, float32) if short else x
        p = cast(p, wide.dtype)
        if not _is_last(wide, axis):
            order = moved_to_end(wide, axis)
            wide, p = transpose(wide, order), transpose(p, order)
        if wide.shape.rank == 2:
            loss, _ = raw.SoftmaxCrossEntropyWithLogits(wide, p)
        else:
            sizes = shape(wide)
            classes = sizes[-1:]
            flat = concat([[-1], classes], 0)
            loss, _ = raw.SoftmaxCrossEntropyWithLogits(reshape(wide, flat), reshape(p, flat))
            loss = reshape(loss, sizes[:-1])
        return cast(loss, x.dtype)


def sparse_softmax_cross_entropy_with_logits(
    labels: TensorLike, logits: TensorLike, name: Name = None
) -> Tensor:
    """-log_softmax(logits) at the label, along the last axis.

    Args:
      labels: int32 or int64, shape [d0, ..., dn].
      logits: Any floating dtype, shape [d0, ..., dn, classes].
      name: A name for the scope while a function is traced.

    Returns:
      The losses, shape [d0, ..., dn].

    Raises:
      ValueError: The ranks do not fit.
      InvalidArgumentError: A label is no class.

    Source: tf.nn.sparse_softmax_cross_entropy_with_logits.
    """
    with name_scope(name or "SparseSoftmaxCrossEntropyWithLogits") as scope:
        x = convert_to_tensor(logits)
        y = convert_to_tensor(labels)
        short = x.dtype in (float16, bfloat16)
        wide = cast(x, float32) if short else x
        n, m = x.shape.rank, y.shape.rank
        if n == 0:
            raise ValueError(f"`logits` cannot be a scalar. Received logits={logits}`")
        if n is not None and m is not None and m != n - 1:
            raise ValueError(
                "`labels.shape.rank` must equal `logits.shape.rank - 1`. Received: "
                f"labels.shape={y.shape} of rank {m} and logits.shape={x.shape} of rank {n}"
            )
        batch = x.shape[:-1]
        if batch.is_fully_defined() and y.shape.is_fully_defined() and batch != y.shape:
            raise ValueError(
                "`labels.shape` must equal `logits.shape` except for the last dimension. Received: "
                f"labels.shape={y.shape} and logits.shape={x.shape}"
            )
        if n == 2:
            loss, _ = raw.SparseSoftmaxCrossEntropyWithLogits(wide, y, name=scope or None)
        else:
            sizes = shape(wide)
            flat = reshape(wide, concat([[-1], sizes[-1:]], 0))
            loss, _ = raw.SparseSoftmaxCrossEntropyWithLogits(flat, reshape(y, [-1]))
            loss = reshape(loss, shape(y))
        return cast(loss, x.dtype)


def _logits_and_labels(logits: TensorLike, labels: TensorLike) -> tuple[Tensor, Tensor]:
    x = convert_to_tensor(logits, None, None, "logits")
    p = convert_to_tensor(labels, None, None, "labels")
    if not p.shape.is_compatible_with(x.shape):
        raise ValueError(
            f"`logits` and `labels` must have the same shape, received ({x.shape} vs {p.shape})."
        )
    return x, p


def sigmoid_cross_entropy_with_logits(
    labels: TensorLike = None, logits: TensorLike = None, name: Name = None
) -> Tensor:
    """The cross entropy of independent probabilities, without overflow.

    Args:
      labels: Probabilities, of the shape and dtype of logits.
      logits: Any floating dtype.
      name: A name for the scope while a function is traced.

    Returns:
      The losses, element by element.

    Raises:
      ValueError: The shapes differ.

    Source: tf.nn.sigmoid_cross_entropy_with_logits.
    """
    with name_scope(name or "logistic_loss") as scope:
        x, p = _logits_and_labels(logits, labels)
        zeros = zeros_like(x)
        is_positive = x >= zeros
        positive = where(is_positive, x, zeros)
        minus_size = where(is_positive, -x, x)
        return raw.AddV2(positive - x * p, raw.Log1p(raw.Exp(minus_size)), name=scope or None)


def bias_add(
    value: TensorLike, bias: TensorLike, data_format: str | None = None, name: Name = None
) -> Tensor:
    """Adds a vector along the channels.

    Args:
      value: Any numeric dtype, at least two dimensions.
      bias: The same dtype, shape [channels].
      data_format: "NHWC" (None, channels last) or "NCHW".
      name: A name for the node while a function is traced.

    Returns:
      The sums, of value's shape.

    Raises:
      ValueError: There is no such format.
      InvalidArgumentError: The sizes differ.

    Source: tf.nn.bias_add, OpDef "BiasAdd".
    """
    if data_format is not None and not (
        data_format.startswith("NC") or (data_format.startswith("N") and data_format.endswith("C"))
    ):
        raise ValueError(
            f"`data_format` must be of the form `N...C` or `NC...`. Received: "
            f"data_format={data_format}"
        )
    first = "NCHW" if data_format and data_format.startswith("NC") else "NHWC"
    return raw.BiasAdd(value, bias, data_format=first, name=name)


def _sizes(value: Any, count: int, channels_at: int, what: str) -> list[int]:
    """Sizes for batch, `count` spatial dimensions and channels, from a number or a list."""
    given = [int(value)] if isinstance(value, Integral) else [1] if value is None else list(value)
    if len(given) == 1:
        given *= count
    if len(given) == count:
        given.insert(0, 1)
        given.insert(channels_at, 1)
    if len(given) != count + 2:
        raise ValueError(
            f"{what} should be of length 1, {count} or {count + 2}. Received: {what}={value} of "
            f"length {len(given)}"
        )
    return given


def _padding(padding: Any) -> tuple[str, list[int]]:
    if isinstance(padding, str):
        return padding, []
    return "EXPLICIT", [int(size) for pair in padding for size in pair]


def _channels_at(data_format: str) -> int:
    if data_format in ("NHWC", "NCHW"):
        return data_format.index("C")
    raise ValueError(f"`data_format` must be 'NHWC' or 'NCHW'. Received: data_format={data_format}")


def conv1d(
    input: TensorLike,
    filters: TensorLike,
    stride: Any,
    padding: Any,
    data_format: str = "NWC",
    dilations: Any = None,
    name: Name = None,
) -> Tensor:
    """Convolves sequences with filters (which are not mirrored).

    Args:
      input: Any floating dtype, shape [batch, width, in].
      filters: The same dtype, shape [width, in / groups, out].
      stride: A number, or three in the order of data_format.
      padding: "VALID" or "SAME".
      data_format: "NWC" or "NCW".
      dilations: Like stride; None means 1.
      name: A name for the scope while a function is traced.

    Returns:
      The sequences, shape [batch, width, out].

    Raises:
      ValueError: data_format is another word.
      InvalidArgumentError: The sizes do not fit.

    Source: tf.nn.conv1d.
    """
    formats = {None: "NHWC", "NWC": "NHWC", "NCW": "NCHW"}
    if data_format not in formats:
        raise ValueError(
            f"`data_format` must be one of 'NWC' or 'NCW'. Received: data_format={data_format}"
        )
    height_at = 2 if data_format == "NCW" else 1
    channels_at = 1 if data_format == "NCW" else 2

    def beside_height(value: Any, what: str) -> list[int]:
        sizes = [int(value)] if isinstance(value, Integral) else list(value)
        if len(sizes) == 1:
            sizes = [1, sizes[0], 1] if channels_at == 2 else [1, 1, sizes[0]]
        if len(sizes) != 3:
            raise ValueError(f"{what} must hold 1 or 3 numbers, got {value}")
        return [*sizes[:height_at], 1, *sizes[height_at:]]

    with name_scope(name or "conv1d"):
        images = conv2d(
            raw.ExpandDims(input, height_at),
            raw.ExpandDims(filters, 0),
            beside_height(stride, "stride"),
            padding,
            formats[data_format],
            None if dilations is None else beside_height(dilations, "dilations"),
        )
        return raw.Squeeze(images, axis=[height_at])


def conv2d_transpose(
    input: TensorLike,
    filters: TensorLike,
    output_shape: TensorLike,
    strides: Any,
    padding: Any = "SAME",
    data_format: str = "NHWC",
    dilations: Any = None,
    name: Name = None,
) -> Tensor:
    """The gradient of conv2d for its input, as a function.

    Args:
      input: Any floating dtype, shape [batch, height, width, in].
      filters: The same dtype, shape [height, width, out, in].
      output_shape: The sizes of the result.
      strides: A number, two, or four in the order of data_format.
      padding: "VALID", "SAME", or [[0, 0], [top, bottom], [left, right], [0, 0]].
      data_format: "NHWC" or "NCHW".
      dilations: Like strides; None means 1.
      name: A name for the node while a function is traced.

    Returns:
      The images, of output_shape.

    Source: tf.nn.conv2d_transpose, OpDef "Conv2DBackpropInput".
    """
    at = _channels_at(data_format)
    kind, explicit = _padding(padding)
    return raw.Conv2DBackpropInput(
        output_shape,
        filters,
        input,
        strides=_sizes(strides, 2, at, "strides"),
        padding=kind,
        explicit_paddings=explicit,
        data_format=data_format,
        dilations=_sizes(dilations, 2, at, "dilations"),
        name=name or "conv2d_transpose",
    )


def depthwise_conv2d(
    input: TensorLike,
    filter: TensorLike,
    strides: Any,
    padding: Any,
    data_format: str | None = None,
    dilations: Any = None,
    name: Name = None,
) -> Tensor:
    """Convolves each channel of images with filters of its own.

    Args:
      input: Any floating dtype, shape [batch, height, width, in].
      filter: The same dtype, shape [height, width, in, multiplier].
      strides: Four numbers in the order of data_format.
      padding: "VALID", "SAME", or [[0, 0], [top, bottom], [left, right], [0, 0]].
      data_format: "NHWC" (None) or "NCHW".
      dilations: Two numbers; None means 1.
      name: A name for the node while a function is traced.

    Returns:
      The images, shape [batch, height, width, in * multiplier].

    Source: tf.nn.depthwise_conv2d, OpDef "DepthwiseConv2dNative".
    """
    data_format = data_format or "NHWC"
    at = _channels_at(data_format)
    kind, explicit = _padding(padding)
    return raw.DepthwiseConv2dNative(
        input,
        filter,
        strides=_sizes(strides, 2, at, "strides"),
        padding=kind,
        explicit_paddings=explicit,
        data_format=data_format,
        dilations=_sizes(dilations, 2, at, "dilations"),
        name=name or "depthwise",
    )


def max_pool2d(
    input: TensorLike,
    ksize: Any,
    strides: Any,
    padding: Any,
    data_format: str = "NHWC",
    name: Name = None,
) -> Tensor:
    """The largest element of each window of images.

    Args:
      input: Any real dtype, shape [batch, height, width, channels].
      ksize: The size of windows: a number, two, or four in the order of data_format.
      strides: Likewise.
      padding: "VALID", "SAME", or [[0, 0], [top, bottom], [left, right], [0, 0]].
      data_format: "NHWC" or "NCHW".
      name: A name for the node while a function is traced.

    Returns:
      The images.

    Source: tf.nn.max_pool2d, OpDef "MaxPool".
    """
    at = _channels_at(data_format)
    kind, explicit = _padding(padding)
    return raw.MaxPool(
        input,
        ksize=_sizes(ksize, 2, at, "ksize"),
        strides=_sizes(strides, 2, at, "strides"),
        padding=kind,
        explicit_paddings=explicit,
        data_format=data_format,
        name=name or "MaxPool2d",
    )


def _pooled_rows(
    pool: Callable[..., Tensor], input: TensorLike, ksize: Any, strides: Any, data_format: str,
    name: Name, **padding: Any,
) -> Tensor:  # fmt: skip
    """Pools sequences as images of one row."""
    data_format = data_format or "NWC"
    channels_at = 1 if data_format.startswith("NC") else 2
    row = 1 if data_format == "NWC" else 2
    images = pool(
        expand_dims(input, row),
        ksize=[1, *_sizes(ksize, 1, channels_at, "ksize")],
        strides=[1, *_sizes(strides, 1, channels_at, "strides")],
        data_format="NHWC" if data_format == "NWC" else "NCHW",
        name=name,
        **padding,
    )
    return squeeze(images, row)


def max_pool1d(
    input: TensorLike,
    ksize: Any,
    strides: Any,
    padding: Any,
    data_format: str = "NWC",
    name: Name = None,
) -> Tensor:
    """The largest element of each window of sequences.

    Args:
      input: Any real dtype, shape [batch, width, channels], or [batch, channels, width] for "NCW".
      ksize: The size of windows: a number, or three in the order of data_format.
      strides: Likewise.
      padding: "VALID", "SAME", or pairs of numbers in the order of data_format, such as
        [[0, 0], [left, right], [0, 0]].
      data_format: "NWC" or "NCW".
      name: A name for the scope while a function is traced.

    Returns:
      The sequences.

    Source: tf.nn.max_pool1d.
    """
    with name_scope(name or "MaxPool1d") as scope:
        kind, explicit = _padding(padding)
        explicit = [0, 0, *explicit] if explicit else []
        return _pooled_rows(
            raw.MaxPool, input, ksize, strides, data_format, scope or None, padding=kind,
            explicit_paddings=explicit,
        )  # fmt: skip


def avg_pool1d(
    input: TensorLike,
    ksize: Any,
    strides: Any,
    padding: str,
    data_format: str = "NWC",
    name: Name = None,
) -> Tensor:
    """The mean of each window of sequences.

    Args:
      input: Any floating dtype, shape [batch, width, channels], or [batch, channels, width] for
        "NCW".
      ksize: The size of windows: a number, or three in the order of data_format.
      strides: Likewise.
      padding: "VALID" or "SAME".
      data_format: "NWC" or "NCW".
      name: A name for the scope while a function is traced.

    Returns:
      The sequences.

    Source: tf.nn.avg_pool1d.
    """
    with name_scope(name or "AvgPool1D") as scope:
        return _pooled_rows(
            raw.AvgPool, input, ksize, strides, data_format, scope or None, padding=padding
        )


def avg_pool2d(
    input: TensorLike,
    ksize: Any,
    strides: Any,
    padding: str,
    data_format: str = "NHWC",
    name: Name = None,
) -> Tensor:
    """The mean of each window of images.

    Args:
      input: Any floating dtype, shape [batch, height, width, channels].
      ksize: The size of windows: a number, two, or four in the order of data_format.
      strides: Likewise.
      padding: "VALID" or "SAME".
      data_format: "NHWC" or "NCHW".
      name: A name for the node while a function is traced.

    Returns:
      The images.

    Source: tf.nn.avg_pool2d, OpDef "AvgPool".
    """
    at = _channels_at(data_format)
    return raw.AvgPool(
        input,
        ksize=_sizes(ksize, 2, at, "ksize"),
        strides=_sizes(strides, 2, at, "strides"),
        padding=padding,
        data_format=data_format,
        name=name or "AvgPool2D",
    )


def _only_images(function: str, input: Tensor) -> None:
    if input.shape.rank not in (None, 4):
        raise unsupported(
            f"tf.nn.{function}: Graven pools images only, not tensors of rank {input.shape.rank}"
        )


def max_pool(
    input: TensorLike,
    ksize: Any,
    strides: Any,
    padding: Any,
    data_format: str | None = None,
    name: Name = None,
) -> Tensor:
    """The largest element of each window; see max_pool2d.

    Args:
      input: Any real dtype, shape [batch, height, width, channels].
      ksize: The size of windows: a number, two, or four in the order of data_format.
      strides: Likewise.
      padding: "VALID", "SAME", or [[0, 0], [top, bottom], [left, right], [0, 0]].
      data_format: "NHWC" (None) or "NCHW".
      name: A name for the node while a function is traced.

    Returns:
      The images.

    Raises:
      NotImplementedError: The input has another rank.

    Source: tf.nn.max_pool, OpDef "MaxPool".
    """
    x = convert_to_tensor(input)
    _only_images("max_pool", x)
    return max_pool2d(x, ksize, strides, padding, data_format or "NHWC", name)


def avg_pool(
    input: TensorLike,
    ksize: Any,
    strides: Any,
    padding: str,
    data_format: str | None = None,
    name: Name = None,
) -> Tensor:
    """The mean of each window; see avg_pool2d.

    Args:
      input: Any floating dtype, shape [batch, height, width, channels].
      ksize: The size of windows: a number, two, or four in the order of data_format.
      strides: Likewise.
      padding: "VALID" or "SAME".
      data_format: "NHWC" (None) or "NCHW".
      name: A name for the node while a function is traced.

    Returns:
      The images.

    Raises:
      NotImplementedError: The input has another rank.

    Source: tf.nn.avg_pool, OpDef "AvgPool".
    """
    x = convert_to_tensor(input)
    _only_images("avg_pool", x)
    return avg_pool2d(x, ksize, strides, padding, data_format or "NHWC", name)


def batch_normalization(
    x: TensorLike,
    mean: TensorLike,
    variance: TensorLike,
    offset: TensorLike,
    scale: TensorLike,
    variance_epsilon: float,
    name: Name = None,
) -> Tensor:
    """(x - mean) / sqrt(variance + epsilon) * scale + offset.

    Args:
      x: Any floating dtype.
      mean: Broadcasts to x.
      variance: Broadcasts to x.
      offset: Broadcasts to x; None means 0.
      scale: Broadcasts to x; None means 1.
      variance_epsilon: Keeps the root away from 0.
      name: A name for the scope while a function is traced.

    Returns:
      A tensor of x's shape.

    Source: tf.nn.batch_normalization.
    """
    with name_scope(name or "batchnorm"):
        tensor = convert_to_tensor(x)
        spread = convert_to_tensor(variance)
        inverse = raw.Rsqrt(spread + variance_epsilon)
        if scale is not None:
            inverse = inverse * convert_to_tensor(scale)
        middle = (
            -convert_to_tensor(mean) * inverse
            if offset is None
            else (convert_to_tensor(offset) - convert_to_tensor(mean) * inverse)
        )
        return tensor * cast(inverse, tensor.dtype) + cast(middle, tensor.dtype)


def dropout(
    x: TensorLike, rate: Any, noise_shape: Any = None, seed: int | None = None, name: Name = None
) -> Tensor:
    """Sets elements to 0 at random, and scales up the others.

    Args:
      x: Any floating dtype.
      rate: The probability that an element is dropped, in [0, 1).
      noise_shape: The shape of the choice, which broadcasts to x; None means that of x.
      seed: A seed for this use.
      name: A name for the scope while a function is traced.

    Returns:
      A tensor of x's shape.

    Raises:
      ValueError: The rate is out of range, or x is not floating.

    Source: tf.nn.dropout.
    """
    from graven import _random_ops as random

    is_number = isinstance(rate, (int, float))
    if is_number and not 0 <= rate < 1:
        raise ValueError(
            f"`rate` must be a scalar tensor or a float in the range [0, 1). Received: rate={rate}"
        )
    with name_scope(name or "dropout"):
        tensor = convert_to_tensor(x, None, None, "x")
        if not tensor.dtype.is_floating:
            raise ValueError(
                f"`x.dtype` must be a floating point tensor as `x` will be scaled. Received: "
                f"x.dtype={tensor.dtype}"
            )
        if is_number and rate == 0:
            random.get_seed(seed)  # Later ops draw what they draw after any rate.
            return tensor
        wanted = convert_to_tensor(rate, tensor.dtype) if not is_number else rate
        scale = 1 / (1 - wanted)
        sizes = shape(tensor) if noise_shape is None else noise_shape
        keep = uniform(sizes, seed=seed, dtype=tensor.dtype) >= wanted
        return where(keep, tensor * scale, zeros_like(tensor))


def l2_loss(t: TensorLike, name: Name = None) -> Tensor:
    """sum(t ** 2) / 2.

    Args:
      t: Any floating dtype.
      name: A name for the node while a function is traced.

    Returns:
      A scalar.

    Source: tf.nn.l2_loss, OpDef "L2Loss".
    """
    return raw.L2Loss(t, name=name)


def zero_fraction(value: TensorLike, name: Name = None) -> Tensor:
    """The fraction of elements that are 0.

    Args:
      value: Any numeric dtype, bool, or string, of which an empty one counts as 0.
      name: A name for the scope while a function is traced.

    Returns:
      A float32 scalar.

    Source: tf.math.zero_fraction.
    """
    with name_scope(name or "zero_fraction"):
        x = convert_to_tensor(value)
        zero = "" if x.dtype == string_ else False if x.dtype == bool_ else 0
        return reduce_mean(cast(raw.Equal(x, zero), float32))


def weighted_cross_entropy_with_logits(
    labels: TensorLike, logits: TensorLike, pos_weight: TensorLike, name: Name = None
) -> Tensor:
    """The cross entropy of independent probabilities, in which those of 1 count more or less.

    Args:
      labels: Probabilities, of the shape and dtype of logits.
      logits: Any floating dtype.
      pos_weight: How much what is labelled 1 counts; broadcasts to logits.
      name: A name for the scope while a function is traced.

    Returns:
      The losses, element by element.

    Raises:
      ValueError: The shapes differ.

    Source: tf.nn.weighted_cross_entropy_with_logits.
    """
    with name_scope(name or "logistic_loss") as scope:
        x, p = _logits_and_labels(logits, labels)
        weight = 1 + (pos_weight - 1) * p
        # log(1 + exp(-x)) without overflow on either side.
        softened = raw.Log1p(raw.Exp(-raw.Abs(x))) + raw.Relu(-x)
        return raw.AddV2((1 - p) * x, weight * softened, name=scope or None)


def embedding_lookup(
    params: TensorLike, ids: TensorLike, max_norm: float | None = None, name: Name = None
) -> Tensor:
    """Takes rows of a table.

    Args:
      params: The table, shape [rows, ...]. A list of several is refused.
      ids: int32 or int64, of any shape.
      max_norm: Refused unless None.
      name: A name for the node while a function is traced.

    Returns:
      The rows, shape ids.shape + params.shape[1:].

    Raises:
      InvalidArgumentError: There is no such row.

    Source: tf.nn.embedding_lookup.
    """
    refuse("nn.embedding_lookup", max_norm=max_norm)
    if isinstance(params, (list, tuple)):
        if len(params) != 1:
            raise unsupported("tf.nn.embedding_lookup: Graven takes one table")
        params = params[0]
    return gather(params, ids, name=name or "embedding_lookup")


def log_poisson_loss(
    targets: TensorLike,
    log_input: TensorLike,
    compute_full_loss: bool = False,
    name: Name = None,
) -> Tensor:
    """exp(log_input) - targets * log_input: the loss of counts, but for a constant.

    Args:
      targets: Any floating dtype.
      log_input: The same dtype and shape.
      compute_full_loss: Refused unless False.
      name: A name for the scope while a function is traced.

    Returns:
      The losses.

    Source: tf.nn.log_poisson_loss.
    """
    refuse("nn.log_poisson_loss", compute_full_loss=compute_full_loss)
    with name_scope(name or "log_poisson_loss"):
        x = convert_to_tensor(log_input)
        return raw.Exp(x) - x * convert_to_tensor(targets, x.dtype)
