"""py_function and numpy_function: the same results in both systems, or classes of errors."""

# tf is either system here, and so are its decorators.
# mypy: disable-error-code="untyped-decorator,misc"

import os
from collections.abc import Callable
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import graven
import numpy as np
import pytest
import tensorflow
from both_systems import attempt

Program = Callable[[Any, Any], Any]
PROGRAMS: list[Program] = []
CALLS = ("py_function", "numpy_function")


def program(f: Program) -> Program:
    """Lists a program, which is given tf and one of the two functions."""
    PROGRAMS.append(f)
    return f


def eager_and_traced(tf: Any, f: Callable[..., Any], *args: Any) -> list[Any]:
    return [attempt(lambda run=run: run(*args)) for run in (f, tf.function(f, autograph=False))]


def vector(tf: Any) -> Any:
    return tf.constant([1.0, 2.0, 3.0])


def raises(error: BaseException) -> Callable[..., Any]:
    def fail(*args: Any) -> Any:
        raise error

    return fail


def class_name(a: Any) -> str:
    """The class of an argument, where it is not the system's own."""
    kind = type(a)
    return kind.__name__ if kind.__module__ in ("numpy", "builtins") else "tensor"


# --- Results


@program
def one_result(tf: Any, call: Any) -> Any:
    return eager_and_traced(tf, lambda x: call(lambda a: a + a, [x], tf.float32), vector(tf))


@program
def results_in_lists_and_tuples(tf: Any, call: Any) -> Any:
    def f(x: Any) -> Any:
        one = call(lambda a: a, [x], [tf.float32]) if call is tf.py_function else x
        two = call(lambda a: [a, a + a], [x], [tf.float32, tf.float32])
        three = call(lambda a: (a, a), (x,), (tf.float32, tf.float32))
        return one, two, three

    return eager_and_traced(tf, f, vector(tf))


@program
def python_numbers_as_results(tf: Any, call: Any) -> Any:
    return [
        *eager_and_traced(tf, lambda: call(lambda: 3, [], tf.float32)),
        *eager_and_traced(tf, lambda: call(lambda: 3, [], tf.int64)),
        *eager_and_traced(tf, lambda: call(lambda: 2.5, [], tf.float64)),
        *eager_and_traced(tf, lambda: call(lambda: True, [], tf.bool)),
        *eager_and_traced(tf, lambda: call(lambda: 2.5, [], tf.int32)),
    ]


@program
def texts_as_results(tf: Any, call: Any) -> Any:
    return [
        *eager_and_traced(tf, lambda: call(lambda: "\u00e9", [], tf.string)),
        *eager_and_traced(tf, lambda: call(lambda: b"a\0", [], tf.string)),
        *eager_and_traced(tf, lambda: call(lambda: np.array([b"ab", b"c\0d"]), [], tf.string)),
        *eager_and_traced(tf, lambda: call(lambda: np.array(["ab", "c"]), [], tf.string)),
    ]


@program
def results_of_other_dtypes(tf: Any, call: Any) -> Any:
    def f(x: Any) -> Any:
        return call(lambda a: np.asarray(a).astype("int32"), [x], tf.float32)

    return eager_and_traced(tf, f, vector(tf))


@program
def too_few_and_too_many_results(tf: Any, call: Any) -> Any:
    x = vector(tf)
    two = [tf.float32, tf.float32]
    return [
        *eager_and_traced(tf, lambda: call(lambda a: [a], [x], two)),
        *eager_and_traced(tf, lambda: call(lambda a: [a, a, a], [x], two)),
        *eager_and_traced(tf, lambda: call(lambda a: [a], [x], tf.float32)),
        *eager_and_traced(tf, lambda: call(lambda a: [a, a], [x], tf.float32)),
    ]


@program
def none_as_result(tf: Any, call: Any) -> Any:
    x = vector(tf)
    return [
        attempt(lambda: call(lambda a: None, [x], [])),
        attempt(tf.function(lambda: [call(lambda a: None, [x], []), 1][1])),
        *eager_and_traced(tf, lambda: call(lambda a: None, [x], tf.float32)),
    ]


