"""Lists of tensors in variants, made of the rows of tensors and stacked to be compared."""

from typing import Any

import numpy as np

from ops.sample import DTYPE, PLAIN, Sample, Wrong, float32, int32, int64
from ops.setups import (
    gives_list,
    into_list,
    into_lists,
    into_new_list,
    into_reserved_list,
    into_typed_list,
    joins_list,
    of_list,
    of_lists,
    of_typed_list,
    pops_off_list,
)

ROWS = [[1, 2], [3, 4], [5, 6]]
ROW, PAIR = [7, 8], [[7, 8], [9, 1]]
SMOOTH, SMOOTH_ROW = [[0.5, 1.5], [2.5, -1.0], [0.25, 4.0]], [3.0, -2.0]
SMOOTH_PAIR = [[3.0, -2.0], [0.75, 1.25]]
STRINGS = ["a", "b", "c"]
BYTES = np.array([b"a", b"b", b"c"], object)
ANY, NO_LENGTHS = int32(-1), int64([])
OF_ROW = {"element_dtype": DTYPE}


def _with(x: Any, row: Any, index: int) -> Any:
    longer = np.zeros((max(len(x), index + 1), *x.shape[1:]), x.dtype)
    longer[: len(x)] = x
    longer[index] = row
    return longer


def _scattered(rows: Any, indices: Any, shape: Any, length: Any) -> Any:
    n = int(np.max(indices, initial=-1)) + 1 if length == -1 else int(length)
    result = np.zeros((n, *rows.shape[1:]), rows.dtype)
    result[indices] = rows
    return result


def _summed(rows: Any, indices: Any, shape: Any, length: Any) -> Any:
    result = np.zeros((int(length), *rows.shape[1:]), rows.dtype)
    np.add.at(result, indices, rows)
    return result


def _scattered_into(x: Any, rows: Any, indices: Any) -> Any:
    for row, index in zip(rows, indices, strict=True):
        x = _with(x, row, int(index))
    return x


def _parts(x: Any, shape: Any, lengths: Any) -> Any:
    return x, lengths


