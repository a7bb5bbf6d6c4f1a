"""Variables: their handles, reads, writes of all and of some of their elements."""

from collections.abc import Callable
from typing import Any

import numpy as np

from ops.sample import (
    COMPLEX,
    DTYPE,
    PLAIN,
    REAL,
    Sample,
    Wrong,
    float32,
    int32,
    int64,
)
from ops.setups import on_empty_variable, on_new_handle, on_variable, then_is_initialized

VALUE = [[1, 2, 3], [4, 5, 6], [7, 8, 9]]
OTHER = [[9, 1, 2], [3, 0, 5], [2, 7, 4]]
STRINGS = ["a", "b", "c"]
BYTES = np.array([b"a", b"b", b"c"], object)
NUMBERS = (*REAL, *COMPLEX)
ROWS = int32([2, 0])
REPEATED = int64([[1, 1], [0, 1]])


def _written(f: Callable[..., Any]) -> Any:
    """What a variable of the first input holds after f has worked on it."""

    def reference(value: Any, *inputs: Any, **attrs: Any) -> Any:
        result = value.copy()
        f(result, *inputs)
        return result

    return reference


def _rows(combine: Callable[[Any, Any], Any]) -> Any:
    """Combines each row that an index names with its update, in order."""

    def write(value: Any, indices: Any, updates: Any) -> None:
        all_updates = np.broadcast_to(updates, indices.shape + value.shape[1:])
        for index, update in zip(
            indices.ravel(), all_updates.reshape(-1, *value.shape[1:]), strict=True
        ):
            value[index] = combine(value[index], update)

    return _written(write)


def _slices(combine: Callable[[Any, Any], Any]) -> Any:
    """Combines each slice that a vector of indices names with its update, in order."""

    def write(value: Any, indices: Any, updates: Any) -> None:
        vectors = indices.reshape(-1, indices.shape[-1])
        shape = value.shape[indices.shape[-1] :]
        for vector, update in zip(vectors, updates.reshape(-1, *shape), strict=True):
            value[tuple(vector)] = combine(value[tuple(vector)], update)

    return _written(write)


def _quotient(a: Any, b: Any) -> Any:
    return np.trunc(a / b).astype(a.dtype) if a.dtype.kind in "iu" else a / b


def _replaced(a: Any, b: Any) -> Any:
    return b


def _on(op: str, inputs: tuple[Any, ...], f: Any, dtypes: Any = NUMBERS, **more: Any) -> Sample:
    return Sample(op, inputs, f, dtypes, setup=on_variable, **more)


UPDATES = [[1, 2, 1], [2, 1, 2]]
BLOCKS = [[UPDATES[0], UPDATES[1]], [UPDATES[1], UPDATES[0]]]


def _scatter(op: str, combine: Any, dtypes: Any, ulp: float = 0) -> list[Sample]:
    f = _rows(combine)
    return [
        _on(op, (VALUE, ROWS, UPDATES), f, dtypes, ulp=ulp),
        _on(op, (VALUE, ROWS.astype(np.int64), UPDATES), f, ("float32",), ulp=ulp),
        _on(op, (VALUE, REPEATED, BLOCKS), f, dtypes, ulp=ulp),
        _on(op, (VALUE, int32(1), [1, 2, 1]), f, ("float32", "int64"), ulp=ulp),
        _on(op, (VALUE, ROWS, 2), f, ("float32", "int32"), ulp=ulp),
        _on(op, (VALUE, np.zeros(0, np.int32), np.zeros((0, 3), np.float32)), f, ("float32",)),
    ]


PLACES, ROW_PLACES = int32([[0, 1], [2, 2], [0, 1]]), int64([[2], [0]])


def _scatter_nd(op: str, combine: Any, dtypes: Any) -> list[Sample]:
    f = _slices(combine)
    return [
        _on(op, (VALUE, PLACES, [5, 1, 4]), f, dtypes),
        _on(op, (VALUE, ROW_PLACES, UPDATES), f, dtypes),
        _on(op, (VALUE, int32([[[0, 1]], [[1, 0]]]), [[2], [3]]), f, ("float32",)),
    ]


def _gathered(value: Any, indices: Any, **attrs: Any) -> Any:
    return value[indices], value


def _gathered_in_batches(value: Any, indices: Any, **attrs: Any) -> Any:
    return np.stack([row[i] for row, i in zip(value, indices, strict=True)]), value


def _gathered_nd(value: Any, indices: Any, **attrs: Any) -> Any:
    return value[tuple(np.moveaxis(indices, -1, 0))], value


OF_ROW = {"dtype": DTYPE}
SMOOTH = [[0.5, 1.5], [2.5, -1.0], [0.25, 4.0]]

