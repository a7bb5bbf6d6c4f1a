"""Segments of rows that indices choose."""

from collections.abc import Callable
from typing import Any

import numpy as np

from ops.sample import FLOATS, REAL, Sample, Wrong, int32, int64

ROWS = [[0.5, 2.0], [1.5, 4.0], [3.0, 1.0], [2.0, 0.25]]
CHOSEN, IDS = int32([3, 0, 0, 2, 1]), int32([0, 0, 2, 2, 3])
# So many rows and columns that several threads compute them.
_DRAWN = np.random.default_rng(6)
MANY = _DRAWN.normal(size=(300, 1030)).astype(np.float32)
MANY_CHOSEN = int32(_DRAWN.integers(0, 300, 700))
FEW_IDS, MANY_IDS = int32(np.arange(700) // 350), int32(np.arange(700) // 5)


def _combined(f: Callable[[Any], Any]) -> Callable[..., Any]:
    def reference(data: Any, indices: Any, ids: Any, count: Any = None) -> Any:
        number = int(ids.max(initial=-1)) + 1 if count is None else int(count)
        out = np.zeros((number, *data.shape[1:]), data.dtype)
        for i in set(ids.tolist()):
            out[i] = f(data[indices[ids == i]])
        return out

    return reference


def _samples(op: str, f: Callable[[Any], Any], dtypes: tuple[str, ...]) -> list[Sample]:
    reference, limited = _combined(f), f"{op}WithNumSegments"
    empty = np.zeros((0, 2), np.float32)
    chosen, ids = CHOSEN.astype(np.int64), IDS.astype(np.int64)
    return [
        Sample(op, (ROWS, CHOSEN, IDS), reference, dtypes, ulp=1, smooth_at=(ROWS, CHOSEN, IDS)),
        Sample(op, ([0.5, 2.0, 1.0, 4.0], chosen, ids), reference, ulp=1),
        Sample(op, (empty, int32([]), int32([])), reference),
        Sample(op, (np.zeros((2, 0), np.float32), int32([1]), int32([3])), reference),
        Sample(op, (MANY, MANY_CHOSEN, FEW_IDS), reference, tolerance=1e-5),
        Sample(op, (MANY, MANY_CHOSEN, MANY_IDS), reference, tolerance=1e-5),
        Sample(limited, (ROWS, CHOSEN, IDS, int32(6)), reference, dtypes, ulp=1,
               smooth_at=(ROWS, CHOSEN, IDS, int32(4))),
        Sample(limited, (ROWS, chosen, ids, int64(4)), reference, ulp=1),
        Sample(limited, (empty, int32([]), int32([]), int32(2)), reference),
    ]  # fmt: skip


SAMPLES = [
    *_samples("SparseSegmentSum", lambda rows: rows.sum(0, dtype=rows.dtype), REAL),
    *_samples("SparseSegmentMean", lambda rows: rows.mean(0), FLOATS),
    *_samples("SparseSegmentSqrtN", lambda rows: rows.sum(0) / np.sqrt(len(rows)), FLOATS),
]
WRONG = [
    Wrong("SparseSegmentSum", (np.ones(2), int32([0, 2]), int32([0, 0])),
          "Bad: indices[1] == 2 out of range [0, 2)"),
    Wrong("SparseSegmentMean", (np.ones(2), int32([-1]), int32([0])),
          "Bad: indices[0] == -1 out of range [0, 2)"),
    Wrong("SparseSegmentSum", (np.ones(2), int32([0, 0]), int32([1, 0])),
          "segment ids are not increasing"),
    Wrong("SparseSegmentSum", (np.ones(2), int32([0]), int32([-1])),
          "Segment id -1 out of range"),
    Wrong("SparseSegmentSum", (np.ones(2), int32([0]), int64([2**63 - 1])), "out of range"),
    Wrong("SparseSegmentSqrtN", (np.ones(2), int32([0]), int32([0, 0])),
          "segment_ids and indices should have same size."),
    Wrong("SparseSegmentSqrtN", (np.ones(2), int32([[0]]), int32([0])),
          "indices should be a vector."),
    Wrong("SparseSegmentSum", (1.0, int32([0]), int32([0])), "hape must be at least rank 1"),
    Wrong("SparseSegmentSumWithNumSegments", (np.ones(2), int32([0]), int32([2]), int32(2)),
          "segment ids must be < num_segments"),
    Wrong("SparseSegmentMeanWithNumSegments", (np.ones(2), int32([0]), int32([0]), int32(-1)),
          "segment ids must be >= 0"),
    Wrong("SparseSegmentSqrtNWithNumSegments", (np.ones(2), int32([0]), int32([0]), int32([1])),
          "num_segments should be a scalar"),
]  # fmt: skip
