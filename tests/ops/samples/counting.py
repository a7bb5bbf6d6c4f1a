"""Elements counted by their values, each once, and places among sorted elements."""

from typing import Any

import numpy as np

from ops.sample import REAL, Sample, Wrong, float32, float64, int32, int64

COUNTS = ("int32", "int64", "float32", "float64")
OFTEN = [3, 1, 3, 0, 1, 3]
NAN = float("nan")
MANY = np.random.default_rng(4).integers(0, 50, 300_000)
NONE = float32([])


def _unique(x: Any, axis: Any = (), out_idx: str = "int32", *, counts: bool = False) -> Any:
    along = int(axis[0]) if len(axis) else 0
    slices = [np.asarray(part).tolist() for part in np.moveaxis(x, along, 0)]
    firsts: list[int] = []
    places = []
    for i, part in enumerate(slices):
        same = [n for n, first in enumerate(firsts) if slices[first] == part]
        if not same:
            firsts.append(i)
        places.append(same[0] if same else len(firsts) - 1)
    y = np.take(x, np.array(firsts, int), along)
    result = (y, np.array(places))
    return (*result, np.bincount(places, minlength=len(firsts))) if counts else result


def _unique_with_counts(*inputs: Any, **attrs: Any) -> Any:
    return _unique(*inputs, **attrs, counts=True)


def _bins(x: Any, size: Any, weights: Any, binary_output: bool = False) -> Any:
    if x.ndim == 2:
        rows = [
            _bins(row, size, w, binary_output)
            for row, w in zip(x, weights if weights.size else [weights] * len(x), strict=True)
        ]
        return np.stack(rows) if rows else np.zeros((0, int(size)))
    bins = np.zeros(int(size), weights.dtype)
    x, weights = x.ravel(), weights.ravel()
    for i, value in enumerate(x):
        if value < size:
            bins[value] += weights[i] if weights.size and not binary_output else 1
    return (bins > 0).astype(weights.dtype) if binary_output else bins


def _histogram(values: Any, value_range: Any, nbins: Any, **_: Any) -> Any:
    inside = np.clip(values, value_range[0], value_range[1])
    return np.histogram(inside, int(nbins), (value_range[0], value_range[1]))[0]


def _bound(side: Any) -> Any:
    def reference(rows: Any, values: Any, **_: Any) -> Any:
        found = [np.searchsorted(r, v, side) for r, v in zip(rows, values, strict=True)]
        return np.array(found).reshape(values.shape)

    return reference


SLICES = [[1, 2, 1], [3, 4, 3], [1, 2, 1]]