SAMPLES = [
    Sample("VarHandleOp", (VALUE,), lambda x, **attrs: (False, x), PLAIN,
           {"dtype": DTYPE, "shape": [3, 3]}, setup=on_new_handle),
    Sample("VarHandleOp", (VALUE,), lambda x, **attrs: (False, x), ("float32",),
           {"dtype": DTYPE, "shape": [None, 3]}, setup=on_new_handle),
    Sample("VarHandleOp", (STRINGS,), lambda x, **attrs: (False, BYTES), ("string",),
           {"dtype": DTYPE, "shape": None}, setup=on_new_handle),
    _on("VarIsInitializedOp", (VALUE,), lambda x: (True, x), PLAIN),
    Sample("VarIsInitializedOp", (VALUE,), lambda x: False, PLAIN, setup=on_empty_variable),
    Sample("DestroyResourceOp", (VALUE,), lambda x: (True, False), PLAIN,
           setup=then_is_initialized),
    Sample("DestroyResourceOp", (VALUE,), lambda x, **attrs: (True, False), ("float32",),
           {"ignore_lookup_error": False}, setup=then_is_initialized),
    _on("ReadVariableOp", (VALUE,), lambda x, dtype: (x, x), PLAIN, attrs=OF_ROW,
        smooth_at=(SMOOTH,)),
    _on("ReadVariableOp", (STRINGS,), lambda x, dtype: (BYTES, BYTES), ("string",), attrs=OF_ROW),
    _on("ReadVariableOp", (1.5,), lambda x, dtype: (x, x), ("float32",), attrs=OF_ROW),
    *[
        _on("VariableShape", (value,), lambda x, out_type: (np.array(x.shape), x), PLAIN,
            attrs={"out_type": dtype})
        for value in (VALUE, 3) for dtype in ("int32", "int64")
    ],
    _on("ResourceGather", (VALUE, int32([2, 0, 2])), _gathered, PLAIN, attrs=OF_ROW,
        smooth_at=(SMOOTH, int32([2, 0, 2]))),
    _on("ResourceGather", (VALUE, int64([[1, 1], [0, 2]])), _gathered, ("float32", "int32"),
        attrs=OF_ROW, smooth_at=(SMOOTH, int64([[1, 1], [0, 2]]))),
    _on("ResourceGather", (VALUE, int32([[2, 0], [1, 1], [0, 0]])), _gathered_in_batches,
        attrs={**OF_ROW, "batch_dims": 1}),
    _on("ResourceGather", (STRINGS, int32([2, 2])),
        lambda x, i, dtype: (BYTES[i], BYTES), ("string",), attrs=OF_ROW),
    _on("ResourceGather", (VALUE, np.zeros(0, np.int32)), _gathered, ("float32",), attrs=OF_ROW),
    _on("ResourceGatherNd", (VALUE, int32([[2, 0], [1, 1]])), _gathered_nd, PLAIN,
        attrs=OF_ROW, smooth_at=(SMOOTH, int32([[2, 0], [1, 1], [1, 1]]))),
    _on("ResourceGatherNd", (VALUE, int64([[2], [0]])), _gathered_nd, ("float32", "int32"),
        attrs=OF_ROW, smooth_at=(SMOOTH, int64([[2], [0], [2]]))),
    _on("AssignVariableOp", (VALUE, OTHER), lambda x, y: y, PLAIN),
    _on("AssignVariableOp", (STRINGS, ["d", "e", "f"]),
        lambda x, y: np.array([b"d", b"e", b"f"], object), ("string",)),
    _on("AssignAddVariableOp", (VALUE, OTHER), np.add),
    _on("AssignSubVariableOp", (OTHER, VALUE), np.subtract),
    _on("AssignAddVariableOp", (1, 2), lambda x, y: x + y + y, ("float32", "int64"), calls=2),
    *_scatter("ResourceScatterAdd", np.add, NUMBERS),
    *_scatter("ResourceScatterSub", np.subtract, NUMBERS),
    *_scatter("ResourceScatterMul", np.multiply, NUMBERS),
    *_scatter("ResourceScatterDiv", _quotient, NUMBERS, ulp=1),
    *_scatter("ResourceScatterMin", np.minimum, REAL),
    *_scatter("ResourceScatterMax", np.maximum, REAL),
    *_scatter("ResourceScatterUpdate", _replaced, PLAIN),
    _on("ResourceScatterUpdate", (STRINGS, int32([1]), ["x"]),
        lambda *x: np.array([b"a", b"x", b"c"], object), ("string",)),
    _on("ResourceScatterNdUpdate", (STRINGS, int32([[1]]), ["x"]),
        lambda *x: np.array([b"a", b"x", b"c"], object), ("string",)),
    _on("ResourceGatherNd", (STRINGS, int32([[2], [0]])),
        lambda x, i, dtype: (x[[2, 0]], x), ("string",), attrs=OF_ROW),
    _on("ResourceScatterNdAdd", ([1, 0, 0], int32([[1], [2], [1]]), [1, 0, 1]),
        lambda x, i, y: np.array([1, 1, 0]), ("bool",)),
    _on("ResourceScatterNdSub", ([1, 0, 0], int32([[0], [1]]), [1, 1]),
        lambda x, i, y: np.array([0, 1, 0]), ("bool",),
        beside_tensorflow="it subtracts no bools"),
    *_scatter_nd("ResourceScatterNdAdd", np.add, NUMBERS),
    *_scatter_nd("ResourceScatterNdSub", np.subtract, NUMBERS),
    *_scatter_nd("ResourceScatterNdMin", np.minimum, REAL),
    *_scatter_nd("ResourceScatterNdMax", np.maximum, REAL),
    *_scatter_nd("ResourceScatterNdUpdate", _replaced, PLAIN),
    _on("ResourceScatterNdAdd", (VALUE, int32([[0, 1], [9, 9]]), [5, 1]),
        lambda x, *rest, **attrs: x + np.array([[0, 5, 0], [0] * 3, [0] * 3]), ("float32",),
        attrs={"bad_indices_policy": "IGNORE"}),
]  # fmt: skip


