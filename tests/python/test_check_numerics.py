"""enable_check_numerics and the traces of Functions; tests/peers says which ops raise."""

import threading
from collections.abc import Iterator
from typing import Any

import graven as tf
import numpy as np
import pytest

InvalidArgumentError = tf.errors.InvalidArgumentError


@pytest.fixture(autouse=True)
def ended() -> Iterator[None]:
    yield
    tf.debugging.disable_check_numerics()


def log(x: Any) -> Any:
    return tf.math.log(x) * 2.0


NEGATIVE = tf.constant(-1.0)


def test_a_function_that_was_traced_before_is_checked_too() -> None:
    f = tf.function(log, autograph=False)
    assert np.isnan(f(NEGATIVE).numpy())
    tf.debugging.enable_check_numerics()
    with pytest.raises(InvalidArgumentError, match='graph op "Log"'):
        f(NEGATIVE)
    assert f(tf.constant(1.0)).numpy() == 0.0
    assert f.experimental_get_tracing_count() == 2


def test_without_the_checks_the_earlier_trace_is_used_again() -> None:
    f = tf.function(log, autograph=False)
    f(NEGATIVE)
    for _ in range(2):
        tf.debugging.enable_check_numerics()
        with pytest.raises(InvalidArgumentError):
            f(NEGATIVE)
        tf.debugging.disable_check_numerics()
        assert np.isnan(f(NEGATIVE).numpy())
    assert f.experimental_get_tracing_count() == 2


def test_a_function_that_was_made_with_the_checks_does_not_keep_them() -> None:
    tf.debugging.enable_check_numerics()
    f = tf.function(log, autograph=False)
    with pytest.raises(InvalidArgumentError):
        f(NEGATIVE)
    tf.debugging.disable_check_numerics()
    assert np.isnan(f(NEGATIVE).numpy())


def test_a_trace_says_that_it_was_made_for_the_checks() -> None:
    f = tf.function(log, autograph=False)
    f(tf.constant(1.0))
    tf.debugging.enable_check_numerics()
    f(tf.constant(1.0))
    assert "enable_check_numerics was called: the trace checks its values" in str(f.explain())


def test_variables_of_the_first_trace_are_made_once() -> None:
    class Model(tf.Module):
        def __init__(self) -> None:
            super().__init__()
            self.v: Any = None

        @tf.function(autograph=False)
        def __call__(self, x: Any) -> Any:
            if self.v is None:
                self.v = tf.Variable(2.0)
            return x * self.v

    model = Model()
    tf.debugging.enable_check_numerics()
    assert model(tf.constant(3.0)).numpy() == 6.0
    tf.debugging.disable_check_numerics()
    model.v.assign(4.0)
    assert model(tf.constant(3.0)).numpy() == 12.0


def test_an_effect_that_comes_later_does_not_happen() -> None:
    v = tf.Variable(0.0)

    def f(x: Any) -> Any:
        y = tf.math.log(x)
        v.assign(1.0)
        return y

    tf.debugging.enable_check_numerics()
    with pytest.raises(InvalidArgumentError):
        tf.function(f, autograph=False)(NEGATIVE)
    assert v.numpy() == 0.0


def test_the_op_that_comes_first_in_the_program_is_named() -> None:
    def f(x: Any) -> Any:
        a = tf.sqrt(x)
        b = tf.math.log(x)
        return b + a, tf.math.rsqrt(x)

    tf.debugging.enable_check_numerics()
    for run in (f, tf.function(f, autograph=False)):
        with pytest.raises(InvalidArgumentError, match='op "Sqrt"'):
            run(NEGATIVE)


def test_a_value_that_fusion_would_hide_is_found() -> None:
    f = tf.function(lambda x: tf.where(tf.math.log(x) > 0.0, 1.0, 2.0) + x, autograph=False)
    x = tf.constant([-1.0] * 100)
    assert f(x).numpy()[0] == 1.0
    tf.debugging.enable_check_numerics()
    with pytest.raises(InvalidArgumentError, match='graph op "Log"'):
        f(x)


def test_the_gradient_of_a_checked_call_is_checked() -> None:
    f = tf.function(lambda x: tf.sqrt(x), autograph=False)
    x = tf.constant(0.0)

    def gradient() -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        return tape.gradient(y, x)

    assert np.isinf(gradient().numpy())
    tf.debugging.enable_check_numerics()
    with pytest.raises(InvalidArgumentError, match='graph op "SqrtGrad"'):
        gradient()
    tf.debugging.disable_check_numerics()
    assert np.isinf(gradient().numpy())


