"""Gradients of products whose elements, or whose result, are no numbers to divide by."""

import os
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import graven
import numpy as np
import pytest
import tensorflow

CUBE = np.arange(1, 25).reshape(2, 3, 4) / 7.0

CASES: list[tuple[Any, str, Any, bool]] = [
    ([1e30, 1e30], "float32", None, False),
    ([1e-30, 1e-30], "float32", None, False),
    ([300.0, 300.0], "float16", None, False),
    ([1e5, 1e-5, 7.0], "bfloat16", None, False),
    ([np.inf, 2.0], "float32", None, False),
    ([2.0, 0.0, 3.0], "float32", None, False),
    ([0.0, 0.0, 3.0], "float32", None, False),
    ([[2.0, 3.0, 0.0], [4.0, 5.0, 6.0]], "float32", 1, False),
    ([[2.0, 3.0, 0.0], [4.0, 5.0, 6.0]], "float32", [0, -1], False),
    (CUBE, "float64", [0, 2], False),
    (CUBE, "float64", [2, 0], True),
    (CUBE, "float64", [1, 2], False),
    (CUBE, "float64", -2, True),
    (np.zeros([0, 3]), "float32", 0, False),
    (np.zeros([2, 0]), "float32", [0, 1], False),
    ([1 + 2j, 3 - 1j], "complex64", None, False),
]


def two_orders(tf: Any, case: tuple[Any, str, Any, bool], known: str) -> list[Any]:
    values, dtype, axis, keepdims = case
    x = tf.cast(tf.constant(values), dtype)

    def gradients(x: Any, axis: Any) -> Any:
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                y = tf.reduce_prod(x, axis, keepdims)
            first = inner.gradient(y, x)
        return y, first, outer.gradient(first, x)

    if known == "eager":
        return list(gradients(x, axis))
    if known == "all":
        return list(tf.function(lambda x: gradients(x, axis))(x))
    if known == "axes":
        signature = [tf.TensorSpec(None, dtype)]
        return list(tf.function(lambda x: gradients(x, axis), input_signature=signature)(x))
    signature = [tf.TensorSpec(None, dtype), tf.TensorSpec(None, "int32")]
    axes = list(range(len(x.shape))) if axis is None else axis
    return list(tf.function(gradients, input_signature=signature)(x, tf.constant(axes, "int32")))


@pytest.mark.parametrize("known", ["eager", "all", "axes", "nothing"])
@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{np.shape(case[0])}-{case[1]}-{case[2]}")
def test_products_have_tensorflows_gradients(case: Any, known: str) -> None:
    ours, theirs = two_orders(graven, case, known), two_orders(tensorflow, case, known)
    rtol = {"float16": 2e-3, "bfloat16": 2e-2, "float64": 1e-12}.get(case[1], 1e-6)
    for mine, expected in zip(ours, theirs, strict=True):
        assert mine.dtype.name == expected.dtype.name
        wide = "complex128" if case[1] == "complex64" else "float64"
        a, b = mine.numpy().astype(wide), expected.numpy().astype(wide)
        np.testing.assert_allclose(a, b, rtol=rtol)
