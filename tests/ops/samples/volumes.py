"""Convolutions and pooling of volumes, and pooling that says where the largest elements stand.

TensorFlow is the reference.
"""

from typing import Any

import numpy as np

from ops.sample import FLOATS, REAL, REAL_FLOATS, Sample, Wrong, int32, int64

ONES = [1, 1, 1, 1, 1]
SHORT = ("float16", "bfloat16")
SHORT_TOLERANCE = {"float16": 2e-3, "bfloat16": 1.6e-2}


def _whole(*shape: int, seed: int = 1) -> Any:
    """Whole numbers of small size."""
    return np.random.default_rng(seed).integers(-4, 5, shape).tolist()


def _distinct(*shape: int) -> Any:
    numbers = np.random.default_rng(1).permutation(int(np.prod(shape)))
    return numbers.reshape(shape).astype(float).tolist()


def _rows(op: str, inputs: Any, dtypes: Any, small: Any = None, **attrs: Any) -> list[Sample]:
    return [
        Sample(
            op,
            inputs,
            None,
            (dtype,),
            attrs=attrs,
            tolerance=SHORT_TOLERANCE.get(dtype, 1e-6),
            smooth_at=small if dtype == "float64" else None,
        )
        for dtype in dtypes
    ]


def _convolutions(out: Any, dtypes: Any = REAL_FLOATS, **attrs: Any) -> list[Sample]:
    """[1, 3, 4, 3, 2] by [2, 2, 1, 2, 3], which is small enough for differences."""
    x, w, dy = _whole(1, 3, 4, 3, 2), _whole(2, 2, 1, 2, 3, seed=2), _whole(*out, seed=3)
    sizes = int32([1, 3, 4, 3, 2])
    by_filter = (x, int32([2, 2, 1, 2, 3]), dy)
    return [
        *_rows("Conv3D", (x, w), dtypes, (x, w), **attrs),
        *_rows("Conv3DBackpropInputV2", (sizes, w, dy), dtypes, (sizes, w, dy), **attrs),
        *_rows("Conv3DBackpropFilterV2", by_filter, dtypes, by_filter, **attrs),
    ]


def _large_convolutions() -> list[Sample]:
    """Cut into slabs of planes."""
    attrs: Any = {"strides": [1, 2, 1, 1, 1], "padding": "SAME"}
    x, w, dy = _whole(1, 17, 9, 10, 8), _whole(3, 3, 2, 8, 12, seed=2), _whole(1, 9, 9, 10, 12)
    return [
        *_rows("Conv3D", (x, w), REAL_FLOATS, **attrs),
        *_rows("Conv3DBackpropInputV2", (int64([1, 17, 9, 10, 8]), w, dy), REAL_FLOATS, **attrs),
        *_rows("Conv3DBackpropFilterV2", (x, int32([3, 3, 2, 8, 12]), dy), REAL_FLOATS, **attrs),
    ]


