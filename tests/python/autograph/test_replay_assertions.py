"""Assertions of functions that are captured by running all ways: they become part of the graph."""

from __future__ import annotations

import graven as tf
import pytest
from python.autograph.test_replay import NOT_ALLOWED, node_names, program, sourceless

ASSERTIONS = """
    def f(x):
        assert x > 0 and x < 100, "x must be positive"
        y = x
        if x > 1:
            assert x < 10
            y = y * 2
        assert y > 0.5
        if y > 3:
            y = y - 1
        return y
    """


def test_assertions_are_checked_when_the_function_runs() -> None:
    f = sourceless(ASSERTIONS)
    g = tf.function(f)
    for value in (0.75, 1.0, 1.25, 5.0):
        assert float(g(tf.constant(value))) == float(f(tf.constant(value)))
    for value, phrase, line in (
        (-1.0, "x must be positive (", 2),
        (1000.0, "x must be positive (", 2),
        (50.0, "assertion failed: [", 5),
        (0.25, "assertion failed: [", 7),
    ):
        with pytest.raises(AssertionError):
            f(tf.constant(value))
        with pytest.raises(tf.errors.InvalidArgumentError) as raised:
            g(tf.constant(value))
        assert f"{phrase}<frozen program>, line {line}, in f" in str(raised.value)
    assert g.experimental_get_tracing_count() == 1


# Programs whose assertions fail where a condition is true, and values: good ones, and bad ones with
# the line of the condition.
FAILING_TRUE = {
    "not": (
        """
        def f(x):
            y = x + 1
            assert not x < 0, "negative"
            return y * 2
        """,
        [0.0, 3.0],
        {-1.0: 3},
    ),
    "not any": (
        """
        def f(x):
            assert not tf.reduce_any(tf.stack([x < 0, x > 9]))
            if x > 3:
                return x
            return x * 2
        """,
        [0.0, 3.0, 4.0],
        {-1.0: 2, 10.0: 2},
    ),
    "raise": (
        """
        def f(x):
            if x < 0:
                raise AssertionError("negative")
            return x + 1
        """,
        [0.0, 3.0],
        {-1.0: 2},
    ),
    "raise in a branch": (
        """
        def f(x):
            y = x
            if x > 0:
                y = y + 1
                if x > 5:
                    raise AssertionError
                if x > 3:
                    y = y * 3
            z = y + x
            assert not z < -4
            return z if z > 1 else -z
        """,
        [-1.0, 0.0, 0.25, 2.0, 4.0],
        {6.0: 5, -3.0: 10},
    ),
    "one after the other": (
        """
        def f(x):
            assert not x < -1
            assert x < 7
            assert not x == 3
            return x
        """,
        [-1.0, 2.0, 6.0],
        {-2.0: 2, 8.0: 3, 3.0: 4},
    ),
    "not both": (
        """
        def f(x):
            assert not (x > 1 and x < 2)
            return x * 2
        """,
        [0.0, 1.0, 2.0, 3.0],
        {1.5: 2},
    ),
    "both ways of an inner condition": (
        """
        def f(x):
            if x > 1:
                if x > 2:
                    raise AssertionError("large")
                raise AssertionError("small")
            return x
        """,
        [0.0, 1.0],
        {1.5: 2, 3.0: 2},
    ),
    "an assertion on Python values behind": (
        """
        def f(x):
            n = 1 if x > 0 else 2
            assert n == 2
            return x
        """,
        [-1.0, 0.0],
        {1.0: 2},
    ),
    "in a loop": (
        """
        def f(x):
            for i in range(4):
                assert not x > 3 + i
                x = x * 1.5 if x > i else x
            return x
        """,
        [-1.0, 0.5, 1.5],
        {3.5: 3, 2.5: 3},
    ),
}


@pytest.mark.parametrize("name", FAILING_TRUE)
def test_an_assertion_that_fails_where_a_condition_is_true_is_staged(name: str) -> None:
    text, good, bad = FAILING_TRUE[name]
    f = sourceless(text)
    g = tf.function(f)
    for value in good:
        x = tf.constant(value)
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            expected, result = f(x), g(x)
        assert float(result) == float(expected)
        assert float(tape.gradient(result, x)) == float(tape.gradient(expected, x))
    for value, line in bad.items():
        with pytest.raises(AssertionError):
            f(tf.constant(value))
        with pytest.raises(tf.errors.InvalidArgumentError) as raised:
            g(tf.constant(value))
        assert f"<frozen program>, line {line}, in f" in str(raised.value)
    assert g.experimental_get_tracing_count() == 1


def test_what_fails_on_all_ways_is_raised() -> None:
    f = sourceless(
        """
        def f(x):
            if x > 0:
                x = x + 1
            assert len("text") == 5, "too short"
            return x
        """
    )
    with pytest.raises(AssertionError, match="too short"):
        tf.function(f)(tf.constant(1.0))


@pytest.mark.parametrize("kind", [ValueError, KeyError, ZeroDivisionError])
def test_other_exceptions_of_a_first_way_are_raised_while_traced(kind: type[Exception]) -> None:
    f = sourceless("def f(x):\n    if x < 0:\n        raise kind('no')\n    return x\n", kind=kind)
    with pytest.raises(kind, match="no"):
        tf.function(f)(tf.constant(1.0))


def test_a_failing_first_way_leaves_nothing() -> None:
    v = tf.Variable(0.0)
    f = sourceless(
        """
        def f(x):
            v.assign_add(1.0)
            y = tf.random.stateless_uniform([], [1, 2])
            if x < 0:
                v.assign_add(10.0)
                raise AssertionError
            v.assign_add(x)
            return y + v
        """,
        v=v,
    )
    g = tf.function(f)
    expected = float(f(tf.constant(2.0)))
    assert float(v) == 3.0
    v.assign(0.0)
    assert float(g(tf.constant(2.0))) == expected
    assert float(v) == 3.0
    assert node_names(g, tf.constant(2.0)).count("AssignAddVariableOp") == 2


def test_a_failing_first_way_that_changes_objects_is_refused() -> None:
    f = sourceless(
        """
        seen = []
        def f(x):
            if x < 0:
                seen.append("negative")
                raise AssertionError
            return x
        """
    )
    with pytest.raises(NOT_ALLOWED, match=r"line 3, in f.*it changes the variable 'seen'"):
        tf.function(f)(tf.constant(1.0))


def test_a_failing_first_way_may_make_variables() -> None:
    names = program(
        """
        class Layer(tf.Module):
            w = None
            def __call__(self, x):
                if self.w is None:
                    self.w = tf.Variable(tf.ones([]) * 2)
                assert not x < 0
                return x * self.w
        """
    )
    g = tf.function(names["Layer"]())
    assert float(g(tf.constant(3.0))) == 6.0
    with pytest.raises(tf.errors.InvalidArgumentError, match="line 6"):
        g(tf.constant(-3.0))