SAMPLES = [
    *(
        Sample(op, (OFTEN, *axis), reference, dtypes, {"out_idx": index})
        for index, dtypes in (("int32", (*REAL, "bool")), ("int64", ("int32",)))
        for op, axis, reference in (
            ("Unique", (), _unique),
            ("UniqueV2", (int64([0]),), _unique),
            ("UniqueWithCounts", (), _unique_with_counts),
            ("UniqueWithCountsV2", (int32([-1]),), _unique_with_counts),
        )
        if index == "int32" or op == "Unique"
    ),
    *(
        Sample(op, (["b", "", "b", "a" * 40, ""], *axis), reference, ("string",))
        for op, axis, reference in (
            ("Unique", (), _unique),
            ("UniqueV2", (int32([]),), _unique),
            ("UniqueWithCounts", (), _unique_with_counts),
            ("UniqueWithCountsV2", (int64([]),), _unique_with_counts),
        )
    ),
    Sample("Unique", ([0.0, NAN, -0.0, NAN],), lambda x: (x[[0, 1, 3]], np.array([0, 1, 0, 2])),
           ("float64",)),
    Sample("Unique", (MANY.astype(np.int32) * 77_777_777,), _unique),
    Sample("Unique", (float32([]),), _unique),
    Sample("UniqueWithCounts", (OFTEN,), _unique_with_counts, attrs={"out_idx": "int64"}),
    Sample("UniqueV2", (SLICES, int32([0])), _unique, ("float32", "bool")),
    Sample("UniqueV2", (SLICES, int32([1])), _unique, attrs={"out_idx": "int64"}),
    Sample("UniqueV2", ([["a", "b"], ["a", "b"]], int32([0])), _unique, ("string",)),
    Sample("UniqueV2", ([[NAN, 1.0], [NAN, 1.0]], int32([0])),
           lambda x, axis: (x, np.array([0, 1]))),
    Sample("UniqueV2", (np.zeros((3, 0), np.float32), int32([0])), _unique),
    Sample("UniqueWithCountsV2", (SLICES, int32([0])), _unique_with_counts,
           attrs={"out_idx": "int64"}),
    *(
        Sample("ListDiff", (OFTEN, [1, 7, 1]), lambda x, y, out_idx: (
            x[x != 1], np.flatnonzero(x != 1)), dtypes, {"out_idx": index})
        for index, dtypes in (("int32", REAL), ("int64", ("int32",)))
    ),
    Sample("ListDiff", (["a", "b", "a"], ["b"]), lambda x, y: (x[[0, 2]], np.array([0, 2])),
           ("string",)),
    Sample("ListDiff", ([0.0, NAN, 2.0], [-0.0, NAN]), lambda x, y: (x[1:], np.array([1, 2]))),
    *(
        Sample(op, (int32(OFTEN), int32(3), weights), _bins, dtypes)
        for op in ("Bincount", "DenseBincount")
        for weights, dtypes in (([], ("int64",)), ([1, 2, 3, 4, 5, 6], COUNTS))
    ),
    Sample("Bincount", (int32([[1, 2], [2, 9]]), int32(4), [[1, 2], [3, 4]]),
           lambda x, size, weights: _bins(x.ravel(), size, weights.ravel())),
    Sample("DenseBincount", (int64(OFTEN), int64(5), []), _bins),
    Sample("DenseBincount", (int32(OFTEN), int32(5), []), _bins, attrs={"binary_output": True}),
    Sample("DenseBincount", (int32([[1, 1, 0], [2, 9, 2]]), int32(3), []), _bins),
    Sample("DenseBincount", (int32([[1, 1, 0], [2, 9, 2]]), int32(3), [[1, 2, 3], [4, 5, 6]]),
           _bins),
    Sample("DenseBincount", (int32([[1, 1, 0], [2, 9, 2]]), int32(3), [[1, 2, 3], [4, 5, 6]]),
           _bins, attrs={"binary_output": True}),
    Sample("DenseBincount", (int32(2), int32(3), []), _bins,
           beside_tensorflow="whose inference takes the bins for a scalar"),
    Sample("DenseBincount", (int32([]), int32(3), []), _bins),
    Sample("DenseBincount", (MANY, int64(50), NONE), lambda x, size, _: np.bincount(x)),
    Sample("DenseBincount", (MANY * 1000, int64(60_000), NONE),
           lambda x, size, _: np.bincount(x, minlength=60_000)),
    *(
        Sample("HistogramFixedWidth", (values, ends, int32(5)), _histogram, COUNTS,
               {"dtype": index})
        for index in ("int32", "int64")
        for values, ends in (([-1, 0, 2, 3, 5, 15], [0, 5]), ([], [1, 2]))
    ),
    Sample("HistogramFixedWidth", (float64([-0.5, 0.1, 0.35, 0.999]), float64([0, 1]), int32(3)),
           _histogram),
    Sample("HistogramFixedWidth", (int32([-2_000_000_000, 2_000_000_000]),
                                   int32([-2_000_000_000, 2_000_000_000]), int32(2)),
           lambda *_: np.array([1, 1]), beside_tensorflow="whose differences overflow"),
    Sample("HistogramFixedWidth", (float32([3.0, 9.0]),
                                   float32([0.0, np.inf]), int32(2)),
           lambda *_: np.array([2, 0])),
    Sample("Bucketize", ([[1, 5], [10, -3]],), lambda x, boundaries: np.digitize(x, boundaries),
           COUNTS, {"boundaries": [2.0, 5.0]}),
    Sample("Bucketize", ([1.0, NAN],), lambda x, boundaries: np.array([1, 2]),
           attrs={"boundaries": [0.1, 5.0]}),
    Sample("Bucketize", ([1.0],), lambda x, boundaries: np.array([0]), attrs={"boundaries": []}),
    *(
        Sample(op, ([[1, 3, 3, 5], [2, 4, 6, 8]], [[0, 3, 6], [4, 8, 9]]), _bound(side), dtypes,
               {"out_type": index})
        for op, side in (("LowerBound", "left"), ("UpperBound", "right"))
        for index, dtypes in (("int32", REAL), ("int64", ("int32",)))
    ),
    *(
        Sample(op, (np.zeros((2, 0), np.float32), [[1], [2]]), _bound(side))
        for op, side in (("LowerBound", "left"), ("UpperBound", "right"))
    ),
]  # fmt: skip

