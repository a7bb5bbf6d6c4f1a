"""Functions of matrices: what no reference checks, as it has the fault or another one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import graven as tf
import numpy as np
import pytest

Array = np.ndarray[Any, Any]
F32, F64, C64 = np.float32, np.float64, np.complex64
POSITIVE = np.array([[2.0, 0.5, 0.25], [0.5, 1.5, -0.5], [0.25, -0.5, 1.0]])


def gradient(function: Callable[[Any], Any], x: Any, dy: Any) -> Array:
    x = tf.constant(x)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = function(x)
    result: Array = tape.gradient(y, x, tf.constant(dy)).numpy()
    return result


@pytest.mark.parametrize(
    ("function", "dtype"),
    [(tf.linalg.expm, F32), (tf.linalg.sqrtm, F32), (tf.linalg.sqrtm, F64), (tf.linalg.logm, C64)],
)
@pytest.mark.parametrize("scale", [1e-30, 1e-6, 1e-4, 32768.0, 1e6, 1e30])
def test_the_gradient_of_a_function_of_matrices_is_linear(
    function: Any, dtype: Any, scale: float
) -> None:
    # dY stood unscaled beside A: sqrtm lost 91% of 1e-6 of it, and made NaN of 1e6 times it.
    x, dy = POSITIVE.astype(dtype), np.arange(9.0).reshape(3, 3) - 3.5
    ones = gradient(function, x, dy.astype(dtype))
    scaled = gradient(function, x, (scale * dy).astype(dtype))
    np.testing.assert_allclose(scaled / scale, ones, rtol=1e-4, atol=1e-5)


def test_each_matrix_of_a_batch_has_a_gradient_of_its_own_size() -> None:
    x = np.stack([POSITIVE, POSITIVE * 1e-3]).astype(F32)
    dy = np.stack([np.eye(3) * 1e-6, np.eye(3) * 1e6]).astype(F32)
    together = gradient(tf.linalg.sqrtm, x, dy)
    for i in range(2):
        alone = gradient(tf.linalg.sqrtm, x[i].astype(F64), dy[i].astype(F64))
        np.testing.assert_allclose(together[i], alone, rtol=1e-4)


def test_the_gradient_of_the_exponential_of_zeros_is_dy() -> None:
    dy = np.array([[1.0, -2.0], [0.0, 4.0]], F32)
    np.testing.assert_array_equal(gradient(tf.linalg.expm, np.zeros((2, 2), F32), dy), dy)
    zero = np.zeros((2, 2), F32)
    np.testing.assert_array_equal(gradient(tf.linalg.expm, dy, zero), zero)


@pytest.mark.parametrize(("dtype", "number"), [(F64, 1e308), (F32, 3e38), (C64, 3e38)])
def test_the_exponential_of_a_huge_matrix_is_not_finite(dtype: Any, number: float) -> None:
    # The sum of a row overflowed, or the scale underflowed, and the identity came out.
    y = tf.linalg.expm(tf.constant(np.full((2, 2), number, dtype))).numpy()
    assert not np.isfinite(y).any()


def pseudo_inverse_gradient(a: Array, dy: Array) -> Array:
    """That of Golub and Pereyra, The differentiation of pseudo-inverses, 1973."""
    p = np.linalg.pinv(a, rcond=1e-10)
    left, right = np.eye(a.shape[0]) - a @ p, np.eye(a.shape[1]) - p @ a
    result: Array = -p.T @ dy @ p.T + left @ dy.T @ p @ p.T + p.T @ p @ dy.T @ right
    return result


RANK_ONE = np.outer([1.0, 2.0, -1.0], [3.0, 0.5])


@pytest.mark.parametrize(
    "a",
    [
        *(2 * np.eye(3), np.eye(3)[:, :2], 3 * np.eye(2)[:, [0, 1, 1]][:, :2], np.eye(4)[:2]),
        *(POSITIVE, POSITIVE[:, :2], POSITIVE[:2], RANK_ONE, RANK_ONE.T),
        np.diag([2.0, 2.0, 0.0]),
    ],
)
def test_the_gradient_of_a_pseudo_inverse_needs_no_distinct_singular_values(a: Array) -> None:
    # That of the singular vectors has no value where two are equal: all but the diagonal was 0.
    rng = np.random.default_rng(5)
    dy = np.asarray(rng.normal(size=a.T.shape))
    expected = pseudo_inverse_gradient(a, dy)
    np.testing.assert_allclose(gradient(tf.linalg.pinv, a, dy), expected, atol=1e-12)
    b = rng.normal(size=(a.shape[0], 2))
    dx = rng.normal(size=(a.shape[1], 2))
    of_solution = gradient(lambda x: tf.linalg.lstsq(x, tf.constant(b), fast=False), a, dx)
    np.testing.assert_allclose(of_solution, pseudo_inverse_gradient(a, dx @ b.T), atol=1e-12)


@pytest.mark.parametrize("a", [2 * np.eye(3), POSITIVE])
def test_a_pseudo_inverse_is_differentiated_twice_as_an_inverse(a: Array) -> None:
    weights = tf.constant(np.arange(9.0).reshape(3, 3))

    def second(function: Any) -> Array:
        x = tf.constant(a)
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                y = tf.reduce_sum(weights * function(x))
            dx = inner.gradient(y, x)
            z = tf.reduce_sum(tf.sin(dx))
        result: Array = outer.gradient(z, x).numpy()
        return result

    np.testing.assert_allclose(second(tf.linalg.pinv), second(tf.linalg.inv), atol=1e-10)


def test_the_pseudo_inverse_of_what_is_not_finite_is_nan() -> None:
    assert np.isnan(tf.linalg.pinv([[1.0, np.nan], [2.0, 3.0]]).numpy()).all()
    assert tf.linalg.pinv(tf.zeros([0, 2])).shape == [2, 0]
    assert not tf.linalg.pinv(tf.zeros([3, 2])).numpy().any()


FACTORS = np.array([[[4.0, 3.0], [0.5, 1.0]], [[2.0, 1.0], [0.25, 3.0]]])


@pytest.mark.parametrize("traced", [False, True])
def test_batches_of_factors_give_their_matrices_back(traced: bool) -> None:
    perm = np.array([[1, 0], [0, 1]])

    def run(function: Any, *arguments: Any) -> Array:
        if traced:
            signature = [tf.TensorSpec(None, a.dtype) for a in arguments]
            function = tf.function(function, input_signature=signature, autograph=False)
        result: Array = function(*map(tf.constant, arguments)).numpy()
        return result

    each = np.stack([run(tf.linalg.lu_reconstruct, FACTORS[i], perm[i]) for i in range(2)])
    np.testing.assert_array_equal(run(tf.linalg.lu_reconstruct, FACTORS, perm), each)
    rhs = np.arange(4.0).reshape(2, 2)
    solved = run(tf.linalg.lu_solve, FACTORS, perm, rhs)
    np.testing.assert_allclose(each @ solved, np.broadcast_to(rhs, each.shape))
    inverse = run(tf.linalg.lu_matrix_inverse, FACTORS, perm)
    np.testing.assert_allclose(each @ inverse, np.broadcast_to(np.eye(2), each.shape), atol=1e-15)


@pytest.mark.parametrize("perm", [[0, 0], [[0, 0], [0, 1]], [[0, 2], [-1, 1]], [2, 0], [0, -1]])
def test_what_is_no_permutation_gives_no_matrix(perm: Any) -> None:
    # The product with a matrix of ones and zeros added rows up.
    factors = FACTORS if isinstance(perm[0], list) else FACTORS[0]
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"duplicated|not between|not in"):
        tf.linalg.lu_reconstruct(factors, perm)


def test_infinities_stay_in_their_rows() -> None:
    rhs = np.array([[np.inf, 1.0], [np.nan, 2.0]])
    solved = tf.linalg.lu_solve(tf.eye(2, dtype=tf.float64), [1, 0], rhs).numpy()
    np.testing.assert_array_equal(solved[:, 1], [2, 1])
