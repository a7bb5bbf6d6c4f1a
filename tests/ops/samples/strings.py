"""Strings."""

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
    Sample("StringJoin", ([np.zeros((0, 2), object), np.array("x", object)],),
           lambda x: np.zeros((0, 2), object), ("string",)),
]  # fmt: skip

WRONG = [
    Wrong("StringJoin", ([np.array(["a", "b"], object), np.array(["a"], object)],),
          "Input shapes do not match: [2] vs. [1]"),
    Wrong("StringJoin", ([int32([1])],), "to be a string tensor but is a int32",
          message_in_graph="has type int32 that does not match expected type of string"),
]  # fmt: skip
