"""Constants, shapes, lists of tensors, joins, and sums over segments."""

from typing import Any

import numpy as np

from ops.sample import (
    COMPLEX,
    PLAIN,
    REAL,
    ListOf,
    Sample,
    Wrong,
    float32,
    int32,
)
from ops.setups import of_constant

MATRIX = [[1, 2, 3], [4, 5, 6]]
STRINGS = ["a", "bc", ""]


def _ints(*values: Any) -> Any:
    return np.array(values, np.int32)


def _scalar(value: int, dtype: Any = np.int32) -> Any:
    return np.array(value, dtype)


def _joined(values: Any, axis: Any) -> Any:
    return np.concatenate(values, int(axis))


def _summed_axes(a: Any, b: Any) -> Any:
    """The axes of two shapes that broadcast along which each has size 1, or is not there."""
    rank = max(len(a), len(b))
    shapes = [[1] * (rank - len(s)) + list(s) for s in (a, b)]
    return tuple(np.array([i for i, n in enumerate(s) if n == 1], a.dtype) for s in shapes)


def _segments(data: Any, ids: Any, count: Any) -> Any:
    rows = data.reshape(-1, *data.shape[ids.ndim :])
    out = np.zeros((int(count), *rows.shape[1:]), data.dtype)
    for row, i in zip(rows, ids.ravel(), strict=True):
        if i >= 0:
            out[i] += row
    return out


DATA = [[1, 2], [3, 4], [5, 6], [7, 8]]
OF_PAIRS = np.array([[1, 0, 1, -1], [0, 0, 2, 1]], np.int32)
IDS = _ints(2, 0, -1, 2)

SAMPLES = [
    *[
        Sample("Const", (value,), f, dtypes, setup=of_constant,
               beside_tensorflow="its eager mode does not run the op itself")
        for value, f, dtypes in (
            (MATRIX, lambda x: x, PLAIN),
            (STRINGS, lambda x: np.array([b"a", b"bc", b""], object), ("string",)),
            (np.zeros((2, 0)), lambda x: x, ("float64",)),
            (3, lambda x: x, ("int32", "float32")),
        )
    ],
    Sample("IdentityN", (ListOf((MATRIX, [1, 2])),), lambda x: tuple(x), PLAIN),
    Sample("IdentityN", ([float32([1]), int32([[2, 3]]), np.array(True)],),
           lambda x: tuple(x),
           smooth_at=([np.array([0.5, 1.0]), np.array([[2.0, 3.0]])],)),
    Sample("ShapeN", (ListOf((MATRIX, [1, 2], 3)),),
           lambda x: tuple(np.array(v.shape) for v in x), PLAIN),
    Sample("ShapeN", (ListOf((STRINGS, [["a"]])),),
           lambda x, out_type: tuple(np.array(v.shape) for v in x), ("string",),
           {"out_type": "int64"}),
    *[
        Sample("ConcatV2", (ListOf((MATRIX, MATRIX)), _scalar(axis, dtype)), _joined,
               (*PLAIN,), smooth_at=([np.array(MATRIX) * 0.5, np.array(MATRIX) * 2.0],
                                     _scalar(axis, dtype)))
        for axis, dtype in ((0, np.int32), (1, np.int64), (-1, np.int32), (-2, np.int64))
    ],
    Sample("ConcatV2", (ListOf((MATRIX, [[7], [8]], [[], []])), _scalar(1)), _joined,
           ("float32", "int32")),
    Sample("ConcatV2", (ListOf((STRINGS, ["d"])), _scalar(0)),
           lambda x, axis: np.array([b"a", b"bc", b"", b"d"], object), ("string",)),
    *[
        Sample("BroadcastGradientArgs", (np.array(a, dtype), np.array(b, dtype)), _summed_axes)
        for a, b in (([2, 3], [3]), ([2, 1, 4], [5, 1]), ([2, 3], [2, 3]), ([], [4]),
                     ([0, 2], [2]), ([1, 1], [3, 1]))
        for dtype in (np.int32, np.int64)
    ],
    Sample("BroadcastGradientArgs", (_ints(1), _ints(1)), _summed_axes,
           beside_tensorflow="of equal shapes it names no axes, not even those of size 1"),
    Sample("UnsortedSegmentSum", (DATA, IDS, _scalar(3)), _segments, (*REAL, *COMPLEX),
           smooth_at=(DATA, IDS, _scalar(3))),
    Sample("UnsortedSegmentSum", (DATA, IDS.astype(np.int64), _scalar(4, np.int64)), _segments,
           smooth_at=([[0.5, 1 + 1j], [3, 4j], [5, 6], [7, 8]], IDS.astype(np.int64),
                      _scalar(4, np.int64))),
    Sample("UnsortedSegmentSum", ([DATA, DATA], OF_PAIRS, _scalar(3)), _segments,
           smooth_at=([DATA, DATA], OF_PAIRS, _scalar(3))),
    Sample("UnsortedSegmentSum", ([1, 2, 3], _scalar(1), _scalar(2)), (
        lambda data, i, count: np.stack([np.zeros_like(data), data])),
           smooth_at=([1, 2, 3], _scalar(1), _scalar(2))),
    Sample("UnsortedSegmentSum", (np.zeros((0, 2)), np.zeros(0, np.int32), _scalar(2)), _segments),
    Sample("UnsortedSegmentSum", (DATA, IDS.astype(np.int16), _scalar(3)), _segments),
]  # fmt: skip

WRONG = [
    Wrong("IdentityN", ([],), "Length for attr 'T' of 0 must be at least minimum 1"),
    Wrong("ConcatV2", ([np.ones((2, 3)), np.ones((2, 2))], int32(0)),
          "Dimension 1 in both shapes must be equal"),
    Wrong("ConcatV2", ([np.ones((2, 3)), np.ones((2, 3))], int32(2)),
          "Expected concatenating dimensions in the range [-2, 2), but got 2"),
    Wrong("ConcatV2", ([np.ones((2, 3)), np.ones(3)], int32(0)),
          "Ranks of all inputs should match"),
    Wrong("ConcatV2", ([float32(1), float32(2)], int32(0)), "Can't concatenate scalars"),
    Wrong("ConcatV2", ([float32([1]), int32([2])], int32(0)),
          "to be a float tensor but is a int32",
          message_in_graph="has type int32 that does not match type float32"),
    Wrong("BroadcastGradientArgs", (int32([2]), int32([3])), "Incompatible shapes"),
    Wrong("BroadcastGradientArgs", (float32([2]), float32([3])),
          "Value for attr 'T' of float is not in the list"),
    Wrong("UnsortedSegmentSum", (np.ones((3, 2)), int32([0, 1]), int32(2)),
          "does not start with segment_ids.shape = [2]"),
    Wrong("UnsortedSegmentSum", (np.ones((2, 2)), int32([0, 2]), int32(2)),
          "segment_ids[1] = 2 is out of range [0, 2)"),
    Wrong("UnsortedSegmentSum", (np.ones((2, 2)), int32([0, 1]), int32(-1)),
          "Input num_segments == -1 must not be negative."),
    Wrong("ShapeN", ([np.ones(2)],), "Value for attr 'out_type' of float is not in the list",
          attrs={"out_type": "float32"}),
]  # fmt: skip
