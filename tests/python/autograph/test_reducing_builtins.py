"""min, max, sum, any and all of tensors, with Feature.BUILTIN_FUNCTIONS."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import graven as tf
import pytest

FEATURE = tf.autograph.experimental.Feature.BUILTIN_FUNCTIONS
PROGRAMS: dict[str, tuple[Callable[..., Any], Any]] = {
    "min of two": (lambda x: min(x, 3.0), [2.0, 3.0, 4.0]),
    "max of a list": (lambda x: max([1.5, x, -x]), [2.0, -3.0, 0.0]),
    "min of integers": (lambda x: min(x, 3, x * 2), [2, -4, 9]),
    "max of a vector": (lambda x: max(x), [[2.0, 5.0, 3.0], [-1.0]]),
    "min of a vector": (lambda x: min(x), [[2, 5, 3], [-1]]),
    "sum of a vector": (lambda x: sum(x), [[2.0, 5.0, 3.0], [-1.0]]),
    "sum of rows": (lambda x: sum(x), [[[2.0, 5.0], [1.0, 1.0]]]),
    "sum from a start": (lambda x: sum(x, 10.0), [[2.0, 5.0]]),
    "sum of a list": (lambda x: sum([x, 1.0, x * 2]), [2.0]),
    "any": (lambda x: any(x), [[True, False], [False]]),
    "all": (lambda x: all(x), [[True, False], [True]]),
    "nothing of tensors": (lambda x: x + min(3, 2) + max([4], default=1) + sum((1, 2)), [2]),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_builtin_of_tensors_gives_what_python_gives(name: str) -> None:
    f, values = PROGRAMS[name]
    g = tf.function(f, experimental_autograph_options=FEATURE)
    for value in values:
        x = tf.constant(value)
        wanted = f(x)
        wanted = wanted.numpy().tolist() if isinstance(wanted, tf.Tensor) else wanted
        assert g(x).numpy().tolist() == wanted
        assert g.get_concrete_function(x)(x).dtype == g(x).dtype


@pytest.mark.parametrize("name", ["min of two", "max of a vector", "sum of a vector", "any"])
def test_without_the_feature_a_builtin_asks_python(name: str) -> None:
    f, values = PROGRAMS[name]
    with pytest.raises(tf.errors.OperatorNotAllowedInGraphError):
        tf.function(f)(tf.constant(values[0]))


def test_the_number_of_elements_may_be_known_at_run_time_only() -> None:
    @tf.function(input_signature=[tf.TensorSpec([None])], experimental_autograph_options=FEATURE)
    def f(x: Any) -> Any:
        return max(x) - min(x)

    assert float(f(tf.constant([2.0, 5.0]))) == 3.0
    with pytest.raises(tf.errors.InvalidArgumentError, match="takes at least one element"):
        f(tf.constant([], tf.float32))


@pytest.mark.parametrize(
    "f, value, error, phrase",
    [
        (lambda x: min(x), [[1.0]], ValueError, "min of a tensor takes a vector"),
        (lambda x: min(x), [], ValueError, "at least one element"),
        (lambda x: max(x, 1.0), [1.0], ValueError, "max compares scalars"),
        (lambda x: sum(x), 1.0, TypeError, "Cannot iterate over a scalar tensor"),
        (lambda x: any(x), [1.0], ValueError, "any of a tensor takes bools"),
        (lambda x: min(x, 1.5), 1, TypeError, "int32"),
    ],
)
def test_what_python_would_not_compare_is_refused(
    f: Callable[..., Any], value: Any, error: type[Exception], phrase: str
) -> None:
    with pytest.raises(error) as raised:
        tf.function(f, experimental_autograph_options=FEATURE)(tf.constant(value))
    assert phrase in str(raised.value)


def test_a_minimum_has_the_gradient_of_what_is_chosen() -> None:
    f = tf.function(lambda x: min(x * 2, 3.0), experimental_autograph_options=FEATURE)
    for value, wanted in ((1.0, 2.0), (5.0, 0.0)):
        x = tf.constant(value)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        assert float(tape.gradient(y, x)) == wanted
