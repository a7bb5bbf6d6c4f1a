"""Functions inside of converted functions: their options, and the names that they share."""

# ruff: noqa: E731

from typing import Any

import graven as tf
import pytest


def sets_first(x: Any) -> Any:
    x[0] = 9
    return x


def calls_inside(x: Any) -> Any:
    def inner(y: Any) -> Any:
        return sets_first(y)

    return inner(x)


def test_what_an_inner_function_calls_has_the_options_of_the_outer_one() -> None:
    lists = tf.autograph.experimental.Feature.LISTS
    f = tf.function(calls_inside, experimental_autograph_options=lists)
    assert f(tf.constant([1, 2])).numpy().tolist() == [9, 2]
    alone = tf.autograph.to_graph(
        calls_inside, recursive=False, experimental_optional_features=lists
    )
    with pytest.raises(TypeError, match="item assignment"):
        tf.function(alone, autograph=False)(tf.constant([1, 2]))


def lambda_before(x: Any) -> Any:
    y = x
    g: Any = lambda: y * 2
    if x > 0:
        y = y + 10
    return g()


def lambda_before_both(x: Any) -> Any:
    y, z = 1, (x, [x])
    g: Any = lambda: (y, z)
    if x > 0:
        y = 5
        z = (x + 1, [x])
    else:
        y = 7
        z = (x, [x + 2])
    return g()


def generator_before(x: Any) -> Any:
    y = x
    values = (y + i for i in range(3))
    if x > 0:
        y = y * 100
    elif x > -2:
        y = y - 5
    return list(values)


def lambda_in_loop(x: Any) -> Any:
    y = s = x
    g: Any = lambda: y
    for i in tf.range(4):
        if i > 1:
            y = y + i
        s += g()
    return s, g()


@pytest.mark.parametrize("f", [lambda_before, lambda_before_both, generator_before, lambda_in_loop])
@pytest.mark.parametrize("x", [2, -1, -3])
def test_a_lambda_from_before_an_if_sees_what_the_branches_leave(f: Any, x: int) -> None:
    given = tf.constant(x)
    expected = tf.nest.flatten(f(given))
    assert [v.numpy() for v in tf.nest.flatten(tf.function(f)(given))] == [int(v) for v in expected]


def test_names_of_lambdas_on_which_branches_do_not_agree_are_no_error() -> None:
    """Nothing says that the lambda is called; where it is, it sees the values from before."""

    @tf.function
    def f(x: Any) -> Any:
        main, other, kind, none, there, part = x, x, x, x, x, (x, x)
        g: Any = lambda: (main, other, kind, none, there, part)
        if x > 0:
            main = "text"
            kind = tf.cast(x, tf.float32)
            none = None
            del there
            part = (x, (x, x))
            s = x
        else:
            other = object()
            kind = tf.cast(x, tf.float64)
            s = -x
        there = x
        return s, g()

    for x in (3, -3):
        found = [value.numpy() for value in tf.nest.flatten(f(tf.constant(x)))]
        assert found == [abs(x)] + [x] * 7


def test_a_lambda_that_is_read_before_the_branch_adds_no_outputs() -> None:
    @tf.function
    def f(x: Any) -> Any:
        k = x
        if x > 0:
            k = x * 2
            r: Any = tf.map_fn(lambda e: e * k, tf.stack([x, x]))
        else:
            r = tf.stack([x, x])
        return r

    operations: Any = f.get_concrete_function(tf.constant(1)).graph.get_operations()
    outputs = [len(op.outputs) for op in operations if op.type in ("If", "StatelessIf")]
    assert outputs == [1]