WRONG = [
    *(Wrong(op, (np.ones((2, 2)),), "unique expects a 1D vector.")
      for op in ("Unique", "UniqueWithCounts")),
    Wrong("UniqueV2", (np.ones((2, 2)), int32([])), "unique expects a 1D vector."),
    Wrong("UniqueV2", (np.ones((2, 2)), int32(0)), "axis expects a 1D vector."),
    Wrong("UniqueV2", (np.ones((2, 2)), int32([0, 1])),
          "axis does not support input tensors larger than 1 elements"),
    Wrong("UniqueV2", (np.ones((2, 2)), int32([2])), "axis has to be between [0, 2)"),
    Wrong("ListDiff", (np.ones((2, 2)), np.ones(2)), "x should be a 1D vector."),
    Wrong("ListDiff", (np.ones(2), np.ones((2, 2))), "y should be a 1D vector."),
    Wrong("Bincount", (int32([1]), int32(-1), float32([])), "size (-1) must be non-negative"),
    Wrong("Bincount", (int32([1, -1]), int32(3), float32([])), "Input arr must be non-negative!"),
    Wrong("Bincount", (int32([1, 1]), int32(3), float32([1])),
          "Input indices and weights must have the same size."),
    Wrong("DenseBincount", (int32([1]), int32([3]), float32([])),
          "Shape must be rank 0 but is rank 1"),
    Wrong("DenseBincount", (int32([[[1]]]), int32(3), float32([])),
          "Shape must be at most rank 2 but is rank 3"),
    Wrong("DenseBincount", (int32([1, 1]), int32(3), float32([1])),
          "`weights` must be the same shape as `arr`"),
    Wrong("HistogramFixedWidth", (float32([1]), float32(1), int32(3)),
          "value_range should be a vector."),
    Wrong("HistogramFixedWidth", (float32([1]), float32([1, 2, 3]), int32(3)),
          "value_range should be a vector of 2 elements."),
    Wrong("HistogramFixedWidth", (float32([1]), float32([2, 1]), int32(3)),
          "value_range should satisfy value_range[0] < value_range[1], but got '[2, 1]'"),
    Wrong("HistogramFixedWidth", (float32([NAN]), float32([0, 1]), int32(3)),
          "Histogram values must not contain NaN"),
    Wrong("HistogramFixedWidth", (float32([1]), float32([0, 1]), int32(0)),
          "nbins should be a positive number, but got '0'"),
    Wrong("HistogramFixedWidth", (float32([1]), float32([0, 1]), int32([2])),
          "nbins should be a scalar."),
    Wrong("Bucketize", (float32([1]),), "Expected sorted boundaries",
          attrs={"boundaries": [2.0, 1.0]}),
    Wrong("LowerBound", (float32([1]), float32([[1]])), "rank 2 but is rank 1 for `sorted_inputs`"),
    Wrong("UpperBound", (float32([[1]]), float32([1])), "rank 2 but is rank 1 for `values`"),
    Wrong("UpperBound", (float32([[1]]), float32([[1], [2]])),
          "Leading dim_size of both tensors must match."),
]  # fmt: skip
