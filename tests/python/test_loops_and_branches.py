"""Loops and branches where what runs differs from what was traced."""

import pickle
import traceback
from typing import Any, NoReturn

import graven as tf
import pytest


def test_a_loop_whose_first_value_has_another_size_than_its_invariant() -> None:
    """The body then runs node by node, iteration after iteration."""

    @tf.function
    def doubled(x: tf.Tensor) -> list[tf.Tensor]:
        return tf.while_loop(
            lambda i, x: i < 3,
            lambda i, x: (i + 1, x * 2.0),
            [tf.constant(0), x],
            shape_invariants=[tf.TensorShape([]), tf.TensorShape([3])],
        )

    count, result = doubled(tf.constant([1.0, 2.0]))
    assert count.numpy() == 3
    assert result.numpy().tolist() == [8.0, 16.0]


def test_functions_that_run_at_once_are_not_converted() -> None:
    """They are plain Python, on tensors that have values; their exceptions pass as they are."""
    names = {0: "a", 1: "b", 2: "c"}
    seen: list[str] = []

    def body(i: Any) -> list[Any]:
        seen.append(names[int(i)])
        return [i + 1]

    tf.while_loop(lambda i: i < 3, body, [tf.constant(0)])
    assert seen == ["a", "b", "c"]

    def divide() -> NoReturn:
        raise ZeroDivisionError("as it is")

    with pytest.raises(ZeroDivisionError) as caught:
        tf.cond(tf.constant(True), divide, divide)
    assert type(caught.value) is ZeroDivisionError


def test_the_gradient_of_a_loop_whose_variable_grows() -> None:
    """Each iteration has another shape than the gradient that is given."""

    @tf.function
    def f(x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            _, y = tf.while_loop(
                lambda i, _: i < 3,
                lambda i, x: (i + 1, tf.concat([x, x * 2.0], 0)),
                [tf.constant(0), x],
                shape_invariants=[tf.TensorShape([]), tf.TensorShape([None])],
            )
        return tape.gradient(y, x, output_gradients=tf.ones([16]))

    assert f(tf.constant([1.0, 2.0])).numpy().tolist() == [27.0, 27.0]


@pytest.mark.parametrize("shape", [None, [None], [3]])
def test_the_second_gradient_of_a_loop_in_a_loop(shape: Any) -> None:
    """Held against differences of the first one."""

    def z(x: Any) -> Any:
        def body(i: Any, _: Any) -> Any:
            inner = [tf.constant(0), x]
            after = tf.while_loop(lambda j, _: j < 2, lambda j, b: (j + 1, tf.sin(b) * x), inner)
            return i + 1, after[1]

        return tf.while_loop(lambda i, _: i < 2, body, [tf.constant(0), x])[1]

    def first(x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = z(x)
        return tape.gradient(y, x)

    @tf.function(input_signature=[tf.TensorSpec(shape, tf.float64)])
    def second(x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            dx = first(x)
        return tape.gradient(dx, x)

    x = tf.constant([0.5, 0.7, 0.2], tf.float64)
    difference = (first(x + 1e-5) - first(x - 1e-5)) / 2e-5
    assert second(x).numpy() == pytest.approx(difference.numpy(), rel=1e-6)


def test_the_second_gradient_of_an_array_of_several_shapes() -> None:
    @tf.function
    def f(x: Any) -> Any:
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as tape:
                tape.watch(x)
                array = tf.TensorArray(tf.float32, 2, infer_shape=False)
                array = array.write(0, x[:1]).write(1, x[1:])
                y = tf.reduce_sum(array.concat() ** 3) + tf.reduce_sum(array.read(1) ** 3)
            dx = tape.gradient(y, x)
        return outer.gradient(dx, x)

    assert f(tf.constant([1.0, 2.0, 3.0])).numpy().tolist() == [6.0, 24.0, 36.0]


def test_a_loop_with_a_long_chain_of_scalars() -> None:
    """It is not read node by node down to the end of the stack."""

    @tf.function(autograph=False)
    def f(x: Any) -> Any:
        def body(i: Any, y: Any) -> Any:
            for _ in range(30_000):
                y = -y
            return [i + 1, y]

        return tf.while_loop(lambda i, _: i < 2, body, [tf.constant(0), x])[1]

    assert f(tf.constant(1.5)).numpy() == 1.5


def test_a_key_error_of_a_function_is_a_key_error() -> None:
    """With the text of the conversion, and the name that users know; it can be pickled."""

    @tf.function
    def f() -> Any:
        return {}["missing"]

    with pytest.raises(KeyError, match="in user code") as caught:
        f()
    assert type(caught.value).__name__ == "KeyError"
    assert traceback.format_exception_only(caught.value)[0].startswith("KeyError: in user code")
    copied = pickle.loads(pickle.dumps(caught.value))
    assert type(copied) is KeyError and copied.args == caught.value.args
