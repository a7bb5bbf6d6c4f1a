"""Strings."""

from typing import Any

import numpy as np

from ops.sample import (
    COMPLEX,
    DTYPE,
    FLOATS,
    INTEGERS,
    ListOf,
    Sample,
    Wrong,
    complex64,
    float32,
    int32,
)
from ops.setups import into_new_folder, out_of_file

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


def _bytes(texts: Any) -> Any:
    """Texts of any shape as a tensor of strings holds them."""
    flat = np.asarray(texts, object)
    return np.array([text.encode() for text in flat.ravel()], object).reshape(flat.shape)


def _printed(number: Any, **options: Any) -> str:
    """A number as printf of C writes it."""
    letter = "e" if options.get("scientific") else "g" if options.get("shortest") else "f"
    if np.iscomplexobj(number):
        real, imaginary = (_printed(part, **options) for part in (number.real, number.imag))
        return f"({real},{imaginary})"
    if np.issubdtype(type(number), np.integer):
        letter, number = "d", int(number)
    width, precision = options.get("width", -1), options.get("precision", -1)
    middle = "" if width < 0 else str(width)
    middle += "" if precision < 0 else f".{precision}"
    text: str = f"%{options.get('fill', '')}{middle}{letter}" % number
    return text


def _as_string(x: Any, **options: Any) -> Any:
    return _bytes(np.vectorize(lambda number: _printed(number, **options), otypes=[object])(x))


NUMBERS = [[1.5, -2.25, 0.0], [100.0, 0.125, 7.0]]
ONE_TO_SIX = [[1, 2, 3], [4, 5, 6]]
FORMATS: list[dict[str, Any]] = [
    {},
    {"precision": 2},
    {"scientific": True},
    {"shortest": True, "precision": 3},
    {"width": 12, "fill": "0"},
    {"width": 12, "fill": "-"},
    {"fill": "+"},
    {"width": 70, "precision": 1},
]
SAMPLES += [
    *[Sample("AsString", (NUMBERS,), _as_string, (*FLOATS, *COMPLEX), attrs) for attrs in FORMATS],
    *[
        Sample("AsString", (ONE_TO_SIX,), _as_string, INTEGERS, attrs)
        for attrs in ({}, {"width": 5}, {"width": 5, "fill": "0"}, {"width": 4, "fill": "-"})
    ],
    Sample("AsString", (int32([-1, 2]),), _as_string, attrs={"fill": "+"}),
    Sample("AsString", ([True, False],), lambda x, width: _bytes(["true", "false"]), ("bool",),
           {"width": 10}),
    Sample("AsString", (float32([np.inf, -np.inf, np.nan, -0.0, 1e10]),), lambda x: _bytes(
        ["inf", "-inf", "nan", "-0.000000", "10000000000.000000"])),
    Sample("AsString", (complex64([1.5 - 2j]),), lambda x, shortest: _bytes(["(1.5,-2)"]),
           attrs={"shortest": True}),
    Sample("AsString", (WORDS,), lambda x: x, ("string",)),
    Sample("AsString", (VECTOR,), lambda x, width: _bytes(["   a", "  bc", "    ", " def"]),
           ("string",), {"width": 4}),
    Sample("AsString", (VECTOR,), lambda x, width, fill, precision: _bytes(
        ["a   ", "bc  ", "    ", "de  "]), ("string",), {"width": 4, "fill": "-", "precision": 2}),
    *[
        Sample("StringToNumber", (np.array([["1", " 22 "], ["+3", "0"]], object),),
               lambda x, out_type: [[1, 22], [3, 0]], (dtype,), {"out_type": DTYPE})
        for dtype in ("float32", "float64", "int32", "int64", "uint32", "uint64")
    ],
    Sample("StringToNumber", (np.array(["-7", "2147483647", "-2147483648"], object),),
           lambda x, out_type: np.array([-7, 2**31 - 1, -(2**31)]), ("int32",),
           {"out_type": DTYPE}),
    Sample("StringToNumber", (np.array(["1.5", "-2e3", ".5", "inf", "nan", "0x1.8p1"], object),),
           lambda x, out_type: np.array([1.5, -2000, 0.5, np.inf, np.nan, 3.0]),
           ("float32", "float64"), {"out_type": DTYPE}),
    *[
        Sample("StringLength", (WORDS,), lambda x, unit, sizes=sizes: _ints(*sizes),
               ("string",), {"unit": unit})
        for unit, sizes in (("BYTE", ([1, 2, 0], [3, 2, 2])), ("UTF8_CHAR", ([1, 2, 0], [3, 1, 2])))
    ],
    Sample("StringLower", (["aBc", "É", ""],), lambda x: _bytes(["abc", "É", ""]), ("string",)),
    Sample("StringUpper", (["aBc", "é", "z{"],), lambda x: _bytes(["ABC", "é", "Z{"]),
           ("string",)),
    Sample("ReadFile", ("text\0 of a file\n",), lambda x: x, ("string",), setup=out_of_file),
    Sample("ReadFile", ("",), lambda x: (x, x), ("string",), setup=out_of_file, calls=2),
    Sample("WriteFile", ("text\0",), lambda x: x, ("string",), setup=into_new_folder, calls=2),
]  # fmt: skip

