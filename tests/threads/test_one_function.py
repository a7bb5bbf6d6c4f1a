"""16 threads over one Function. ./dev sanitize tsan runs this folder under the thread sanitizer."""

import threading
from typing import Any

import graven as tf
import numpy as np
from threads.in_threads import THREADS, in_threads

CALLS = 50


def test_threads_with_the_same_new_type_cause_one_trace() -> None:
    traces = []

    @tf.function
    def double(x: Any) -> Any:
        traces.append(threading.get_ident())
        return x * 2.0

    results = in_threads(lambda i: [float(double(tf.constant(float(i)))) for _ in range(CALLS)])
    assert results == [[2.0 * i] * CALLS for i in range(THREADS)]
    assert len(traces) == 1
    assert double.experimental_get_tracing_count() == 1


def test_threads_with_types_of_their_own_trace_once_each() -> None:
    @tf.function(reduce_retracing=False)
    def total(x: Any, scale: Any) -> Any:
        return tf.reduce_sum(x * scale)

    def work(i: int) -> list[float]:
        return [float(total(tf.ones([i + 1]), 3.0)) for _ in range(CALLS)]

    assert in_threads(work) == [[3.0 * (i + 1)] * CALLS for i in range(THREADS)]
    assert total.experimental_get_tracing_count() == THREADS


def test_threads_with_tapes_of_their_own_get_their_own_gradients() -> None:
    @tf.function
    def loss(x: Any) -> Any:
        return tf.reduce_sum(x * x)

    def work(i: int) -> Any:
        for _ in range(CALLS):
            x = tf.constant([float(i), 1.0])
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = loss(x)
            gradient = tape.gradient(y, x).numpy()
        return gradient

    for i, gradient in enumerate(in_threads(work)):
        np.testing.assert_array_equal(gradient, [2.0 * i, 2.0])


def test_no_addition_to_a_variable_is_lost() -> None:
    v = tf.Variable(0, dtype=tf.int64)

    @tf.function
    def count() -> None:
        v.assign_add(1)

    in_threads(lambda i: [count() for _ in range(CALLS)])
    assert int(v.numpy()) == THREADS * CALLS


def test_an_exception_in_a_trace_comes_to_each_thread_and_stops_no_other() -> None:
    @tf.function
    def half_fails(x: Any, fails: bool) -> Any:
        if fails:
            raise ValueError("on purpose")
        return x + 1.0

    def work(i: int) -> Any:
        for _ in range(CALLS):
            try:
                result: Any = float(half_fails(1.0, i % 2 == 0))
            except ValueError as error:
                result = str(error)
        return result

    for i, result in enumerate(in_threads(work)):
        assert result == 2.0 if i % 2 else "on purpose" in result


def test_threads_that_trace_do_not_wait_for_those_that_look_at_the_cache() -> None:
    # The types of traces hold Python objects, which go with the interpreter's lock only. A thread
    # that asks for the entries has that one and waits for the Function's.
    class Key(str):
        pass

    @tf.function(autograph=False)  # AutoGraph makes the exception anew
    def f(x: Any, key: Any) -> Any:
        raise KeyError(key["a"])

    def work(i: int) -> int:
        for k in range(CALLS):
            if i % 2:
                f.cache_info()
                f.experimental_get_tracing_count()
                continue
            try:
                f(tf.constant(1.0), {"a": Key(f"{k}")})
            except KeyError as error:
                assert error.args == (f"{k}",)
        return i

    assert in_threads(work) == list(range(THREADS))
    assert f.experimental_get_tracing_count() == 0


def test_threads_that_remember_calls_do_not_wait_for_one_that_clears_the_table() -> None:
    # Rows of the table hold guards of Python objects. A thread without the interpreter destroyed
    # them under the table's lock; one that remembered a call had it and waited for that lock.
    class Thing:
        pass

    def make() -> Any:
        held: list[Any] = []

        @tf.function
        def f(x: Any, things: Any, create: bool) -> Any:
            if create and not held:
                held.append(tf.Variable(1.0))
            return x + 1.0

        return f

    functions = [make() for _ in range(CALLS // 5)]

    def work(i: int) -> int:
        things = [Thing() for _ in range(8)]
        for f in functions:
            for thing in things:
                f(tf.constant(1.0), thing, False)
            if i % 4 == 0:
                try:
                    f(tf.constant(1.0), things[0], True)
                except ValueError as error:
                    assert "non-first call" in str(error)
        return i

    assert in_threads(work) == list(range(THREADS))