def test_the_gradient_of_a_composite_under_a_tape_is_checked_as_without_one() -> None:
    tf.debugging.enable_check_numerics()
    x = tf.constant([1000.0, -1000.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.nn.softmax(x) + tf.math.softplus(x) / 1000.0
    np.testing.assert_allclose(tape.gradient(y, x).numpy(), [0.001, 0.0], atol=1e-6)


def test_tangents_are_checked_when_they_are_asked_for() -> None:
    x = tf.constant(0.0)
    tf.debugging.enable_check_numerics()
    for f in (tf.sqrt, tf.function(lambda x: tf.sqrt(x), autograph=False)):
        with pytest.raises(InvalidArgumentError, match="Infinity or NaN in output 0 of"):
            with tf.autodiff.ForwardAccumulator(x, tf.constant(1.0)) as accumulator:
                y = f(x)
            accumulator.jvp(y)


def test_all_that_a_trace_holds_is_checked() -> None:
    inner = tf.function(log, autograph=False)
    x = tf.constant([1.0, -1.0])
    programs = [
        lambda: inner(x),
        lambda: tf.cond(tf.reduce_sum(x) < 1.0, lambda: tf.math.log(x), lambda: x),
        lambda: tf.while_loop(lambda i, y: i < 2, lambda i, y: (i + 1, tf.math.log(y)), [0, x])[1],
        lambda: tf.map_fn(tf.math.log, x),
        lambda: tf.vectorized_map(tf.math.log, x),
        lambda: tf.scan(lambda a, b: a + tf.math.log(b), x, 0.0),
        lambda: tf.numpy_function(lambda y: y + np.float32("inf"), [x], tf.float32),
    ]
    for program in programs:
        f = tf.function(program, autograph=False)
        f()
        tf.debugging.enable_check_numerics()
        with pytest.raises(InvalidArgumentError, match="Infinity or NaN in output 0 of"):
            f()
        tf.debugging.disable_check_numerics()
        f()


def test_loops_and_branches_of_python_are_checked() -> None:
    @tf.function
    def f(x: Any) -> Any:
        for _ in tf.range(3):
            if x > 0.0:
                x = tf.math.log(x)
        return x

    f(tf.constant(1.0))
    tf.debugging.enable_check_numerics()
    assert f(tf.constant(0.5)).numpy() == np.log(np.float32(0.5))
    with pytest.raises(InvalidArgumentError, match='graph op "Exp"'):
        tf.function(lambda x: f(tf.exp(x)))(tf.constant(1000.0))


def test_the_checks_of_one_thread_leave_others_alone() -> None:
    f = tf.function(log, autograph=False)
    is_on, is_done = threading.Event(), threading.Event()
    errors: list[str] = []

    def checking() -> None:
        tf.debugging.enable_check_numerics()
        is_on.set()
        for _ in range(50):
            try:
                f(NEGATIVE)
            except InvalidArgumentError as error:
                errors.append(str(error))
        is_done.wait()

    thread = threading.Thread(target=checking)
    thread.start()
    is_on.wait()
    assert all(np.isnan(f(NEGATIVE).numpy()) for _ in range(50))
    assert np.isnan(tf.math.log(NEGATIVE).numpy())
    is_done.set()
    thread.join()
    assert len(errors) == 50
    # It ended with its thread: hits are quick again, which only the count of hits tells.
    before = f.cache_info().hits
    f(NEGATIVE)
    assert f.cache_info().hits == before + 1
    assert f.experimental_get_tracing_count() == 2


def test_a_concrete_function_stays_as_it_was_traced() -> None:
    f = tf.function(lambda x: tf.where(tf.math.log(x) > 0.0, 1.0, 2.0), autograph=False)
    unchecked = f.get_concrete_function(NEGATIVE)
    tf.debugging.enable_check_numerics()
    checked = f.get_concrete_function(NEGATIVE)
    assert unchecked(NEGATIVE).numpy() == 2.0
    with pytest.raises(InvalidArgumentError, match='graph op "Log"'):
        checked(NEGATIVE)
    tf.debugging.disable_check_numerics()
    with pytest.raises(InvalidArgumentError, match='graph op "Log"'):
        checked(NEGATIVE)


def test_the_results_of_what_was_traced_without_checks_are_looked_at() -> None:
    unchecked = tf.function(log, autograph=False).get_concrete_function(NEGATIVE)
    tf.debugging.enable_check_numerics()
    with pytest.raises(InvalidArgumentError, match='eagerly-executing op "__inference_log_'):
        unchecked(NEGATIVE)


def deep(x: Any, depth: int) -> Any:
    return deep(x, depth - 1) if depth else tf.math.log(x)


def test_the_limits_cut_the_stack_and_the_paths() -> None:
    def message(*limits: int | None) -> str:
        tf.debugging.enable_check_numerics(*limits)
        with pytest.raises(InvalidArgumentError) as raised:
            tf.function(lambda x: deep(x, 10), autograph=False)(NEGATIVE)
        tf.debugging.disable_check_numerics()
        return str(raised.value).split("Stack trace of op's creation")[1].split(" : Tensor had")[0]

    short = message(2, 10)
    assert short.count(") deep\n") == 2 and "(Omitted " in short
    assert "    + ...umerics.py (L" in short
    assert " -> |   return deep(x, depth - 1) if depth else tf.math.log(x)\n" in short
    whole = message(None, None)
    assert whole.count(") deep\n") == 11 and "Omitted" not in whole
    assert f"    + {__file__} (L" in whole


def test_calling_it_again_changes_nothing_and_ends_at_once() -> None:
    tf.debugging.enable_check_numerics()
    tf.debugging.enable_check_numerics(stack_height_limit=0)
    with pytest.raises(InvalidArgumentError, match=r" -> \|   "):
        tf.function(log, autograph=False)(NEGATIVE)
    tf.debugging.disable_check_numerics()
    tf.debugging.disable_check_numerics()
    assert np.isnan(tf.math.log(NEGATIVE).numpy())


@pytest.mark.parametrize("limits", [(-1, 50), (30, -1), ("30", 50), (30, 1.5), (True, 50)])
def test_a_limit_is_a_number(limits: Any) -> None:
    with pytest.raises(ValueError, match="must be None or an int that is not negative"):
        tf.debugging.enable_check_numerics(*limits)
    assert np.isnan(tf.math.log(NEGATIVE).numpy())


def test_it_may_be_switched_within_tapes_and_scopes() -> None:
    x = tf.constant(0.0)
    with tf.GradientTape(persistent=True) as tape, tf.init_scope():
        tape.watch(x)
    with tape:
        y = tf.sqrt(x)
        tf.debugging.enable_check_numerics()
        with pytest.raises(InvalidArgumentError, match='op "Log"'):
            tf.math.log(x)
    with pytest.raises(InvalidArgumentError, match='op "SqrtGrad"'):
        tape.gradient(y, x)
    tf.debugging.disable_check_numerics()
    assert np.isinf(tape.gradient(y, x).numpy())


def test_it_may_be_switched_while_a_gradient_is_computed() -> None:
    x = tf.constant(-1.0)

    @tf.custom_gradient
    def f(x: Any) -> Any:
        def gradient(dy: Any) -> Any:
            tf.debugging.enable_check_numerics()
            return dy * tf.math.log(x)

        return x * 2.0, gradient

    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(tf.identity(x) + 0.0)
    with pytest.raises(InvalidArgumentError, match='op "Log"'):
        tape.gradient(y, x)


def test_a_trace_stays_as_it_was_begun() -> None:
    def log_without(x: Any) -> Any:
        tf.debugging.disable_check_numerics()
        return tf.math.log(x)

    def log_with(x: Any) -> Any:
        tf.debugging.enable_check_numerics()
        return tf.math.log(x)

    tf.debugging.enable_check_numerics()
    with pytest.raises(InvalidArgumentError, match='graph op "Log"'):
        tf.function(log_without, autograph=False)(NEGATIVE)
    assert np.isnan(tf.math.log(NEGATIVE).numpy())
    without = tf.function(log_with, autograph=False).get_concrete_function(NEGATIVE)
    tf.debugging.disable_check_numerics()
    assert np.isnan(without(NEGATIVE).numpy())


def test_a_tape_keeps_the_checks_of_the_traces_that_it_recorded() -> None:
    f = tf.function(lambda x: tf.sqrt(x), autograph=False)
    x = tf.constant(0.0)
    tf.debugging.enable_check_numerics()
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    tf.debugging.disable_check_numerics()
    with pytest.raises(InvalidArgumentError, match='graph op "SqrtGrad"'):
        tape.gradient(y, x)


def test_what_is_found_within_a_function_of_the_program_is_an_error_of_that() -> None:
    def call() -> Any:
        return tf.py_function(tf.math.log, [NEGATIVE], tf.float32)

    tf.debugging.enable_check_numerics()
    for f in (call, tf.function(call, autograph=False)):
        with pytest.raises(tf.errors.UnknownError, match='eagerly-executing op "Log"') as raised:
            f()
        assert isinstance(raised.value.__cause__, InvalidArgumentError)