_FLOATS = float32(VALUE)
_ROWS_OPS = ("Add", "Sub", "Mul", "Div", "Min", "Max", "Update")
_SLICES_OPS = ("Add", "Sub", "Min", "Max", "Update")


def _wrong(op: str, inputs: tuple[Any, ...], message: str, **more: Any) -> Wrong:
    return Wrong(op, inputs, message, setup=on_variable, **more)


WRONG = [
    Wrong("ReadVariableOp", (_FLOATS,), "", error="FailedPreconditionError",
          attrs={"dtype": "float32"}, setup=on_empty_variable),
    _wrong("ReadVariableOp", (_FLOATS,), "The variable holds float32, asked for int32",
           attrs={"dtype": "int32"}),
    _wrong("ResourceGather", (_FLOATS, int32([3])), "indices[0] = 3 is not in [0, 3)",
           attrs={"dtype": "float32"}),
    _wrong("ResourceGather", (_FLOATS, int32([0])), "batch_dims must be >= 0, got -1",
           attrs={"dtype": "float32", "batch_dims": -1}),
    _wrong("ResourceGatherNd", (_FLOATS, int32([[0, 3]])), "[0, 3]",
           attrs={"dtype": "float32"}),
    _wrong("ResourceGatherNd", (_FLOATS, int32([[0, 0, 0]])), "index vectors of 3",
           attrs={"dtype": "float32"}),
    _wrong("AssignVariableOp", (_FLOATS, float32([1])), "Shape mismatch",
           beside_tensorflow="only its Variable.assign and its graphs look at the shape"),
    _wrong("AssignVariableOp", (_FLOATS, int32(VALUE)),
           "The variable holds float32, asked for int32"),
    _wrong("AssignAddVariableOp", (_FLOATS, float32([1])), "Shape mismatch"),
    _wrong("AssignSubVariableOp", (_FLOATS, float32([1])), "Shape mismatch"),
    _wrong("AssignAddVariableOp", (np.array([True]), np.array([True])),
           "has no kernel for attr 'dtype' of bool", error="NotFoundError"),
    *[
        _wrong("ResourceScatter" + kind, (_FLOATS, int32([3]), float32([[1, 2, 3]])),
               "indices[0] = 3 is not in [0, 3)")
        for kind in _ROWS_OPS
    ],
    *[
        _wrong("ResourceScatter" + kind, (_FLOATS, int32([1]), float32([[1, 2]])),
               "must be a scalar or have shape [1,3], got [1,2]",
               beside_tensorflow="it reads what lies behind the updates in memory")
        for kind in _ROWS_OPS
    ],
    *[
        _wrong("ResourceScatterNd" + kind, (_FLOATS, int32([[0, 3]]), float32([1])),
               "indices[0] = [0, 3] does not index into")
        for kind in _SLICES_OPS
    ],
    *[
        _wrong("ResourceScatterNd" + kind, (_FLOATS, int32([[0, 1]]), float32([1, 2])),
               "must be a scalar or have shape [1], got [2]")
        for kind in _SLICES_OPS
    ],
    _wrong("ResourceScatterDiv", (int32(VALUE), int32([0]), int32([[1, 0, 1]])),
           "Integer division by zero", beside_tensorflow="it divides, and the process ends"),
    Wrong("DestroyResourceOp", (_FLOATS,), "holds no value to destroy", error="NotFoundError",
          attrs={"ignore_lookup_error": False}, setup=on_empty_variable),
    _wrong("VariableShape", (_FLOATS,), "Value for attr 'out_type' of float is not in the list",
           attrs={"out_type": "float32"}),
]  # fmt: skip
