"""What a ForwardAccumulator sees, keeps and refuses, beside what the conformance suite holds."""

import gc
import weakref
from collections.abc import Callable
from typing import Any

import graven as tf
import numpy as np
import pytest

Accumulator = tf.autodiff.ForwardAccumulator
ONE = tf.constant(1.0)


def jvp(f: Callable[[Any], Any], x: Any, tangent: Any = ONE) -> Any:
    with Accumulator(x, tangent) as accumulator:
        y = f(x)
    return accumulator.jvp(y)


def operations_of(function: Any, *arguments: Any) -> list[str]:
    graph = function.get_concrete_function(*arguments).graph
    return [operation.type for operation in graph.get_operations()]


# --- What is computed.


def test_no_op_of_a_reverse_sweep_is_left() -> None:
    @tf.function
    def f(x: Any, t: Any) -> Any:
        return jvp(lambda x: tf.matmul(tf.tanh(x), x), x, t)

    x = tf.ones([2, 2])
    made = operations_of(f, x, x)
    assert made.count("MatMul") == 3 and made.count("TanhGrad") == 1
    assert not {"Sum", "Shape", "BroadcastGradientArgs"} & set(made)


def test_an_op_that_moves_elements_is_applied_to_the_tangents() -> None:
    @tf.function
    def f(x: Any, t: Any) -> Any:
        return jvp(lambda x: tf.concat([tf.transpose(x), x], 0), x, t)

    x = tf.ones([2, 2])
    made = operations_of(f, x, x)
    assert made.count("ConcatV2") == 2 and made.count("Transpose") == 2
    assert not {"Slice", "Pad", "AddN"} & set(made)


def test_a_gather_is_applied_to_the_tangents() -> None:
    @tf.function
    def f(x: Any, t: Any) -> Any:
        return jvp(lambda x: tf.gather(x, [1, 1, 0]), x, t)

    x = tf.constant([1.0, 2.0])
    assert operations_of(f, x, x).count("GatherV2") == 2
    assert f(x, tf.constant([5.0, 7.0])).numpy().tolist() == [7.0, 7.0, 5.0]


def test_a_number_beside_a_tensor_has_the_tangent_of_the_whole() -> None:
    x = tf.constant([[1.0], [2.0]])
    tangent = jvp(lambda x: x + tf.zeros([3]), x, tf.constant([[3.0], [4.0]]))
    assert tangent.numpy().tolist() == [[3.0] * 3, [4.0] * 3]


def test_a_sum_over_axes_that_change_between_calls() -> None:
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    sums = [jvp(lambda x: tf.reduce_sum(x, axis), x, x).numpy().tolist() for axis in (0, 1, 0)]  # noqa: B023
    assert sums == [[4.0, 6.0], [3.0, 7.0], [4.0, 6.0]]


def test_random_numbers_are_drawn_once() -> None:
    x = tf.constant(2.0)
    for wrap in (lambda f: f, tf.function):
        with Accumulator(x, ONE) as accumulator:
            y = wrap(lambda x: tf.random.normal([]) * x)(x)
        np.testing.assert_allclose(accumulator.jvp(y) * 2.0, y, rtol=1e-6)


def test_the_effects_of_a_function_happen_once() -> None:
    count = tf.Variable(0.0)

    @tf.function
    def f(x: Any) -> Any:
        count.assign_add(1.0)
        return x * x

    assert jvp(f, tf.constant(3.0)).numpy() == 6.0 and count.numpy() == 1.0


def test_an_assignment_has_no_tangent() -> None:
    v = tf.Variable(3.0)
    with Accumulator(v, ONE) as accumulator:
        v.assign(v * 2.0)
        y = v * v
    assert accumulator.jvp(y).numpy() == 12.0 and accumulator.jvp(v).numpy() == 1.0


def test_rows_of_a_variable_have_tangents() -> None:
    v = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
    for wrap in (lambda f: f, tf.function):
        with Accumulator(v, tf.constant([[5.0, 6.0], [7.0, 8.0]])) as accumulator:
            rows = wrap(lambda: tf.nn.embedding_lookup(v, [1, 1]) ** 2)()
        assert accumulator.jvp(rows).numpy().tolist() == [[42.0, 64.0]] * 2


