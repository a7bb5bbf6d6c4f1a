"""`while True`, left by a `break` or a `return` that depends on a tensor.

The first iteration runs while the function is traced, and those that follow are one staged loop.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import graven as tf
import pytest


def halves(x: Any) -> Any:
    while True:
        x = x / 2
        if x < 1:
            break
    return x


def halves_and_returns(x: Any) -> Any:
    count = 0
    while True:
        x = x / 2
        count += 1
        if x < 1:
            return count, x


def leaves_by_both(x: Any) -> Any:
    total = 0.0
    while True:
        x = x - 1
        if x < 0:
            break
        total += x
        if total > 20:
            return -total
    return total


def stops_by_itself_or_a_tensor(x: Any) -> Any:
    i = 0
    while i < 5:
        i += 1
        x = x * 2
        if x > 50:
            break
    return i, x


def nested(x: Any) -> Any:
    rounds = 0
    while True:
        y = x
        while True:
            y = y - 3
            if y < 0:
                break
        rounds += 1
        x = x - 1
        if x + y < 0:
            break
    return rounds, x, y


PROGRAMS = [halves, halves_and_returns, leaves_by_both, stops_by_itself_or_a_tensor, nested]


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("start", [0.5, 1.0, 7.0, 100.0])
def test_it_gives_what_python_gives(program: Callable[[Any], Any], start: float) -> None:
    def numbers(result: Any) -> list[float]:
        return [float(value) for value in tf.nest.flatten(result)]

    staged = tf.function(program)
    assert numbers(staged(tf.constant(start))) == numbers(program(tf.constant(start)))


def test_the_graph_does_not_grow_with_the_iterations() -> None:
    graph = tf.function(halves).get_concrete_function(tf.TensorSpec([])).graph
    kinds = [op.type for op in graph.get_operations()]
    assert [kind for kind in kinds if "While" in kind] == ["StatelessWhile"]


def test_it_is_differentiated() -> None:
    x = tf.constant(8.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.function(halves)(x)
    assert tape.gradient(y, x).numpy() == 0.0625


def test_a_maximum_counts_all_iterations() -> None:
    @tf.function
    def f(x: Any) -> Any:
        while True:
            tf.autograph.experimental.set_loop_options(maximum_iterations=3)
            x = x + 1
            if x > 100:
                break
        return x

    assert f(tf.constant(0)).numpy() == 3


def test_a_condition_that_becomes_a_tensor_by_itself_is_refused() -> None:
    @tf.function
    def f(n: Any) -> Any:
        i = 0
        while i < 3:
            i = n + i
        return i

    with pytest.raises(NotImplementedError, match="started as non-Tensor, then changed to Tensor"):
        f(tf.constant(2))
