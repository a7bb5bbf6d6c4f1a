"""Diagonals of matrices, and cross products."""

import numpy as np

from ops.sample import COMPLEX, INTEGERS, PLAIN, REAL_FLOATS, Sample, Wrong, int32, int64

M = [[1, 2, 3, 4], [5, 6, 7, 8], [9, 10, 11, 12]]
BAND = [[1, 2], [3, 4], [5, 6]]  # three diagonals
TWO = np.array(2, np.int32)
ANY = np.array(-1, np.int32)
DIAG = ("float16", *REAL_FLOATS, "int32", "int64", *COMPLEX)
ALIGNS = ("LEFT_RIGHT", "RIGHT_LEFT", "LEFT_LEFT", "RIGHT_RIGHT")

SAMPLES = [
    Sample(
        "MatrixDiagV3",
        ([1, 2], int32([1]), ANY, ANY, 0),
        lambda d, k, rows, columns, padding: np.diag(d, 1),
        PLAIN,
        smooth_at=([1, 2], int32([1]), ANY, ANY, 0),
        no_gradient_for=(4,),
    ),
    *[
        Sample(
            "MatrixDiagV3",
            ([BAND, BAND], int32([-1, 1]), TWO, ANY, 7),
            attrs={"align": align},
            smooth_at=([BAND, BAND], int32([-1, 1]), TWO, ANY, 7),
            no_gradient_for=(4,),
        )
        for align in ALIGNS
    ],
    Sample(
        "MatrixDiagPartV3",
        (M, np.array(-1, np.int32), 0),
        lambda x, k, padding: np.diag(x, -1),
        PLAIN,
        smooth_at=(M, np.array(-1, np.int32), 0),
        no_gradient_for=(2,),
    ),
    *[
        Sample(
            "MatrixDiagPartV3",
            ([M, M], int32([-2, 3]), 9),
            attrs={"align": align},
            smooth_at=([M, M], int32([-2, 3]), 9),
            no_gradient_for=(2,),
        )
        for align in ALIGNS
    ],
    *[
        Sample(
            "MatrixSetDiagV3",
            ([M, M], [[[1, 2, 3], [4, 5, 6]], [[0, 1, 2], [3, 4, 5]]], int32([0, 1])),
            dtypes=PLAIN if align == "RIGHT_LEFT" else ("float32",),
            attrs={"align": align},
            smooth_at=([M, M], [[[1, 2, 3], [4, 5, 6]], [[0, 1, 2], [3, 4, 5]]], int32([0, 1])),
        )
        for align in ALIGNS
    ],
    Sample("MatrixSetDiagV3", (M, [5, 6, 7], np.array(1, np.int32))),
    *[
        Sample(
            "MatrixBandPart",
            ([M, M], index(lower), index(upper)),
            lambda x, lower, upper: np.triu(np.tril(x, upper), -lower),
            PLAIN if lower else ("float32",),
            smooth_at=([M, M], index(lower), index(upper)),
        )
        for lower, upper, index in ((1, 2, int32), (0, 0, int64), (3, 4, int64))
    ],
    Sample("MatrixBandPart", (M, int64(-1), int64(1)), lambda x, lower, upper: np.tril(x, 1)),
    Sample(
        "Diag",
        ([[1, 2], [3, 4]],),
        lambda x: np.diag(x.ravel()).reshape(2, 2, 2, 2),
        DIAG,
        smooth_at=([[1, 2], [3, 4]],),
    ),
    Sample(
        "DiagPart",
        ([[1, 2], [3, 4]],),
        np.diag,
        DIAG,
        smooth_at=([[1, 2], [3, 4]],),
    ),
    Sample(
        "Cross",
        ([[1, 2, 3], [2, 0, 1]], [[4, 5, 7], [1, 1, 1]]),
        np.cross,
        (*REAL_FLOATS, "float16", "bfloat16"),
        smooth_at=([[1, 2, 3], [2, 0, 1]], [[4, 5, 7], [1, 1, 1]]),
    ),
    Sample("Cross", ([100, 2, 3], [40, 5, 70]), dtypes=INTEGERS),
]

WRONG = [
    Wrong(
        "MatrixBandPart",
        (np.ones((2, 3)), np.array(3, np.int64), np.array(0, np.int64)),
        "num_lower must be negative or less or equal to number of rows (2) got: 3",
    ),
    Wrong(
        "MatrixBandPart",
        (np.ones((2, 3)), np.array(0, np.int64), np.array(4, np.int64)),
        "num_upper must be negative or less or equal to number of columns (3) got: 4",
    ),
    Wrong(
        "MatrixDiagPartV3",
        (np.ones((2, 3)), np.array(3, np.int32), np.array(0.0)),
        "lower_diag_index is out of bound",
    ),
    Wrong(
        "MatrixSetDiagV3",
        (np.ones((2, 3)), np.ones(3), np.array(0, np.int32)),
        "Either first dimensions of diagonal don't match input.shape[:-2]",
    ),
    Wrong("DiagPart", (np.ones((2, 3)),), "do not match"),
]
