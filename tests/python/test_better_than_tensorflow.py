"""Defects of TensorFlow 2.21 that users would meet, and what Graven does instead.

Others have tests where their subject has some: first calls that fail (test_failed_first_calls.py),
trace types without a placeholder (test_tracing_protocol.py), arrays of tensors as arguments
(test_tensor_array.py), signatures that do not fit (test_function_faults.py).
"""

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import graven as tf
import pytest

REDUCED: dict[str, Any] = {"reduce_retracing": True}


# A call whose binding fails keeps a lock there, and calls on other threads wait for ever.
def test_a_call_that_does_not_fit_the_parameters_holds_no_lock() -> None:
    f = tf.function(lambda x: x + 1.0)
    with pytest.raises(TypeError):
        f()
    results: list[float] = []
    thread = threading.Thread(target=lambda: results.append(float(f(tf.constant(1.0)))))
    thread.start()
    thread.join(60)
    assert results == [2.0]


class Total:
    def __init__(self) -> None:
        self.weights: Any = None

    @tf.function
    def __call__(self, x: Any) -> Any:
        if self.weights is None:
            self.weights = tf.Variable(tf.ones([1000]))
        return tf.reduce_sum(self.weights) + x


# Variables of a first call have no value yet when another thread calls: an empty tensor there.
def test_threads_that_call_at_once_find_the_variables_initialized() -> None:
    for _ in range(10):
        total, barrier = Total(), threading.Barrier(8)
        results: list[float] = []

        def call(total: Any = total, barrier: Any = barrier, results: Any = results) -> None:
            barrier.wait()
            results.append(float(total(tf.constant(0.0))))

        threads = [threading.Thread(target=call) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        assert results == [1000.0] * 8


# Any call fails there: "too many positional arguments".
def test_a_keyword_with_a_default_may_have_a_signature() -> None:
    signature = [tf.TensorSpec([None]), tf.TensorSpec([])]

    @tf.function(input_signature=signature)
    def scaled(x: Any, *, by: Any = 2.0) -> Any:
        return x * by

    x = tf.constant([1.0, 2.0])
    assert scaled(x).numpy().tolist() == [2.0, 4.0]
    assert scaled(x, by=tf.constant(3.0)).numpy().tolist() == [3.0, 6.0]
    assert scaled.get_concrete_function() is not None
    assert scaled.experimental_get_tracing_count() == 1


# An IndexError there.
def test_calls_with_more_arguments_are_generalised_among_their_like() -> None:
    f = tf.function(lambda *args, **kwargs: tf.add_n([*args, *kwargs.values()]), **REDUCED)
    one, two, three = (tf.ones([n]) for n in (1, 2, 3))
    f(one)
    f(one, one)
    f(two)
    f(two, two)
    f(one, k=one)
    assert f(three, three).numpy().tolist() == [2.0] * 3
    assert f(two, k=two).numpy().tolist() == [2.0] * 2
    assert f(three, three, three).numpy().tolist() == [3.0] * 3


# The body sees the shape of the variable that is traced there, and computes with it for others.
def test_a_trace_for_variables_of_many_sizes_knows_no_size() -> None:
    f = tf.function(lambda v: tf.reduce_sum(v) / tf.cast(tf.size(v), tf.float32), **REDUCED)
    g = tf.function(lambda v: tf.zeros(tf.shape(v)) + v, **REDUCED)
    for n in (1, 2, 3, 4):
        assert float(f(tf.Variable(tf.ones([n])))) == 1.0
        assert g(tf.Variable(tf.ones([n]))).numpy().tolist() == [1.0] * n
    assert f.experimental_get_tracing_count() == 2


# TensorFlow keeps a set.
def test_variables_are_listed_in_the_order_of_their_first_use() -> None:
    made = [tf.Variable(float(i), name=f"v{i}") for i in range(6)]
    inner = tf.function(lambda: made[5] + made[2])
    f = tf.function(lambda x: made[3] * x + made[0] + inner() + made[4] + made[0])
    listed = f.get_concrete_function(tf.TensorSpec([])).variables
    assert [v is made[i] for v, i in zip(listed, (3, 0, 5, 2, 4), strict=True)] == [True] * 5


class _Pair(tf.types.experimental.TraceType):
    """The type of two tensors that an object holds."""

    def __init__(self, specs: tuple[Any, ...]) -> None:
        self.specs = specs

    def is_subtype_of(self, other: Any) -> bool:
        return isinstance(other, _Pair) and all(
            a.is_subtype_of(b) for a, b in zip(self.specs, other.specs, strict=True)
        )

    def most_specific_common_supertype(self, others: Any) -> Any:
        return self if all(self == other for other in others) else None

    def placeholder_value(self, placeholder_context: Any) -> Any:
        return Pair(*(placeholder_context.add_placeholder(spec) for spec in self.specs))

    def to_tensors(self, value: Any) -> Any:
        return [value.first, value.second]

    def flatten(self) -> Any:
        return list(self.specs)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Pair) and self.specs == other.specs

    def __hash__(self) -> int:
        return hash(self.specs)


class Pair:
    def __init__(self, first: Any, second: Any) -> None:
        self.first, self.second = first, second

    def __tf_tracing_type__(self, context: Any) -> Any:
        return _Pair(tuple(tf.TensorSpec(t.shape, t.dtype) for t in (self.first, self.second)))


# Placeholders that tf.nest does not find are a ValueError there.
def test_a_type_of_the_users_feeds_its_tensors() -> None:
    f = tf.function(lambda pair: pair.first - pair.second)
    for first in (5.0, 7.0):
        assert float(f(Pair(tf.constant(first), tf.constant(2.0)))) == first - 2.0
    assert f.experimental_get_tracing_count() == 1


class RefusedError(ValueError):
    def __init__(self, what: str, code: int) -> None:
        super().__init__(f"{what} {code}")
        self.code = code


# TensorFlow raises an error of its own class, which no except clause for the original catches.
@pytest.mark.parametrize(
    ("raises", "kind"),
    [
        (lambda: [][1], IndexError),
        (lambda: 1 // 0, ZeroDivisionError),
        (lambda: dict[str, int]()["key"], KeyError),
        (lambda: Path("/does/not/exist").read_text(), FileNotFoundError),
    ],
)
def test_errors_of_a_body_are_caught_as_what_they_are(
    raises: Callable[[], Any], kind: type[Exception]
) -> None:
    @tf.function
    def f(x: Any) -> Any:
        raises()
        return x

    with pytest.raises(kind):
        f(tf.constant(1.0))


def test_errors_of_the_users_classes_are_caught_as_what_they_are() -> None:
    @tf.function
    def f(x: Any) -> Any:
        raise RefusedError("not today", 7)

    with pytest.raises(RefusedError, match="not today 7"):
        f(tf.constant(1.0))


# TensorFlow warns and runs such functions as plain Python, where tensors have no truth value.
def test_code_that_tensorflow_does_not_convert() -> None:
    @tf.function
    def f(x: Any, n: Any) -> Any:
        total = x
        for i in tf.range(n):
            if (twice := tf.cast(i, tf.float32) * 2.0) > 1.0:
                total += twice
        else:
            total = total * 10.0
        return total + sum(y if y > 0.0 else -y for y in (x, -x))

    assert float(f(tf.constant(1.0), tf.constant(3))) == 72.0
