"""Gradients of gradients, through Functions and custom gradients: the same in both systems."""

import os
from collections.abc import Callable
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import graven
import numpy as np
import pytest
import tensorflow

WRAPPERS: dict[str, Callable[[Any, Any], Any]] = {
    "eager": lambda tf, f: f,
    "function": lambda tf, f: tf.function(f),
    "nested": lambda tf, f: tf.function(lambda *args: tf.function(f)(*args)),
}


def custom_in_custom(tf: Any) -> Any:
    def f(a: Any) -> Any:
        def gradient(dy: Any) -> Any:
            twice = tf.custom_gradient(lambda u: (2 * u, lambda d: d * 100.0))
            return dy * twice(a)

        return a * a, gradient

    return tf.custom_gradient(f), [tf.constant(3.0)], []


def custom_of_a_variable(tf: Any) -> Any:
    f = tf.custom_gradient(lambda a: (a * a, lambda dy: dy * 7.0 * a))
    x = tf.Variable(3.0)
    return lambda: f(x), [], [x]


def custom_of_a_variable_argument(tf: Any) -> Any:
    f = tf.custom_gradient(lambda a: (a * a, lambda dy: dy * 7.0 * a))
    return f, [tf.Variable(3.0)], []


def custom_with_variables(tf: Any) -> Any:
    x = tf.Variable(3.0)

    def f(a: Any) -> Any:
        def gradient(dy: Any, variables: Any = None) -> Any:
            return dy * 7.0 * a * variables[0], [dy * a * a * x]

        return a * a * x, gradient

    return tf.custom_gradient(f), [tf.constant(2.0)], [x]


def custom_that_reads_a_variable_later(tf: Any) -> Any:
    v = tf.Variable(2.0)
    f = tf.custom_gradient(lambda a: (a * a, lambda dy: dy * v * v * a))
    return lambda a: f(a) + v, [tf.constant(3.0)], [v]


def custom_that_calls_a_function(tf: Any) -> Any:
    v = tf.Variable(2.0)
    scale = tf.function(lambda q: q * v)
    f = tf.custom_gradient(lambda a: (a * a, lambda dy: dy * scale(v * a)))
    return lambda a: f(a) + v, [tf.constant(3.0)], [v]


def custom_in_custom_with_variables(tf: Any) -> Any:
    v = tf.Variable(2.0)

    def f(a: Any) -> Any:
        def gradient(dy: Any, variables: Any = None) -> Any:
            def inner(u: Any) -> Any:
                def of_inner(d: Any, variables: Any = None) -> Any:
                    return d * 100.0 * v, [d * 7.0]

                return 2 * u * v, of_inner

            return dy * tf.custom_gradient(inner)(a), [dy * a]

        return a * a * v, gradient

    return tf.custom_gradient(f), [tf.constant(3.0)], [v]


def linear(tf: Any) -> Any:
    return lambda z: z * 3.0, [tf.constant([1.0, 2.0])], []


def without_numbers(tf: Any) -> Any:
    return lambda z: -z + z, [tf.constant([1.0, 2.0])], []


def linear_matrix(tf: Any) -> Any:
    return lambda z: tf.matmul(z, [[1.0], [2.0]]), [tf.constant([[1.0, 2.0]])], []


def product_of_variables(tf: Any) -> Any:
    v, w = tf.Variable(3.0), tf.Variable([4.0, 5.0])
    return lambda: v * w, [], [v, w]


def linear_in_variables(tf: Any) -> Any:
    v, w, unused = tf.Variable(3.0), tf.Variable([4.0, 5.0]), tf.Variable(1.0)
    return lambda: (v * 3.0, w * w + 0.0 * v, unused + 1.0)[:2], [], [v, w, unused]


def product_and_capture(tf: Any) -> Any:
    c = tf.constant(2.0)
    return lambda z: z * c, [tf.constant([3.0, 4.0])], [c]


def square(tf: Any) -> Any:
    return lambda z: z * z, [tf.constant([3.0, 4.0])], []


def calls_a_linear_function(tf: Any) -> Any:
    f = tf.function(lambda z: z * 3.0)
    return lambda z: f(z) + f(1.0 + z), [tf.constant([3.0, 4.0])], []