@program
def structures_as_results(tf: Any, call: Any) -> Any:
    if call is tf.numpy_function:
        return attempt(lambda: call(lambda: {"a": np.float32(1)}, [], tf.float32))
    return eager_and_traced(tf, lambda: call(lambda: {"a": 1.0}, [], tf.float32))


@program
def a_variable_as_result(tf: Any, call: Any) -> Any:
    v = tf.Variable(1.0)
    return eager_and_traced(tf, lambda: call(lambda: v, [], tf.float32))


# --- Arguments


@program
def what_the_function_gets(tf: Any, call: Any) -> Any:
    values = [tf.constant(1.0), vector(tf), tf.constant("a"), tf.constant(["a"]), 2, 2.5, [1, 2]]
    return [
        eager_and_traced(tf, lambda value=value: call(class_name, [value], tf.string))
        for value in values
    ]


@program
def dtypes_of_python_numbers(tf: Any, call: Any) -> Any:
    def dtypes(*args: Any) -> Any:
        return [str(np.asarray(a).dtype) for a in args]

    return eager_and_traced(tf, lambda: call(dtypes, [1, 2.5, True], [tf.string] * 3))


@program
def tensors_and_lists_of_tensors_as_inp(tf: Any, call: Any) -> Any:
    x = vector(tf)
    return [
        *eager_and_traced(tf, lambda x: call(lambda a: a, x, tf.float32), tf.constant(1.0)),
        attempt(lambda: call(lambda a, b, c: a + b + c, x, tf.float32)),
        *eager_and_traced(tf, lambda x: call(lambda a: a, [[x, x]], tf.float32), x),
        *eager_and_traced(tf, lambda x: call(lambda a: a, [None], tf.float32), x),
    ]


@program
def variables_as_inp(tf: Any, call: Any) -> Any:
    v = tf.Variable([1.0, 2.0])
    return eager_and_traced(tf, lambda: call(lambda a: a + a, [v], tf.float32))


@program
def wrong_arguments(tf: Any, call: Any) -> Any:
    x = vector(tf)
    return [
        *eager_and_traced(tf, lambda: call(3, [x], tf.float32)),
        *eager_and_traced(tf, lambda: call(abs, [x])),
        *eager_and_traced(tf, lambda: call(abs, Tout=tf.float32)),
        *eager_and_traced(tf, lambda: call(None, [x], tf.float32)),
        *eager_and_traced(tf, lambda: call(abs, [x], "float32")),
        *eager_and_traced(tf, lambda: call(abs, [x], "floot")),
        *eager_and_traced(tf, lambda: call(abs, [x], tf.TensorSpec([], tf.float32))),
        *eager_and_traced(tf, lambda: call(lambda a, b: a, [x], tf.float32)),
        attempt(lambda: tf.function(lambda: call(lambda a: (a, a), [x], [[tf.float32] * 2]))()),
    ]


@program
def a_decorator(tf: Any, call: Any) -> Any:
    @call(Tout=tf.float32)
    def double(a: Any) -> Any:
        return a + a

    return [
        *eager_and_traced(tf, double, vector(tf)),
        attempt(lambda: double(a=vector(tf))),
        double.__name__,
    ]


@program
def names_and_types_of_nodes(tf: Any, call: Any) -> Any:
    @tf.function
    def f(x: Any) -> Any:
        a = call(lambda a: a, [x], tf.float32)
        b = call(lambda a: a, [x], tf.float32, name="mine")
        with tf.name_scope("scope"):
            c = call(lambda a: a, [x, 3.0], [tf.float32])
        return [(t.op.name, t.op.type, str(t.shape)) for t in (a, b, c[0])]

    nodes: list[Any] = []
    tf.function(lambda x: nodes.append(f.python_function(x)))(vector(tf))
    return nodes


# --- Errors


