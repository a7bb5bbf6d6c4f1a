"""Movement of elements."""

import numpy as np

from ops.sample import (
    Sample,
    int32,
)

X = [[1.5, -2.0, 3.0], [0.5, 4.0, -1.25]]
NUMBERS = ("float32", "float64", "int32", "bool", "complex64")

SAMPLES = [
    *(
        Sample("ExpandDims", (X, int32(axis)), np.expand_dims, NUMBERS, smooth_at=(X, int32(0)))
        for axis in (0, 1, -1, -3)
    ),
    Sample(
        "Squeeze",
        ([X],),
        lambda x, axis: np.squeeze(x, tuple(axis)),
        NUMBERS,
        {"axis": [0]},
        smooth_at=([X],),
    ),
    *(
        Sample(
            "Transpose",
            ([X, X], int32(order)),
            np.transpose,
            NUMBERS,
            smooth_at=([X, X], int32(order)),
        )
        for order in ([0, 1, 2], [2, 1, 0], [1, 2, 0], [0, 2, 1])
    ),
    Sample(
        "Slice",
        (X, int32([0, 1]), int32([2, -1])),
        lambda x, begin, size: x[:, 1:],
        NUMBERS,
        smooth_at=(X, int32([0, 1]), int32([2, -1])),
    ),
    *(
        Sample(
            "GatherV2",
            (X, int32([[1, 0], [0, 0]]), int32(axis)),
            lambda x, indices, axis: np.take(x, indices, axis),
            NUMBERS,
            smooth_at=(X, int32([[1, 0], [0, 0]]), int32(axis)),
        )
        for axis in (0, 1)
    ),
    Sample(
        "GatherNd",
        (X, int32([[1, 2], [0, 0]])),
        lambda x, indices: x[tuple(indices.T)],
        NUMBERS,
        smooth_at=(X, int32([[1, 2], [0, 0], [1, 2]])),
    ),
    *(
        Sample(
            "StridedSlice",
            (X, int32([0, 2]), int32([2, 0]), int32([1, -1])),
            lambda x, b, e, s, end_mask, shrink_axis_mask: (
                x[0, 2 : (None if end_mask else 0) : -1]
                if shrink_axis_mask
                else x[0:2, 2 : (None if end_mask else 0) : -1]
            ),
            NUMBERS,
            {"end_mask": end, "shrink_axis_mask": shrink},
            smooth_at=(X, int32([0, 2]), int32([2, 0]), int32([1, -1])),
        )
        for end in (0, 2)
        for shrink in (0, 1)
    ),
    Sample(
        "Range",
        (int32(3), int32(18), int32(4)),
        np.arange,
    ),
    Sample(
        "LinSpace",
        (1.0, 2.0, int32(5)),
        np.linspace,
        ("float32", "float64"),
        ulp=1,
    ),
]
