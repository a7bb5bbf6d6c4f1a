"""The moments of random numbers of distributions with parameters, in each dtype."""

from typing import Any

import graven as tf
import numpy as np
import pytest

COUNT = 60_000
SEED = [3, 8]
FLOATS = ["float16", "float32", "float64"]


def assert_moments(samples: Any, mean: float, variance: float, excess: float = 0.0) -> None:
    """Both within five standard deviations of what so many samples give."""
    found = np.asarray(samples, np.float64)
    assert abs(found.mean() - mean) <= 5 * (variance / COUNT) ** 0.5
    assert abs(found.var() - variance) <= 5 * variance * ((2 + excess) / COUNT) ** 0.5


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("alpha", [0.25, 1.0, 3.5, 40.0])
def test_gamma(alpha: float, dtype: str) -> None:
    samples = tf.random.stateless_gamma([COUNT], SEED, tf.constant(alpha, dtype), dtype=dtype)
    assert_moments(samples, alpha, alpha, 6 / alpha)


def test_gamma_by_its_rate() -> None:
    assert_moments(tf.random.gamma([COUNT], 3.0, 2.0, seed=1), 1.5, 0.75, 2)


@pytest.mark.parametrize("dtype", [*FLOATS, "int32", "int64"])
@pytest.mark.parametrize("rate", [0.5, 9.5, 30.0])
def test_poisson(rate: float, dtype: str) -> None:
    assert_moments(tf.random.stateless_poisson([COUNT], SEED, rate, dtype), rate, rate, 1 / rate)
    assert_moments(tf.random.poisson([COUNT], rate, dtype, seed=4), rate, rate, 1 / rate)


@pytest.mark.parametrize("counts, prob", [(8, 0.25), (40, 0.5), (40, 0.875), (1000, 0.03125)])
def test_binomial(counts: int, prob: float) -> None:
    variance = counts * prob * (1 - prob)
    excess = (1 - 6 * prob * (1 - prob)) / variance
    drawn = tf.random.stateless_binomial([COUNT], SEED, float(counts), prob)
    assert_moments(drawn, counts * prob, variance, excess)
    generator = tf.random.Generator.from_seed(2)
    drawn = generator.binomial([COUNT], float(counts), prob)
    assert_moments(drawn, counts * prob, variance, excess)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("low, high", [(-2, 2), (-0.5, 0.75), (1, 1.5), (2.5, 9), (-9, -1.5)])
def test_normal_numbers_between_bounds(low: float, high: float, dtype: str) -> None:
    x = np.linspace(low, high, 100_001)
    weights = np.exp(-x * x / 2) / np.exp(-x * x / 2).sum()
    mean = (weights * x).sum()
    variance = (weights * (x - mean) ** 2).sum()
    excess = (weights * (x - mean) ** 4).sum() / variance**2 - 3
    zero, one, least, largest = [tf.constant(number, dtype) for number in (0, 1, low, high)]
    samples = tf.random.stateless_parameterized_truncated_normal(
        [COUNT], SEED, zero, one, least, largest
    ).numpy()
    assert samples.min() >= low and samples.max() <= high
    assert_moments(samples, mean, variance, excess)


@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_a_count_beyond_the_dtype_is_its_largest(dtype: str) -> None:
    # They were zeros.
    largest = np.iinfo(dtype).max
    for rate in (largest * 1.009, 1e30):
        samples = tf.random.stateless_poisson([100], SEED, np.float64(rate), dtype).numpy()
        assert (samples == largest).all()


def test_counts_near_the_end_of_int64_stop_there() -> None:
    samples = tf.random.stateless_poisson([1000], SEED, np.float64(2.0**63), tf.int64).numpy()
    assert samples.min() > 9e18