def test_a_gradient_of_slices_has_a_tangent_of_slices() -> None:
    v = tf.Variable([[1.0], [2.0]])
    with Accumulator(v, tf.constant([[1.0], [1.0]])) as accumulator:
        with tf.GradientTape() as tape:
            y = tf.reduce_sum(tf.gather(v, [1]) ** 3)
        gradient = tape.gradient(y, v)
    tangent = accumulator.jvp(gradient)
    assert isinstance(tangent, tf.IndexedSlices)
    assert tangent.values.numpy().tolist() == [[12.0]] and tangent.indices.numpy().tolist() == [1]


def test_what_a_custom_gradient_computes_is_differentiated() -> None:
    square = tf.custom_gradient(lambda x: (x * x, lambda dy: dy * 100.0))
    assert jvp(square, tf.constant(3.0)).numpy() == 6.0
    inside = tf.function(lambda x: jvp(square, x))
    assert inside(tf.constant(3.0)).numpy() == 6.0


def test_within_a_function_its_gradient_is_transposed() -> None:  # as in TensorFlow
    square = tf.custom_gradient(lambda x: (x * x, lambda dy: dy * 100.0))
    assert jvp(tf.function(square), tf.constant(3.0)).numpy() == 100.0
    inside = tf.function(lambda x: jvp(tf.function(square), x))
    assert inside(tf.constant(3.0)).numpy() == 100.0


# --- Functions.


def test_a_function_has_its_tangents_made_once() -> None:
    f = tf.function(lambda x: tf.sin(x) * x)
    x = tf.constant(1.0)
    first = jvp(f, x)
    before = f.cache_info().bytes
    assert jvp(f, x).numpy() == first.numpy()
    assert f.cache_info().bytes == before and f.cache_info().traces == 1


def test_the_bytes_of_tangents_count() -> None:
    f = tf.function(lambda x: tf.sin(x) * x)
    f(ONE)
    before = f.cache_info().bytes
    jvp(f, tf.constant(1.0))
    assert f.cache_info().bytes > before + 500


def test_arguments_without_a_tangent() -> None:
    f = tf.function(lambda x, y, n: (x * y, y * y, n + 1))
    x, y = tf.constant(2.0), tf.constant(3.0)
    with Accumulator(x, ONE) as accumulator:
        made = f(x, y, tf.constant(1))
    product, square, count = accumulator.jvp(made)
    assert product.numpy() == 3.0 and square is None and count is None


def test_a_function_that_returns_its_argument() -> None:
    f = tf.function(lambda x: (x, x * 2.0))
    same, twice = jvp(f, tf.constant(3.0), tf.constant(5.0))
    assert same.numpy() == 5.0 and twice.numpy() == 10.0


def test_functions_that_call_functions() -> None:
    inner = tf.function(lambda x: x**3)
    outer = tf.function(lambda x: inner(x) + inner(2.0 * x))
    assert jvp(outer, tf.constant(2.0)).numpy() == 12.0 + 96.0


@pytest.mark.parametrize("wrap", [lambda f: f, tf.function], ids=["eager", "function"])
def test_a_branch_without_a_tangent_gives_zeros(wrap: Any) -> None:
    def f(x: Any) -> Any:
        return tf.cond(x > 0.0, lambda: x * x, lambda: tf.constant(1.0))

    assert jvp(wrap(f), tf.constant(3.0)).numpy() == 6.0
    assert jvp(tf.function(f), tf.constant(-3.0)).numpy() == 0.0


def test_a_variable_of_a_loop_that_gets_a_tangent_in_it() -> None:
    @tf.function
    def f(x: Any) -> Any:
        a, b, c = tf.constant(0.0), tf.constant(0.0), tf.constant(0.0)
        for _ in tf.range(3):
            a, b, c = x, a, b
        return a, b, c

    assert [t.numpy() for t in jvp(f, tf.constant(2.0))] == [1.0, 1.0, 1.0]


def test_a_loop_that_grows_its_variable() -> None:
    @tf.function
    def f(x: Any) -> Any:
        y = x
        for _ in tf.range(2):
            tf.autograph.experimental.set_loop_options(
                shape_invariants=[(y, tf.TensorShape([None]))]
            )
            y = tf.concat([y, y * x[0]], 0)
        return y

    tangent = jvp(f, tf.constant([3.0]), tf.constant([1.0]))
    assert tangent.numpy().tolist() == [1.0, 6.0, 6.0, 27.0]


