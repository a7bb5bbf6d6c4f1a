"""Optionals in variants, made of tensors and taken apart to be compared."""

import numpy as np

from ops.sample import PLAIN, Sample, Wrong, float32, int32, int64
from ops.setups import (
    into_no_optional,
    into_optional,
    of_list,
    of_no_optional,
    of_optional,
    values_of_optional,
)

ROWS = [[1, 2], [3, 4]]
SMOOTH, SMOOTH_ROW = [[0.5, 1.5], [2.5, -1.0]], [3.0, -2.0]
OF_ROWS = {"output_types": ["float32"], "output_shapes": [[2, 2]]}
OF_ROW = {"output_types": ["float32"], "output_shapes": [[2]]}

SAMPLES = [
    Sample("OptionalFromValue", (ROWS,), lambda x: x, PLAIN, setup=into_optional,
           smooth_at=(SMOOTH,)),
    Sample("OptionalFromValue", (ROWS, 3), lambda x, y: (x, y), PLAIN, setup=into_optional,
           smooth_at=(SMOOTH, SMOOTH_ROW)),
    Sample("OptionalFromValue", ("a",), lambda x: np.array(b"a", object), ("string",),
           setup=into_optional),
    Sample("OptionalNone", (), lambda: np.array(False), setup=into_no_optional),
    Sample("OptionalHasValue", (ROWS,), lambda x: np.array(True), PLAIN, setup=of_optional),
    Sample("OptionalHasValue", (), lambda: np.array(False), setup=of_no_optional),
    Sample("OptionalGetValue", (ROWS, 3), lambda x, y: (x, y), PLAIN, setup=values_of_optional,
           smooth_at=(SMOOTH, SMOOTH_ROW)),
    Sample("OptionalGetValue", (float32(ROWS),), lambda x, **attrs: x, attrs=OF_ROWS,
           setup=of_optional),
    Sample("OptionalGetValue", (float32([1, 2]), int64(5)), lambda x, y, **attrs: (x, y),
           attrs={"output_types": ["float32", "int64"], "output_shapes": [[None], []]},
           setup=of_optional),
]  # fmt: skip

WRONG = [
    Wrong("OptionalFromValue", ([],), "Length for attr 'Toutput_types' of 0 must be at least"),
    Wrong("OptionalHasValue", (float32([1]),), "Optional", setup=of_list),
    Wrong("OptionalGetValue", (), "The given optional does not have a value.", attrs=OF_ROW,
          setup=of_no_optional),
    Wrong("OptionalGetValue", (float32([1, 2]), int32(1)),
          "The given optional has 2 components, expected 1", attrs=OF_ROW, setup=of_optional),
    Wrong("OptionalGetValue", (int32([1, 2]),),
          "does not match the expected type for component 0. Expected: float", attrs=OF_ROW,
          setup=of_optional),
    Wrong("OptionalGetValue", (float32([1, 2, 3]),),
          "does not match the expected shape for component 0. Expected: [2]. Actual: [3].",
          attrs=OF_ROW, setup=of_optional),
    Wrong("OptionalGetValue", (float32([1]),), "output_types and output_shapes must be same length",
          attrs={"output_types": ["float32"], "output_shapes": [[], []]}, setup=of_optional),
    Wrong("OptionalGetValue", (float32([1]),), "must be at least minimum 1",
          attrs={"output_types": [], "output_shapes": []}, setup=of_optional),
]  # fmt: skip
