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


def test_attributes_are_watched_that_are_up_to_eleven_steps_away() -> None:
    end = near = Box(k=1.0)
    for _ in range(10):
        near = Box(k=near)
    far = Box(k=near)

    @tf.function
    def f(x: Any) -> Any:
        return x * near.k.k.k.k.k.k.k.k.k.k.k

    @tf.function
    def g(x: Any) -> Any:
        return x * far.k.k.k.k.k.k.k.k.k.k.k.k

    assert float(f(1.0)) == float(g(1.0)) == 1.0
    end.k = 2.0
    assert float(f(1.0)) == 2.0
    assert float(g(1.0)) == 1.0, "docs/captures.md says that it cannot be watched"


def _called_by(inner: Any) -> Any:
    return lambda x: inner(x)


@pytest.mark.parametrize(("calls", "expected"), [(12, 3.0), (13, 2.0)])
def test_functions_are_read_that_are_up_to_twelve_calls_deep(calls: int, expected: float) -> None:
    box = Box(k=2.0)
    function = lambda x: x * box.k  # noqa: E731
    for _ in range(calls):
        function = _called_by(function)
    f = tf.function(function, autograph=False)
    assert float(f(1.0)) == 2.0
    box.k = 3.0
    assert float(f(1.0)) == expected


def test_items_are_watched_up_to_the_64th_and_so_are_their_attributes() -> None:
    numbers, boxes = [1.0] * 65, [Box(k=1.0) for _ in range(65)]

    @tf.function
    def f(x: Any) -> Any:
        for number in numbers:
            x = x + number
        for box in boxes:
            x = x + box.k
        return x

    assert float(f(0.0)) == 130.0
    numbers[63] = 2.0
    assert float(f(0.0)) == 131.0
    boxes[63].k = 2.0
    assert float(f(0.0)) == 132.0
    numbers[64] = boxes[64].k = 2.0
    assert float(f(0.0)) == 132.0, "docs/captures.md says that it cannot be watched"
