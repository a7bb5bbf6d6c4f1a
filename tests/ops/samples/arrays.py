"""Each op of joins, slices, gathers, scatters, transposes, paddings and ranges, in its dtypes."""

from dataclasses import replace
from typing import Any

import numpy as np

from ops.sample import COMPLEX, FLOATS, REAL, ListOf, Sample, Wrong, float32, int64

ALL = (*REAL, *COMPLEX, "bool")
MATRIX = [[1, 2, 3], [4, 5, 6]]
CUBE = np.arange(24).reshape(2, 3, 4).tolist()


def ints(*values: Any) -> Any:
    return np.array(values, np.int32)


def scalar(value: int) -> Any:
    return np.array(value, np.int32)


def _add_at(x: Any, indices: Any, updates: Any) -> Any:
    out = x.copy()
    np.add.at(out, tuple(np.moveaxis(indices, -1, 0)), updates)
    return out


def _put_at(x: Any, indices: Any, updates: Any) -> Any:
    out = x.copy()
    out[tuple(np.moveaxis(indices, -1, 0))] = updates
    return out


def _reduced_at(ufunc: Any) -> Any:
    def reduce(x: Any, indices: Any, updates: Any) -> Any:
        out = x.copy()
        ufunc.at(out, tuple(np.moveaxis(indices, -1, 0)), updates)
        return out

    return reduce


def _elements_for(given: str, wanted: str) -> Any:
    """Elements of one dtype, with a last axis that makes one element of a wider one."""
    sizes = np.dtype(given).itemsize, np.dtype(wanted).itemsize
    elements = np.arange(1, 1 + 3 * max(sizes), dtype=np.uint8).view(given)
    return elements.reshape(3, -1) if sizes[0] < sizes[1] else elements


def _bits_as(x: Any, type: str) -> Any:
    """The bits as another dtype: a last axis goes to make a wider element, or comes."""
    wanted = np.dtype(type)
    if x.itemsize < wanted.itemsize:
        return x.view(wanted)[:, 0]
    parts = x.view(wanted)
    return parts.reshape(*x.shape, -1) if x.itemsize > wanted.itemsize else parts


def _one_hot(indices: Any, depth: Any, on: Any, off: Any, axis: int = -1) -> Any:
    marks = indices[..., None] == np.arange(depth)
    return np.moveaxis(np.where(marks, on, off), -1, axis)


ROWS_TO_WRITE = np.array([[2], [0]], np.int32)
UPDATES = [[10, 20, 30], [40, 50, 60]]
TARGET = [[1, 2, 3], [4, 5, 6], [70, 8, 90]]
PADDINGS = np.array([[1, 0], [2, 1]], np.int32)

