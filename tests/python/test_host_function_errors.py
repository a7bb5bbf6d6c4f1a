"""Errors of tf.py_function and tf.numpy_function, and of the functions that they call."""

from typing import Any

import graven as tf
import numpy as np
import pytest
from python.host_functions import both_calls


def test_an_error_names_the_lines_and_is_the_cause() -> None:
    error = KeyError("the cause")

    def fail(a: Any) -> Any:
        raise error

    @tf.function
    def f(x: Any) -> Any:
        return tf.py_function(fail, [x], tf.float32)  # here

    for run in (f, lambda x: tf.py_function(fail, [x], tf.float32)):
        with pytest.raises(tf.errors.UnknownError, match="KeyError: 'the cause'") as caught:
            run(tf.constant(1.0))
        assert caught.value.__cause__ is error
        assert "raise error" in str(caught.value)
    with pytest.raises(tf.errors.UnknownError, match="# here"):
        f(tf.constant(1.0))
    assert error.__traceback__ is not None


@both_calls
def test_a_keyboard_interrupt_passes(call: Any) -> None:
    def interrupt(a: Any) -> Any:
        raise KeyboardInterrupt

    f = tf.function(lambda x: call(interrupt, [x], tf.float32))
    for _ in range(2):
        with pytest.raises(KeyboardInterrupt):
            f(tf.constant(1.0))


class UnspeakableError(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no words")


def test_an_error_without_a_text_is_an_error() -> None:
    def fail() -> None:
        raise UnspeakableError

    with pytest.raises(tf.errors.UnknownError, match="UnspeakableError"):
        tf.py_function(fail, [], [])


@both_calls
@pytest.mark.parametrize(
    ("result", "dtypes", "message"),
    [
        ([1.0], [tf.float32] * 2, "returns 1 values, but expects to see 2 values"),
        (None, tf.float32, "returns 0 values, but expects to see 1 values"),
        (1.0, [], "returns 1 values, but expects to see 0 values"),
        ("text", tf.int32, "int32|integer|number"),
        (object(), tf.float32, "object"),
    ],
)
def test_wrong_results_are_errors(call: Any, result: Any, dtypes: Any, message: str) -> None:
    given = np.float32(result) if type(result) is float else result

    @tf.function
    def f() -> Any:
        call(lambda: given, [], dtypes)
        return 1

    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        f()


def test_numpy_function_takes_no_more_results_than_it_said() -> None:
    f = tf.function(lambda: tf.numpy_function(lambda: [np.int32(1)] * 2, [], tf.int32))
    with pytest.raises(tf.errors.InvalidArgumentError, match="returns 2 values, but expects"):
        f()
    g = tf.function(lambda: tf.numpy_function(lambda: np.int32(1), [], tf.float32))
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"0-th value returned by .* is int32"):
        g()


@both_calls
def test_wrong_arguments_are_errors(call: Any) -> None:
    x = tf.constant(1.0)
    f: Any = lambda *args, **kwargs: tf.function(lambda: call(*args, **kwargs))()  # noqa: E731
    for run in (call, f):
        with pytest.raises(TypeError, match="Tout"):
            run(abs, [x])
        with pytest.raises(TypeError, match="Missing argument `inp`"):
            run(abs, Tout=tf.float32)
        with pytest.raises(TypeError, match="as a decorator"):
            run(None, [x], tf.float32)
        with pytest.raises(TypeError, match=r"(?i)iterat"):
            run(abs, x, tf.float32)
        with pytest.raises((TypeError, ValueError)):
            run(abs, [None], tf.float32)
    with pytest.raises(ValueError, match="Expected func to be callable"):
        f(3, [x], tf.float32)
    for dtypes in ("floot", [[tf.float32]], 3.5):
        with pytest.raises(TypeError):
            f(abs, [x], dtypes)


def test_a_variable_is_no_result() -> None:
    v = tf.Variable(1.0)
    with pytest.raises(tf.errors.UnknownError, match="Attempting to return a variable"):
        tf.py_function(lambda: v, [], tf.float32)


@both_calls
@pytest.mark.parametrize("value", [1.0, "text"])
def test_a_tensor_of_a_graph_is_no_result(call: Any, value: Any) -> None:
    @tf.function
    def f(x: Any) -> Any:
        z = tf.identity(x)
        return call(lambda: z, [], z.dtype)

    words = {
        tf.py_function: "0-th value .* is a tensor of a graph",
        tf.numpy_function: "Cannot convert a symbolic",
    }
    with pytest.raises(tf.errors.OpError, match=words[call]):
        f(tf.constant(value))


def test_a_tensor_of_a_graph_is_no_gradient() -> None:
    @tf.function
    def f(x: Any) -> Any:
        z = 2.0 * x

        @tf.custom_gradient
        def inner(a: Any) -> Any:
            return a, lambda dy: z

        return tf.gradients(tf.py_function(inner, [x], tf.float32), x)

    with pytest.raises(tf.errors.InvalidArgumentError, match=r"gradient of input 0 .* graph"):
        f(tf.constant(1.0))


def test_a_run_that_failed_leaves_the_function_as_it_was() -> None:
    fails = [True]

    def maybe(a: Any) -> Any:
        if fails[0]:
            raise ValueError("not now")
        return a

    f = tf.function(lambda x: tf.py_function(maybe, [x], tf.float32))
    with pytest.raises(tf.errors.InvalidArgumentError, match="not now"):
        f(tf.constant(1.0))
    fails[0] = False
    assert float(f(tf.constant(1.0))) == 1.0
    assert f.experimental_get_tracing_count() == 1


def test_an_unknown_token_is_an_error() -> None:
    for op in (tf.raw_ops.EagerPyFunc, tf.raw_ops.PyFunc, tf.raw_ops.PyFuncStateless):
        with pytest.raises(tf.errors.InvalidArgumentError, match='token "pyfunc_nobody"'):
            op(input=[], token="pyfunc_nobody", Tout=[tf.float32])


@both_calls
def test_a_message_with_a_nul_character_is_not_cut(call: Any) -> None:
    def fail(a: Any) -> Any:
        raise ValueError("before\0after\0")

    for f in (
        lambda x: call(fail, [x], tf.float32),
        tf.function(lambda x: call(fail, [x], tf.float32), autograph=False),
    ):
        with pytest.raises((tf.errors.InvalidArgumentError, ValueError), match="before\0after\0"):
            f(tf.constant(1.0))
