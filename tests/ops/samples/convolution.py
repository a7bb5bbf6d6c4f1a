"""Convolutions and pooling."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ops.sample import (
    REAL_FLOATS,
    Sample,
    Wrong,
    int32,
)

Array = NDArray[Any]

SHORT = ("float16", "bfloat16")
ALLOWED = {"float64": 1e-14, "float32": 1e-6, "float16": 1e-3, "bfloat16": 8e-3, "int32": 0.0}


def _image(*shape: int, seed: int = 1) -> Any:
    """Whole numbers of small size, of which sums are exact in every dtype."""
    return np.random.default_rng(seed).integers(-4, 5, shape).tolist()


def _padding(padding: str, size: int, window: int, stride: int, given: Any) -> tuple[int, int]:
    if padding == "SAME":
        out = -(-size // stride)
        total = max((out - 1) * stride + window - size, 0)
        return total // 2, total - total // 2
    return (int(given[0]), int(given[1])) if padding == "EXPLICIT" else (0, 0)


class _Windows:
    """The windows of an NHWC image: for each, its place in the output and the pixels it sees."""

    def __init__(self, shape: Any, size: Any, **attrs: Any) -> None:
        strides, dilations = attrs["strides"], attrs.get("dilations", [1, 1, 1, 1])
        given = np.reshape(attrs.get("explicit_paddings") or [0] * 8, (4, 2))
        spans = [(size[i] - 1) * dilations[i + 1] + 1 for i in (0, 1)]
        pads = [
            _padding(attrs["padding"], shape[i + 1], spans[i], strides[i + 1], given[i + 1])
            for i in (0, 1)
        ]
        self.out = tuple(
            (shape[i + 1] + sum(pads[i]) - spans[i]) // strides[i + 1] + 1 for i in (0, 1)
        )
        self.axes = []
        for i in (0, 1):
            starts = [place * strides[i + 1] - pads[i][0] for place in range(self.out[i])]
            taps = [(tap, tap * dilations[i + 1]) for tap in range(size[i])]
            self.axes.append(
                [
                    [(tap, start + by) for tap, by in taps if 0 <= start + by < shape[i + 1]]
                    for start in starts
                ]
            )

    def __iter__(self) -> Iterator[tuple[int, int, int, int, int, int]]:
        """Row and column of the output, of the window, and of the image."""
        for y, rows in enumerate(self.axes[0]):
            for x, columns in enumerate(self.axes[1]):
                for i, row in rows:
                    for j, column in columns:
                        yield y, x, i, j, row, column


def _grouped(filters: Array, groups: int) -> Array:
    """The filter of a convolution in groups as one of all channels, zero between the groups."""
    of_group, out = filters.shape[2], filters.shape[3] // groups
    dense = np.zeros((*filters.shape[:2], of_group * groups, filters.shape[3]), filters.dtype)
    for g in range(groups):
        part = slice(g * out, (g + 1) * out)
        dense[:, :, g * of_group : (g + 1) * of_group, part] = filters[:, :, :, part]
    return dense


def _conv2d(image: Array, filters: Array, **attrs: Any) -> Array:
    dense = _grouped(filters, image.shape[3] // filters.shape[2])
    windows = _Windows(image.shape, dense.shape, **attrs)
    result = np.zeros((image.shape[0], *windows.out, dense.shape[3]), image.dtype)
    for y, x, i, j, row, column in windows:
        result[:, y, x] += image[:, row, column] @ dense[i, j]
    return result


def _input_gradient(sizes: Array, filters: Array, dy: Array, **attrs: Any) -> Array:
    result = np.zeros(tuple(sizes), dy.dtype)
    dense = _grouped(filters, result.shape[3] // filters.shape[2])
    for y, x, i, j, row, column in _Windows(result.shape, dense.shape, **attrs):
        result[:, row, column] += dy[:, y, x] @ dense[i, j].T
    return result


def _filter_gradient(image: Array, sizes: Array, dy: Array, **attrs: Any) -> Array:
    result = np.zeros(tuple(sizes), dy.dtype)
    for y, x, i, j, row, column in _Windows(image.shape, result.shape, **attrs):
        result[i, j] += image[:, row, column].T @ dy[:, y, x]
    return result


def _depthwise(image: Array, filters: Array, **attrs: Any) -> Array:
    height, width, channels, multiplier = filters.shape
    return _conv2d(image, filters.reshape(height, width, 1, channels * multiplier), **attrs)


def _depthwise_input_gradient(sizes: Array, filters: Array, dy: Array, **attrs: Any) -> Array:
    height, width, channels, multiplier = filters.shape
    grouped = filters.reshape(height, width, 1, channels * multiplier)
    return _input_gradient(sizes, grouped, dy, **attrs)


def _depthwise_filter_gradient(image: Array, sizes: Array, dy: Array, **attrs: Any) -> Array:
    height, width, channels, multiplier = (int(size) for size in sizes)
    dense = _filter_gradient(image, np.array([height, width, channels, dy.shape[3]]), dy, **attrs)
    split = dense.reshape(height, width, channels, channels, multiplier)
    return np.asarray(np.einsum("hwccm->hwcm", split))


def _second(reference: Callable[..., Array], *images: int) -> Callable[..., Array]:
    """A reference for NHWC as one for NCHW: which inputs are images; -1 is the result."""

    def wrapped(*inputs: Array, **attrs: Any) -> Array:
        def last(numbers: Any) -> list[Any]:
            return [numbers[i] for i in (0, 2, 3, 1)]

        lists: dict[str, Any] = {
            key: last(attrs[key]) for key in ("strides", "dilations", "ksize") if key in attrs
        }
        moved = [np.moveaxis(x, 1, 3) if i in images else x for i, x in enumerate(inputs)]
        kept = {key: value for key, value in attrs.items() if key != "data_format"}
        return np.moveaxis(reference(*moved, **{**kept, **lists}), 3, 1)

    return wrapped


def _rows(op: str, inputs: Any, reference: Any, dtypes: Any, **attrs: Any) -> list[Sample]:
    return [
        Sample(
            op,
            inputs,
            reference,
            (dtype,),
            attrs=attrs,
            tolerance=ALLOWED[dtype],
            smooth_at=inputs if dtype == "float64" and _is_small(inputs) else None,
            beside_tensorflow=_refused_by_tensorflow(op, dtype, **attrs),
        )
        for dtype in dtypes
    ]


def _refused_by_tensorflow(op: str, dtype: str, **attrs: Any) -> str:
    """What its kernels for CPUs lack, those of oneDNN (float32) less than the others."""
    is_dilated = attrs.get("dilations", [1, 1, 1, 1]) != [1, 1, 1, 1]
    if op.startswith("Depthwise") and is_dilated:
        return "no dilations in depthwise convolutions"
    if op.startswith("Depthwise") and attrs["strides"][1] != attrs["strides"][2]:
        return "depthwise convolutions with equal strides only"
    if op.startswith("Conv2DBackprop") and is_dilated and dtype != "float32":
        return "no gradients of dilated convolutions"
    if attrs.get("data_format") == "NCHW" and dtype != "float32":
        return "NHWC only"
    return ""


def _is_small(inputs: Any) -> bool:
    """Differences take two calls for each element."""
    return all(np.size(value) <= 80 for value in inputs)


def _convolutions(dtypes: Any = REAL_FLOATS, **attrs: Any) -> list[Sample]:
    image, filters = _image(2, 5, 6, 4), _image(3, 2, 4, 3, seed=2)
    windows = _Windows((2, 5, 6, 4), (3, 2), **attrs)
    dy = _image(2, *windows.out, 3, seed=3)
    sizes, filter_sizes = int32([2, 5, 6, 4]), int32([3, 2, 4, 3])
    per_channel, of_channels = _image(3, 2, 4, 2, seed=4), _image(2, *windows.out, 8, seed=5)
    depthwise = "DepthwiseConv2dNative"
    return [
        *_rows("Conv2D", (image, filters), _conv2d, dtypes, **attrs),
        *_rows("Conv2D", (image, _image(3, 2, 2, 6, seed=6)), _conv2d, dtypes, **attrs),
        *_rows("Conv2DBackpropInput", (sizes, filters, dy), _input_gradient, dtypes, **attrs),
        *_rows(
            "Conv2DBackpropFilter", (image, filter_sizes, dy), _filter_gradient, dtypes, **attrs
        ),
        *_rows(depthwise, (image, per_channel), _depthwise, dtypes, **attrs),
        *_rows(
            f"{depthwise}BackpropInput",
            (sizes, per_channel, of_channels),
            _depthwise_input_gradient,
            dtypes,
            **attrs,
        ),
        *_rows(
            f"{depthwise}BackpropFilter",
            (image, int32([3, 2, 4, 2]), of_channels),
            _depthwise_filter_gradient,
            dtypes,
            **attrs,
        ),
    ]


def _small_convolutions(**attrs: Any) -> list[Sample]:
    """Small enough for differences."""
    image, sizes = _image(1, 4, 3, 2), int32([1, 4, 3, 2])
    out = _Windows((1, 4, 3, 2), (2, 2), **attrs).out
    filters, dy = _image(2, 2, 2, 3, seed=2), _image(1, *out, 3, seed=3)
    per_channel, of_channels = _image(2, 2, 2, 2, seed=4), _image(1, *out, 4, seed=5)
    filter_sizes, depthwise = int32([2, 2, 2, 3]), "DepthwiseConv2dNative"
    rows = [
        ("Conv2D", (image, filters), _conv2d),
        ("Conv2DBackpropInput", (sizes, filters, dy), _input_gradient),
        ("Conv2DBackpropFilter", (image, filter_sizes, dy), _filter_gradient),
        (depthwise, (image, per_channel), _depthwise),
        (
            f"{depthwise}BackpropInput",
            (sizes, per_channel, of_channels),
            _depthwise_input_gradient,
        ),
        (
            f"{depthwise}BackpropFilter",
            (image, int32([2, 2, 2, 2]), of_channels),
            _depthwise_filter_gradient,
        ),
    ]
    return [row for op, x, f in rows for row in _rows(op, x, f, REAL_FLOATS, **attrs)]


def _pool(f: Callable[[Array], Any]) -> Callable[..., Array]:
    def reference(image: Array, ksize: Any, **attrs: Any) -> Array:
        windows = _Windows(image.shape, ksize[1:3], **attrs)
        result = np.zeros((image.shape[0], *windows.out, image.shape[3]), image.dtype)
        for y, rows in enumerate(windows.axes[0]):
            for x, columns in enumerate(windows.axes[1]):
                pixels = image[:, [at for _, at in rows]][:, :, [at for _, at in columns]]
                result[:, y, x] = f(pixels.reshape(image.shape[0], -1, image.shape[3]))
        return result

    return reference


_max_pool = _pool(lambda window: window.max(1))
_avg_pool = _pool(lambda window: window.mean(1))


def _max_pool_grad(image: Array, _: Array, dy: Array, **attrs: Any) -> Array:
    result = np.zeros(image.shape, dy.dtype)
    for index, place in _largest(image, **attrs):
        result[place] += dy[index]
    return result


def _max_pool_grad_grad(image: Array, output: Array, dx: Array, **attrs: Any) -> Array:
    result = np.zeros(output.shape, dx.dtype)
    for index, place in _largest(image, **attrs):
        result[index] = dx[place]
    return result


def _largest(image: Array, ksize: Any, **attrs: Any) -> Iterator[tuple[Any, Any]]:
    """For each element of the output the first largest element of its window."""
    windows = _Windows(image.shape, ksize[1:3], **attrs)
    for y, rows in enumerate(windows.axes[0]):
        for x, columns in enumerate(windows.axes[1]):
            pixels = [(row, column) for _, row in rows for _, column in columns]
            for n in range(image.shape[0]):
                for c in range(image.shape[3]):
                    row, column = max(pixels, key=lambda at: image[n, at[0], at[1], c])
                    yield (n, y, x, c), (n, row, column, c)


def _avg_pool_grad(sizes: Array, dy: Array, ksize: Any, **attrs: Any) -> Array:
    result = np.zeros(tuple(sizes), dy.dtype)
    windows = _Windows(result.shape, ksize[1:3], **attrs)
    for y, x, _, _, row, column in windows:
        count = len(windows.axes[0][y]) * len(windows.axes[1][x])
        result[:, row, column] += dy[:, y, x] / count
    return result


def _poolings(**attrs: Any) -> list[Sample]:
    image, sizes = _image(2, 5, 6, 3), int32([2, 5, 6, 3])
    output = _max_pool(np.array(image), **attrs)
    dy, dx = _image(*output.shape, seed=2), _image(2, 5, 6, 3, seed=3)
    three = (image, output.tolist())
    real = ("float32", "float64", "int32", "int64", "int8")
    more = ("int16", "uint8", "uint16", "uint32", "uint64")
    above = [(np.array(value) + 4).tolist() for value in (image, output, dy, dx)]
    return [
        Sample("MaxPool", (above[0],), _max_pool, more[:3], attrs=attrs),
        Sample("MaxPoolGrad", (*above[:2], above[2]), _max_pool_grad, more, attrs=attrs),
        Sample("MaxPoolGradGrad", (*above[:2], above[3]), _max_pool_grad_grad, more, attrs=attrs),
        Sample("MaxPool", (image,), _max_pool, real + SHORT, attrs=attrs),
        Sample("MaxPoolGrad", (*three, dy), _max_pool_grad, real + SHORT, attrs=attrs),
        Sample("MaxPoolGradGrad", (*three, dx), _max_pool_grad_grad, real + SHORT, attrs=attrs),
        *_rows("AvgPool", (image,), _avg_pool, REAL_FLOATS + SHORT, **attrs),
        *_rows("AvgPoolGrad", (sizes, dy), _avg_pool_grad, REAL_FLOATS + SHORT, **attrs),
    ]


def _small_poolings(**attrs: Any) -> list[Sample]:
    """Small enough for differences, and no two elements are equal."""
    image = np.random.default_rng(1).permutation(40).reshape(1, 4, 5, 2).astype(np.float64)
    output, sizes = _max_pool(image, **attrs), int32(image.shape)
    dy = _image(*output.shape, seed=2)
    three = (image.tolist(), output.tolist())
    return [
        *_rows("MaxPool", (image.tolist(),), _max_pool, REAL_FLOATS, **attrs),
        *_rows("MaxPoolGrad", (*three, dy), _max_pool_grad, REAL_FLOATS, **attrs),
        *_rows(
            "MaxPoolGradGrad",
            (*three, _image(1, 4, 5, 2, seed=3)),
            _max_pool_grad_grad,
            REAL_FLOATS,
            **attrs,
        ),
        *_rows("AvgPool", (image.tolist(),), _avg_pool, REAL_FLOATS, **attrs),
        *_rows("AvgPoolGrad", (sizes, dy), _avg_pool_grad, REAL_FLOATS, **attrs),
    ]


ONES = [1, 1, 1, 1]
PADDED = {
    "ksize": [1, 3, 3, 1],
    "strides": [1, 2, 2, 1],
    "padding": "EXPLICIT",
    "explicit_paddings": [0, 0, 1, 0, 0, 2, 0, 0],
}
DEPTH = {"ksize": [1, 1, 1, 2], "strides": [1, 1, 1, 2], "padding": "VALID"}
SECOND = {
    "strides": [1, 1, 2, 1],
    "padding": "SAME",
    "data_format": "NCHW",
    "dilations": [1, 1, 1, 2],
}

SAMPLES = [
    *_convolutions(strides=ONES, padding="VALID"),
    *_convolutions((*REAL_FLOATS, *SHORT), strides=[1, 2, 1, 1], padding="SAME"),
    *_convolutions(strides=ONES, padding="SAME", dilations=[1, 2, 1, 1]),
    *_convolutions(
        strides=[1, 1, 2, 1], padding="EXPLICIT", explicit_paddings=[0, 0, 1, 2, 0, 1, 0, 0]
    ),
    *_rows(
        "Conv2D",
        (_image(1, 4, 5, 6), _image(2, 2, 4, 3, seed=2)),
        _second(_conv2d, 0),
        REAL_FLOATS,
        **SECOND,
    ),
    *_rows(
        "Conv2D",
        (_image(1, 4, 4, 2), _image(2, 2, 2, 3, seed=2)),
        _conv2d,
        ("int32",),
        strides=ONES,
        padding="SAME",
    ),
    *_small_convolutions(strides=[1, 2, 1, 1], padding="SAME"),
    *_small_convolutions(strides=ONES, padding="VALID", dilations=[1, 1, 2, 1]),
    *_poolings(ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding="VALID"),
    *_small_poolings(ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding="SAME"),
    *_small_poolings(ksize=[1, 3, 2, 1], strides=[1, 1, 2, 1], padding="VALID"),
    *_poolings(ksize=[1, 3, 2, 1], strides=[1, 2, 1, 1], padding="SAME"),
    Sample("MaxPool", (_image(1, 5, 5, 2),), _max_pool, attrs=PADDED),
    Sample(
        "MaxPool",
        (_image(1, 2, 2, 4),),
        lambda x, **_: x.reshape(1, 2, 2, 2, 2).max(4),
        attrs=DEPTH,
    ),
]


def _wrong(message: str, image: Any, filters: Any, **attrs: Any) -> Wrong:
    good = {"strides": ONES, "padding": "VALID"}
    inputs = (np.ones(image, np.float32), np.ones(filters, np.float32))
    return Wrong(
        "Conv2D",
        inputs,
        message,
        attrs={**good, **attrs},
        message_in_graph="Negative dimension size" if "negative: -2" in message else "",
        beside_tensorflow="it aborts" if len(image) < 4 else "",
    )


def _wrong_pool(message: str, error: str = "InvalidArgumentError", **attrs: Any) -> Wrong:
    good = {"ksize": [1, 2, 2, 1], "strides": [1, 2, 2, 1], "padding": "VALID"}
    return Wrong("MaxPool", (np.ones((1, 4, 4, 2)),), message, error, {**good, **attrs})


WRONG = [
    _wrong("input must be 4-dimensional: [4,4]", (4, 4), (2, 2, 2, 3)),
    _wrong("filter must be 4-dimensional: [4,4]", (1, 4, 4, 2), (4, 4)),
    _wrong(
        "input depth must be evenly divisible by filter depth: 2 vs 3", (1, 4, 4, 2), (2, 2, 3, 3)
    ),
    _wrong("Computed output size would be negative: -2", (1, 4, 4, 2), (7, 7, 2, 3)),
    _wrong("Stride must be > 0, but got 0", (1, 4, 4, 2), (2, 2, 2, 3), strides=[1, 0, 1, 1]),
    _wrong("must specify 4 dimensions", (1, 4, 4, 2), (2, 2, 2, 3), strides=[1, 1]),
    _wrong(
        "Dilated rates should be larger than 0", (1, 4, 4, 2), (2, 2, 2, 3), dilations=[1, 0, 1, 1]
    ),
    _wrong('got "LEFT"', (1, 4, 4, 2), (2, 2, 2, 3), padding="LEFT"),
    _wrong('got "CHWN"', (1, 4, 4, 2), (2, 2, 2, 3), data_format="CHWN"),
    _wrong(
        "must be nonnegative, but got -1",
        (1, 4, 4, 2),
        (2, 2, 2, 3),
        padding="EXPLICIT",
        explicit_paddings=[0, 0, -1, 0, 0, 0, 0, 0],
    ),
    _wrong_pool("ksize must be positive", ksize=[1, 0, 2, 1]),
    _wrong_pool("Stride must be > 0", strides=[1, 0, 2, 1]),
    _wrong_pool(
        "not yet supported on the batch dimension", "UnimplementedError", ksize=[2, 2, 2, 1]
    ),
]
