"""Strings."""

from typing import Any

import numpy as np

from ops.sample import (
    ListOf,
    Sample,
    Wrong,
    int32,
)

SAMPLES = [
    Sample("StringJoin", (ListOf((["a", "b"], ["c", "déf"])),),
           lambda x: np.array([b"ac", "bdéf".encode()], object), ("string",)),
    Sample("StringJoin", (ListOf((["a", "b"], "-", ["c", ""])),),
           lambda x, separator: np.array([b"a, -, c", b"b, -, "], object), ("string",),
           {"separator": ", "}),
    Sample("StringJoin", (ListOf(("a", "b", "c")),), lambda x: np.array(b"abc", object),
           ("string",)),
    Sample("StringJoin", (ListOf(([["a"], ["b"]],)),),
           lambda x: np.array([[b"a"], [b"b"]], object), ("string",)),
    Sample("StringJoin", (ListOf(()),), lambda x: np.array(b"", object), ("string",)),
    Sample("StringJoin", ([np.zeros((0, 2), object), np.array("x", object)],),
           lambda x: np.zeros((0, 2), object), ("string",)),
]  # fmt: skip

WORDS = [["a", "bc", ""], ["def", "é", "gh"]]
VECTOR = ["a", "bc", "", "def"]
EMPTY = np.array(b"", object)


def _ints(*values: Any) -> Any:
    return np.array(values, np.int32)


def _filled(indices: Any, updates: Any, shape: Any) -> Any:
    out = np.full(tuple(shape), b"", object)
    for (place,), update in zip(indices, updates, strict=True):
        out[place] += update
    return out


def _replaced(x: Any, indices: Any, updates: Any) -> Any:
    out = x.copy()
    out[indices[:, 0]] = updates
    return out


# Movement: op, inputs, reference, attributes.
MOVED: list[tuple[str, tuple[Any, ...], Any, dict[str, Any]]] = [
    ("Identity", (WORDS,), lambda x: x, {}),
    ("StopGradient", (WORDS,), lambda x: x, {}),
    ("ZerosLike", (WORDS,), lambda x: np.full(x.shape, b"", object), {}),
    ("Rank", (WORDS,), lambda x: 2, {}),
    ("Size", (WORDS,), lambda x: 6, {}),
    ("Shape", (WORDS,), lambda x: _ints(2, 3), {}),
    ("Reshape", (WORDS, _ints(3, -1)), np.reshape, {}),
    ("ExpandDims", (WORDS, np.array(1, np.int32)), np.expand_dims, {}),
    ("Squeeze", ([WORDS],), np.squeeze, {}),
    ("Transpose", (WORDS, _ints(1, 0)), np.transpose, {}),
    ("BroadcastTo", (VECTOR, _ints(2, 4)), lambda x, s: np.broadcast_to(x, tuple(s)), {}),
    ("Fill", (_ints(2, 2), "ab"), lambda s, x: np.full(tuple(s), x, object), {}),
    ("Tile", (WORDS, _ints(2, 1)), np.tile, {}),
    ("ReverseV2", (WORDS, _ints(1)), np.flip, {}),
    ("Roll", (VECTOR, _ints(1), _ints(0)), np.roll, {}),
    ("Pack", (ListOf((VECTOR, VECTOR)),), lambda x, axis: np.stack(x, axis), {"axis": 1}),
    ("Unpack", (WORDS,), lambda x, num: tuple(x), {"num": 2}),
    ("Split", (np.array(1, np.int32), WORDS),
     lambda a, x, num_split: tuple(np.split(x, num_split, a)), {"num_split": 3}),
    ("SplitV", (VECTOR, _ints(1, 3), np.array(0, np.int32)),
     lambda x, s, a, num_split: (x[:1], x[1:]), {"num_split": 2}),
    ("Slice", (WORDS, _ints(0, 1), _ints(2, 2)), lambda x, b, s: x[:, 1:], {}),
    ("StridedSlice", (VECTOR, _ints(3), _ints(0), _ints(-2)), lambda x, b, e, s: x[3:0:-2], {}),
    ("StridedSliceGrad", (_ints(4), _ints(3), _ints(0), _ints(-2), ["x", "y"]),
     lambda shape, b, e, s, dy: np.array([b"", b"y", b"", b"x"], object), {}),
    ("TensorStridedSliceUpdate", (VECTOR, _ints(0), _ints(4), _ints(2), ["x", "y"]),
     lambda x, b, e, s, v: np.array([b"x", b"bc", b"y", b"def"], object), {}),
    ("Gather", (VECTOR, _ints(3, 3, 0)), lambda x, i: x[i], {}),
    ("GatherV2", (WORDS, _ints(2, 0), np.array(1, np.int32)), lambda x, i, a: x[:, i], {}),
    ("GatherNd", (WORDS, int32([[1, 2], [0, 0]])), lambda x, i: x[tuple(i.T)], {}),
    ("ScatterNd", (int32([[2], [0], [2]]), ["a", "b", "c"], _ints(4)), _filled, {}),
    ("TensorScatterUpdate", (VECTOR, int32([[2], [0]]), ["x", "y"]), _replaced, {}),
    ("Pad", (VECTOR, int32([[1, 2]])),
     lambda x, p: np.concatenate([[b""], x, [b"", b""]]).astype(object), {}),
    ("PadV2", (VECTOR, int32([[1, 0]]), "z"),
     lambda x, p, z: np.concatenate([[b"z"], x]).astype(object), {}),
    ("MirrorPad", (VECTOR, int32([[1, 0]])), lambda x, p, mode: np.pad(x, p, mode="reflect"),
     {"mode": "REFLECT"}),
    ("OneHot", (_ints(1, 0), np.array(2, np.int32), "on", "off"),
     lambda i, d, on, off: np.where(i[:, None] == np.arange(2), on, off), {}),
    ("SelectV2", (np.array([True, False, True, False]), VECTOR, "no"), np.where, {}),
    ("Equal", (VECTOR, "bc"), lambda x, y: x == y, {}),
    ("NotEqual", (WORDS, ["a", "é", ""]), lambda x, y: x != y, {}),
    ("Add", (WORDS, ["x", "", "y"]), lambda x, y: x + y, {}),
]  # fmt: skip
SAMPLES += [Sample(op, inputs, f, ("string",), attrs) for op, inputs, f, attrs in MOVED]

WRONG = [
    Wrong("StringJoin", ([np.array(["a", "b"], object), np.array(["a"], object)],),
          "Input shapes do not match: [2] vs. [1]"),
    Wrong("StringJoin", ([int32([1])],), "to be a string tensor but is a int32",
          message_in_graph="has type int32 that does not match expected type of string"),
]  # fmt: skip