WRONG = [
    *[
        Wrong("AsString", (int32([1]),), message, attrs=attrs)
        for attrs, message in (
            ({"scientific": True}, "scientific and shortest format not supported for datatype"),
            ({"precision": 1}, "precision not supported for datatype int32"),
            ({"fill": "00"}, "Fill string must be one or fewer characters"),
            ({"fill": "x"}, 'Fill argument not supported: "x"'),
        )
    ],
    Wrong("AsString", (float32([1]),), "Cannot select both scientific and shortest notation",
          attrs={"scientific": True, "shortest": True}),
    Wrong("AsString", (float32([1]),), "width and precision must be at most 10000000",
          attrs={"width": 20_000_000}, beside_tensorflow="it makes strings of any size"),
    *[
        Wrong("StringToNumber", (np.array(["1", text, "x"], object),),
              f"could not correctly convert string: {text}", attrs={"out_type": "int32"})
        for text in ("text", "", "1.5", "2147483648", "+-1", "- 1", "1 2", "0x10", "1_0")
    ],
    *[
        Wrong("StringToNumber", (np.array([text], object),),
              f"could not correctly convert string: {text}")
        for text in ("1e", "1f", ".", "nan(", "1,5", "1\0")
    ],
    Wrong("StringLength", (np.array(["a"], object),), "not in the list of allowed values",
          attrs={"unit": "WORD"}),
    *[
        Wrong(op, (np.array(["a"], object),), "only utf-8 or '' (no encoding) is supported",
              attrs={"encoding": "latin"})
        for op in ("StringLower", "StringUpper")
    ],
    *[
        Wrong(op, (np.array(["a"], object),), 'encoding "utf-8" is not there yet',
              error="NotImplementedError", attrs={"encoding": "utf-8"},
              beside_tensorflow="it knows the letters of Unicode")
        for op in ("StringLower", "StringUpper")
    ],
    Wrong("ReadFile", (np.array("no folder/no file", object),), "no folder/no file",
          error="NotFoundError"),
    Wrong("ReadFile", (np.array("/", object),), "Is a directory",
          error="FailedPreconditionError"),
    Wrong("ReadFile", (np.array("s3://a/b", object),),
          "File system scheme 's3' not implemented (file: 's3://a/b')",
          error="UnimplementedError"),
    Wrong("ReadFile", (np.array("a\0b", object),), "a path has no byte of value 0",
          beside_tensorflow="it reads the file of the name before"),
    Wrong("ReadFile", (np.array(["a"], object),), "must be scalar, but had shape: [1]",
          message_in_graph="must be"),
    Wrong("WriteFile", (np.array("/", object), np.array("", object)), "Is a directory",
          error="FailedPreconditionError"),
    Wrong("WriteFile", (np.array("a", object), np.array(["b"], object)),
          "must be scalar, but had shape: [1]", message_in_graph="must be"),
    Wrong("StringJoin", ([np.array(["a", "b"], object), np.array(["a"], object)],),
          "Input shapes do not match: [2] vs. [1]"),
    Wrong("StringJoin", ([int32([1])],), "to be a string tensor but is a int32",
          message_in_graph="has type int32 that does not match expected type of string"),
]  # fmt: skip