def test_an_array_that_a_loop_fills() -> None:
    @tf.function
    def f(x: Any) -> Any:
        array = tf.TensorArray(tf.float32, 3)
        for i in tf.range(3):
            array = array.write(i, x ** tf.cast(i, tf.float32))
        return array.stack()

    assert jvp(f, tf.constant(2.0)).numpy().tolist() == [0.0, 1.0, 4.0]


def test_an_accumulator_in_the_body_of_a_loop() -> None:
    @tf.function
    def f(x: Any) -> Any:
        for _ in tf.range(2):
            x = jvp(lambda x: x**3, x)
        return x

    assert f(tf.constant(1.0)).numpy() == 27.0


def test_a_condition_under_an_accumulator_of_the_same_trace() -> None:
    @tf.function
    def f(x: Any) -> Any:
        with Accumulator(x, ONE) as accumulator:
            y = x * x
            if y > 1.0:
                y = y * x
            i = 0
            while i < 2:
                y = y * 2.0
                i += 1
        return accumulator.jvp(y)

    assert f(tf.constant(3.0)).numpy() == 4.0 * 27.0
    assert f(tf.constant(0.5)).numpy() == 4.0


def test_arguments_of_unknown_shape() -> None:
    @tf.function(input_signature=[tf.TensorSpec(None)] * 2)
    def f(x: Any, y: Any) -> Any:
        return tf.reduce_sum(x * y, -1, keepdims=True) * x

    x, y = tf.ones([2, 3]), tf.constant([1.0, 2.0, 3.0])
    eager = f.python_function
    expected = jvp(lambda x: eager(x, y), x, x).numpy()
    assert jvp(lambda x: f(x, y), x, x).numpy().tolist() == expected.tolist()


def test_a_map_under_an_accumulator() -> None:
    x = tf.constant([1.0, 2.0])
    for over in (tf.vectorized_map, tf.map_fn):
        for wrap in (lambda f: f, tf.function):
            tangent = jvp(wrap(lambda x: over(lambda e: e**3, x)), x, x)  # noqa: B023
            assert tangent.numpy().tolist() == [3.0, 24.0]


# --- Nesting.


def cube(x: Any) -> Any:
    return x**3


@pytest.mark.parametrize("wrap", [lambda f: f, tf.function], ids=["eager", "function"])
def test_three_accumulators_within_each_other(wrap: Any) -> None:
    f = wrap(lambda x: x**4)
    x = tf.constant(2.0)
    third = jvp(lambda x: jvp(lambda x: jvp(f, x), x), x)
    assert third.numpy() == 48.0


@pytest.mark.parametrize("wrap", [lambda f: f, tf.function], ids=["eager", "function"])
def test_accumulators_and_tapes_in_turn(wrap: Any) -> None:
    f, x = wrap(lambda x: x**4), tf.constant(2.0)
    with tf.GradientTape() as outer:
        outer.watch(x)
        with Accumulator(x, ONE) as accumulator:
            with tf.GradientTape() as inner:
                inner.watch(x)
                y = f(x)
            second = accumulator.jvp(inner.gradient(y, x))
    assert second.numpy() == 48.0 and outer.gradient(second, x).numpy() == 48.0


def test_inner_tapes_and_accumulators_do_not_see_the_tangents() -> None:
    x = tf.constant(2.0)
    with Accumulator(x, ONE) as accumulator:
        with tf.GradientTape(persistent=True) as tape, Accumulator(x, ONE) as inner:
            tape.watch(x)
            tangent = accumulator.jvp(cube(x))
    assert tape.gradient(tangent, x) is None and inner.jvp(tangent) is None


def test_a_tape_that_pauses_keeps_its_place() -> None:
    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        with Accumulator(x, ONE) as accumulator:
            with tape.stop_recording():
                cube(x)
            tangent = accumulator.jvp(cube(x))
    assert tape.gradient(tangent, x).numpy() == 12.0


def test_the_tangents_themselves_can_be_differentiated() -> None:
    x, t = tf.constant(2.0), tf.constant(1.0)
    with tf.GradientTape() as tape:
        tape.watch(t)
        tangent = jvp(tf.function(cube), x, t)
    assert tape.gradient(tangent, t).numpy() == 12.0


# --- What is kept, and errors.


