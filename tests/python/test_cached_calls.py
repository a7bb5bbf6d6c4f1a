"""Calls of Functions: no Python code on a hit, threads, lives, errors."""

import gc
import sys
import threading
import weakref
from collections import namedtuple
from collections.abc import Callable
from typing import Any

import attrs
import graven as tf
import numpy as np
import pytest
from graven import _logging

Point = namedtuple("Point", ["x", "y"])
X = tf.constant([1.0, 2.0])


@attrs.define
class Pair:
    a: Any
    b: Any


class Scaler(tf.Module):
    def __init__(self) -> None:
        super().__init__()
        self.factor = tf.Variable(2.0)

    @tf.function
    def __call__(self, x: Any) -> Any:
        return x * self.factor

    @tf.function
    def shifted(self, x: Any, by: Any = 1.0) -> Any:
        return x + by


def python_functions_of(call: Callable[[], Any]) -> list[str]:
    """The names of the Python functions that a call runs, its own left out."""
    names: list[str] = []

    def profile(frame: Any, event: str, argument: Any) -> None:
        if event == "call":
            names.append(frame.f_code.co_name)

    sys.setprofile(profile)
    try:
        call()
    finally:
        sys.setprofile(None)
    return names[1:]


@tf.function
def add(x: Any, y: Any = 1.0, *, z: Any = 2.0) -> Any:
    return x + y + z


@tf.function
def total(*items: Any, **named: Any) -> Any:
    return sum([*items, *named.values()])


@tf.function
def first_of(structure: Any) -> Any:
    return tf.nest.flatten(structure)[0] + 0.0


VARIABLE = tf.Variable([3.0, 4.0])
SCALER = Scaler()
POINT = Point(X, X)
PAIR = Pair(X, X)
ARRAY = np.ones(2, np.float32)
CALLS: dict[str, Callable[[], Any]] = {
    "positional tensor": lambda: add(X, X),
    "keyword": lambda: add(X, y=X, z=X),
    "default": lambda: add(X),
    "number": lambda: add(X, 3, z=4.5),
    "var-positional": lambda: total(X, X, X),
    "var-keyword": lambda: total(X, a=X, b=X),
    "list": lambda: first_of([X, X]),
    "nested": lambda: first_of({"a": [X, (X, 1)], "b": None}),
    "named tuple": lambda: first_of(POINT),
    "attrs": lambda: first_of(PAIR),
    "string": lambda: first_of([X, "text", b"bytes"]),
    "array": lambda: first_of(ARRAY),
    "variable": lambda: add(VARIABLE, X),
    "two variables": lambda: add(VARIABLE, VARIABLE),
    "object": lambda: first_of([X, SCALER]),
    "method": lambda: SCALER.shifted(X),
    "call of a module": lambda: SCALER(X),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS.keys())
def test_a_cached_call_runs_no_python_function(call: Callable[[], Any]) -> None:
    first = call()
    assert python_functions_of(call) == []
    np.testing.assert_array_equal(call().numpy(), first.numpy())


def test_a_call_that_traces_is_seen_by_the_profile() -> None:
    """Or the test above could not fail."""
    f = tf.function(lambda x: x + 1.0)
    assert "<lambda>" in python_functions_of(lambda: f(X))


def test_cached_calls_take_a_cast_to_a_signature() -> None:
    f = tf.function(lambda x: x * 2.0, input_signature=[tf.TensorSpec([None], tf.float32)])
    f(X)
    assert python_functions_of(lambda: f(X)) == []
    assert f.experimental_get_tracing_count() == 1


# --- Lives


def test_a_function_in_a_cycle_dies_with_its_traces() -> None:
    class Owner:
        pass

    def build() -> list[weakref.ref[Any]]:
        owner = Owner()
        held = tf.Variable(1.0)
        owner.f = tf.function(lambda x: (owner, x + held)[1])  # type: ignore[attr-defined]
        owner.f(X)  # type: ignore[attr-defined]
        concrete = owner.f.get_concrete_function(X)  # type: ignore[attr-defined]
        owner.concrete = concrete  # type: ignore[attr-defined]
        return [weakref.ref(o) for o in (owner, owner.f, concrete, held)]  # type: ignore[attr-defined]

    references = build()
    gc.collect()
    assert [r() for r in references] == [None] * 4


def test_the_functions_of_an_instance_die_with_it() -> None:
    scaler = Scaler()
    scaler(X)
    references = [weakref.ref(scaler), weakref.ref(scaler.__call__)]
    del scaler
    gc.collect()
    assert [r() for r in references] == [None, None]


def test_an_instance_that_takes_the_place_of_a_dead_one_gets_its_own_function() -> None:
    results = []
    for factor in range(50):
        scaler = Scaler()
        scaler.factor.assign(float(factor))
        results.append(scaler(tf.constant(1.0)).numpy())
        del scaler
    assert results == list(range(50))


def test_a_function_of_a_class_that_takes_the_place_of_a_dead_one_is_bound_anew() -> None:
    class Thing:
        pass

    thing = Thing()
    results = []
    for i in range(50):

        def body(self: Any, x: Any, i: int = i) -> Any:
            return x + i

        bound = tf.function(body).__get__(thing, Thing)
        results.append(int(bound(tf.constant(0))))
        del bound
        gc.collect()
    assert results == list(range(50))


