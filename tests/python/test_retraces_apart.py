"""A retrace after a change is kept if its graph differs from the old one in any way at all."""

from collections.abc import Callable
from typing import Any

import graven as tf
import pytest


class Setting:
    """What the functions below read, and what it becomes."""

    def __init__(self, value: Any, later: Any) -> None:
        self.value = value
        self.later = later


KEEPS = Setting(False, True)


def attribute(x: Any) -> Any:
    return tf.reduce_sum(x, keepdims=KEEPS.value)


TERM = Setting(1.0, 2.0)


def constant(x: Any) -> Any:
    return x + TERM.value


PLACE = Setting("/CPU:0", "/GPU:0")


def device(x: Any) -> Any:
    with tf.device(PLACE.value):
        return x + 1.0


TENSOR = Setting(tf.constant([1.0, 2.0]), tf.constant([1.0, 2.0]) * 3.0)


def capture(x: Any) -> Any:
    return x * TENSOR.value


IS_LISTED = Setting(True, False)


def structure(x: Any) -> Any:
    return [x + 1.0] if IS_LISTED.value else {"a": x + 1.0}


SWAPS = Setting(False, True)


def order_of_results(x: Any) -> Any:
    a, b = x + 1.0, x * 2.0
    return (b, a) if SWAPS.value else (a, b)


SUBTRACTS = Setting(False, True)


def op(x: Any) -> Any:
    return tf.subtract(x, 1.0) if SUBTRACTS.value else tf.add(x, 1.0)


WAITS = Setting(False, True)


def control_inputs(x: Any) -> Any:
    first = x + 1.0
    with tf.control_dependencies([first] if WAITS.value else []):
        return x * 2.0


INNER = Setting(tf.function(lambda x: x + 1.0), tf.function(lambda x: x + 5.0))


def nested_function(x: Any) -> Any:
    return INNER.value(x)


IN_BRANCH = Setting(1.0, 7.0)


def branch(x: Any) -> Any:
    return tf.cond(tf.reduce_sum(x) > 0.0, lambda: x + IN_BRANCH.value, lambda: x)


SCALE = Setting(1.0, 9.0)


def gradient(x: Any) -> Any:
    scale = SCALE.value

    @tf.custom_gradient
    def same(x: Any) -> Any:
        return tf.identity(x), lambda dy: dy * scale

    with tf.GradientTape() as tape:
        tape.watch(x)
        y = same(x)
    return tape.gradient(y, x)


HAS_GRADIENT = Setting(False, True)


def custom_gradient(x: Any) -> Any:
    def same(x: Any) -> Any:
        return tf.identity(x), lambda dy: dy * 4.0

    return tf.custom_gradient(same)(x) if HAS_GRADIENT.value else tf.identity(x)


def values(f: Callable[..., Any], x: Any) -> Any:
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    flat = tf.nest.flatten(y)
    keys = sorted(y) if isinstance(y, dict) else type(y).__name__
    zero = tf.UnconnectedGradients.ZERO
    dx = tape.gradient(flat[0], x, unconnected_gradients=zero)
    return keys, [t.numpy().tolist() for t in flat], dx.numpy().tolist()


def devices(f: Callable[..., Any], x: Any) -> Any:
    graph = f.get_concrete_function(x).graph  # type: ignore[attr-defined]
    return [(op.name, op.device) for op in graph.get_operations()]


def order(f: Callable[..., Any], x: Any) -> Any:
    graph = f.get_concrete_function(x).graph  # type: ignore[attr-defined]
    return [(op.name, [c.name for c in op.control_inputs]) for op in graph.get_operations()]


ROWS: list[tuple[Callable[[Any], Any], Setting, Callable[..., Any]]] = [
    (attribute, KEEPS, values),
    (constant, TERM, values),
    (device, PLACE, devices),
    (capture, TENSOR, values),
    (structure, IS_LISTED, values),
    (order_of_results, SWAPS, values),
    (op, SUBTRACTS, values),
    (control_inputs, WAITS, order),
    (nested_function, INNER, values),
    (branch, IN_BRANCH, values),
    (gradient, SCALE, values),
    (custom_gradient, HAS_GRADIENT, values),
]


@pytest.mark.parametrize(
    ("body", "setting", "seen"), ROWS, ids=[body.__name__ for body, _, _ in ROWS]
)
def test_a_change_of_one_thing_in_the_graph_is_seen(
    body: Callable[[Any], Any],
    setting: Setting,
    seen: Callable[..., Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    x = tf.constant([1.0, 2.0])
    f = tf.function(body)
    before = seen(f, x)
    assert seen(f, x) == before and f.experimental_get_tracing_count() == 1
    monkeypatch.setattr(setting, "value", setting.later)
    after = seen(f, x)
    assert after != before
    assert after == seen(tf.function(body), x)
    monkeypatch.undo()
    assert seen(f, x) == before
    assert f.experimental_get_tracing_count() == 2


def test_a_change_of_nothing_in_the_graph_keeps_the_trace(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []

    @tf.function
    def f(x: Any) -> Any:
        seen.append(TERM.value)
        return x + 1.0

    x = tf.constant(1.0)
    first = f.get_concrete_function(x)
    monkeypatch.setattr(TERM, "value", 8.0)
    assert f(x).numpy() == 2.0
    assert f.get_concrete_function(x) is first
    assert seen == [1.0, 8.0]