@program
def exceptions_in_a_graph(tf: Any, call: Any) -> Any:
    errors = [
        TypeError("a"), ValueError("a"), StopIteration("a"), MemoryError("a"),
        NotImplementedError("a"), KeyError("a"), IndexError("a"), OverflowError("a"),
        RuntimeError("a"), UnicodeDecodeError("utf-8", b"", 0, 1, "a"), RecursionError("a"),
        tf.errors.NotFoundError(None, None, "a"), AssertionError("a"), OSError(1, "a"),
    ]  # fmt: skip
    return [
        attempt(tf.function(lambda error=error: call(raises(error), [], tf.float32)))
        for error in errors
    ]


@program
def exceptions_eagerly(tf: Any, call: Any) -> Any:
    errors = [TypeError("a"), ValueError("a"), StopIteration("a"), KeyError("a"), MemoryError("a")]
    return [attempt(lambda error=error: call(raises(error), [], tf.float32)) for error in errors]


@program
def the_message_has_the_class_and_the_text(tf: Any, call: Any) -> Any:
    try:
        tf.function(lambda: call(raises(KeyError("cause")), [], tf.float32))()
    except tf.errors.UnknownError as error:
        return "KeyError: 'cause'" in str(error)
    return None


# --- Gradients


def gradient(tf: Any, f: Callable[[Any], Any], x: Any) -> Any:
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    return tape.gradient(y, x)


@program
def first_gradients(tf: Any, call: Any) -> Any:
    def cube(x: Any) -> Any:
        return call(lambda a: a * a * a, [x], tf.float32)

    x = vector(tf)
    return [
        attempt(lambda: gradient(tf, cube, x)),
        attempt(lambda: gradient(tf, tf.function(cube), x)),
        attempt(tf.function(lambda: gradient(tf, cube, x))),
        attempt(lambda: gradient(tf, tf.function(lambda x: cube(cube(x))), x)),
    ]


@program
def gradients_of_several_arguments(tf: Any, call: Any) -> Any:
    def f(x: Any) -> Any:
        return call(lambda a, b: a * b, [x, x + 1.0], tf.float32)

    x = vector(tf)
    return [gradient(tf, run, x) for run in (f, tf.function(f))]


@program
def gradients_of_variables(tf: Any, call: Any) -> Any:
    v = tf.Variable(2.0)
    results = []
    for f in (lambda: call(lambda a: a * v, [3.0], tf.float32),
              lambda: call(lambda a: a * a, [v], tf.float32)):  # fmt: skip
        for run in (f, tf.function(f)):
            with tf.GradientTape() as tape:
                y = run()
            results.append(tape.gradient(y, v))
    return results


@program
def maps(tf: Any, call: Any) -> Any:
    def double(x: Any) -> Any:
        return tf.ensure_shape(call(lambda a: a + a, [x], tf.float32), [])

    x = vector(tf)
    return [mapped(double, x) for mapped in (tf.map_fn, tf.vectorized_map)]


@program
def composite_tensors(tf: Any, call: Any) -> Any:
    if call is tf.numpy_function:
        return None
    rows = tf.ragged.constant([[1.0, 2.0], [3.0]])
    spec = tf.RaggedTensorSpec([None, None], tf.float32)

    def same(r: Any) -> Any:
        return tf.RaggedTensor.from_row_splits(r.values + 1.0, r.row_splits)

    f = tf.function(lambda r: call(same, [r], spec))
    return [
        f(rows).to_list(),
        call(lambda r: r.values, [rows], tf.float32),
        attempt(lambda: call(lambda r: 1.0, [rows], spec)),
        attempt(lambda: call(lambda r: r, [rows], tf.float32)),
    ]


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("run", PROGRAMS, ids=lambda run: run.__name__)
def test_both_systems_agree(run: Program, name: str) -> None:
    results = [attempt(lambda tf=tf: run(tf, getattr(tf, name))) for tf in (graven, tensorflow)]
    assert results[0] == results[1]
