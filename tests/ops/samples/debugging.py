"""Checks of values, what is printed, and identities that say something."""

import math
from typing import Any

import numpy as np

from ops.sample import (
    FLOATS,
    PLAIN,
    ListOf,
    Sample,
    Wrong,
    float16,
    float32,
    float64,
    int32,
)
from ops.setups import into_file, then_nothing

INF, NAN = math.inf, math.nan
MATRIX = [[1.5, -2.0, 3.0], [0.5, 4.0, -1.25]]
TRUE, FALSE = np.array(True), np.array(False)


def _nothing(*inputs: Any, **attrs: Any) -> Any:
    return np.array(1)


def _text(value: str) -> Any:
    return np.array(value.encode(), object)


def _passed_on(x: Any, **attrs: Any) -> Any:
    return x


ONE_TO_TEN = np.arange(1, 11, dtype=np.int32)

SAMPLES = [
    Sample("Assert", (TRUE, [float32([1, 2])]), _nothing, setup=then_nothing),
    Sample("Assert", (TRUE, [float32([1, 2]), np.array("text", object), np.array(3)]), _nothing,
           attrs={"summarize": 1}, setup=then_nothing),
    *[
        Sample(op, (MATRIX,), _passed_on, FLOATS, {"message": "values"}, is_elementwise=True,
               smooth_at=(MATRIX,))
        for op in ("CheckNumerics", "CheckNumericsV2")
    ],
    Sample("PreventGradient", (MATRIX,), _passed_on, (*PLAIN,), {"message": "no"},
           is_elementwise=True),
    Sample("PreventGradient", (["a", "bc"],), _passed_on, ("string",)),
    *[
        Sample("EnsureShape", (MATRIX,), _passed_on, PLAIN, {"shape": shape}, smooth_at=(MATRIX,))
        for shape in ([2, 3], [None, 3], [None, None], None)
    ],
    Sample("EnsureShape", (["a", "bc"],), _passed_on, ("string",), {"shape": [2]}),
    Sample("PrintV2", ("a line",), lambda x: _text("a line\n"), ("string",), setup=into_file),
    Sample("PrintV2", ("a line",), lambda x, end: _text("a lineEND"), ("string",),
           {"end": "END"}, setup=into_file),
    Sample("PrintV2", ("twice",), lambda x: _text("twice\ntwice\n"), ("string",), setup=into_file,
           calls=2),
    Sample("StringFormat", ([float32([1, 2.5]), np.array(True)],),
           lambda x, template: _text("x is [1 2.5], y is 1"),
           attrs={"template": "x is %s, y is %s"}),
    Sample("StringFormat", ([ONE_TO_TEN],), lambda x, template, placeholder, summarize:
           _text("<[1 2 ... 9 10]>"),
           attrs={"template": "<{}>", "placeholder": "{}", "summarize": 2}),
    Sample("StringFormat", ([ONE_TO_TEN.reshape(2, 5)],), lambda x, template, summarize:
           _text("[[1 2 3 4 5]\n [6 7 8 9 10]]"), attrs={"template": "%s", "summarize": -1}),
    Sample("StringFormat", ([np.array(["a", 'b"c\n'], object)],), lambda x: _text(
           '["a" "b\\"c\\n"]')),
    *[
        Sample("StringFormat", (ListOf(([[1, 0], [2, 3]],)),),
               lambda x: _text("[[1 0]\n [2 3]]"), (dtype,))
        for dtype in ("int8", "int64", "uint16", "float16", "bfloat16", "float32", "float64")
    ],
    Sample("StringFormat", ([float32([0.1, 1e10, INF, NAN, -0.0, 123456789])],),
           lambda x, summarize: _text("[0.1 1e+10 inf nan -0 123456792]"),
           attrs={"summarize": -1}),
]  # fmt: skip

WRONG = [
    Wrong("Assert", (FALSE, [int32([1, 2, 3, 4]), float32(0.5)]),
          "assertion failed: [1 2 3...] [0.5]"),
    Wrong("Assert", (FALSE, [int32([[1, 2], [3, 4]])]), "assertion failed: [[1 2][3 4]]",
          attrs={"summarize": 4}),
    Wrong("Assert", (np.array([True]), [int32(1)]), "must be a scalar"),
    Wrong("Assert", (int32(1), [int32(1)]), "to be a bool tensor but is a int32",
          message_in_graph="has type int32 that does not match expected type of bool"),
    Wrong("CheckNumerics", (float32([1, NAN]),), "here : Tensor had NaN values",
          attrs={"message": "here"}),
    Wrong("CheckNumerics", (float64([INF, NAN]),), "here : Tensor had Inf and NaN values",
          attrs={"message": "here"}),
    Wrong("CheckNumericsV2", (float32([1, -INF, INF]),),
          "here : Tensor had +Inf and -Inf values", attrs={"message": "here"},
          beside_tensorflow=""),
    Wrong("CheckNumericsV2", (float16([1, -INF, NAN]),), "here : Tensor had -Inf and NaN values",
          attrs={"message": "here"}),
    Wrong("CheckNumerics", (int32([1]),), "Value for attr 'T' of int32 is not in the list",
          attrs={"message": "here"}),
    Wrong("EnsureShape", (np.ones((2, 3)),), "[2,3] is not compatible with expected shape [3,2]",
          attrs={"shape": [3, 2]}),
    Wrong("EnsureShape", (np.ones((2, 3)),), "[2,3] is not compatible with expected shape [?,?,?]",
          attrs={"shape": [None, None, None]}),
    Wrong("PrintV2", (np.array(["a", "b"], object),), "must be a scalar"),
    Wrong("PrintV2", (np.array("a", object),), "Unknown output stream 'nowhere'",
          attrs={"output_stream": "nowhere"}),
    Wrong("PrintV2", (int32(1),), "to be a string tensor but is a int32",
          message_in_graph="has type int32 that does not match expected type of string"),
    Wrong("StringFormat", ([int32(1)],),
          "num placeholders in template and num inputs must match: 2 vs. 1",
          attrs={"template": "%s %s"}),
]  # fmt: skip
