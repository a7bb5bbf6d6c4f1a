"""Values of sizes, axes, places and paddings that ops refuse; ops of any family."""

from typing import Any

import numpy as np

from ops.sample import Sample, Wrong


def ints(*values: Any) -> Any:
    return np.array(values, np.int32)


def scalar(value: int) -> Any:
    return np.array(value, np.int32)


X = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]
PAD = np.float32(0)
ONE = [[[[1.0]]]]
SAMPLES: list[Sample] = []
WRONG = [
    Wrong("Multinomial", ([[1.0, 2.0]], scalar(-1)), "num_samples should be non-negative, got -1"),
    Wrong("Fill", (ints(-1), 1.0), "Dimension -1 must be >= 0"),
    Wrong("Split", (scalar(5), X), "-input rank(-2) <= split_dim < input rank (2), but got 5",
          attrs={"num_split": 2}),
    Wrong("Split", (scalar(1), X), "Number of ways to split should evenly divide",
          attrs={"num_split": 2}),
    Wrong("SplitV", (X, ints(1, 1), scalar(1)), "Determined shape must either match input shape",
          attrs={"num_split": 2}),
    Wrong("SplitV", (X, ints(1, 1), scalar(4)), "split_dim < input rank (2), but got 4",
          attrs={"num_split": 2}),
    Wrong("PadV2", ([1.0], ints([-1, 0]), np.float32(0)), "Paddings must be non-negative: -1 0"),
    Wrong("MirrorPad", ([1.0, 2.0], ints([3, 0])),
          "paddings must be less than the dimension size: 3, 0 not less than 2",
          attrs={"mode": "REFLECT"}),
    Wrong("MirrorPadGrad", ([1.0, 2.0, 3.0], ints([3, 3])),
          "paddings 3, 3 are more than the dimension size 3", attrs={"mode": "REFLECT"}),
    Wrong("Tile", ([1.0, 2.0], ints(-1)), "Expected multiples[0] >= 0, but got -1"),
    Wrong("Tile", ([1.0, 2.0], ints(1, 1)),
          "Expected multiples argument to be a vector of length 1 but got shape [2]"),
    Wrong("ScatterNd", (ints([5]), [1.0], ints(3)),
          "indices[0] = [5] does not index into shape [3]"),
    Wrong("ScatterNd", (ints([0]), [1.0], ints(3, 2)),
          "by indices of shape [1,1] do not match: updates"),
    Wrong("ResizeNearestNeighborGrad", (ONE, ints(0, 1)), "output dimensions must be positive"),
    Wrong("ConjugateTranspose", (X, ints(0)), "transpose expects a vector of size 2"),
    Wrong("ConjugateTranspose", (X, ints(0, 0)), "1 is missing from {0,0}"),
    Wrong("ExpandDims", (X, scalar(5)), "Tried to expand dim index 5 for tensor with 2 dimensions"),
    *(
        Wrong("MatrixDiagV3", ([1.0, 2.0], k, scalar(rows), scalar(columns), PAD), message)
        for k, rows, columns, message in (
            (ints(1, 0), -1, -1, "lower_diag_index must not be larger than upper_diag_index"),
            (scalar(0), 1, -1, "The number of rows is too small."),
            (scalar(0), -1, 1, "The number of columns is too small."),
        )
    ),
    Wrong("RandomGamma", (ints(-1), 1.0), "Dimension -1 must be >= 0"),
    Wrong("RandomPoissonV2", (ints(-1), 1.0), "Dimension -1 must be >= 0"),
    Wrong("LinSpace", (0.0, 1.0, scalar(0)), "Requires num > 0: 0"),
    Wrong("Roll", (X, ints(1, 1), ints(0)), "shift and axis must have the same size"),
    Wrong("Roll", (X, ints(1), ints(5)), "axis 5 is out of valid range [-2, 2)"),
    Wrong("CropAndResizeGradImage",
          (ONE, [[1.0, 1.0, 1.0, 1.0]], ints(0), ints(1, 1, 1, 2)),
          "image_size and grads are incompatible", attrs={"T": "float32"}),
    Wrong("CropAndResizeGradImage",
          (ONE, [[1.0, 1.0, 1.0, 1.0]], ints(0), ints(0, 1, 1, 1)),
          "box_index has values outside [0, batch_size)", error="OutOfRangeError",
          attrs={"T": "float32"}),
]  # fmt: skip
