"""Incomplete gamma and beta functions of shapes for which no series ends soon."""

from __future__ import annotations

import time
from typing import Any

import graven as tf
import numpy as np
import pytest

Array = np.ndarray[Any, Any]
# Series below it, expansions above it.
LIMIT = 1e8
DEVIATIONS = np.array([-6.0, -3.0, -1.0, -0.01, 0.0, 1e-5, 0.5, 2.0, 5.0])


def of(function: Any, *numbers: Any) -> Array:
    result: Array = function(*(tf.constant(n, tf.float64) for n in numbers)).numpy()
    return result


@pytest.mark.parametrize("a", [1e10, 1e12, 1e16])
def test_igamma_near_its_mean_is_the_normal_share(a: float) -> None:
    # It gave 0.66 of (1e12, 1e12).
    expected = 0.5 + 1 / (3 * np.sqrt(2 * np.pi * a))
    np.testing.assert_allclose(of(tf.math.igamma, a, a), expected, rtol=1e-13)
    np.testing.assert_allclose(of(tf.math.igammac, a, a), 1 - expected, rtol=1e-13)
    np.testing.assert_allclose(
        of(tf.math.igamma, a, a + np.sqrt(a) * DEVIATIONS)
        + of(tf.math.igammac, a, a + np.sqrt(a) * DEVIATIONS),
        1,
        rtol=1e-14,
    )


@pytest.mark.parametrize("function", [tf.math.igamma, tf.math.igammac])
def test_the_expansion_of_igamma_meets_the_series(function: Any) -> None:
    below, above = LIMIT, LIMIT * (1 + 1e-9)
    np.testing.assert_allclose(
        of(function, above, above + np.sqrt(above) * DEVIATIONS),
        of(function, below, below + np.sqrt(below) * DEVIATIONS),
        rtol=1e-7,
        atol=1e-12,
    )


@pytest.mark.parametrize("part", [0.1, 0.999, 1.0, 1.0001, 2.0])
def test_the_derivative_of_a_sample_meets_the_series(part: float) -> None:
    below, above = LIMIT, LIMIT * (1 + 1e-9)

    def derivative(a: float) -> Array:
        return of(lambda x, y: tf.raw_ops.RandomGammaGrad(alpha=x, sample=y), a, a * part)

    np.testing.assert_allclose(derivative(above), derivative(below), rtol=1e-8)


@pytest.mark.parametrize("a", [1e10, 1e20, 1e300])
def test_a_sample_of_a_huge_shape_moves_as_its_mean(a: float) -> None:
    # It was 0.39 at 1e10.
    derivative = tf.raw_ops.RandomGammaGrad(
        alpha=tf.constant(a, tf.float64), sample=tf.constant(a, tf.float64)
    )
    np.testing.assert_allclose(derivative.numpy(), 1, rtol=1e-9)


@pytest.mark.parametrize("a", [1e9, 1e20, 1e25, 1e300])
def test_betainc_of_equal_shapes_is_half_at_half(a: float) -> None:
    # It was 125 at 1e20, and took 9.5 seconds at 1e25.
    begin = time.monotonic()
    assert of(tf.math.betainc, a, a, 0.5) == 0.5
    assert time.monotonic() - begin < 1


@pytest.mark.parametrize("ratio", [1.0, 0.3, 1e-3])
def test_the_expansion_of_betainc_meets_the_fraction(ratio: float) -> None:
    def share(b: float) -> Array:
        a = b / ratio
        mean, deviation = a / (a + b), np.sqrt(a * b / (a + b)) / (a + b)
        return of(tf.math.betainc, a, b, mean + deviation * DEVIATIONS)

    # The last bit of x counts.
    np.testing.assert_allclose(share(LIMIT * (1 + 1e-9)), share(LIMIT), rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize(("a", "b"), [(1e25, 1e7), (1e25, 3.0), (1e7, 1e25), (1e300, 1e-300)])
@pytest.mark.parametrize("x", [1e-300, 1e-18, 0.5, 1 - 2**-53])
def test_betainc_of_unequal_shapes_is_a_share_at_once(a: float, b: float, x: float) -> None:
    begin = time.monotonic()
    share = of(tf.math.betainc, a, b, x)
    assert 0 <= share <= 1
    assert time.monotonic() - begin < 1


@pytest.mark.parametrize("x", [0.0, 1.0, 1e300])
def test_igamma_of_a_huge_shape_is_a_share_at_both_ends(x: float) -> None:
    expected = float(x > 1e20)
    assert of(tf.math.igamma, 1e20, x) == expected
    assert of(tf.math.igammac, 1e20, x) == 1 - expected