SAMPLES = [
    Sample("EmptyTensorList", (ROW,), lambda x, **attrs: np.stack([x, x]), PLAIN, OF_ROW,
           setup=into_new_list),
    Sample("EmptyTensorList", ("a",), lambda x, **attrs: np.array([b"a"] * 2, object), ("string",),
           OF_ROW, setup=into_new_list),
    Sample("TensorListReserve", (ROW,), lambda x, **attrs: np.stack([0 * x, x, 0 * x]),
           tuple(dtype for dtype in PLAIN if dtype != "bool"), OF_ROW, setup=into_reserved_list),
    Sample("TensorListReserve", (True,), lambda x, **attrs: np.array([False, True, False]),
           ("bool",), OF_ROW, setup=into_reserved_list),
    Sample("TensorListReserve", ("a",), lambda x, **attrs: np.array([b"", b"a", b""], object),
           ("string",), OF_ROW, setup=into_reserved_list),
    Sample("TensorListPushBack", (ROWS, ROW), lambda x, y: np.vstack([x, y]), PLAIN,
           setup=into_list, smooth_at=(SMOOTH, SMOOTH_ROW)),
    Sample("TensorListPushBack", (STRINGS, "d"), lambda x, y: np.append(BYTES, b"d"), ("string",),
           setup=into_list),
    Sample("TensorListPopBack", (ROWS, ANY), lambda x, s, **attrs: (x[:-1], x[-1]), PLAIN, OF_ROW,
           setup=pops_off_list, smooth_at=(SMOOTH, int32([2]))),
    Sample("TensorListPopBack", (STRINGS, ANY), lambda x, s, **attrs: (BYTES[:-1], BYTES[-1]),
           ("string",), OF_ROW, setup=pops_off_list),
    Sample("TensorListLength", (ROWS,), lambda x: np.int32(3), setup=of_list),
    Sample("TensorListElementShape", (ROWS,), lambda x, **attrs: np.array([2]), ("int32", "int64"),
           {"shape_type": DTYPE}, setup=of_typed_list),
    Sample("TensorListElementShape", (ROWS,), lambda x, **attrs: np.array(-1), ("int32",),
           {"shape_type": DTYPE}, setup=of_list),
    Sample("TensorListGetItem", (ROWS, int32(1), int32([2])), lambda x, i, s, **attrs: x[i], PLAIN,
           OF_ROW, setup=of_list, smooth_at=(SMOOTH, int32(1), int32([2]))),
    Sample("TensorListGetItem", (ROWS, int32(2), int64([-1])), lambda x, i, s, **attrs: x[i],
           ("float32",), OF_ROW, setup=of_typed_list),
    Sample("TensorListGetItem", (STRINGS, int32(1), ANY), lambda x, i, s, **attrs: BYTES[1],
           ("string",), OF_ROW, setup=of_list),
    Sample("TensorListSetItem", (ROWS, int32(1), ROW), lambda x, i, y: _with(x, y, i), PLAIN,
           setup=into_list, smooth_at=(SMOOTH, int32(1), SMOOTH_ROW)),
    Sample("TensorListSetItem", (ROWS, int32(4), ROW), lambda x, i, y, **attrs: _with(x, y, i),
           ("float32", "int32"), {"resize_if_index_out_of_bounds": True}, setup=into_list,
           smooth_at=(SMOOTH, int32(4), SMOOTH_ROW)),
    Sample("TensorListSetItem", (STRINGS, int32(1), "d"),
           lambda x, i, y: np.array([b"a", b"d", b"c"], object), ("string",), setup=into_list),
    *[
        Sample("TensorListResize", (ROWS, int32(n)), lambda x, n: np.resize(x, (n, 2))[: len(x)]
               if n <= len(x) else np.vstack([x, np.zeros((n - len(x), 2))]), setup=into_list,
               smooth_at=(SMOOTH, int32(n)))
        for n in (1, 3, 5)
    ],
    Sample("TensorListStack", (ROWS, ANY), lambda x, s, **attrs: x, PLAIN,
           {**OF_ROW, "num_elements": 3}, setup=of_list, smooth_at=(SMOOTH, ANY)),
    Sample("TensorListStack", (ROWS, int32([2])), lambda x, s, **attrs: x, ("float32",), OF_ROW,
           setup=of_list, smooth_at=(SMOOTH, int32([-1]))),
    Sample("TensorListStack", (STRINGS, ANY), lambda x, s, **attrs: BYTES, ("string",), OF_ROW,
           setup=of_list),
    *[
        Sample("TensorListFromTensor", (ROWS, shape), lambda x, s: x, dtypes, setup=gives_list,
               smooth_at=(SMOOTH, shape))
        for shape, dtypes in ((ANY, PLAIN), (int64([2]), ("float32",)), (int32([-1]), ("int8",)))
    ],
    Sample("TensorListFromTensor", (STRINGS, ANY), lambda x, s: BYTES, ("string",),
           setup=gives_list),
    Sample("TensorListGather", (ROWS, int32([2, 0, 2]), ANY), lambda x, i, s, **attrs: x[i], PLAIN,
           OF_ROW, setup=of_list, smooth_at=(SMOOTH, int32([2, 0, 2]), int32([2]))),
    Sample("TensorListGather", (ROWS, np.zeros(0, np.int32), int32([2])),
           lambda x, i, s, **attrs: x[i], ("float32",), OF_ROW, setup=of_list),
    Sample("TensorListGather", (STRINGS, int32([2, 2]), ANY), lambda x, i, s, **attrs: BYTES[i],
           ("string",), OF_ROW, setup=of_list),
    Sample("TensorListScatterV2", (PAIR, int32([3, 0]), ANY, int32(-1)), _scattered, PLAIN,
           setup=gives_list, smooth_at=(SMOOTH_PAIR, int32([3, 0]), ANY, int32(-1))),
    Sample("TensorListScatterV2", (PAIR, int32([2, 1]), int64([2]), int32(5)), _scattered,
           ("float32",), setup=gives_list,
           smooth_at=(SMOOTH_PAIR, int32([2, 1]), int64([2]), int32(5))),
    Sample("TensorListScatterV2", (STRINGS, int32([1, 0, 2]), ANY, int32(4)),
           lambda x, *rest: np.array([b"b", b"a", b"c", b""], object), ("string",),
           setup=gives_list),
    Sample("TensorListScatterIntoExistingList", (ROWS, PAIR, int32([2, 0])), _scattered_into, PLAIN,
           setup=into_list, smooth_at=(SMOOTH, SMOOTH_PAIR, int32([2, 0]))),
    Sample("TensorListScatterIntoExistingList", (ROWS, PAIR, int32([4, 0])), _scattered_into,
           ("float32",), setup=into_list, smooth_at=(SMOOTH, SMOOTH_PAIR, int32([4, 0])),
           beside_tensorflow="it stacks no list that this made longer"),
    Sample("TensorListScatterIntoExistingList", (STRINGS, ["d"], int32([1])),
           lambda *x: np.array([b"a", b"d", b"c"], object), ("string",), setup=into_list),
    Sample("TensorListConcatV2", ([ROWS, ROWS], ANY, NO_LENGTHS),
           lambda x, *rest, **attrs: (np.vstack(x), np.array([3, 3])), PLAIN, OF_ROW,
           setup=of_list, smooth_at=([SMOOTH, SMOOTH], int32([-1, 2]), NO_LENGTHS)),
    Sample("TensorListConcatV2", ([STRINGS, STRINGS], int64([-1]), NO_LENGTHS),
           lambda x, *rest, **attrs: (np.tile(BYTES, 2), np.array([3, 3])), ("string",), OF_ROW,
           setup=of_list),
    Sample("TensorListSplit", (ROWS, ANY, int64([1, 0, 2])), lambda x, *rest: x, PLAIN,
           setup=joins_list, smooth_at=(SMOOTH, ANY, int64([1, 0, 2]))),
    Sample("TensorListSplit", (ROWS, int64([-1, 2]), int64([1, 1, 1])), lambda x, *rest: x,
           ("float32",), setup=joins_list, smooth_at=(SMOOTH, int32([-1, 2]), int64([1, 1, 1]))),
    Sample("TensorListSplit", (STRINGS, ANY, int64([2, 1])), lambda x, *rest: BYTES, ("string",),
           setup=joins_list),
    Sample("TensorListConcatLists", (ROWS, PAIR), lambda x, y, **attrs: np.vstack([x, y]), PLAIN,
           OF_ROW, setup=of_lists),
    Sample("TensorListConcatLists", (STRINGS, STRINGS), lambda x, y, **attrs: np.tile(BYTES, 2),
           ("string",), OF_ROW, setup=of_lists),
    Sample("TensorListPushBackBatch", (ROWS, PAIR),
           lambda x, y: (np.vstack([x, y[:1]]), np.vstack([x, y[1:]])), PLAIN, setup=into_lists),
    Sample("TensorListPushBackBatch", (STRINGS, ["d", "e"]),
           lambda x, y: (np.append(BYTES, b"d"), np.append(BYTES, b"e")), ("string",),
           setup=into_lists),
]  # fmt: skip


