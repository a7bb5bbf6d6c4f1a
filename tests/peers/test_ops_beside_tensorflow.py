"""Each row of the table of ops, beside TensorFlow's own op."""

import os
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import graven
import numpy as np
import pytest
import tensorflow
from ops.sample import Case, all_cases, assert_close

CASES = [case for case in all_cases() if not case.sample.beside_tensorflow]
# Attributes that tf.raw_ops calls otherwise than the OpDef.
RENAMED = {"squeeze_dims": "axis"}


def run(tf: Any, case: Case) -> list[Any]:
    """The outputs of the op in one of the systems."""
    inputs = [
        [tf.constant(item) for item in value] if isinstance(value, list) else tf.constant(value)
        for value in case.arrays()
    ]
    op = getattr(tf.raw_ops, case.sample.op)
    if tf is graven:
        result = op(*inputs, **case.sample.attrs)
    else:  # takes keywords only
        names = [name for name in op.__signature__.parameters if name != "name"]
        attrs = {RENAMED.get(name, name): value for name, value in case.sample.attrs.items()}
        result = op(**dict(zip(names, inputs, strict=False)), **attrs)
    parts = result if isinstance(result, (list, tuple)) else [result]
    return [np.asarray(part.numpy()) for part in parts]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_an_op_gives_what_tensorflow_gives(case: Case) -> None:
    ours = run(graven, case)
    theirs = run(tensorflow, case)
    assert len(ours) == len(theirs)
    for mine, wanted in zip(ours, theirs, strict=True):
        assert mine.dtype == wanted.dtype
        # TensorFlow rounds too: what the row allows, twice.
        assert_close(case, mine, wanted.astype(mine.dtype), factor=2)
