"""Public functions of the library: TensorFlow's values, gradients and classes of errors."""

import os
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import inspect

import graven
import numpy as np
import pytest
import tensorflow
from functions.rows import ROWS, SHAPES, known_shapes, outcome
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


@pytest.mark.parametrize("fraction", [0.1, 0.3, 0.5, 0.6, 0.7, 0.875, 0.9])
def test_a_central_crop_has_tensorflows_size(fraction: float) -> None:
    """Where a size is open, TensorFlow computes with the fraction as a float32."""
    sizes = range(2, 40)
    for shape in ("eager", (None, None, 1)):
        results = []
        for tf in (graven, tensorflow):

            def crop(x: Any, tf: Any = tf) -> Any:
                return tf.image.central_crop(x, fraction)

            if shape != "eager":
                crop = tf.function(crop, input_signature=[tf.TensorSpec(shape)], autograph=False)
            results.append([crop(tf.zeros([n, n, 1])).shape.as_list() for n in sizes])
        assert results[0] == results[1]


def test_a_central_crop_of_a_trace_for_all_sizes_is_that_of_each() -> None:
    crop = graven.function(lambda x: graven.image.central_crop(x, 0.6))
    for n in range(5, 30):
        x = graven.zeros([n, n, 1])
        assert crop(x).shape == graven.image.central_crop(x, 0.6).shape
    assert crop.experimental_get_tracing_count() < 5


# TensorFlow runs ops on constants while it infers shapes; see docs/compatibility.md.
KNOWN_BY_CONSTANTS = {
    "tf.sequence_mask([1, 3, 2])",
    "tf.sequence_mask(np.array([1, -3]), dtype=tf.int64)",
    "tf.reshape(x, (tf.constant(3.), 2))",
    "tf.broadcast_to(x[0], [tf.constant(2.), 3])",
    "tf.range(1, 2.5, 0.5)",
    "tf.range(0.5, 3)",
    "tf.range(tf.constant(4), dtype=tf.float32)",
    "tf.math.bincount([[1, 1], [2, 0]], axis=-1)",
    "tf.math.bincount([[1, 1], [2, 0]], weights=[[1., 2.], [3., 4.]])",
    "tf.math.bincount([[1, 1], [2, 0]], weights=[[1., 2.], [3., 4.]], axis=-1)",
    "tf.math.bincount([1, 1, 5], binary_output=True, name='there')",
    "tf.math.bincount([1.7, 2.2])",
    "tf.math.bincount([True, False])",
    "tf.math.bincount(3)",
    "tf.math.bincount([])",
    "tf.math.confusion_matrix([1.5], [2.5])",
    "tf.signal.frame(x, 2, 0)",  # steps of 0: no frames by TensorFlow's shapes, an error by its ops
}


def knows(mine: list[int | None] | None, theirs: list[int | None] | None) -> bool:
    """Whether what TensorFlow knows of a shape is known; more may be."""
    if theirs is None or mine is None:
        return theirs is None
    pairs = zip(mine, theirs, strict=False)
    return len(mine) == len(theirs) and all(size in (None, own) for own, size in pairs)


@pytest.mark.parametrize("row", ROWS)
def test_shapes_are_known_that_tensorflow_knows(row: str) -> None:
    """Of a matrix whose number of rows is open. Errors are the matter of the tests above."""
    shapes = ([None, 3], [2])
    try:
        theirs = known_shapes(tensorflow, row, shapes)
        ours = known_shapes(graven, row, shapes)
    except Exception:
        return
    known = [knows(*pair) for pair in zip(ours, theirs, strict=True)]
    assert all(known) == (row not in KNOWN_BY_CONSTANTS), f"{ours} beside {theirs}"


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