def test_tangents_of_tensors_that_are_gone_are_dropped() -> None:
    def resident() -> int:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * 4096

    x = tf.ones([1 << 18])
    with Accumulator(x, x) as accumulator:
        y = x
        for _ in range(20):
            y = y * 1.01
        before = resident()
        for _ in range(400):
            y = y * 1.01
        assert resident() - before < 100 << 20  # all of them are 800 MiB
    np.testing.assert_allclose(accumulator.jvp(y)[0], y[0], rtol=1e-5)


def test_an_op_without_a_gradient_is_an_error_when_its_tangent_is_asked_for() -> None:
    x = tf.eye(2)
    for wrap in (lambda f: f, tf.function):
        with Accumulator(x, x) as accumulator:
            y, other = wrap(lambda x: (tf.linalg.lu(x)[0], x * x))(x)
        assert accumulator.jvp(other).numpy().tolist() == [[2.0, 0.0], [0.0, 2.0]]
        with pytest.raises(LookupError, match="Lu"):
            accumulator.jvp(y)


def test_primals_that_are_refused() -> None:
    x = tf.constant(1.0)
    with pytest.raises(ValueError, match="multiple times"):
        Accumulator([x, x], [ONE, ONE])
    with pytest.raises(TypeError, match="primal"):
        Accumulator(1.0, 1.0)
    with pytest.raises(ValueError, match="shape"):
        Accumulator(x, tf.ones([2]))
    with pytest.raises(TypeError, match="target"):
        Accumulator(x, ONE).jvp(1.0)


def test_an_exception_ends_the_accumulator() -> None:
    accumulator = Accumulator(tf.constant(1.0), ONE)
    with pytest.raises(ZeroDivisionError), accumulator:
        1 / 0  # noqa: B018
    with accumulator:
        pass


def test_an_integer_primal_is_left_out(caplog: pytest.LogCaptureFixture) -> None:
    x = tf.constant(3)
    with Accumulator(x, tf.constant(1)) as accumulator:
        y = x * x
    assert accumulator.jvp(y) is None
    assert "must be floating" in caplog.text


# Straight-through estimators and wrapped callbacks: no tangent goes through the ops of the values.
@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (lambda x: tf.sign(x), 3.0),
        (lambda x: tf.ensure_shape(tf.numpy_function(np.sin, [x], tf.float32), []), 3.0),
        (lambda x: tf.identity(x), 1.0),  # as in TensorFlow, the ops count where there are any
    ],
)
def test_a_custom_gradient_counts_where_no_op_leads_to_the_values(
    value: Any, expected: float
) -> None:
    f = tf.custom_gradient(lambda x: (tf.identity(value(x)), lambda dy: dy * 3.0))
    x = tf.constant(0.5)
    with tf.autodiff.ForwardAccumulator(x, tf.constant(1.0)) as accumulator:
        y = f(x)
        z = f(x) * x
    assert float(accumulator.jvp(y)) == expected
    assert float(accumulator.jvp(z)) == pytest.approx(expected * 0.5 + float(y))


@tf.custom_gradient
def with_sin(x: Any) -> Any:
    """exp(x) of a vector, whose gradient is sin(x): a tensor of the trace, and no first output."""
    _, sines = tf.split(tf.concat([x, tf.sin(x)], 0), 2)
    return tf.exp(x), lambda dy: dy * sines


@pytest.mark.parametrize(
    ("f", "expected"),
    [
        (with_sin, np.sin),
        (lambda x: with_sin(x) * 2.0, lambda x: 2.0 * np.sin(x)),
        (lambda x: tf.cond(x[0] > 0.0, lambda: with_sin(x), lambda: x), np.sin),
        (
            lambda x: tf.while_loop(lambda i, y: i < 1, lambda i, y: (i + 1, with_sin(y)), [0, x])[
                1
            ],
            np.sin,
        ),
        (lambda x: tf.function(with_sin)(x), np.sin),
        (lambda x: tf.map_fn(lambda row: with_sin(row[None])[0], x), np.sin),
        # No tangent goes through the ops of these, and the gradient of the last is not linear.
        (tf.custom_gradient(lambda x: (tf.round(x), lambda dy: dy * 3.0)), lambda x: 0.0 * x + 3.0),
        (tf.custom_gradient(lambda x: (x * 0.0 + 1.0, lambda dy: dy * x)), lambda x: x),
        (tf.custom_gradient(lambda x: (x, lambda dy: dy * dy)), lambda x: 0.0 * x + 2.0),
    ],
)
def test_a_custom_gradient_within_a_function_gives_tangents(f: Any, expected: Any) -> None:
    x, t = np.array([0.5, 2.0], np.float32), np.array([1.0, 10.0], np.float32)
    tangent = jvp(tf.function(f), tf.constant(x), tf.constant(t))
    np.testing.assert_allclose(tangent.numpy(), expected(x) * t, rtol=1e-5)