SAMPLES = [
    Sample("Transpose", (MATRIX, ints(1, 0)), np.transpose, ALL),
    Sample("Transpose", (CUBE, ints(2, 0, 1)), np.transpose, ("float32", "int64")),
    Sample("Transpose", (CUBE, ints(1, 0, 2)), np.transpose, ("float32", "int8")),
    Sample(
        "ConjugateTranspose",
        ([[1 + 2j, 3], [4j, 5]], ints(1, 0)),
        lambda x, p: np.conj(np.transpose(x, p)),
        COMPLEX,
    ),
    Sample("ConjugateTranspose", (MATRIX, int64([1, 0])), np.transpose, ALL),
    Sample("InvertPermutation", ([2, 0, 1],), np.argsort, ("int32", "int64")),
    Sample("Squeeze", ([[[1], [2]]],), np.squeeze, ALL),
    Sample(
        "Squeeze",
        ([[[1], [2]]],),
        lambda x, axis: np.squeeze(x, -1),
        attrs={"axis": [-1]},
    ),
    Sample("ExpandDims", (MATRIX, scalar(-2)), np.expand_dims, ALL),
    Sample(
        "Pack",
        ([float32([1, 2]), float32([3, 4])],),
        lambda x, axis: np.stack(x, axis),
        attrs={"axis": 1},
    ),
    Sample("Pack", (ListOf((MATRIX, MATRIX)),), np.stack, ALL),
    Sample(
        "Unpack",
        (MATRIX,),
        lambda x, num, axis: tuple(np.moveaxis(x, axis, 0)),
        ALL,
        attrs={"num": 3, "axis": 1},
    ),
    Sample(
        "Split",
        (scalar(1), MATRIX),
        lambda a, x, num_split: tuple(np.split(x, num_split, a)),
        ALL,
        attrs={"num_split": 3},
    ),
    Sample(
        "SplitV",
        (MATRIX, ints(2, -1), scalar(1)),
        lambda x, s, a, num_split: tuple(np.split(x, [2], a)),
        ALL,
        attrs={"num_split": 2},
    ),
    Sample("Slice", (CUBE, ints(0, 1, 2), ints(1, -1, 2)), lambda x, b, s: x[0:1, 1:, 2:4], ALL),
    Sample(
        "StridedSlice",
        (CUBE, ints(1, 2, 3), ints(0, 0, 0), ints(1, -1, -2)),
        lambda x, b, e, s, **masks: x[1, :0:-1, 3:0:-2],
        ALL,
        attrs={"shrink_axis_mask": 1},
    ),
    Sample(
        "StridedSlice",
        (CUBE, ints(0, 0, 1), ints(0, 0, 3), ints(1, 1, 1)),
        lambda x, b, e, s, **masks: x[..., None, 1:3],
        attrs={"ellipsis_mask": 1, "new_axis_mask": 2},
    ),
    Sample(
        "StridedSliceGrad",
        (ints(5), ints(4), ints(0), ints(-2), [1, 2]),
        lambda shape, b, e, s, dy: np.array([0, 0, 2, 0, 1]),
        (*REAL, *COMPLEX),
    ),
    Sample(
        "StridedSliceGrad",
        (ints(5), ints(4), ints(0), ints(-2), [1, 0]),
        lambda shape, b, e, s, dy: np.array([0, 0, 0, 0, 1]),
        ("bool",),
    ),
    Sample(
        "TensorStridedSliceUpdate",
        ([1, 2, 3], ints(0), ints(3), ints(2), [7, 8]),
        lambda x, b, e, s, v: np.array([7, 2, 8]),
        (*REAL, *COMPLEX),
    ),
    Sample(
        "TensorStridedSliceUpdate",
        ([1, 1, 1], ints(0), ints(3), ints(2), [0, 1]),
        lambda x, b, e, s, v: np.array([0, 1, 1]),
        ("bool",),
    ),
    Sample("TensorStridedSliceUpdate", ([1, 2, 3], ints(0), ints(2), ints(1), 5)),
    Sample(
        "TensorStridedSliceUpdate",
        (MATRIX, ints(0, 0), ints(2, 3), ints(1, 2), [[5], [6]]),
        smooth_at=(
            [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]],
            ints(0, 0),
            ints(2, 3),
            ints(1, 2),
            [[0.5], [0.7]],
        ),
    ),
    Sample("GatherV2", (CUBE, ints(2, 0, 2), scalar(1)), lambda x, i, a: np.take(x, i, a), ALL),
    Sample(
        "GatherV2",
        (CUBE, np.array([[2, 0], [1, 1]], np.int32), scalar(1)),
        lambda x, i, a, batch_dims: np.stack([x[0][i[0]], x[1][i[1]]]),
        attrs={"batch_dims": 1},
    ),
    Sample("Gather", (MATRIX, ints(1, 1, 0)), lambda x, i: x[i], ALL),
    Sample(
        "GatherNd", (CUBE, np.array([[1, 2], [0, 0]], np.int32)), lambda x, i: x[tuple(i.T)], ALL
    ),
    Sample(
        "ScatterNd",
        (np.array([[2], [0], [2]], np.int32), [1, 2, 3], ints(4)),
        lambda i, u, s: _add_at(np.zeros(4, u.dtype), i, u),
        (*REAL, *COMPLEX),
    ),
    Sample(
        "ScatterNd",
        (np.array([[2], [0], [2]], np.int32), [1, 0, 1], ints(4)),
        lambda i, u, s: np.array([0, 0, 1, 0]),
        ("bool",),
    ),
    Sample("TensorScatterUpdate", (TARGET, ROWS_TO_WRITE, UPDATES), _put_at, (*REAL, *COMPLEX)),
    *[
        Sample("TensorScatterUpdate", (TARGET, ROWS_TO_WRITE, UPDATES), _put_at, ("bool",)),
        *[
            Sample(op, (TARGET, ROWS_TO_WRITE.astype(np.int64), UPDATES), f, (*REAL, *COMPLEX))
            for op, f in (
                ("TensorScatterAdd", _add_at),
                ("TensorScatterSub", _reduced_at(np.subtract)),
            )
        ],
    ],
    Sample("TensorScatterAdd", (TARGET, ROWS_TO_WRITE, UPDATES), _add_at, FLOATS),
    Sample("TensorScatterSub", (TARGET, ROWS_TO_WRITE, UPDATES), _reduced_at(np.subtract), FLOATS),
    Sample("TensorScatterMin", (TARGET, ROWS_TO_WRITE, UPDATES), _reduced_at(np.minimum), REAL),
    Sample("TensorScatterMax", (TARGET, ROWS_TO_WRITE, UPDATES), _reduced_at(np.maximum), REAL),
    Sample("Pad", (MATRIX, PADDINGS), np.pad, ALL),
    Sample(
        "PadV2",
        (MATRIX, PADDINGS, 9),
        lambda x, p, v: np.pad(x, p, constant_values=v),
        ALL,
    ),
    Sample(
        "MirrorPad",
        (MATRIX, PADDINGS),
        lambda x, p, mode: np.pad(x, p, mode="reflect"),
        ALL,
        attrs={"mode": "REFLECT"},
    ),
    Sample(
        "MirrorPad",
        (MATRIX, PADDINGS),
        lambda x, p, mode: np.pad(x, p, mode="symmetric"),
        ALL,
        attrs={"mode": "SYMMETRIC"},
    ),
    Sample(
        "MirrorPadGrad",
        ([[1, 2, 3, 4, 5, 6]], np.array([[0, 0], [2, 1]])),
        lambda dy, p, mode: np.array([[3, 2 + 4 + 6, 1 + 5]]),
        REAL,
        attrs={"mode": "REFLECT"},
    ),
    Sample(
        "MirrorPadGrad",
        ([[1, 2, 3, 4, 5, 6]], np.array([[0, 0], [2, 1]], np.int32)),
        lambda dy, p, mode: np.array([[3.0, 2 + 4 + 6, 1 + 5]]),
        (*FLOATS, *COMPLEX),
        attrs={"mode": "REFLECT"},
    ),
    Sample("Tile", (MATRIX, ints(2, 3)), np.tile, tuple(t for t in ALL if t != "uint16")),
    Sample(
        "Tile",
        (MATRIX, ints(2, 3)),
        np.tile,
        ("uint16",),
        beside_tensorflow="it has no kernel for uint16",
    ),
    Sample("ReverseV2", (CUBE, ints(0, -1)), np.flip, ALL),
    Sample("Roll", (CUBE, ints(1, -5), ints(0, 2)), np.roll, ALL),
    Sample(
        "Bitcast",
        ([1.0, -2.5],),
        lambda x, type: x.astype(np.float32).view(np.int32),
        attrs={"type": "int32"},
    ),
    Sample("OneHot", (ints(2, -1, 0), scalar(3), 7, 1), _one_hot, (*REAL, *COMPLEX)),
    Sample("OneHot", (ints(2, -1, 0), scalar(3), 1, 0), _one_hot, ("bool",)),
    Sample("OneHot", (ints(1, 0), scalar(3), 7, 1), _one_hot, attrs={"axis": 0}),
    Sample("Range", (9, 2, -3), np.arange, (*FLOATS, "int32", "int64")),
    Sample("Range", (ints(9), ints(2), ints(-3)), lambda *ends: np.arange(*np.concatenate(ends))),
    Sample("LinSpace", (1, 3, scalar(5)), np.linspace, ("float32", "float64")),
    Sample("LinSpace", (1, 3, np.array(5)), np.linspace, ("float32", "float64")),
    *[
        Sample(
            "Bitcast", ([0, 1, 2, 3, 100, 1, 0, 7],), lambda x, type: x, (dtype,), {"type": dtype}
        )
        for dtype in (*REAL, *COMPLEX)
    ],
    *[
        Sample(
            "Bitcast",
            (_elements_for(a, b),),
            _bits_as,
            attrs={"type": b},
        )
        for a in ("int16", "uint32", "int64")
        for b in ("uint8", "int32", "uint16", "float64", "complex64")
    ],
]
# These are linear, or have their steps elsewhere, so that their own inputs serve.
_WITHOUT_GRADIENT = ("Bitcast", "ConjugateTranspose", "InvertPermutation", "LinSpace", "OneHot")
SAMPLES = [
    row
    if row.op in (*_WITHOUT_GRADIENT, "Pack", "PadV2", "Range")
    else replace(row, smooth_at=row.inputs)
    for row in SAMPLES
]
SAMPLES.append(
    Sample("ConjugateTranspose", (MATRIX, ints(1, 0)), np.transpose, smooth_at=(MATRIX, ints(1, 0)))
)

