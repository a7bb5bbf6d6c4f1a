"""Loops over Python values that fill the graph are noticed, with one warning."""

from __future__ import annotations

import re
from typing import Any

import graven as tf
import pytest
from graven import _logging
from graven.autograph._operators import python_loop


@pytest.fixture
def warnings(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    texts: list[str] = []
    monkeypatch.setattr(_logging, "warn", texts.append)
    monkeypatch.setattr(_logging, "_seen", set())
    return texts


def steps(x: Any, n: int) -> Any:
    for _ in range(n):
        x = tf.sin(x) * 0.5 + 1.0
    return x


def test_a_loop_that_repeats_more_than_a_thousand_ops_is_named_once(warnings: list[str]) -> None:
    f = tf.function(steps)
    x = tf.constant(0.5)
    assert float(f(x, 300)) == pytest.approx(float(steps(x, 300)))
    f(tf.constant([0.5]), 300)
    (text,) = warnings
    line = steps.__code__.co_firstlineno + 1
    assert f'File "{__file__}", line {line}, in steps' in text
    assert "its 300 iterations" in text and "put 1500 ops there" in text
    assert re.search(r"which took \d+ milliseconds", text)
    assert "tf.range(n)" in text


def test_a_loop_of_few_ops_is_not_named(warnings: list[str]) -> None:
    tf.function(steps)(tf.constant(0.5), 150)
    assert not warnings


def test_a_while_loop_is_named(warnings: list[str]) -> None:
    @tf.function
    def f(x: Any) -> Any:
        i = 0
        while i < 400:
            x = tf.sin(x) * 0.5
            i += 1
        return x

    f(tf.constant(1.0))
    (text,) = warnings
    assert "its 400 iterations" in text


def test_a_loop_that_is_left_early_is_named(warnings: list[str]) -> None:
    @tf.function
    def f(x: Any) -> Any:
        for i in range(10_000):
            if i == 600:
                break
            x = tf.sin(x) * 0.5
        return x

    f(tf.constant(1.0))
    (text,) = warnings
    assert "over Python values put 1800 ops there" in text


def test_a_loop_whose_iterations_differ_is_not_named(warnings: list[str]) -> None:
    @tf.function
    def f(x: Any) -> Any:
        for i in range(60):
            for _ in range(i):
                x = x + 1.0
        return x

    f(tf.constant(1.0))
    assert not warnings


def test_a_loop_that_computes_at_once_is_not_named(warnings: list[str]) -> None:
    tf.autograph.to_graph(steps)(tf.constant(0.5), 300)
    assert not warnings


def test_very_many_iterations_are_named_while_they_run(
    warnings: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(python_loop, "ITERATIONS_WITHOUT_WARNING", 50)
    tf.function(steps)(tf.constant(0.5), 100)
    (text,) = warnings
    assert text.startswith("Large unrolled loop detected: after 50 iterations")


def test_a_loop_that_does_not_end_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(python_loop, "ITERATIONS_WITHOUT_WARNING", 50)
    monkeypatch.setattr(python_loop, "MAX_ITERATIONS", 100)

    @tf.function
    def f(x: Any) -> Any:
        while True:
            pass
        return x

    with pytest.raises(ValueError, match="iteration limit exceeded"):
        f(tf.constant(0.5))