def _poolings(**attrs: Any) -> list[Sample]:
    x = np.array(_distinct(2, 3, 4, 3, 1))
    size, stride = np.array([1, 2, 2, 2, 1]), np.array(attrs["strides"])
    seen = np.array(x.shape) - (size - 1) * (attrs["padding"] == "VALID")
    out = tuple(int(count) for count in -(-seen // stride))
    dy, g = np.array(_whole(*out, seed=2)), np.array(_whole(*x.shape, seed=3))
    y, mean, picked = (np.zeros(out) for _ in range(3))
    of_max, of_mean = np.zeros(x.shape), np.zeros(x.shape)
    for place in np.ndindex(out):  # padding, of 1 at most, is behind the last element
        first = np.array(place) * stride
        box = tuple(slice(i, i + k) for i, k in zip(first, size, strict=True))
        y[place], mean[place] = x[box].max(), x[box].mean()
        picked[place] = g[box][x[box] == y[place]][0]
        of_max[box] += dy[place] * (x[box] == y[place])
        of_mean[box] += dy[place] / x[box].size
    image, dys, largest = x.tolist(), dy.tolist(), y.tolist()
    # float16, and float64, which TensorFlow does not have on a CPU.
    three, four = (*SHORT, "float32"), (*SHORT, *REAL_FLOATS)
    rows: Any = [
        ("MaxPool3D", (image,), y, three),
        ("MaxPool3DGrad", (image, largest, dys), of_max, three),
        ("MaxPool3DGradGrad", (image, largest, g.tolist()), picked, three),
        ("AvgPool3D", (image,), mean, four),
        ("AvgPool3DGrad", (int32(x.shape), dys), of_mean, four),
    ]
    return [
        Sample(
            op,
            inputs,
            lambda *_, result=result, **__: result,
            (dtype,),
            attrs={"ksize": size.tolist(), **attrs},
            tolerance=SHORT_TOLERANCE.get(dtype, 1e-6),
            smooth_at=inputs if dtype == "float64" else None,
            beside_tensorflow=""
            if dtype in ("bfloat16", "float32")
            else "bfloat16 and float32 only",
        )
        for op, inputs, result, dtypes in rows
        for dtype in dtypes
    ]


ARGMAX: Any = {"ksize": [1, 2, 3, 1], "strides": [1, 1, 2, 1], "padding": "SAME"}
IMAGE = _whole(2, 4, 5, 3)
SMALL_IMAGE = _distinct(1, 3, 4, 2)
PLACES = int64([[[[0], [2]], [[3], [5]]], [[[1], [1]], [[4], [4]]]])

SAMPLES = [
    *_convolutions((1, 2, 3, 3, 3), FLOATS, strides=ONES, padding="VALID"),
    *_convolutions((1, 2, 4, 2, 3), strides=[1, 2, 1, 2, 1], padding="SAME"),
    *_rows(
        "Conv3D",
        (_whole(2, 5, 6, 4, 2), _whole(2, 2, 2, 2, 3)),
        ("float32",),
        strides=ONES,
        padding="VALID",
        dilations=[1, 2, 1, 2, 1],
    ),
    *_large_convolutions(),
    *_poolings(strides=[1, 1, 2, 1, 1], padding="SAME"),
    *_poolings(strides=[1, 2, 1, 1, 1], padding="VALID"),
    Sample("MaxPoolWithArgmax", (IMAGE,), None, REAL, attrs=ARGMAX),
    Sample(
        "MaxPoolWithArgmax",
        (SMALL_IMAGE,),
        None,
        ("float64",),
        attrs={**ARGMAX, "include_batch_in_index": True, "Targmax": "int32"},
    ),
    Sample(
        "MaxPoolGradWithArgmax",
        (_whole(2, 2, 3, 1), _whole(2, 2, 2, 1, seed=2), PLACES),
        None,
        REAL,
        attrs={"ksize": [1, 1, 2, 1], "strides": [1, 1, 1, 1], "padding": "VALID"},
    ),
]

X3 = np.ones((1, 4, 4, 4, 2), np.float32)
WRONG = [
    Wrong(
        "Conv3D",
        (X3, np.ones((2, 2, 2, 3, 3), np.float32)),
        "input and filter must have the same depth: 2 vs 3",
        attrs={"strides": ONES, "padding": "SAME"},
    ),
    Wrong(
        "Conv3D",
        (X3, np.ones((2, 2, 2, 2, 3), np.float32)),
        "must specify 5 dimensions",
        attrs={"strides": [1, 1], "padding": "SAME"},
    ),
    Wrong(
        "MaxPool3D",
        (X3,),
        "not yet supported on the depth dimension",
        "UnimplementedError",
        {"ksize": [1, 1, 1, 1, 2], "strides": [1, 1, 1, 1, 2], "padding": "SAME"},
    ),
    Wrong(
        "MaxPool3DGrad",
        (X3, X3, X3[:, 1:]),
        "Expected grad shape to be [1,4,4,4,2], but got [1,3,4,4,2]",
        attrs={"ksize": ONES, "strides": ONES, "padding": "SAME"},
    ),
    Wrong(
        "AvgPoolGrad",
        (int32([11, 9, 78, 9]), np.ones((16, 16, 16, 16), np.float32)),
        "Expected grad shape to be [11,1,1,9]",
        attrs={"ksize": [1, 128, 128, 1], "strides": [1, 128, 128, 30], "padding": "SAME"},
        beside_tensorflow="it names an index",
    ),
    Wrong(
        "MaxPoolGradWithArgmax",
        (np.ones((2, 2, 3, 1), np.float32), np.ones((2, 2, 2, 1), np.float32), PLACES + 6),
        "outside of its image",
        attrs={"ksize": [1, 1, 2, 1], "strides": [1, 1, 1, 1], "padding": "VALID"},
        beside_tensorflow="it checks all images as one",
    ),
]
