"""Watched values in programs as people write them: they work as on TensorFlow, and cost no more."""

import logging
from typing import Any

import graven as tf
import pytest


class Box:
    k: Any
    training: Any
    verbose: Any

    def __init__(self, **values: Any) -> None:
        self.__dict__.update(values)


def traces(f: Any) -> int:
    return int(f.experimental_get_tracing_count())


def test_functions_that_set_the_mode_that_they_read_are_not_traced_at_each_call() -> None:
    model = Box(training=False)

    def call(x: Any) -> Any:
        return x * 2.0 if model.training else x * 3.0

    @tf.function
    def train(x: Any) -> Any:
        model.training = True
        return call(x)

    @tf.function
    def evaluate(x: Any) -> Any:
        model.training = False
        return call(x)

    for _ in range(20):
        assert (float(train(1.0)), float(evaluate(1.0))) == (2.0, 3.0)
    assert max(traces(train), traces(evaluate)) <= 3


@pytest.mark.parametrize("general_first", [True, False])
def test_a_retrace_that_fails_runs_a_trace_of_any_type_that_fits(
    general_first: bool, caplog: Any
) -> None:
    box = Box(verbose=False, k=2.0)

    @tf.function
    def f(x: Any) -> Any:
        if box.verbose:
            assert x.shape[0] > 0
        return x * box.k

    f(tf.ones([2]))
    if general_first:
        f(tf.ones([3]))
        box.verbose = True
        f(tf.ones([2]))  # pins the size
        box.verbose = False
    box.k = None
    with caplog.at_level(logging.WARNING):
        assert f(tf.ones([3 if general_first else 2])).numpy().max() == 2.0
    assert "calls go on with the trace of the old value" in caplog.text


def test_a_container_with_an_iter_of_its_own_is_not_iterated() -> None:
    class Endless(list):  # type: ignore[type-arg]
        def __iter__(self) -> Any:
            while True:
                yield from list.__iter__(self)

    numbers = Endless([1.0, 2.0])

    @tf.function
    def f(x: Any) -> Any:
        for number in numbers:
            x = x + number
            if number == 2.0:
                break
        return x

    assert float(f(1.0)) == 4.0


def test_a_read_is_reported_with_its_own_line() -> None:
    box = Box(k=2.0)

    @tf.function
    def f(x: Any) -> Any:
        y = x + box.k  # here
        y = y + 1.0
        return y

    f(1.0)
    line = f.__wrapped__.__code__.co_firstlineno + 2
    assert f"box.k = 2.0, read at {__file__}:{line} " in str(f.explain())
    box.k = 3.0
    f(1.0)
    text = str(f.explain())
    assert "box.k = 2.0" in text and "box.k = 3.0" in text
    box.k = 4.0
    assert "to 4.0" in str(f.explain(1.0))