def test_an_object_argument_is_not_kept_alive() -> None:
    class Thing:
        pass

    thing = Thing()
    f = tf.function(lambda t, x: x + 1.0)
    f(thing, X)
    f(thing, X)
    reference = weakref.ref(thing)
    del thing
    assert reference() is None


def test_the_gradient_of_a_function_with_a_custom_gradient_dies_with_it() -> None:
    class Token:
        pass

    def build() -> list[weakref.ref[Any]]:
        token = Token()

        @tf.custom_gradient
        def square(x: Any) -> Any:
            y = x * x
            return y, lambda dy: (token, dy * x * y)[1]

        f = tf.function(lambda x: square(x))
        x = tf.constant(3.0)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        assert tape.gradient(y, x).numpy() == 27.0
        return [weakref.ref(token), weakref.ref(f)]

    references = build()
    gc.collect()
    assert [r() for r in references] == [None, None]


def test_a_concrete_function_keeps_its_custom_gradient_when_the_function_is_gone() -> None:
    @tf.custom_gradient
    def ten(x: Any) -> Any:
        return x * x, lambda dy: dy * 10.0

    concrete = tf.function(lambda x: ten(x)).get_concrete_function(tf.TensorSpec([]))
    gc.collect()
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = concrete(x)
    assert tape.gradient(y, x).numpy() == 10.0


def test_a_function_keeps_the_custom_gradients_of_functions_that_it_calls() -> None:
    def outer_of_local() -> Any:
        @tf.custom_gradient
        def ten(x: Any) -> Any:
            return x * x, lambda dy: dy * 10.0

        inner = [tf.function(lambda x: ten(x))]
        outer = tf.function(lambda x: inner[0](x) + 1.0)
        outer(tf.constant(1.0))
        inner.clear()
        return outer

    outer = outer_of_local()
    gc.collect()
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = outer(x)
    assert tape.gradient(y, x).numpy() == 10.0


# --- Threads


def run_at_once(count: int, action: Callable[[int], Any]) -> list[Any]:
    """The results of an action, or its exceptions, on as many threads that start together."""
    barrier = threading.Barrier(count)
    results: list[Any] = [None] * count

    def work(i: int) -> None:
        barrier.wait()
        try:
            results[i] = action(i)
        except Exception as error:
            results[i] = error

    threads = [threading.Thread(target=work, args=(i,)) for i in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not any(thread.is_alive() for thread in threads)
    return results


def test_many_threads_with_one_new_type_trace_once() -> None:
    f = tf.function(lambda x: x + 1.0)
    results = run_at_once(16, lambda i: f(tf.constant([float(i)])).numpy()[0])
    assert results == [i + 1.0 for i in range(16)]
    assert f.experimental_get_tracing_count() == 1


def test_many_threads_with_types_of_their_own_trace_each() -> None:
    f = tf.function(lambda x: x + 1.0, reduce_retracing=False)
    results = run_at_once(16, lambda i: f(tf.ones([i % 8])).shape[0])
    assert results == [i % 8 for i in range(16)]
    assert f.experimental_get_tracing_count() == 8


def test_many_threads_with_sizes_of_their_own_share_a_trace_that_leaves_them_open() -> None:
    f = tf.function(lambda x: x + 1.0, reduce_retracing=None)
    f(tf.ones([1]))
    results = run_at_once(16, lambda i: f(tf.ones([2 + i % 8])).shape[0])
    assert results == [2 + i % 8 for i in range(16)]
    assert f.experimental_get_tracing_count() == 2


def test_a_variable_of_the_first_call_is_made_once_by_many_threads() -> None:
    made: list[Any] = []

    @tf.function
    def f(x: Any) -> Any:
        if not made:
            made.append(tf.Variable(2.0))
        return made[0] * x

    results = run_at_once(16, lambda i: f(tf.constant(float(i))).numpy())
    assert results == [2.0 * i for i in range(16)]
    assert len(made) == 1


# --- Errors


def test_the_exception_of_a_body_is_the_very_object_that_was_raised() -> None:
    error = KeyError("mine")

    @tf.function(autograph=False)
    def inner(x: Any) -> Any:
        raise error

    outer = tf.function(lambda x: inner(x), autograph=False)
    with pytest.raises(KeyError) as caught:
        outer(X)
    assert caught.value is error


def test_a_trace_that_raised_left_nothing_behind() -> None:
    fail = [True]

    @tf.function
    def f(x: Any) -> Any:
        if fail:
            raise RuntimeError("once")
        return x + 1.0

    with pytest.raises(RuntimeError, match="once"):
        f(X)
    fail.clear()
    assert f(X).numpy().tolist() == [2.0, 3.0]
    assert f.cache_info().entries == 1


def test_every_waiting_thread_may_trace_after_one_failed() -> None:
    @tf.function(autograph=False)
    def f(x: Any) -> Any:
        raise ValueError("always")

    results = run_at_once(8, lambda i: f(X))
    assert [str(r) for r in results] == ["always"] * 8


def test_jit_compile_runs_the_function_and_says_once_that_there_is_no_machine_code(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_logging, "_seen", set())
    functions = [tf.function(lambda x: x * 2.0, jit_compile=True) for _ in range(2)]
    assert not caplog.records  # Programs make functions that they never call.
    assert [f(tf.constant([1.0, 2.0])).numpy().tolist() for f in functions] == [[2.0, 4.0]] * 2
    assert ["jit_compile=True has no effect yet" in r.message for r in caplog.records] == [True]