WRONG = [
    Wrong(
        "TensorStridedSliceUpdate",
        (np.arange(3.0), ints(0), ints(2), ints(1), np.arange(3.0)),
        "Cannot broadcast input shape [3] into final shape [2]",
    ),
    Wrong("Transpose", ([[1.0]], ints(0)), "transpose expects a vector of size 2"),
    Wrong("Transpose", ([1.0], np.array([[0]])), "perm must be rank 1"),
    Wrong("GatherV2", ([1.0], ints(5), scalar(0)), "indices[0] = 5 is not in [0, 1)"),
    Wrong("StridedSlice", ([1.0], ints(3), ints(4), ints(1)), "slice index 3 of dimension 0 out of "
          "bounds.", attrs={"shrink_axis_mask": 1}),
    Wrong("Slice", ([1.0], ints(0), ints(2)), "Expected size[0] in [0, 1], but got 2"),
    Wrong("Squeeze", ([1.0, 2.0],), "Can not squeeze dim[0], expected a dimension of 1, got 2",
          attrs={"axis": [0]}),
    Wrong("Pad", ([1.0], np.array([[-1, 0]], np.int32)), "Paddings must be non-negative: -1 0"),
    Wrong("ReverseV2", ([1.0], ints(0, 0)), "axis 0 specified more than once."),
    Wrong("ReverseV2", ([1.0], ints(3)), "is out of valid range ["),
    Wrong("Range", (scalar(3), scalar(0), scalar(1)),
          "Requires start <= limit when delta > 0: 3/0"),
    Wrong("StridedSliceGrad", (ints(5), ints(0), ints(2), ints(1), [1.0, 2.0, 3.0]),
          "shape of dy was [3] instead of [2]"),
    Wrong("Range", (ints(3, 4), scalar(5), scalar(1)), "start must be a scalar, not shape [2]"),
    Wrong("OneHot", (ints(1), scalar(-1), 1.0, 0.0), "depth must be non-negative, got: -1"),
]  # fmt: skip
