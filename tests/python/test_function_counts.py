"""cache_info(): every call is a hit or a miss, and every trace is in the table."""

from typing import Any

import graven as tf
import pytest


def counts(f: Any) -> tuple[int, int, int]:
    """Hits, misses and traces; the table of traces adds up to the hits of living ones."""
    info = f.cache_info()
    assert info.entries == len(info.signatures)
    return info.hits, info.misses, info.traces


def test_hits_and_misses_are_the_calls_made() -> None:
    f = tf.function(lambda x: x + 1.0, reduce_retracing=False)
    for i, size in enumerate([1, 1, 2, 1, 2, 2, 3, 1]):
        f(tf.ones([size]))
        hits, misses, traces = counts(f)
        assert (hits + misses, misses, traces) == (
            i + 1,
            f.experimental_get_tracing_count(),
            misses,
        )
    assert counts(f) == (5, 3, 3)
    assert [s.hits for s in f.cache_info().signatures] == [3, 2, 0]


def test_a_call_that_goes_the_long_way_is_counted_once() -> None:
    # An argument that makes no row of words is looked up by its type at each call.
    f = tf.function(lambda n: tf.constant(1.0))
    for _ in range(4):
        f(2**70)
    assert counts(f) == (3, 1, 1)


def test_a_first_call_that_traces_twice_is_one_miss() -> None:
    held: list[Any] = []

    @tf.function
    def f(x: Any) -> Any:
        if not held:
            held.append(tf.Variable(2.0))
        return held[0] * x

    for _ in range(3):
        f(tf.constant(3.0))
    assert counts(f) == (2, 1, 2)


def test_a_call_whose_trace_fails_is_a_miss() -> None:
    @tf.function
    def f(x: Any) -> Any:
        raise KeyError("no")

    for _ in range(2):
        with pytest.raises(KeyError):
            f(tf.constant(1.0))
    assert counts(f) == (0, 2, 0)


def test_the_hits_of_a_first_call_that_failed_are_not_lost() -> None:
    @tf.function
    def f(x: Any, depth: int) -> Any:
        if depth == 0:
            return x * 2.0
        f(x, 0)
        f(x, 0)
        raise KeyError("outer")

    with pytest.raises(KeyError):
        f(tf.constant(1.0), 1)
    assert counts(f) == (1, 2, 1)  # f(x, 0) twice, and the outer call


def test_get_concrete_function_is_no_call() -> None:
    f = tf.function(lambda x: x + 1.0)
    for _ in range(2):
        f.get_concrete_function(tf.TensorSpec([]))
    f.get_concrete_function(tf.TensorSpec([]))(tf.constant(1.0))
    assert counts(f) == (0, 0, 1)
    f(tf.constant(1.0))
    assert counts(f) == (1, 0, 1)


def test_a_call_that_cannot_be_bound_is_not_counted() -> None:
    f = tf.function(lambda x: x + 1.0, input_signature=[tf.TensorSpec([])])
    f(tf.constant(1.0))
    with pytest.raises(TypeError):
        f(tf.constant(1))
    with pytest.raises(TypeError):
        f()
    assert counts(f) == (0, 1, 1)


def test_a_more_general_trace_counts_its_hits() -> None:
    f = tf.function(lambda x: x + 1.0, reduce_retracing=True)
    for size in [1, 2, 3, 4, 4]:
        f(tf.ones([size]))
    assert counts(f) == (3, 2, 2)
    assert [s.hits for s in f.cache_info().signatures] == [0, 3]
