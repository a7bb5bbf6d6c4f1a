"""Loop variables that change their shapes: what they mean in Python, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import graven as tf
import pytest
from python.autograph.beside_python import check_gradients, check_values
from python.autograph.changing_shapes import VECTORS, programs

PROGRAMS = programs(tf)
BY_NAME = pytest.mark.parametrize("f", PROGRAMS.values(), ids=list(PROGRAMS))
THREE = tf.constant(3)


@BY_NAME
@pytest.mark.parametrize("values", VECTORS, ids=str)
def test_a_program_gives_what_python_gives(f: Callable[..., Any], values: list[float]) -> None:
    check_values(f, values)


@BY_NAME
@pytest.mark.parametrize("values", VECTORS, ids=str)
def test_a_program_has_the_gradients_that_python_gives(
    f: Callable[..., Any], values: list[float]
) -> None:
    check_gradients(f, values)


def shapes_of(start: Any, change: Callable[[Any], Any]) -> tuple[list[Any], Any, Any]:
    """The shapes that a variable has in the traces of a body, the one after the loop, the value."""
    seen: list[Any] = []

    @tf.function
    def f(n: Any) -> Any:
        x = tf.constant(start)
        while n > 0:
            seen.append(x.shape)
            x = change(x)
            n -= 1
        seen.append(x.shape)
        return x

    value = f(THREE)
    *inside, after = (shape if shape.rank is None else shape.as_list() for shape in seen)
    return inside, after, value


CHANGES = [
    ([[1.0, 2.0]], lambda x: tf.concat([x, x], 0), [None, 2], [8, 2]),
    ([[1.0, 2.0]], lambda x: tf.concat([x, x], 1), [1, None], [1, 16]),
    ([[1.0, 2.0]], lambda x: tf.tile(x, [2, 3]), [None, None], [8, 54]),
    ([1.0], lambda x: tf.stack([x, x]), tf.TensorShape(None), [2, 2, 2, 1]),
]


@pytest.mark.parametrize(("start", "change", "static", "shape"), CHANGES)
def test_a_shape_leaves_open_what_changes_and_no_more(
    start: Any, change: Any, static: Any, shape: list[int]
) -> None:
    inside, after, value = shapes_of(start, change)
    # TensorFlow's attempt, then one that finds the shape, and the one that counts.
    assert len(inside) == 3
    assert inside[0] == inside[1] == list(tf.constant(start).shape)
    assert repr(inside[2]) == repr(after) == repr(static)
    assert value.shape.as_list() == shape


def test_a_size_that_is_lost_later_takes_another_round() -> None:
    seen: list[Any] = []

    @tf.function
    def f(n: Any) -> Any:
        a = b = c = tf.ones([1])
        while n > 0:
            seen.append([x.shape.as_list() for x in (a, b, c)])
            c = b
            b = a
            a = tf.concat([a, a], 0)
            n -= 1
        return a, b, c

    assert [x.shape[0] for x in f(THREE)] == [8, 4, 2]
    assert seen[1:] == [
        [[1], [1], [1]],
        [[None], [1], [1]],
        [[None], [None], [1]],
        [[None], [None], [None]],
    ]


def test_what_does_not_change_keeps_its_shape() -> None:
    seen: list[Any] = []

    @tf.function
    def f(n: Any) -> Any:
        x, y = tf.ones([1]), tf.ones([2])
        while n > 0:
            x = tf.concat([x, x], 0)
            y = y * 2
            n -= 1
        seen[:] = [x.shape.as_list(), y.shape.as_list(), n.shape.as_list()]
        return x, y

    f(THREE)
    assert seen == [[None], [2], []]


def test_a_program_that_tensorflow_runs_is_traced_once() -> None:
    traces: list[str] = []

    @tf.function
    def f(n: Any) -> Any:
        traces.append("function")
        x, y = tf.ones([1]), tf.ones([1])
        while n > 0:
            tf.autograph.experimental.set_loop_options(
                shape_invariants=[(x, tf.TensorShape([None]))]
            )
            traces.append("body")
            x = tf.concat([x, x], 0)
            y = y + 1
            n -= 1
        return x, y

    f(THREE)
    assert traces == ["function", "body"]


def test_an_error_that_the_program_catches_stays_one() -> None:
    @tf.function
    def f(n: Any) -> Any:
        x = tf.ones([1])
        try:
            while n > 0:
                x = tf.concat([x, x], 0)
                n -= 1
        except ValueError:
            return tf.constant("caught")
        return tf.constant("grown")

    assert f(THREE).numpy() == b"caught"


def test_state_of_an_object_grows_in_a_method() -> None:
    class Log:
        def __init__(self) -> None:
            self.rows = tf.zeros([0])
            self.scale = tf.Variable(2.0)

        @tf.function
        def filled(self, n: Any) -> Any:
            self.rows = tf.zeros([0])
            for i in tf.range(n):
                self.rows = tf.concat([self.rows, [tf.cast(i, tf.float32) * self.scale]], 0)
            return tf.reduce_sum(self.rows), tf.size(self.rows)

    log = Log()
    with tf.GradientTape() as tape:
        total, size = log.filled(THREE)
    assert (float(total), int(size)) == (6.0, 3)
    assert float(tape.gradient(total, log.scale)) == 3.0


def test_variables_are_assigned_once_in_an_iteration() -> None:
    v = tf.Variable(0.0)

    @tf.function
    def f(n: Any) -> Any:
        x = tf.ones([1])
        while n > 0:
            v.assign_add(tf.reduce_sum(x))
            x = tf.concat([x, x], 0)
            n -= 1
        return x

    f(THREE)
    assert float(v) == 7.0


def test_the_options_of_a_loop_hold() -> None:
    @tf.function
    def f(n: Any) -> Any:
        x = tf.ones([1])
        while n > 0:
            tf.autograph.experimental.set_loop_options(maximum_iterations=2)
            x = tf.concat([x, x], 0)
            n -= 1
        return x

    assert f(THREE).shape == [4]


@pytest.mark.parametrize("apply", [tf.map_fn, tf.vectorized_map])
def test_rows_may_grow_each_as_it_does(apply: Any) -> None:
    def one(k: Any) -> Any:
        x = tf.ones([1])
        while k > 0:
            x = tf.concat([x, x + 1], 0)
            k -= 1
        return tf.cast(tf.reduce_sum(x), tf.int32)

    ks = tf.range(4)
    for function in (apply, tf.function(lambda f, k: apply(f, k))):
        assert function(one, ks).numpy().tolist() == [1, 3, 8, 20]


def test_an_invariant_of_the_users_gives_the_same() -> None:
    def by_hand(x: Any) -> Any:
        y = tf.reshape(x[0], [1])
        for e in x:
            tf.autograph.experimental.set_loop_options(
                shape_invariants=[(y, tf.TensorShape([None]))]
            )
            y = tf.concat([y, tf.sin(y) * e], 0)
        return tf.reduce_sum(y * y)

    def alone(x: Any) -> Any:
        y = tf.reshape(x[0], [1])
        for e in x:
            y = tf.concat([y, tf.sin(y) * e], 0)
        return tf.reduce_sum(y * y)

    x, found = tf.constant([0.5, -1.0, 2.0]), []
    for f in (by_hand, alone):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.function(f)(x)
        found.append([float(y), *tape.gradient(y, x).numpy()])
    assert found[0] == found[1]


# --- What stays refused


def refused(body: Callable[..., Any], **invariants: Any) -> str:
    """The error of a loop over x and y, with its notes."""

    @tf.function
    def f(n: Any) -> Any:
        x, y = tf.ones([1]), tf.ones([1])
        shapes = [(x, tf.TensorShape(invariants["x"]))] if invariants else []
        while n > 0:
            tf.autograph.experimental.set_loop_options(shape_invariants=shapes)
            x, y = body(x, y)
            n -= 1
        return x, y

    with pytest.raises(ValueError, match="'x' has shape") as caught:
        f(THREE)
    return "\n".join([str(caught.value), *getattr(caught.value, "__notes__", [])])


CHANGED = "'x' has shape (1,) before the loop, but shape (2,) after one iteration. Use tf.autograph"


def test_a_loop_that_fails_otherwise_names_the_shape_first_and_the_cause_after() -> None:
    text = refused(lambda x, y: (tf.concat([x, x], 0), tf.cast(y, tf.int32)))
    assert CHANGED in text
    assert "failed: TypeError: 'y' has dtype float32 before the loop, but dtype int32" in text


def test_a_body_that_needs_the_size_while_tracing_is_refused() -> None:
    text = refused(lambda x, y: (tf.ones([x.shape[0] + 1]), y))
    assert CHANGED in text
    assert "failed: TypeError: unsupported operand type" in text


@pytest.mark.parametrize("invariant", [[1], [3]])
def test_an_invariant_of_the_users_is_held_to(invariant: list[int]) -> None:
    text = refused(lambda x, y: (tf.concat([x, x], 0), tf.concat([y, y], 0)), x=invariant)
    assert "does not conform with the shape invariant" in text


def test_an_invariant_is_held_to_where_another_variable_changes_first() -> None:
    @tf.function
    def f(n: Any) -> Any:
        a, x = tf.ones([1]), tf.ones([1])
        while n > 0:
            tf.autograph.experimental.set_loop_options(
                shape_invariants=[(x, tf.TensorShape([None]))]
            )
            a = tf.concat([a, a], 0)
            x = tf.stack([x, x])
            n -= 1
        return a, x

    with pytest.raises(ValueError, match=r"'a' has shape \(1,\) before the loop"):
        f(THREE)


class Counter:
    """Keeps a tensor from one trace to the next."""

    def __init__(self) -> None:
        self.total: Any = None

    def kept(self, n: Any) -> Any:
        if self.total is None:
            self.total = n + 1
        return self.total


USES = {
    "an op": lambda counter, n, x: tf.cast(counter.kept(n), tf.float32) + x,
    "a loop": lambda counter, n, x: tf.while_loop(
        lambda i: i < 3, lambda i: i + counter.kept(n), [tf.constant(0)]
    ),
    "a function": lambda counter, n, x: tf.function(lambda y: y + counter.kept(n))(n),
    "a result": lambda counter, n, x: counter.kept(n),
}


@pytest.mark.parametrize("name", USES)
def test_a_tensor_that_an_object_keeps_of_the_trace_before_is_an_error(name: str) -> None:
    counter = Counter()

    @tf.function
    def f(n: Any) -> Any:
        counter.kept(n)
        x = tf.ones([1])
        while n > 0:
            x = tf.concat([x, x], 0)
            n -= 1
        return USES[name](counter, n, x)

    expected = ValueError if name != "a result" else tf.errors.InaccessibleTensorError
    with pytest.raises(expected) as caught:
        f(THREE)
    notes = "".join(getattr(caught.value, "__notes__", []))
    assert "a tensor of the trace before" in notes or "is out of scope" in str(caught.value)


def test_the_error_after_such_a_loop_is_its_own() -> None:
    @tf.function
    def f(n: Any) -> Any:
        x = tf.ones([1])
        while n > 0:
            x = tf.concat([x, x], 0)
            n -= 1
        return tf.matmul(tf.ones([2, 3]), tf.ones([4, 5])) + x

    with pytest.raises(ValueError, match=r"\[2,3\] and \[4,5\]"):
        f(THREE)


def test_while_loop_as_a_function_keeps_its_rule() -> None:
    @tf.function
    def f(n: Any) -> Any:
        def body(n: Any, x: Any) -> tuple[Any, Any]:
            return n - 1, tf.concat([x, x], 0)

        return tf.while_loop(lambda n, x: n > 0, body, (n, tf.ones([1])))

    with pytest.raises(ValueError, match=r"enters the loop with shape \(1,\), but has shape"):
        f(THREE)
