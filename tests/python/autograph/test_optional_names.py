"""Names that are None on one path of a staged statement, and a tensor on another."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import graven as tf
import pytest
from python.autograph.beside_python import check_gradients, check_values
from python.autograph.optional_names import VECTORS, programs

PROGRAMS = programs(tf)
BY_NAME = pytest.mark.parametrize("f", PROGRAMS.values(), ids=list(PROGRAMS))
BY_VALUES = pytest.mark.parametrize("values", VECTORS, ids=str)


@BY_NAME
@BY_VALUES
def test_a_program_gives_what_python_gives(f: Callable[..., Any], values: list[float]) -> None:
    check_values(f, values)


@BY_NAME
@BY_VALUES
def test_a_program_has_the_gradients_that_python_gives(
    f: Callable[..., Any], values: list[float]
) -> None:
    check_gradients(f, values, unconnected="zero")


def test_a_use_without_a_value_is_an_error_that_names_the_variable_and_the_line() -> None:
    @tf.function
    def f(x: Any) -> Any:
        p: Any = None
        if x > 0:
            p = x * 2
        return p + 1

    assert float(f(tf.constant(2.0))) == 5.0
    with pytest.raises(tf.errors.InvalidArgumentError, match="p is None here: the `if` in line"):
        f(tf.constant(-2.0))


def test_a_use_in_a_branch_that_does_not_run_is_none() -> None:
    @tf.function
    def f(x: Any, n: Any) -> Any:
        p = None
        if x > 0:
            p = x * 2
        for _ in tf.range(n):
            x = x + p
        return x

    assert float(f(tf.constant(-2.0), tf.constant(0))) == -2.0
    assert float(f(tf.constant(2.0), tf.constant(3))) == 14.0
    with pytest.raises(tf.errors.InvalidArgumentError, match="p is None here"):
        f(tf.constant(-2.0), tf.constant(1))


def test_a_name_that_is_known_to_be_there_is_not_checked() -> None:
    @tf.function
    def f(x: Any) -> Any:
        p = None
        if x > 0:
            p = x * 2
        return x if p is None else p + x

    graph = f.get_concrete_function(tf.constant(1.0)).graph
    kinds = [op.type for op in graph.get_operations()]
    assert "Assert" not in kinds and "If" not in kinds
    assert "StatelessIf" in kinds


def test_identity_of_other_objects_is_pythons() -> None:
    @tf.function
    def f(x: Any) -> Any:
        p, other = None, object()
        if x > 0:
            p = x
        same = (other is None, None is not other, other is other, p is other, x is x)
        return tf.constant(same), p is not None

    same, is_there = f(tf.constant(1.0))
    assert same.numpy().tolist() == [False, True, True, False, True]
    assert bool(is_there)


def test_a_structure_may_hold_numbers_and_strings() -> None:
    def f(x: Any) -> Any:
        p: Any = None
        if x[0] > 0:
            p = (x * x, tf.constant(3), "there", [2.5])
        if p is not None:
            return p[0] * tf.cast(p[1], tf.float32) * p[3][0], p[2]
        return x, "none"

    for values, gradient, text in [([1.0, 2.0], [15.0, 30.0], b"there"), ([-1.0], [1.0], b"none")]:
        x = tf.constant(values)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y, said = tf.function(f)(x)
        assert said.numpy() == text
        assert tape.gradient(y, x).numpy().tolist() == gradient


def test_a_mapped_function_may_have_such_names() -> None:
    def f(x: Any) -> Any:
        p = None
        if x > 1.5:
            p = x * 2
        return x if p is None else p

    @tf.function
    def g(xs: Any) -> Any:
        return tf.map_fn(f, xs)

    assert g(tf.constant([1.0, 2.0, 3.0])).numpy().tolist() == [1.0, 4.0, 6.0]


def test_a_returned_structure_may_hold_a_name_that_is_known_to_be_there() -> None:
    @tf.function(input_signature=[tf.TensorSpec([None])])
    def peaks(x: Any) -> Any:
        found, largest = [], None
        for i in tf.range(1, tf.size(x) - 1):
            if x[i] > x[i - 1] and x[i] > x[i + 1]:
                found.append(x[i])
                largest = x[i] if largest is None else tf.maximum(largest, x[i])
        if largest is None:
            return x[:0], 0.0
        return tf.stack(found), largest

    found, largest = peaks(tf.constant([1.0, 3.0, 2.0, 5.0, 4.0]))
    assert (found.numpy().tolist(), float(largest)) == ([3.0, 5.0], 5.0)
    found, largest = peaks(tf.constant([1.0, 2.0, 3.0]))
    assert (found.numpy().tolist(), float(largest)) == ([], 0.0)


# What is refused, as on TensorFlow.


def _returned(x: Any) -> Any:
    p = None
    if x > 0:
        p = x
    return p


def _returned_in_a_structure(x: Any) -> Any:
    p: Any = x
    if x > 0:
        p = None
    return {"p": p}


def test_a_name_that_may_be_none_cannot_be_returned() -> None:
    with pytest.raises(ValueError, match="'p' is None at the end of the else branch") as raised:
        tf.function(_returned)(tf.constant(1.0))
    assert "compared with `is None`" in "".join(raised.value.__notes__)
    with pytest.raises(ValueError, match="'p' is None at the end of the main branch"):
        tf.function(_returned_in_a_structure)(tf.constant(1.0))


def _two_types(x: Any) -> Any:
    p: Any = None
    if x > 0:
        p = x
    if x > 1:
        p = tf.cast(x, tf.int32)
    return x if p is None else x + 1


def _truth(x: Any) -> Any:
    p: Any = None
    if x > 0:
        p = x
    return x if p else x + 1


def _objects(x: Any) -> Any:
    p: Any = None
    if x > 0:
        p = object()
    return x if p is None else x + 1


@pytest.mark.parametrize(
    ("f", "kind", "phrase"),
    [
        (_two_types, TypeError, "'p' is None on some paths of the `if` in line .*one dtype"),
        (_truth, TypeError, "'p' has no truth while the function is traced: the `if` in line"),
        (_objects, TypeError, "'p'"),
    ],
    ids=lambda p: getattr(p, "__name__", ""),
)
def test_what_such_a_name_cannot_do_is_an_error(
    f: Callable[..., Any], kind: type[Exception], phrase: str
) -> None:
    with pytest.raises(kind, match=phrase) as raised:
        tf.function(f)(tf.constant(1.0))
    assert __file__ in str(raised.value)
