"""Public functions of the library: TensorFlow's values, gradients and classes of errors."""

import os
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import inspect

import graven
import numpy as np
import pytest
import tensorflow
from functions.rows import ROWS, SHAPES, outcome
from graven import _engine, _public


def assert_same(ours: Any, theirs: Any) -> None:
    if isinstance(theirs, list):
        assert isinstance(ours, list)
        assert len(ours) == len(theirs)
        for mine, other in zip(ours, theirs, strict=True):
            assert_same(mine, other)
    elif isinstance(theirs, str):
        assert ours == theirs
    else:
        assert np.asarray(ours).dtype == np.asarray(theirs).dtype
        if np.asarray(theirs).dtype.kind in "iubO":
            np.testing.assert_array_equal(ours, theirs)
        else:
            np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("row", ROWS)
def test_a_function_gives_what_it_gives_in_tensorflow(row: str) -> None:
    assert_same(outcome(graven, row), outcome(tensorflow, row))


@pytest.mark.parametrize("row", ROWS)
@pytest.mark.parametrize("shapes", SHAPES)
def test_a_traced_function_gives_what_it_gives_in_tensorflow(row: str, shapes: str) -> None:
    theirs = outcome(tensorflow, row, SHAPES[shapes])
    if shapes == "unknown rank" and isinstance(theirs, str):
        return  # TensorFlow has no rule for it; Graven may have one.
    assert_same(outcome(graven, row, SHAPES[shapes]), theirs)


@pytest.mark.parametrize("name", sorted(n for n in _engine.library_names() if "._" not in n))
def test_a_function_has_the_parameters_of_tensorflow_in_their_order(name: str) -> None:
    theirs: Any = tensorflow
    for part in name.split("."):
        theirs = getattr(theirs, part)
    given = [p.removeprefix("*") for p, _ in _public.function(name)._parameters]
    if name in ("scan", "while_loop"):
        assert given.pop() == "recompute"  # TensorFlow does not have it
    parameters = inspect.signature(theirs).parameters
    wanted = [p.name for p in parameters.values() if p.kind is not inspect.Parameter.VAR_KEYWORD]
    takes_keywords = len(wanted) < len(parameters)
    assert (given[: len(wanted)] if takes_keywords else given) == wanted
