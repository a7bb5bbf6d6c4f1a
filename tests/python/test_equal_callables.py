"""Functions as arguments: equal ones find one trace where nobody can tell, and nowhere else."""

from __future__ import annotations

import gc
import textwrap
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import graven as tf
import pytest
from graven._captures import _closed
from python.captures import equal_functions
from python.captures.as_module import run_as_module

IMPORTS = """
import collections, functools, itertools, operator, sys
import numpy as np
import graven as tf
"""
X = tf.constant(2.0)
PROGRAMS_APART = equal_functions.programs_apart()


@pytest.fixture(autouse=True)
def _no_garbage_goes() -> Iterator[None]:
    gc.disable()
    yield
    gc.enable()


@pytest.fixture(autouse=True)
def _modules_stay_as_they_are() -> Iterator[None]:
    """Some programs change what others use."""
    import math

    pi = math.pi
    yield
    math.pi = pi  # type: ignore[misc]


def _results(source: str, folder: Path, is_traced: bool) -> tuple[list[Any], int]:
    """What the calls of a program give, and how many traces they made."""
    program = run_as_module(IMPORTS + equal_functions.HEADER + source, folder)
    f = tf.function(program.body, share_equal_functions=True) if is_traced else program.body
    results: list[Any] = []
    for args in program.steps():
        try:
            results.append(float(f(program.x, *args)))
        except Exception as error:
            results.append(type(error).__name__)
    return results, f.experimental_get_tracing_count() if is_traced else 0


@pytest.mark.parametrize("name", equal_functions.SHARED)
def test_equal_functions_find_one_trace(name: str, tmp_path: Path) -> None:
    number, source = equal_functions.SHARED[name]
    source = textwrap.dedent(source)
    expected, _ = _results(source, tmp_path, is_traced=False)
    results, traces = _results(source, tmp_path, is_traced=True)
    assert results == expected
    assert traces == number


@pytest.mark.parametrize("name", PROGRAMS_APART)
def test_functions_that_may_differ_have_traces_of_their_own(name: str, tmp_path: Path) -> None:
    expected, _ = _results(PROGRAMS_APART[name], tmp_path, is_traced=False)
    results, _ = _results(PROGRAMS_APART[name], tmp_path, is_traced=True)
    assert results == expected


def _scaled(k: Any) -> Any:
    return lambda x: x * k


def _apply(**options: Any) -> Any:
    return tf.function(lambda x, g: g(x), share_equal_functions=True, **options)


@pytest.mark.parametrize(
    "options",
    [
        {"stale": "ignore", "reduce_retracing": False},
        {"stale": "ignore"},
        {"stale": "warn"},
        {"stale": "error"},
        {"autograph": False},
    ],
    ids=str,
)
def test_with_other_options_functions_are_known_by_identity(options: dict[str, Any]) -> None:
    f = _apply(**options)
    for _ in range(3):
        f(X, _scaled(2.0))
    assert f.experimental_get_tracing_count() == 3
    gc.collect()
    assert f.cache_info().entries == 0


def _nested(value: Any, depth: int) -> Any:
    for _ in range(depth):
        value = (value,)
    return value


def _wrapped(g: Any, depth: int) -> Any:
    for _ in range(depth):
        g = (lambda inner: lambda x: inner(x))(g)
    return g


def _first(values: Any) -> Any:
    return lambda x: x * 2.0 if values else x


def _long(additions: int) -> Any:
    """Makes functions whose code has two instructions for each addition."""
    made: dict[str, Any] = {}
    text = f"lambda k: lambda x, n: x{' + k' * additions} if n else x * 2.0"
    exec(f"make = {text}", globals(), made)
    return made["make"]


@pytest.mark.parametrize(("additions", "traces"), [(1000, 1), (1500, 3)])
def test_code_is_compared_up_to_a_length(additions: int, traces: int) -> None:
    f = tf.function(lambda x, g: g(x, 0), share_equal_functions=True)
    make = _long(additions)
    for _ in range(3):
        f(X, make(1.0))
    assert f.experimental_get_tracing_count() == traces


@pytest.mark.parametrize(
    ("make", "traces"),
    [
        (lambda: _first((1.0,) * 64), 1),
        (lambda: _first((1.0,) * 65), 3),
        (lambda: _first(_nested(1.0, 3)), 1),
        (lambda: _first(_nested(1.0, 4)), 3),
        (lambda: _wrapped(_scaled(2.0), 4), 1),
        (lambda: _wrapped(_scaled(2.0), 5), 3),
    ],
    ids=["64 items", "65 items", "3 tuples", "4 tuples", "4 functions", "5 functions"],
)
def test_what_a_function_has_captured_is_compared_up_to_a_size(make: Any, traces: int) -> None:
    f = _apply()
    for _ in range(3):
        assert f(X, make()) == 4.0
    assert f.experimental_get_tracing_count() == traces


