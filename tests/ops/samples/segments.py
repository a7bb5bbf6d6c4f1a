"""Rows of segments, sorted and not."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ops.sample import COMPLEX, REAL, Sample, Wrong, int32, int64

ROWS = [[0.5, 2.0], [1.5, 4.0], [3.0, 1.0], [2.0, 0.25]]
SORTED, UNSORTED = int32([0, 0, 2, 2]), int32([2, 0, -1, 2])
PAIRS = int64([[0, 1], [1, 1], [-3, 0], [2, 2]])
WITH_ZEROS = [[0.0, -2.0], [1.5, 0.0], [3.0, 0.0], [2.0, 0.25]]
COMPLEXES = [[0.5 + 1j, 2j], [1 - 1j, 3], [2, 1 + 1j], [-1j, 0.25]]
# So many rows and columns that several threads compute them.
MANY = np.random.default_rng(5).normal(size=(700, 130)).astype(np.float32)
FEW_IDS, MANY_IDS = int32(np.arange(700) // 100), int32(np.arange(700) // 5)
LARGE = {"float16": 65504.0, "bfloat16": 3.3895313892515355e38}


def _limits(dtype: str) -> tuple[Any, Any]:
    if dtype in LARGE:
        return -LARGE[dtype], LARGE[dtype]
    limits: Any = np.iinfo(dtype) if "int" in dtype else np.finfo(dtype)
    return limits.min, limits.max


def _integers_cut(mean: NDArray[Any], data: NDArray[Any]) -> NDArray[Any]:
    return np.trunc(mean).astype(data.dtype) if data.dtype.kind in "iu" else mean


def _combined(f: Callable[..., Any], empty: Any) -> Callable[..., Any]:
    def reference(data: Any, ids: Any, count: Any = None) -> Any:
        number = int(ids.max(initial=-1)) + 1 if count is None else int(count)
        flat = data.reshape(ids.size, *data.shape[ids.ndim :])
        out = np.full((number, *flat.shape[1:]), empty, data.dtype)
        for i in range(number):
            if (ids == i).any():
                out[i] = _integers_cut(f(flat[ids.reshape(-1) == i], axis=0), data)
        return out

    return reference


def _sorted(op: str, f: Callable[..., Any], empty: Any, dtypes: tuple[str, ...]) -> list[Sample]:
    reference = _combined(f, empty)
    rows = [
        Sample(op, (ROWS, SORTED), reference, dtypes, tolerance=1e-6, smooth_at=(ROWS, SORTED)),
        Sample(op, ([1, 2, 3, 4], int64([1, 1, 1, 4])), reference),
        Sample(op, (np.zeros((0, 2), np.float32), int32([])), reference),
        Sample(op, (np.zeros((2, 0), np.float32), int32([0, 3])), reference),
        Sample(op, (MANY, FEW_IDS), reference, tolerance=1e-5),
        Sample(op, (MANY, MANY_IDS), reference, tolerance=1e-5),
    ]
    if "complex64" in dtypes:
        rows.append(Sample(op, (ROWS, SORTED), reference, smooth_at=(COMPLEXES, SORTED)))
    return rows


def _unsorted(
    op: str, f: Callable[..., Any], empty: Callable[[str], Any], dtypes: tuple[str, ...]
) -> list[Sample]:
    rows = [
        Sample(op, (ROWS, UNSORTED, int32(4)), _combined(f, empty(dtype)), (dtype,), tolerance=1e-6)
        for dtype in dtypes
    ]  # fmt: skip
    reference = _combined(f, empty("float32"))
    rows += [
        Sample(op, (ROWS, PAIRS, int64(3)), reference, smooth_at=(ROWS, PAIRS, int64(3))),
        Sample(op, (ROWS, UNSORTED, int32(4)), reference,
               smooth_at=(ROWS, int32([1, 0, -1, 1]), int32(2))),
        Sample(op, (np.zeros((0, 2), np.float32), int32([]), int32(2)), reference),
        Sample(op, (MANY, FEW_IDS[::-1].copy(), int32(9)), reference, tolerance=1e-5),
    ]  # fmt: skip
    if "complex64" in dtypes:
        rows.append(Sample(op, (ROWS, UNSORTED, int32(4)), reference,
                           smooth_at=(COMPLEXES, UNSORTED, int32(4))))  # fmt: skip
    return rows


SAMPLES = [
    *_sorted("SegmentSum", np.sum, 0, (*REAL, *COMPLEX)),
    *_sorted("SegmentMean", np.mean, 0, (*REAL, *COMPLEX)),
    *_sorted("SegmentProd", np.prod, 1, (*REAL, *COMPLEX)),
    *_sorted("SegmentMin", np.min, 0, REAL),
    *_sorted("SegmentMax", np.max, 0, REAL),
    *_unsorted("UnsortedSegmentProd", np.prod, lambda _: 1, (*REAL, *COMPLEX)),
    *_unsorted("UnsortedSegmentMin", np.min, lambda dtype: _limits(dtype)[1], REAL),
    *_unsorted("UnsortedSegmentMax", np.max, lambda dtype: _limits(dtype)[0], REAL),
    Sample("SegmentMean", ([-7, 2, 5, -1], SORTED), _combined(np.mean, 0), ("int8", "int64")),
    # Beside one zero only that has a gradient, beside two none.
    Sample("SegmentProd", (WITH_ZEROS, SORTED), _combined(np.prod, 1),
           smooth_at=(WITH_ZEROS, SORTED)),
    Sample("UnsortedSegmentProd", (WITH_ZEROS, UNSORTED, int32(3)), _combined(np.prod, 1),
           smooth_at=(WITH_ZEROS, UNSORTED, int32(3))),
]  # fmt: skip

WRONG = [
    Wrong("SegmentSum", (np.ones((3, 2)), int32([0, 1])),
          "segment_ids should be the same size as dimension 0 of input."),
    Wrong("SegmentSum", (np.ones((2, 2)), int32([[0, 1]])), "segment_ids should be a vector."),
    Wrong("SegmentMean", (1.0, int32([0])), "input must be at least rank 1"),
    Wrong("SegmentProd", (np.ones((2, 2)), int32([1, 0])), "segment ids are not increasing"),
    Wrong("SegmentMax", (np.ones((2, 2)), int32([-1, 0])), "Segment id -1 out of range"),
    Wrong("SegmentMin", (np.ones(2), int64([0, 2**63 - 1])), "out of range"),
    Wrong("UnsortedSegmentMax", (np.ones((2, 1)), int32([[0], [2]]), int32(2)),
          "segment_ids[1,0] = 2 is out of range [0, 2)"),
    Wrong("UnsortedSegmentMin", (np.ones((2, 2)), int32([0, 1]), int32([2])),
          "num_segments should be a scalar, not shape [1]"),
    Wrong("UnsortedSegmentProd", (np.ones((2, 2)), int32([0, 1]), int32(-1)),
          "Input num_segments == -1 must not be negative."),
]  # fmt: skip