def test_a_custom_gradient_within_a_function_may_be_none() -> None:
    f = tf.function(tf.custom_gradient(lambda x: (x * x, lambda dy: None)))
    assert jvp(f, tf.constant(3.0)) is None


def test_an_error_of_a_custom_gradient_comes_when_the_tangent_is_asked_for() -> None:
    f, x = tf.function(tf.custom_gradient(lambda x: (x * x, lambda dy: 1 // 0))), tf.constant(3.0)
    with Accumulator(x, ONE) as accumulator:
        y = f(x)
    assert y.numpy() == 9.0
    with pytest.raises(ZeroDivisionError) as info:
        accumulator.jvp(y)
    assert "lambda dy: 1 // 0" in info.value.__notes__[0]
    with pytest.raises(tf.errors.FailedPreconditionError, match=r"before: .* by zero"):
        accumulator.jvp(y)


def test_ctrl_c_in_a_custom_gradient_is_not_held_back() -> None:
    def interrupt(_: Any) -> Any:
        raise KeyboardInterrupt

    f, x = tf.function(tf.custom_gradient(lambda x: (x * x, interrupt))), tf.constant(3.0)
    with pytest.raises(KeyboardInterrupt), Accumulator(x, ONE):
        f(x)
        for _ in range(100):
            pass
    assert f(x).numpy() == 9.0


@pytest.mark.parametrize("is_asked_for", [True, False])
def test_an_error_of_a_custom_gradient_leaves_nothing_behind(is_asked_for: bool) -> None:
    def fail(_: Any, calls: int = 100) -> Any:
        try:
            if not calls:
                raise KeyError("first")
            fail(_, calls - 1)
        except (KeyError, ZeroDivisionError) as error:
            raise ZeroDivisionError("then") from error

    f = tf.function(tf.custom_gradient(lambda x: (x * x, fail)))

    def run() -> Any:
        x = tf.constant(3.0)
        with Accumulator(x, ONE) as accumulator:
            y = f(x)
            z = y + 1.0
        if is_asked_for:
            with pytest.raises(ZeroDivisionError):
                accumulator.jvp(z)
        return weakref.ref(accumulator)

    gone = run()
    gc.collect()
    assert gone() is None


def test_tangents_of_variables_go_through_a_custom_gradient() -> None:
    v, x = tf.Variable(2.0), tf.constant(5.0)

    @tf.custom_gradient
    def scaled(x: Any) -> Any:
        return x * v, lambda dy, variables=None: (dy * 7.0, [dy * x * 3.0])

    f = tf.function(scaled)
    with Accumulator([x, v], [ONE, tf.constant(10.0)]) as forward:
        y = f(x)
    assert forward.jvp(y).numpy() == 7.0 + 15.0 * 10.0


def test_tapes_and_accumulators_nest_around_a_custom_gradient_within_a_function() -> None:
    f = tf.function(with_sin)
    x, t = tf.constant([0.5, 2.0]), tf.constant([1.0, 10.0])
    sin, cos, along = np.sin(x.numpy()), np.cos(x.numpy()), t.numpy()
    with Accumulator(x, t) as forward:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        gradient = tape.gradient(y, x)
    np.testing.assert_allclose(gradient.numpy(), sin, rtol=1e-5)
    np.testing.assert_allclose(forward.jvp(gradient).numpy(), cos * along, rtol=1e-5)
    with Accumulator(x, t) as outer:
        tangent = jvp(f, x, t)
    np.testing.assert_allclose(tangent.numpy(), sin * along, rtol=1e-5)
    np.testing.assert_allclose(outer.jvp(tangent).numpy(), cos * along**2, rtol=1e-5)
    with tf.GradientTape() as tape:
        tape.watch(x)
        tangent = jvp(f, x, t)
    np.testing.assert_allclose(tape.gradient(tangent, x).numpy(), cos * along, rtol=1e-5)