_FLOATS, _ROW, _INTS = float32(ROWS), float32(ROW), int32(ROWS)
_TYPED = {"element_dtype": "float32"}
_OTHER = {"element_dtype": "int32"}
_DTYPES = "op elements int32 but list elements float"
_NO_INDICES = np.zeros(0, np.int32)


WRONG = [
    Wrong("EmptyTensorList", (int32([-2]), int32(1)), "Dimension -2 must be >= -1", attrs=_TYPED),
    Wrong("EmptyTensorList", (int32(3), int32(1)), "The only valid scalar shape tensor",
          attrs=_TYPED, beside_tensorflow=""),
    Wrong("EmptyTensorList", (int32([[3]]), int32(1)), "Shape must be at most rank 1 but is rank 2",
          attrs=_TYPED),
    Wrong("TensorListReserve", (int32([2]), int32(-1)), "must be a non negative number, but got -1",
          attrs=_TYPED),
    Wrong("TensorListReserve", (int32([2]), int32([1, 2])), "num_elements must be one number",
          attrs=_TYPED),
    Wrong("TensorListPushBack", (_FLOATS, _FLOATS), "Op element shape: [3,2] list shape: [2]",
          setup=into_typed_list),
    Wrong("TensorListPushBack", (_FLOATS, int32(ROW)), _DTYPES, setup=into_list),
    Wrong("TensorListPopBack", (float32([]), ANY), "Trying to pop from an empty list", attrs=_TYPED,
          setup=of_list),
    Wrong("TensorListPopBack", (_FLOATS, ANY), _DTYPES, attrs=_OTHER, setup=of_list),
    Wrong("TensorListGetItem", (_FLOATS, int32(3), ANY),
          "Trying to access element 3 in a list with 3 elements", attrs=_TYPED, setup=of_list),
    Wrong("TensorListGetItem", (_FLOATS, int32(-1), ANY),
          "Trying to access element -1 in a list with 3 elements", attrs=_TYPED, setup=of_list),
    Wrong("TensorListGetItem", (_FLOATS, int32(1), int32([3])),
          "an element of shape [2] is read as one of shape [3]", attrs=_TYPED, setup=of_list,
          beside_tensorflow="it gives elements of any shape"),
    Wrong("TensorListGetItem", (_FLOATS, int32(1), ANY), _DTYPES, attrs=_OTHER, setup=of_list),
    Wrong("TensorListGetItem", (_FLOATS, int32([0, 1]), ANY), "index must be one number, got shape",
          attrs=_TYPED, setup=of_list, beside_tensorflow="it reads the first index"),
    Wrong("TensorListSetItem", (_FLOATS, int32(3), _ROW),
          "Trying to modify element 3 in a list with 3 elements", setup=into_list),
    Wrong("TensorListSetItem", (_FLOATS, int32(-1), _ROW), "Trying to modify element -1",
          setup=into_list),
    Wrong("TensorListSetItem", (_FLOATS, int32(-1), _ROW), "Trying to modify element -1",
          attrs={"resize_if_index_out_of_bounds": True}, setup=into_list,
          beside_tensorflow="it crashes"),
    Wrong("TensorListSetItem", (_FLOATS, int32(0), float32(1)),
          "Item element shape: [] list shape: [2]", setup=into_typed_list),
    Wrong("TensorListSetItem", (_FLOATS, int32(0), int32(ROW)), _DTYPES, setup=into_list),
    Wrong("TensorListResize", (_FLOATS, int32(-1)), "expects size to be non-negative. Got: -1",
          setup=into_list),
    Wrong("TensorListStack", (_FLOATS, ANY), "a list with 2 elements but got a list with 3",
          attrs={**_TYPED, "num_elements": 2}, setup=of_list),
    Wrong("TensorListStack", (_FLOATS, int32([3])), "with shape [2] are read as ones of shape [3]",
          attrs=_TYPED, setup=of_typed_list),
    Wrong("TensorListStack", (_FLOATS, ANY), _DTYPES, attrs=_OTHER, setup=of_list),
    Wrong("TensorListFromTensor", (float32(1), ANY), "Tensor must be at least a vector",
          setup=gives_list),
    Wrong("TensorListFromTensor", (_FLOATS, int32([3])),
          "a list with shape [3] from a tensor with shape [2]", setup=gives_list),
    Wrong("TensorListGather", (_FLOATS, int32([1, 3]), ANY),
          "Trying to gather element 3 in a list with 3 elements", attrs=_TYPED, setup=of_list),
    Wrong("TensorListGather", (_FLOATS, int32([-1]), ANY),
          "Trying to gather element -1 in a list with 3 elements", attrs=_TYPED, setup=of_list),
    Wrong("TensorListGather", (_FLOATS, _NO_INDICES, ANY),
          "Tried to gather 0-elements from a list with non-fully-defined element_shape",
          attrs=_TYPED, setup=of_list, message_in_graph=""),
    Wrong("TensorListGather", (_FLOATS, int32([0]), ANY), _DTYPES, attrs=_OTHER, setup=of_list),
    Wrong("TensorListScatterV2", (_FLOATS, int32([0, 1, 2]), ANY, int32(2)),
          "Trying to scatter at index 2 in list with size 2", setup=gives_list),
    Wrong("TensorListScatterV2", (_FLOATS, int32([0, 1, 2]), ANY, int32(-2)),
          "expects num_elements >= -1, found: -2", setup=gives_list),
    Wrong("TensorListScatterV2", (_FLOATS, int32([0, -1, 2]), ANY, int32(4)),
          "must all be non-negative", setup=gives_list),
    Wrong("TensorListScatterV2", (_FLOATS, int32([0, 1]), ANY, int32(4)),
          "Invalid number of rows in input tensor. Expected: 2", setup=gives_list),
    Wrong("TensorListScatterV2", (_FLOATS, int32([0, 1, 2]), int32([3]), int32(4)),
          "a list with shape [3] from a tensor with shape [2]", setup=gives_list),
    Wrong("TensorListScatterIntoExistingList", (_FLOATS, _FLOATS, int32([0, 1])),
          "Invalid number of rows in input tensor. Expected: 2", setup=into_list),
    Wrong("TensorListScatterIntoExistingList", (_FLOATS, _FLOATS, int32([0, 1, -1])),
          "must all be non-negative", setup=into_list, beside_tensorflow="it crashes"),
    Wrong("TensorListScatterIntoExistingList", (_FLOATS, _INTS, int32([0, 1, 2])), _DTYPES,
          setup=into_list),
    Wrong("TensorListConcatV2", (float32([1, 2]), ANY, NO_LENGTHS),
          "Concat saw a scalar shape at index 0", attrs=_TYPED, setup=of_list),
    Wrong("TensorListConcatV2", (float32([[1], [2]]), int32([2]), NO_LENGTHS),
          "element 0 of a list has shape [1], others [2]", attrs=_TYPED, setup=of_list),
    Wrong("TensorListConcatV2", (_FLOATS, ANY, NO_LENGTHS), _DTYPES, attrs=_OTHER, setup=of_list),
    Wrong("TensorListSplit", (_FLOATS, ANY, int64([1, 1])), "Unused values in tensor",
          setup=gives_list),
    Wrong("TensorListSplit", (_FLOATS, ANY, int64([1, 3])),
          "Attempting to slice 3 rows from row 1 on, of a tensor with length 3", setup=gives_list),
    Wrong("TensorListSplit", (_FLOATS, ANY, int64([1, -1, 3])), "Invalid value in lengths: -1",
          setup=gives_list),
    Wrong("TensorListSplit", (_FLOATS, ANY, int64(3)), "Expected lengths to be a vector",
          setup=gives_list),
    Wrong("TensorListSplit", (float32(1), ANY, int64([1])), "Tensor must be at least a vector",
          setup=gives_list),
    Wrong("TensorListSplit", (_FLOATS, int32([-1, 3]), int64([1, 2])),
          "is not compatible with element_shape [?,3]", setup=gives_list,
          message_in_graph="are read as ones of shape [2]"),
    Wrong("TensorListConcatLists", (_FLOATS, _INTS),
          "op elements float but list elements int32", attrs=_TYPED, setup=of_lists),
    Wrong("TensorListPushBackBatch", (_FLOATS, _FLOATS),
          "Expected tensor.shape[0] == input_handles.size, but saw 3 vs. 2", setup=into_lists),
    Wrong("TensorListPushBackBatch", (_FLOATS, int32(PAIR)), _DTYPES, setup=into_lists),
]  # fmt: skip
