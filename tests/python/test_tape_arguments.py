"""Arguments of gradients and jacobians that say how to compute, and what is refused of them."""

from typing import Any

import graven as tf
import numpy as np
import pytest

X = tf.constant([[1.0, 2.0], [3.0, 4.0]])


def taped(method: str, **options: Any) -> Any:
    with tf.GradientTape() as tape:
        tape.watch(X)
        y = X * X
    return getattr(tape, method)(y, X, **options)


@pytest.mark.parametrize("method", ["gradient", "jacobian", "batch_jacobian"])
def test_an_unknown_value_of_unconnected_gradients_is_refused(method: str) -> None:
    with pytest.raises(ValueError, match="Unknown value for unconnected_gradients: 'bad'"):
        taped(method, unconnected_gradients="bad")


@pytest.mark.parametrize("method", ["jacobian", "batch_jacobian"])
def test_a_jacobian_does_not_depend_on_parallel_iterations(method: str) -> None:
    expected = taped(method).numpy().tolist()
    assert taped(method, parallel_iterations=1).numpy().tolist() == expected
    assert taped(method, parallel_iterations=7).numpy().tolist() == expected


@pytest.mark.parametrize(("unconnected", "dtype"), [("none", tf.float32), ("zero", tf.float64)])
def test_an_unconnected_batch_jacobian_has_the_dtype_that_tensorflow_gives_it(
    unconnected: str, dtype: tf.DType
) -> None:
    source = tf.ones([2, 3], tf.float64)
    with tf.GradientTape() as tape:
        tape.watch(source)
        target = X * 2.0
    zeros = tape.batch_jacobian(target, source, unconnected_gradients=unconnected)
    assert zeros.dtype == dtype
    assert zeros.numpy().tolist() == [[[0.0] * 3] * 2] * 2


def traced_gradient(**options: Any) -> Any:
    @tf.function
    def gradient(x: Any) -> Any:
        return tf.gradients(x * x + tf.sin(x) * x, x, **options)[0]

    return gradient(X).numpy().tolist()


def test_gradients_do_not_depend_on_how_they_are_gated_and_added() -> None:
    expected = traced_gradient()
    for method in (0, 1, 2):
        assert traced_gradient(aggregation_method=method, gate_gradients=True) == expected


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"aggregation_method": 7}, "Invalid `aggregation_method` specified 7"),
        ({"unconnected_gradients": "bad"}, "Unknown value for unconnected_gradients: 'bad'"),
    ],
)
def test_unknown_options_of_gradients_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        traced_gradient(**options)


def test_a_target_that_is_no_tensor_is_refused() -> None:
    # An array on the left of a variable gave a NumPy array, which crashed here.
    for target in (np.array([1.0], np.float32), np.array([1.0])):
        with tf.GradientTape() as tape:
            tape.watch(X)
        with pytest.raises(
            TypeError, match=r"between tensors and variables, not of a numpy\.ndarray"
        ):
            tape.gradient(target, X)


@pytest.mark.parametrize("given", [[1.0, 2.0, 3.0], []])
def test_there_is_one_output_gradient_for_each_target(given: list[float]) -> None:
    x = tf.Variable([1.0, 2.0, 3.0])
    with tf.GradientTape() as tape:
        y = x * x
    with pytest.raises(ValueError, match=f"There are {len(given)} output_gradients for 1 target"):
        tape.gradient(y, x, output_gradients=given)


@pytest.mark.parametrize("at_once", [True, False])
@pytest.mark.parametrize("kind", ["jacobian", "batch_jacobian"])
def test_jacobians_find_sizes_that_are_not_known_when_they_run(kind: str, at_once: bool) -> None:
    @tf.function(input_signature=[tf.TensorSpec([2, None])])
    def f(x: tf.Tensor) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x * x
        return getattr(tape, kind)(y, x, experimental_use_pfor=at_once)

    for columns in (3, 1):
        x = tf.reshape(tf.range(2.0 * columns), [2, columns])
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x * x
        np.testing.assert_array_equal(f(x), getattr(tape, kind)(y, x))
    if at_once:
        assert f(tf.ones([2, 0])).shape == ([2, 0, 2, 0] if kind == "jacobian" else [2, 0, 0])