def test_a_function_goes_on_finding_the_trace_of_one_that_is_gone() -> None:
    f = _apply()
    f(X, _scaled(2.0))
    gc.collect()
    kept = _scaled(2.0)
    for _ in range(3):
        assert f(X, kept) == 4.0
        assert f(X, _scaled(2.0)) == 4.0
    assert f.experimental_get_tracing_count() == f.cache_info().entries == 1


def test_a_trace_keeps_neither_the_function_nor_what_it_captured() -> None:
    f = _apply()
    w = tf.constant(3.0)
    g = _scaled(w)
    assert f(X, g) == 6.0
    references = [weakref.ref(w), weakref.ref(g)]
    del g
    gc.collect()
    assert references[1]() is None
    assert f(X, _scaled(w)) == 6.0
    assert f.experimental_get_tracing_count() == 1
    del w
    gc.collect()
    assert f.cache_info().entries == 0, "no call can find a trace of a tensor that is gone"
    assert references[0]() is None


def test_fresh_captured_objects_leave_nothing_behind() -> None:
    f = _apply()
    for i in range(50):
        assert f(X, _scaled(tf.constant(float(i)))) == 2.0 * i
    gc.collect()
    assert f.cache_info().entries == 0


def test_traces_of_captured_numbers_do_not_become_more_and_more() -> None:
    f = _apply()
    for i in range(100):
        assert f(X, _scaled(float(i))) == 2.0 * i
    gc.collect()
    assert f.cache_info().entries == 17
    assert f.experimental_get_tracing_count() == 100


def test_traces_of_functions_that_live_all_stay() -> None:
    f = _apply()
    kept = [_scaled(float(i)) for i in range(60)]
    for _ in range(2):
        for i, g in enumerate(kept):
            assert f(X, g) == 2.0 * i
    assert f.experimental_get_tracing_count() == 60


def test_one_function_may_have_traces_for_many_types() -> None:
    f = tf.function(lambda x, n, g: g(x) * n, share_equal_functions=True)
    g = _scaled(2.0)
    for _ in range(2):
        for n in range(40):
            assert f(X, float(n), g) == 4.0 * n
    assert f.experimental_get_tracing_count() == 40


def test_many_functions_are_judged_once_each(tmp_path: Path) -> None:
    source = "values = [1.0]\nclosed = [\n"
    source += "".join(f"    lambda x: x * {n}.0,\n" for n in range(100))
    source += "]\nothers = [\n"
    source += "".join(f"    lambda x: x * {n}.0 * values[0],\n" for n in range(100)) + "]\n"
    program = run_as_module(source, tmp_path)
    f = _apply()
    for g in program.closed + program.others:
        f(X, g)
    judge = _closed.Judge
    _closed.Judge = None  # type: ignore[assignment,misc]
    try:
        for n in range(100):
            assert f(X, program.closed[n]) == f(X, program.others[n]) == 2.0 * n
    finally:
        _closed.Judge = judge  # type: ignore[misc]
    assert f.experimental_get_tracing_count() == 200


def test_a_method_does_not_keep_its_object() -> None:
    class Model:
        def step(self, x: Any) -> Any:
            return x * 2.0

    f = _apply()
    m = Model()
    for _ in range(3):
        assert f(X, m.step) == 4.0
    assert f.experimental_get_tracing_count() == 1
    reference = weakref.ref(m)
    del m
    gc.collect()
    assert reference() is None
    assert f.cache_info().entries == 0


def test_sizes_that_change_cost_a_second_trace_and_no_third() -> None:
    f = _apply()
    for n in range(2, 7):
        assert f(tf.ones([n]), _scaled(2.0)).shape == [n]
    assert f.experimental_get_tracing_count() == 2


def test_a_function_by_identity_is_found_again() -> None:
    f = _apply()
    values = [2.0]
    g = lambda x: x * values[0]  # noqa: E731
    for _ in range(3):
        assert f(X, g) == 4.0
    assert f.experimental_get_tracing_count() == 1


def test_what_a_concrete_function_is_told_is_not_told_to_equal_functions() -> None:
    f = _apply()
    w = tf.constant(3.0)
    concrete = f.get_concrete_function(X, _scaled(w))
    concrete.set_external_captures([tf.constant(5.0)])
    assert concrete(X) == 10.0
    assert f(X, _scaled(w)) == 6.0


