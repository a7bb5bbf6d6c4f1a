"""Slices parted, put together again, and turned around; shapes that broadcast."""

from typing import Any

import numpy as np

from ops.sample import PLAIN, ListOf, Sample, Wrong, float32, float64, int32, int64

ROWS = [[0.5, -2.0], [1.5, 4.0], [3.0, -1.0], [2.0, 0.25]]
STRINGS = ["a", "b", "c" * 30, ""]
CUBE = np.arange(24.0).reshape(2, 3, 4).tolist()


def _partition(x: Any, partitions: Any, num_partitions: int) -> Any:
    return tuple(x[partitions == i] for i in range(num_partitions))


def _stitch(indices: Any, data: Any) -> Any:
    rank = indices[0].ndim
    out = np.zeros((max(int(i.max(initial=-1)) for i in indices) + 1, *data[0].shape[rank:]),
                   data[0].dtype)  # fmt: skip
    if out.dtype == object:
        out[...] = b""
    for i, rows in zip(indices, data, strict=True):
        for index, row in zip(i.ravel(), rows.reshape(i.size, *out.shape[1:]), strict=True):
            out[index] = row
    return out


def _reversed(x: Any, lengths: Any, seq_dim: int, batch_dim: int = 0) -> Any:
    out = np.moveaxis(x.copy(), (batch_dim, seq_dim), (0, 1))
    for row, length in zip(out, lengths, strict=True):
        row[:length] = row[:length][::-1].copy()
    return np.moveaxis(out, (0, 1), (batch_dim, seq_dim))


PARTS = {"num_partitions": 3}
OF_ROWS = int32([2, 0, 2, 0])

SAMPLES = [
    Sample("DynamicPartition", (ROWS, OF_ROWS), _partition, PLAIN, PARTS,
           smooth_at=(ROWS, OF_ROWS)),
    Sample("DynamicPartition", (STRINGS, OF_ROWS), _partition, ("string",), PARTS),
    Sample("DynamicPartition", (ROWS, int32([[2, 1], [0, 0], [2, 2], [0, 1]])), _partition,
           attrs=PARTS, smooth_at=(ROWS, int32([[2, 1], [0, 0], [2, 2], [0, 1]]))),
    Sample("DynamicPartition", (ROWS, int32(1)), lambda x, partitions, num_partitions: (
        x[None][:0], x[None]), attrs={"num_partitions": 2}),
    Sample("DynamicPartition", (np.zeros((0, 2), np.float32), int32([])), _partition, attrs=PARTS),
    *(
        row
        for op in ("DynamicStitch", "ParallelDynamicStitch")
        for row in (
            Sample(op, ([int32([3, 0]), int32([1, 3])], ListOf((ROWS[:2], ROWS[2:]))), _stitch,
                   PLAIN),
            Sample(op, ([int32(0), int32([[2], [1]])], ListOf((ROWS[0], [ROWS[1:2], ROWS[2:3]]))),
                   _stitch),
            Sample(op, ([int32([2, 5]), int32([0, 1])], ListOf((STRINGS[:2], STRINGS[2:]))),
                   _stitch, ("string",)),
            Sample(op, ([int32([])], ListOf((np.zeros((0, 3), np.float32),))), _stitch),
        )
    ),
    *(
        Sample("ReverseSequence", (CUBE, lengths), _reversed, dtypes,
               {"seq_dim": seq, "batch_dim": batch}, smooth_at=(CUBE, lengths))
        for lengths, seq, batch, dtypes in (
            (int64([3, 2]), 1, 0, PLAIN),
            (int32([4, 0, 1]), 2, 1, ("float32",)),
            (int64([1, 2, 0]), 0, 1, ("float32",)),
            (int32([0, 3, 2, 1]), 1, 2, ("float32",)),
        )
    ),
    Sample("ReverseSequence", ([STRINGS], int32([3])), _reversed, ("string",), {"seq_dim": 1}),
    *(
        Sample("BroadcastArgs", (np.array(a, dtype), np.array(b, dtype)),
               lambda a, b: np.array(np.broadcast_shapes(tuple(a), tuple(b))))
        for a, b in (([2, 1], [3]), ([], [2, 4]), ([2, 0], [1]))
        for dtype in (np.int32, np.int64)
    ),
]  # fmt: skip

WRONG = [
    Wrong("DynamicPartition", (np.ones((4, 2)), int32([0, 1])), "data.shape must start with",
          attrs=PARTS),
    Wrong("DynamicPartition", (np.ones((2, 2)), int32([0, 3])), "partitions[1] = 3 is not in",
          attrs=PARTS),
    Wrong("DynamicPartition", (np.ones((2, 2)), int32([0, -1])), "partitions[1] = -1 is not in",
          attrs=PARTS),
    Wrong("DynamicPartition", (np.ones((2, 2)), int32([0, 0])), "must be at least minimum 1",
          attrs={"num_partitions": 0}),
    Wrong("DynamicStitch", ([int32([0])], [np.ones((2, 2))]),
          "data[0].shape = [2,2] does not start with indices[0].shape = [1]"),
    Wrong("DynamicStitch", ([int32([0]), int32([1])], [np.ones((1, 2)), np.ones((1, 3))]),
          "Need data[0].shape[1:] = data[1].shape[1:]"),
    Wrong("DynamicStitch", ([int32([-1])], [np.ones(1)]), "indices[0] is out of range"),
    Wrong("DynamicStitch", ([int32([0])], [np.ones(1), np.ones(1)]), "must match length 1",
          error="ValueError"),
    Wrong("DynamicStitch", ([int32([0]), int32([0])], [float32([1]), float64([1])]),
          "to be a float tensor but is a double",
          message_in_graph="has type float64 that does not match type float32"),
    Wrong("ReverseSequence", (np.ones((2, 3)), int32([2])), "Length of seq_lengths != input.dims",
          attrs={"seq_dim": 1}),
    Wrong("ReverseSequence", (np.ones((2, 3)), int32([2, 4])), "seq_lens(1) > input.dims(1)",
          attrs={"seq_dim": 1}),
    Wrong("ReverseSequence", (np.ones((2, 3)), int32([2, -1])), "seq_lens(1) < 0",
          attrs={"seq_dim": 1}),
    Wrong("ReverseSequence", (np.ones((2, 3)), int32([2, 1])), "batch_dim == seq_dim == 0",
          attrs={"seq_dim": 0}),
    Wrong("ReverseSequence", (np.ones((2, 3)), int32([2, 1])), "seq_dim must be < input rank",
          attrs={"seq_dim": 2}),
    Wrong("ReverseSequence", (np.ones((2, 3)), int32([2, 1])), "Invalid seq_dim -1",
          attrs={"seq_dim": -1}),
    Wrong("ReverseSequence", (np.ones((2, 3)), int32(2)), "seq_lengths must be 1-dim, not 0",
          attrs={"seq_dim": 1}),
    Wrong("BroadcastArgs", (int32([2]), int32([3])), "Incompatible shapes: [2] vs. [3]"),
    Wrong("BroadcastArgs", (int32([2]), int32(3)), "In[1] must be a vector.[]"),
]  # fmt: skip
