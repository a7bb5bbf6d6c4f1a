"""TopKV2, in its dtypes and over equal elements."""

from typing import Any

import numpy as np

from ops.sample import REAL, Sample, Wrong


def _top_k(x: Any, k: Any, **_: Any) -> Any:
    # Of equal elements the first comes first, also when the order is turned around.
    ascending = np.argsort(x[..., ::-1], axis=-1, kind="stable")
    order = (x.shape[-1] - 1 - ascending)[..., ::-1][..., : int(k)]
    return np.take_along_axis(x, order, -1), order


ROWS = [[3, 1, 7, 2, 5], [4, 4, 0, 9, 4]]
LONG = np.random.default_rng(3).permutation(3000).reshape(2, 1500).astype(np.float32)


TIES = np.random.default_rng(4).integers(0, 40, (3, 200)).astype(np.float32) - 20
TIES[1, [5, 60, 61, 199]] = np.nan
TIES[2, 1] = np.nan


def _k(value: int) -> Any:
    return np.array(value, np.int32)


SAMPLES = [
    Sample(
        "TopKV2",
        (ROWS, _k(3)),
        _top_k,
        REAL,
        smooth_at=([[0.3, -1.5, 0.9, 2.0], [1.1, 0.2, -0.7, 0.5]], _k(2)),
    ),
    Sample("TopKV2", (ROWS, _k(5)), _top_k, ("float64", "int64")),
    Sample("TopKV2", (ROWS, _k(0)), _top_k),
    Sample("TopKV2", ([3, 1, 3, 2], np.array(2, np.int64)), _top_k, ("float32", "uint8")),
    # The largest alone, a few, a selection, and a heap of the best, instead of a whole sort.
    *[
        Sample(
            "TopKV2",
            (TIES, _k(k)),
            _top_k,
            ("float32", "half", "float64"),
            beside_tensorflow="its places of NaN are as they come",
        )
        for k in (1, 6, 40, 200)
    ],
    Sample("TopKV2", (np.sort(LONG, axis=-1), _k(7)), _top_k),
    Sample("TopKV2", (LONG, _k(40)), _top_k),
    Sample("TopKV2", (LONG.astype(np.float64), _k(700)), _top_k, ("float64",)),
    Sample("TopKV2", (ROWS, _k(2)), _top_k, attrs={"index_type": "int64"}),
]

WRONG = [
    Wrong("TopKV2", ([1.0, 2.0], _k(3)), "input must have at least k columns. Had 2, needed 3"),
    Wrong("TopKV2", ([1.0, 2.0], _k(-1)), "Need k >= 0, got -1"),
    Wrong("TopKV2", (1.0, _k(1)), "input must be >= 1-D, got shape []"),
    Wrong("TopKV2", ([1.0], np.array([1], np.int32)), "k must be a scalar, got shape [1]"),
]