def test_a_watched_value_goes_on_being_watched_for_fresh_functions() -> None:
    model = type("Model", (), {})()
    model.count = 0

    def make() -> Any:
        return lambda x: x * 2.0 if model.count % 150 else x * 3.0

    f = _apply()
    for i in range(1, 302):
        model.count = i
        assert f(X, make()) == (4.0 if i % 150 else 6.0), i


@pytest.fixture
def _k(request: pytest.FixtureRequest) -> Iterator[None]:
    yield
    globals()["GLOBAL_K"] = 2.0


GLOBAL_K: Any = 2.0


@pytest.mark.usefixtures("_k")
def test_a_bad_value_is_an_error_for_fresh_functions_and_none_for_one_that_was_there() -> None:
    global GLOBAL_K

    def make() -> Any:
        return lambda x: x * GLOBAL_K

    f = _apply()
    kept = make()
    assert f(X, kept) == f(X, make()) == 4.0
    GLOBAL_K = "bad"
    for _ in range(2):
        with pytest.raises((TypeError, ValueError)):
            f(X, make())
        assert f(X, kept) == 4.0, "TensorFlow does not look at the value again"
    GLOBAL_K = 3.0
    assert f(X, kept) == f(X, make()) == 6.0


def test_a_bad_captured_value_is_no_error_for_a_function_that_was_there() -> None:
    def make(k: Any) -> Any:
        def put(value: Any) -> None:
            nonlocal k
            k = value

        return (lambda x: x * k), put

    f = _apply()
    g, put = make(2.0)
    f(X, make(2.0)[0])
    assert f(X, g) == 4.0
    put("bad")
    assert f(X, g) == 4.0
    with pytest.raises((TypeError, ValueError)):
        f(X, make("bad")[0])
    put(3.0)
    assert f(X, g) == 6.0
    assert f.experimental_get_tracing_count() == 2


def test_an_operator_that_the_program_replaces_is_called_for_each_function(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    v = tf.Variable(2.0)
    times = type(v).__mul__
    f = _apply()
    for _ in range(2):
        assert f(X, lambda x: v * x) == 4.0
    assert f.experimental_get_tracing_count() == 1
    seen: list[int] = []

    def counted(self: Any, other: Any) -> Any:
        seen.append(1)
        return times(self, other) * float(len(seen))

    monkeypatch.setattr(type(v), "__mul__", counted)
    assert [float(f(X, lambda x: v * x)) for _ in range(3)] == [4.0, 8.0, 12.0]


def test_a_function_within_a_trace_is_watched_by_that_trace() -> None:
    def make(k: float) -> Any:
        def put(value: float) -> None:
            nonlocal k
            k = value

        return (lambda x: x * k), put

    g, put = make(2.0)
    inner = _apply()
    assert inner(X, g) == 4.0
    outer = tf.function(lambda x: inner(x, g), share_equal_functions=True)
    assert outer(X) == 4.0
    put(3.0)
    assert outer(X) == 6.0
    assert inner(X, g) == 6.0


@pytest.mark.parametrize(("changes", "is_shared"), [(7, True), (8, False)])
def test_a_function_whose_captured_value_changes_again_and_again_is_by_identity(
    changes: int, is_shared: bool
) -> None:
    def make(k: float) -> Any:
        def put(value: float) -> None:
            nonlocal k
            k = value

        return (lambda x: x * k), put

    f = _apply()
    g, put = make(0.0)
    for i in range(changes + 1):
        put(float(i))
        assert f(X, g) == 2.0 * i
    traces = f.experimental_get_tracing_count()
    fresh, _ = make(float(changes))
    assert f(X, fresh) == 2.0 * changes
    assert (f.experimental_get_tracing_count() == traces) == is_shared
    if not is_shared:
        why = f.cache_info().signatures[-1].why
        assert "by identity as what it has captured or reads has changed 8 times" in why


def test_a_miss_says_what_differs_and_why_functions_are_known_by_identity() -> None:
    f = _apply()
    f(X, _scaled(2.0))
    text = " ".join(str(f.explain(X, _scaled(3.0))).split())
    assert "g: another function: its captured `k` is 3.0, was 2.0" in text
    f(X, _scaled(3.0))
    why = f.cache_info().signatures[-1].why
    assert why == "g: another function: its captured `k` is 3.0, was 2.0"
    values = [2.0]
    kept = [lambda x: x * values[0] for _ in range(2)]
    for g in kept:
        f(X, g)
    why = f.cache_info().signatures[-1].why
    assert why == "g: another function, by identity as it has captured a `list`"
    f = tf.function(lambda x, g: g(x) if g is not values else x, share_equal_functions=True)
    kept = [_scaled(2.0), _scaled(2.0)]
    for g in kept:
        f(X, g)
    assert f"compares identities by `is` at {__file__}:" in f.cache_info().signatures[-1].why
