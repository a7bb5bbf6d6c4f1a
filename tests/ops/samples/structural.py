"""Shapes, identity, casts, reductions, products, choices."""

from typing import Any

import numpy as np

from ops.sample import INTEGERS, PLAIN, REAL_FLOATS, Sample, Wrong, float32, int32, int64

WITHOUT_HALF = tuple(dtype for dtype in PLAIN if dtype != "float16")
X = [[1.5, -2.0, 3.0], [0.5, 4.0, -1.25]]
LOGITS = [[1.5, -2.0, 3.0, 0.0], [0.5, 40.0, -1.25, 2.0]]


def _reduction(
    op: str, reference: Any, dtypes: Any = REAL_FLOATS, has_gradient: bool = True
) -> Any:
    smooth = (X, int32([1])) if has_gradient else None
    for axes in ([0], [1], [-1, 0], []):
        for keep in (False, True):
            yield Sample(
                op,
                (X if dtypes == REAL_FLOATS else [[1, 2, 3], [5, 4, 0]], int32(axes)),
                lambda x, a, keep_dims: reference(x, axis=tuple(a), keepdims=keep_dims),
                dtypes,
                {"keep_dims": keep},
                tolerance=1e-6,
                smooth_at=smooth,
            )


def _like(op: str, reference: Any, **more: Any) -> Sample:
    return Sample(op, ([[1, 2, 3], [0, 5, 100]],), reference, PLAIN, **more)


SAMPLES = [
    _like("Identity", lambda x: x, smooth_at=(X,)),
    _like("ZerosLike", np.zeros_like),
    _like("OnesLike", np.ones_like),
    _like("Shape", lambda x: np.array(x.shape)),
    _like("Size", np.size),
    _like("Rank", np.ndim),
    Sample("Fill", (int64([2, 3]), 3), np.full, PLAIN),
    Sample("Fill", (int32([2, 3]), 1.5), np.full, ("float32",), smooth_at=(int32([2]), 1.5)),
    Sample("Reshape", (X, int64([3, 2])), np.reshape, PLAIN),
    Sample("Reshape", (X, int32([3, -1])), np.reshape, smooth_at=(X, int32([3, -1]))),
    Sample(
        "BroadcastTo",
        ([[1.0], [2.0]], int32([2, 2, 3])),
        lambda x, shape: np.broadcast_to(x, tuple(shape)),
        PLAIN,
        smooth_at=([[1.0], [2.0]], int32([2, 2, 3])),
    ),
    *_reduction("Sum", np.sum),
    *_reduction("Mean", np.mean),
    *_reduction("Prod", np.prod),
    *_reduction("Max", np.max),
    *_reduction("Min", np.min),
    *_reduction("Sum", np.sum, INTEGERS),
    *_reduction("Any", np.any, ("bool",), has_gradient=False),
    *_reduction("All", np.all, ("bool",), has_gradient=False),
    *_reduction("EuclideanNorm", lambda x, **k: np.sqrt(np.sum(np.square(x), **k)), REAL_FLOATS),
    Sample("ArgMax", (X, int32(1)), lambda x, axis: np.argmax(x, axis)),
    Sample("ArgMin", (X, int32(1)), lambda x, axis: np.argmin(x, axis)),
    *(
        Sample(
            "MatMul",
            ([[1.0, 2.0], [3.0, 4.0]], [[0.5, -1.0], [2.0, 3.0]]),
            lambda x, y, transpose_a, transpose_b: (
                (x.T if transpose_a else x) @ (y.T if transpose_b else y)
            ),
            ("float32", "float64", "int32", "int64"),
            {"transpose_a": a, "transpose_b": b},
            tolerance=1e-6,
            smooth_at=([[1.0, 2.0], [3.0, 4.0]], [[0.5, -1.0], [2.0, 3.0]]),
        )
        for a in (False, True)
        for b in (False, True)
    ),
    Sample(
        "SelectV2",
        (np.array([True, False, True]), [1.0, 2.0, 3.0], [[5.0], [6.0]]),
        np.where,
        PLAIN,
        smooth_at=(np.array([True, False, True]), [1.0, 2.0, 3.0], [[5.0], [6.0]]),
    ),
    Sample("Where", ([[0.0, 1.0], [2.0, 0.0]],), np.argwhere, WITHOUT_HALF),
    Sample(
        "Where",
        ([[0.0, 1.0], [2.0, 0.0]],),
        np.argwhere,
        ("float16",),
        beside_tensorflow="its kernel is there to say that it does not run",
    ),
    Sample(
        "Relu", (X,), lambda x: np.maximum(x, 0), ("float32", "float64", "int32"), smooth_at=(X,)
    ),
    Sample(
        "Softmax",
        (LOGITS,),
        lambda x: (
            np.exp(x - x.max(-1, keepdims=True))
            / np.exp(x - x.max(-1, keepdims=True)).sum(-1, keepdims=True)
        ),
        REAL_FLOATS,
        tolerance=1e-6,
        smooth_at=(X,),
    ),
    Sample(
        "LogSoftmax",
        (LOGITS,),
        lambda x: x - np.log(np.exp(x).sum(-1, keepdims=True)),
        REAL_FLOATS,
        tolerance=1e-6,
        smooth_at=(X,),
    ),
    Sample(
        "BiasAdd",
        (X, [1.0, 2.0, 3.0]),
        np.add,
        REAL_FLOATS,
        smooth_at=(X, [1.0, 2.0, 3.0]),
    ),
    Sample("StopGradient", (X,), lambda x: x, PLAIN),
    *[
        Sample("Shape", (X,), lambda x, out_type: np.array(x.shape), attrs={"out_type": dtype})
        for dtype in ("int32", "int64")
    ],
    Sample("Size", (X,), lambda x, out_type: np.size(x), attrs={"out_type": "int64"}),
    Sample(
        "BroadcastTo", ([1, 2], int64([3, 2])), lambda x, shape: np.broadcast_to(x, tuple(shape))
    ),
]

WRONG = [
    Wrong("Reshape", (float32([1, 2, 3]), int32([2, 2])), "3"),
    Wrong("MatMul", (np.ones((2, 3), np.float32), np.ones((2, 3), np.float32)), "[2,3]"),
    Wrong("Sum", (float32([1]), int32([3])), "3"),
]
