"""Each row of the table of ops, beside TensorFlow's own op."""

import os
from collections.abc import Callable
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import numpy as np
import pytest
import registered_kernels as registered
import tensorflow
from ops.running import run
from ops.sample import Case, Sample, Wrong, all_cases, all_rows, as_arrays, as_tensors, assert_close

CASES = [case for case in all_cases() if not case.sample.beside_tensorflow]
REFUSED = [row for row in all_rows()[1] if not row.beside_tensorflow]
# Attributes that tf.raw_ops calls otherwise than the OpDef.
RENAMED = {"squeeze_dims": "axis"}


def their_op(row: Sample | Wrong, attrs: dict[str, Any]) -> Callable[..., Any]:
    """TensorFlow's op as a function of its inputs; it takes keywords only."""
    op = getattr(tensorflow.raw_ops, row.op)
    names = [name for name in op.__signature__.parameters if name != "name"]

    def call(*inputs: Any, **others: Any) -> Any:
        given = {RENAMED.get(name, name): value for name, value in {**attrs, **others}.items()}
        free = [name for name in names if name not in given]
        return op(**dict(zip(free, inputs, strict=False)), **given)

    return call


def run_theirs(case: Case) -> list[np.ndarray[Any, Any]]:
    """The outputs of all calls of a row in TensorFlow."""
    tf = tensorflow
    application = case.sample.setup(
        tf, their_op(case.sample, case.attrs), as_tensors(tf, case.arrays())
    )
    results = []
    for _ in range(case.sample.calls):
        results += as_arrays(application.call(*application.arguments))
    return results + as_arrays(application.after())


def assert_lacks(case: Case, error: Exception) -> None:
    """That an error says that TensorFlow has no kernel for the dtype of a row, which is true."""
    messages = (
        "Could not find device for node",
        "not in list of allowed values",
        "not in the list of allowed values",
    )
    if not any(message in str(error) for message in messages):
        raise error
    for attribute in registered.dtype_attributes(case.sample.op):
        assert case.dtype not in registered.cpu_dtypes(case.sample.op, attribute)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_an_op_gives_what_tensorflow_gives(case: Case) -> None:
    ours = run("eager", case)
    try:
        theirs = run_theirs(case)
    except (tensorflow.errors.NotFoundError, tensorflow.errors.InvalidArgumentError) as error:
        assert_lacks(case, error)
        return
    assert len(ours) == len(theirs)
    for mine, wanted in zip(ours, theirs, strict=True):
        assert mine.dtype == wanted.dtype
        # TensorFlow rounds too: what the row allows, twice.
        assert_close(case, mine, wanted, factor=2)


@pytest.mark.parametrize("row", REFUSED, ids=str)
def test_what_is_refused_tensorflow_refuses_too(row: Wrong) -> None:
    tf = tensorflow
    with pytest.raises((tf.errors.OpError, ValueError, TypeError)):
        inputs = as_tensors(
            tf, [value if isinstance(value, list) else np.array(value) for value in row.inputs]
        )
        application = row.setup(tf, their_op(row, row.attrs), inputs)
        application.call(*application.arguments)