def gradient_inside(tf: Any) -> Any:
    f = tf.function(lambda z: z * 3.0 - 1.0)

    def first(z: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(z)
            y = f(z)
        return tape.gradient(y, z) * z

    return first, [tf.constant([3.0, 4.0])], []


CASES = [
    linear,
    without_numbers,
    linear_matrix,
    product_of_variables,
    linear_in_variables,
    product_and_capture,
    square,
    calls_a_linear_function,
    gradient_inside,
    custom_in_custom,
    custom_of_a_variable,
    custom_of_a_variable_argument,
    custom_with_variables,
    custom_that_reads_a_variable_later,
    custom_that_calls_a_function,
    custom_in_custom_with_variables,
]


def two_orders(tf: Any, case: Any, wrapper: str, persistent: bool) -> list[list[Any]]:
    """The gradients, and the gradients of the first of them; None or arrays."""
    f, arguments, variables = case(tf)
    f = WRAPPERS[wrapper](tf, f)
    sources = arguments + variables
    with tf.GradientTape(persistent=persistent) as outer:
        outer.watch(arguments)
        with tf.GradientTape(persistent=persistent) as inner:
            inner.watch(arguments)
            y = f(*arguments)
        first = inner.gradient(y, sources)
    second = outer.gradient(first[0], sources)
    return [[None if g is None else g.numpy() for g in order] for order in (first, second)]


@pytest.mark.parametrize("persistent", [False, True], ids=["once", "persistent"])
@pytest.mark.parametrize("wrapper", WRAPPERS)
@pytest.mark.parametrize("case", CASES, ids=lambda case: str(case.__name__))
def test_two_orders_are_those_of_tensorflow(case: Any, wrapper: str, persistent: bool) -> None:
    ours = two_orders(graven, case, wrapper, persistent)
    theirs = two_orders(tensorflow, case, wrapper, persistent)
    for mine, expected in zip(ours, theirs, strict=True):
        assert [g is None for g in mine] == [g is None for g in expected]
        for a, b in zip(mine, expected, strict=True):
            if b is not None:
                np.testing.assert_allclose(a, b, rtol=1e-6)


@pytest.mark.parametrize("output", [0, 1, 2])
@pytest.mark.parametrize("make", [lambda tf, x: tf.constant(x), lambda tf, x: tf.Variable(x)])
def test_one_output_of_a_function_gives_zeros_where_others_depend(make: Any, output: int) -> None:
    def gradients(tf: Any) -> list[Any]:
        f = tf.function(lambda a, b: (a * 3.0, b * b, a * b))
        a, b = make(tf, 2.0), make(tf, [5.0, 6.0])

        def of_output(a: Any, b: Any) -> Any:
            with tf.GradientTape() as tape:
                tape.watch([a, b])
                y = f(a, b)[output]
            return tape.gradient(y, [a, b])

        return [*of_output(a, b), *tf.function(of_output)(a, b)]

    for mine, expected in zip(gradients(graven), gradients(tensorflow), strict=True):
        np.testing.assert_allclose(mine.numpy(), expected.numpy(), rtol=1e-6)


@pytest.mark.parametrize("output", ["product", "capture"])
@pytest.mark.parametrize("watched", ["argument", "closure", "both"])
@pytest.mark.parametrize("wrapper", WRAPPERS)
def test_what_a_custom_gradient_closes_over(output: str, watched: str, wrapper: str) -> None:
    # An eager tape that does not watch the argument follows what the function did with the rest.
    def gradients(tf: Any) -> list[Any]:
        a, w = tf.constant(3.0), tf.constant(2.0)
        custom = tf.custom_gradient(
            lambda a: (a * w if output == "product" else w, lambda dy: dy * 10.0)
        )
        f = WRAPPERS[wrapper](tf, custom)
        with tf.GradientTape() as tape:
            tape.watch({"argument": [a], "closure": [w], "both": [a, w]}[watched])
            y = f(a)
        return [None if g is None else g.numpy() for g in tape.gradient(y, [a, w])]

    assert gradients(graven) == gradients(tensorflow)


# --- Four orders: where they are zero and where None.

SCALARS: dict[str, Callable[[Any, Any], Any]] = {
    "stopped": lambda tf, x: tf.stop_gradient(x) * x,
    "stopped twice": lambda tf, x: tf.stop_gradient(x) * x * x,
    "divided by stopped": lambda tf, x: x / tf.reshape(tf.stop_gradient(x), []),
    "linear": lambda tf, x: 3.0 * x,
    "affine": lambda tf, x: 3.0 * x + 1.0,
    "quotient": lambda tf, x: x / 2.0,
    "product of a matrix": lambda tf, x: tf.reduce_sum(tf.reshape(x, [1]) * [1.0, 2.0]),
    "identity": lambda tf, x: tf.identity(x),
    "sum": lambda tf, x: x + x,
    "negative": lambda tf, x: -x,
    "quadratic": lambda tf, x: x * x,
    "square": lambda tf, x: tf.square(x),
    "square and line": lambda tf, x: tf.square(x) + 5.0 * x,
    "cubic": lambda tf, x: x * x * x,
    "constant": lambda tf, x: tf.constant(2.0),
    "zeros": lambda tf, x: tf.zeros_like(x),
}


def orders(tf: Any, f: Callable[[Any], Any], x: Any) -> list[Any]:
    """The derivatives of the orders 1 to 4, up to the first None; by tapes around tapes."""
    found: list[Any] = []
    tapes = [tf.GradientTape() for _ in range(4)]

    def derivative(order: int) -> Any:
        if order == 0:
            return f(x)
        with tapes[order - 1] as tape:
            tape.watch(x)
            y = derivative(order - 1)
        if y is None:
            return None
        found.append(tape.gradient(y, x))
        return found[-1]

    derivative(4)
    return found


def orders_in_a_trace(tf: Any, f: Callable[[Any], Any], x: Any) -> list[Any]:
    is_none: list[bool] = []

    def traced(x: Any) -> Any:
        found = orders(tf, f, x)
        is_none[:] = [g is None for g in found]
        return [tf.zeros([]) if g is None else g for g in found]

    values = tf.function(traced, autograph=False)(x)
    return [None if none else g for none, g in zip(is_none, values, strict=True)]


def orders_of_gradient_functions(tf: Any, f: Callable[[Any], Any], x: Any) -> list[Any]:
    """Each order is a Function that takes the gradient of the one before."""

    def derivative(f: Any) -> Any:
        def g(x: Any) -> Any:
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = f(x)
            return tape.gradient(y, x)

        return tf.function(g, autograph=False)

    found: list[Any] = []
    while len(found) < 4 and (not found or found[-1] is not None):
        f = derivative(f)
        found.append(f(x))
    return found


def gradient_of(tf: Any, f: Callable[[Any], Any]) -> Any:
    def g(x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        dx = tape.gradient(y, x)
        return tf.zeros([]) if dx is None else dx

    return tf.function(g, autograph=False)


def function(tf: Any, f: Callable[[Any], Any]) -> Any:
    return tf.function(f, autograph=False)


WAYS: dict[str, Callable[[Any, Any, Any], list[Any]]] = {
    "eager": orders,
    "function": lambda tf, f, x: orders(tf, function(tf, f), x),
    "nested": lambda tf, f, x: orders(tf, function(tf, lambda x: function(tf, f)(x)), x),
    "twice a function": lambda tf, f, x: orders(
        tf, function(tf, lambda x: 2.0 * function(tf, f)(x)), x
    ),
    "traced": orders_in_a_trace,
    "traced, of a function": lambda tf, f, x: orders_in_a_trace(tf, function(tf, f), x),
    "gradient functions": lambda tf, f, x: orders_of_gradient_functions(tf, function(tf, f), x),
    "gradient in a function": lambda tf, f, x: orders(tf, gradient_of(tf, f), x),
    "gradient in a function, of one": lambda tf, f, x: orders(
        tf, gradient_of(tf, function(tf, f)), x
    ),
    "branch": lambda tf, f, x: orders(
        tf, function(tf, lambda x: tf.cond(x > 0.0, lambda: f(x), lambda: f(x))), x
    ),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", SCALARS)
def test_four_orders_are_zero_and_none_where_those_of_tensorflow_are(name: str, way: str) -> None:
    def values(tf: Any) -> list[Any]:
        found = WAYS[way](tf, lambda x: SCALARS[name](tf, x), tf.constant(2.0))
        return [None if g is None else g.numpy() for g in found]

    assert values(graven) == values(tensorflow)


def test_inputs_that_a_second_derivative_does_not_reach_have_zeros_to_any_order() -> None:
    # The bias of a layer, as with a penalty on gradients: TensorFlow gives zeros, not None.
    def values(tf: Any) -> list[Any]:
        x, w, b = tf.constant([[1.0, 2.0]]), tf.constant([[3.0], [4.0]]), tf.constant([5.0])
        layer = tf.function(lambda x, w, b: tf.square(tf.matmul(x, w) + b), autograph=False)
        with tf.GradientTape() as third, tf.GradientTape() as second:
            third.watch([x, w, b])
            second.watch([x, w, b])
            with tf.GradientTape() as first:
                first.watch(x)
                y = layer(x, w, b)
            dx = first.gradient(y, x)
            found = second.gradient(dx, [x, w, b])
        return [g.numpy().tolist() for g in found] + [
            None if g is None else g.numpy().tolist() for g in third.gradient(found, [x, w, b])
        ]

    assert values(graven) == values(tensorflow)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float64", "complex64"])
def test_orders_of_other_dtypes(dtype: str) -> None:
    def values(tf: Any) -> list[Any]:
        kind = getattr(tf, dtype)
        f = tf.function(lambda x: x * tf.cast(3.0, kind), autograph=False)
        found = orders(tf, f, tf.cast(2.0, kind))
        return [None if g is None else str(tf.cast(g, tf.complex128).numpy()) for g in found]

    assert values(graven) == values(tensorflow)


def test_orders_of_a_variable_and_of_sizes_that_are_open() -> None:
    def values(tf: Any) -> list[Any]:
        v = tf.Variable([1.0, 2.0])
        f = tf.function(
            lambda x: x * v * 3.0, input_signature=[tf.TensorSpec([None])], autograph=False
        )
        x = tf.constant([1.0, 2.0])
        tapes = [tf.GradientTape() for _ in range(3)]
        with tapes[2]:
            tapes[2].watch(x)
            with tapes[1]:
                tapes[1].watch(x)
                with tapes[0]:
                    tapes[0].watch(x)
                    y = f(x)
                first = tapes[0].gradient(y, [x, v])
            second = tapes[1].gradient(first, [x, v])
        found = [*first, *second, *tapes[2].gradient(second, [x, v])]
        return [None if g is None else g.numpy().tolist() for g in found]

    assert values(graven) == values(tensorflow)
