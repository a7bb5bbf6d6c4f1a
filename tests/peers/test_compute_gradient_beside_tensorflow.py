"""tf.test.compute_gradient: the matrices that TensorFlow computes."""

import os
from collections.abc import Callable
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import graven
import numpy as np
import pytest
import tensorflow

CALLS: dict[str, tuple[Callable[..., Any], list[Any]]] = {
    "one": (lambda tf, x: x * x, [[1.0, -2.0]]),
    "two": (lambda tf, a, b: tf.matmul(a, b), [np.ones((2, 3)), np.arange(6.0).reshape(3, 2)]),
    "rows": (lambda tf, x: tf.gather(x, [1, 1]), [np.arange(4.0).reshape(2, 2)]),
    "parts": (lambda tf, x: x * x, [np.array([1 + 2j, -1j], np.complex64)]),
    "part": (lambda tf, x: tf.math.real(x), [np.array([1 + 2j, -1j])]),
    "none": (lambda tf, a, b: 2.0 * a, [np.ones(2), np.ones(3)]),
    "half": (lambda tf, x: tf.exp(x), [np.array([0.5, 1.0], np.float16)]),
    "empty": (lambda tf, x: x * x, [np.zeros((0, 2))]),
    "number": (lambda tf, x: tf.reduce_sum(x), [3.0]),
}


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("delta", [None, 0.25])
def test_the_matrices_are_those_of_tensorflow(name: str, delta: float | None) -> None:
    f, x = CALLS[name]
    ours, theirs = (
        tf.test.compute_gradient(lambda *xs, tf=tf: f(tf, *xs), x, delta)
        for tf in (graven, tensorflow)
    )
    for mine, other in zip(ours, theirs, strict=True):
        for a, b in zip(mine, other, strict=True):
            assert a.dtype == b.dtype
            np.testing.assert_allclose(a, b, rtol=1e-3 if a.dtype == np.float16 else 1e-5)


@pytest.mark.parametrize("x", [3.0, [1], ["a"]])
def test_what_is_refused_is_refused_there_too(x: Any) -> None:
    for tf in (graven, tensorflow):
        with pytest.raises((ValueError, AssertionError)):
            tf.test.compute_gradient(lambda x: x, x)
