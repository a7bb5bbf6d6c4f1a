"""Watched values that change again and again: what they cost is bounded, and told."""

from __future__ import annotations

import logging
import time
from collections import OrderedDict
from typing import Any

import graven as tf
import pytest

ONE = tf.constant(1.0)


class Model:
    losses: list[Any]
    flag: bool
    step: int


def _traces(f: Any) -> int:
    return int(f.experimental_get_tracing_count())


def test_a_value_that_is_back_is_known_where_the_graph_is_the_same() -> None:
    model = Model()

    @tf.function
    def f(x: Any) -> Any:
        rate = 2.0
        if model.flag:
            rate = 4.0 / 2.0
        return x * rate

    for i in range(20):
        model.flag = bool(i % 2)
        assert f(ONE) == 2.0
    assert _traces(f) == 2


@pytest.mark.parametrize(("values", "traces"), [(4, 4), (5, 20)])
def test_the_last_four_values_with_one_graph_are_known(values: int, traces: int) -> None:
    model = Model()

    @tf.function
    def f(x: Any) -> Any:
        return x * 3.0 if model.step == 7 else x * 2.0

    for i in range(20):
        model.step = i % values
        assert f(ONE) == 2.0
    assert _traces(f) == traces


def test_flags_that_are_back_are_known_in_each_combination() -> None:
    model = Model()

    @tf.function
    def f(x: Any) -> Any:
        if model.flag:
            print("tracing")
        if model.step == 1:
            print("tracing")
        return x * 3.0 if model.step == 7 else x * 2.0

    for i in range(24):
        model.flag, model.step = bool(i % 2), i // 2 % 2
        assert f(ONE) == 2.0
    assert _traces(f) == 4
    model.step = 7
    assert f(ONE) == 3.0


def test_a_list_that_the_trace_itself_fills_causes_nothing_in_the_end() -> None:
    model = Model()
    model.losses = []

    @tf.function
    def f(x: Any) -> Any:
        model.losses.append(tf.reduce_sum(x))
        return x * len(model.losses)

    for _ in range(20):
        model.losses.clear()
        assert f(ONE) == 1.0
    assert _traces(f) <= 3


def test_a_cache_of_the_least_recently_used_causes_nothing_in_the_end() -> None:
    cache: OrderedDict[int, float] = OrderedDict()

    def cached(k: int) -> float:
        if k not in cache:
            cache[k] = 2.0 * k
            if len(cache) > 2:
                cache.popitem(last=False)
        return cache[k]

    @tf.function
    def f(x: Any, k: int) -> Any:
        return x * cached(k)

    for i in range(30):
        assert f(ONE, i % 3) == 2.0 * (i % 3)
    assert _traces(f) <= 15


def test_a_counter_that_decides_a_branch_costs_a_bounded_number_of_traces(
    caplog: pytest.LogCaptureFixture,
) -> None:
    model = Model()
    model.flag = False

    @tf.function
    def f(x: Any) -> Any:
        for _ in range(50):  # so that traces take nearly all of the time, however slow the machine
            x = x * 1.0
        if model.step % 1000 == 999:
            return x * 3.0
        return x * 5.0 if model.flag else x * 2.0

    with caplog.at_level(logging.WARNING, "graven"):
        for model.step in range(300):
            f(ONE)
    assert _traces(f) == 101
    told = [r.message for r in caplog.records if "not watched any more" in r.message]
    assert len(told) == 1
    assert "model.step, read at" in told[0] and "tensor" in told[0]
    assert "It has changed 100 times" in told[0]
    model.flag = True
    assert f(ONE) == 5.0, "all else is watched"


def test_a_value_that_changes_seldom_stays_watched() -> None:
    """Not the number of its traces counts, but what share of the time they take."""
    model = Model()

    @tf.function
    def f(x: Any) -> Any:
        return x * 3.0 if model.step == 120 else x * 2.0

    for model.step in range(121):
        started = time.perf_counter()
        result = f(ONE)
        time.sleep(6 * (time.perf_counter() - started))
    assert result == 3.0
