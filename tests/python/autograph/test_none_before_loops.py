"""A variable that is None before a staged loop means what it means in Python.

The first iteration sees None and the others do not, so it is staged apart where the loop reads the
variable. (TensorFlow stages one body for all, in which the variable is no None but zeros.)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import graven as tf
import pytest

options = tf.autograph.experimental.set_loop_options


def product(xs: Any) -> Any:
    p = None
    for x in xs:
        if p is None:  # noqa: SIM108
            p = x
        else:
            p = p * x
    return p


def largest(xs: Any) -> Any:
    best = None
    for x in xs:
        if best is None or x > best:
            best = x
    return best


def first(xs: Any) -> Any:
    found, count = None, 0
    for x in xs:
        if found is None:
            found = x
        count += 1
    return found * tf.cast(count, tf.float32)


def combined(a: Any, b: Any) -> Any:
    return b if a is None else a - b


def through_a_helper(xs: Any) -> Any:
    p = None
    for x in xs:
        p = combined(p, x)
    return p


def in_a_while(xs: Any) -> Any:
    p, i = None, tf.constant(0)
    while i < len(xs):
        p = xs[i] if p is None else p * 0.5 + xs[i]
        i += 1
    return p


def in_a_range(xs: Any) -> Any:
    p = None
    for i in tf.range(len(xs)):
        p = xs[i] * 2 if p is None else tf.maximum(p, xs[i])
    return p + tf.cast(i, tf.float32)


def left_early(xs: Any) -> Any:
    p = None
    for x in xs:
        p = x if p is None else p * x
        if x > 2:
            break
        if x < -2:
            continue
        p = p + 1
    return p


def returned(xs: Any) -> Any:
    p: Any = None
    for x in xs:
        p = x if p is None else p * x
        if p > 5:
            return p
    return -p


def two(xs: Any) -> Any:
    p = q = None
    for x in xs:
        q = p if p is None else p * 10  # noqa: F841
        p = x if p is None else p + x
    return p


def nested(xs: Any) -> Any:
    total = None
    for x in xs:
        part = None
        for y in xs:
            part = x * y if part is None else part - y
        total = part if total is None else total * part
    return total


def a_structure(xs: Any) -> Any:
    pair: Any = None
    for x in xs:
        pair = (x, [x * 2]) if pair is None else (pair[1][0] - x, [pair[0] + x])
    return pair[0] * 10 + pair[1][0]


PROGRAMS = [
    product,
    largest,
    first,
    through_a_helper,
    in_a_while,
    in_a_range,
    left_early,
    returned,
    two,
    nested,
    a_structure,
]


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("values", [[2.0], [2.0, -1.5, 3.0], [-1.0, 2.5, -3.0, 2.0]])
def test_a_loop_gives_what_python_gives(f: Callable[..., Any], values: list[float]) -> None:
    xs = tf.constant(values)
    g = tf.function(f)
    assert float(g(xs)) == pytest.approx(float(f(xs)))
    h = tf.function(f, input_signature=[tf.TensorSpec([None])])
    assert float(h(xs)) == pytest.approx(float(f(xs)))


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_a_loop_has_the_gradients_that_python_gives(f: Callable[..., Any]) -> None:
    xs = tf.constant([1.5, -2.0, 0.5])
    gradients = []
    for function in (f, tf.function(f)):
        with tf.GradientTape() as tape:
            tape.watch(xs)
            y = function(xs)
        gradients.append(tape.gradient(y, xs).numpy().tolist())
    assert gradients[1] == pytest.approx(gradients[0])


@pytest.mark.parametrize("f", [product, in_a_while, in_a_range], ids=lambda f: f.__name__)
def test_a_loop_without_an_iteration_is_an_error(f: Callable[..., Any]) -> None:
    g = tf.function(f, input_signature=[tf.TensorSpec([None])])
    with pytest.raises(tf.errors.InvalidArgumentError, match="at least once to initialize p"):
        g(tf.constant([], tf.float32))


@pytest.mark.parametrize("most", [1, 2, 7])
def test_the_first_iteration_counts_for_the_maximum(most: int) -> None:
    @tf.function
    def f(xs: Any) -> Any:
        p = None
        for x in xs:
            options(maximum_iterations=most)
            p = x if p is None else p * x
        return p

    assert float(f(tf.constant([2.0, 3.0, 5.0]))) == [2.0, 6.0, 30.0][min(most, 3) - 1]


def test_shapes_may_vary_as_the_options_say() -> None:
    @tf.function
    def f(xs: Any) -> Any:
        p, seen = None, tf.zeros([0])
        for x in xs:
            options(shape_invariants=[(seen, tf.TensorShape([None]))])
            p = x if p is None else p * x
            seen = tf.concat([seen, [p]], 0)
        return seen

    assert f(tf.constant([2.0, 3.0, 5.0])).numpy().tolist() == [2.0, 6.0, 30.0]


def test_a_variable_that_changes_its_type_after_the_first_iteration_is_an_error() -> None:
    @tf.function
    def f(xs: Any) -> Any:
        p = None
        for x in xs:
            p = x if p is None else (p, x)
        return p

    with pytest.raises(TypeError, match="'p' does not have the same nested structure"):
        f(tf.constant([2.0, 3.0]))


def test_a_first_iteration_that_may_leave_none_is_an_error() -> None:
    @tf.function
    def f(xs: Any) -> Any:
        p = None
        for x in xs:
            if x > 0:
                p = x if p is None else p * x
        return p

    with pytest.raises(ValueError, match="'p' is None at the end of the else branch"):
        f(tf.constant([2.0, 3.0]))


def test_a_variable_that_is_not_read_is_staged_once() -> None:
    @tf.function
    def f(xs: Any) -> Any:
        last = None
        for x in xs:
            last = x * 2
        return last

    xs = tf.constant([2.0, 3.0])
    assert float(f(xs)) == 6.0
    kinds = [op.type for op in f.get_concrete_function(xs).graph.get_operations()]
    assert not any("If" in kind for kind in kinds)


def test_effects_of_the_first_iteration_happen_once() -> None:
    v = tf.Variable(0.0)

    @tf.function
    def f(xs: Any) -> Any:
        p = None
        for x in xs:
            v.assign_add(x)
            p = x if p is None else p * x
        return p

    assert float(f(tf.constant([2.0, 3.0, 5.0]))) == 30.0
    assert float(v) == 10.0
