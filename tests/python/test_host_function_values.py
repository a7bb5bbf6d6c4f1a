"""What functions of tf.py_function and tf.numpy_function get and give."""

from typing import Any

import graven as tf
import numpy as np
import pytest
from python.host_functions import CALLS, both_calls


def test_py_function_gets_tensors_and_numpy_function_values_of_numpy() -> None:
    types: list[Any] = []

    def note(*args: Any) -> None:
        types.extend(type(a) for a in args)

    values = [tf.constant(1.0), tf.constant([1, 2]), tf.constant("a"), tf.constant(["a"]), 3]

    @tf.function
    def f(call: Any) -> None:
        call(note, values, [])

    f(tf.numpy_function)
    assert types == [np.float32, np.ndarray, bytes, np.ndarray, np.int32]
    types.clear()
    f(tf.py_function)
    assert types == [type(values[0])] * 5


@both_calls
def test_what_it_gets_stays_as_it_is(call: Any) -> None:
    kept: list[Any] = []

    @tf.function
    def f(x: Any) -> Any:
        y = x + 1.0
        call(kept.append, [y], [])
        return y * 2.0 + 1.0

    x = np.arange(1000, dtype=np.float32)
    for scale in (1, 2):
        f(tf.constant(x * scale))
    assert (np.asarray(kept[0]) == x + 1).all() and (np.asarray(kept[1]) == 2 * x + 1).all()


def test_arrays_of_numpy_function_may_be_written() -> None:
    def clear(a: Any) -> Any:
        a[0] = -1.0
        return a

    x = tf.constant([1.0, 2.0])
    f = tf.function(lambda x: (tf.numpy_function(clear, [x], tf.float32), x))
    assert [y.numpy().tolist() for y in f(x)] == [[-1.0, 2.0], [1.0, 2.0]]
    assert x.numpy().tolist() == [1.0, 2.0]


@pytest.mark.parametrize("traced", [False, True], ids=["eager", "traced"])
@pytest.mark.parametrize(
    ("result", "dtype", "expected"),
    [
        (3, tf.float32, 3.0),
        ([[[1, 2], [3, 4]]], [tf.int64], [[[1, 2], [3, 4]]]),
        (np.array([1.5]), tf.float32, [1.5]),
        ("text", tf.string, b"text"),
        (["a\0", "\u00e9"], [tf.string, tf.string], [b"a\0", "\u00e9".encode()]),
        ((1, 2.5), (tf.int32, tf.float64), [1, 2.5]),
        ([1, 2], [tf.int32], [1]),  # what is too much is left out, as in TensorFlow
        ([1, 2], tf.int32, 1),
        (True, tf.bool, True),
    ],
)
def test_results_are_converted(result: Any, dtype: Any, expected: Any, traced: bool) -> None:
    def f() -> Any:
        return tf.py_function(lambda: result, [], dtype)

    got = (tf.function(f) if traced else f)()
    as_list = [x.numpy() for x in got] if isinstance(got, list) else got.numpy()
    assert np.array_equal(as_list, expected)


@both_calls
def test_shapes_are_unknown_until_they_are_said(call: Any) -> None:
    @tf.function
    def f(x: Any) -> Any:
        y = call(lambda a: a, [x], tf.float32)
        assert y.shape.rank is None
        y.set_shape([2])
        z = tf.ensure_shape(call(lambda a: a, [x], tf.float32), [2])
        assert y.shape == z.shape == [2]
        return y + z

    assert f(tf.constant([1.0, 2.0])).numpy().tolist() == [2.0, 4.0]
    with pytest.raises(tf.errors.InvalidArgumentError, match="shape"):
        tf.function(lambda x: tf.ensure_shape(call(lambda a: a[:1], [x], tf.float32), [2]))(
            tf.constant([1.0, 2.0])
        )


def test_composite_tensors_go_in_and_out() -> None:
    rows = tf.ragged.constant([[1.0, 2.0], [3.0]])

    def twice(r: Any) -> Any:
        return tf.RaggedTensor.from_row_splits(r.values * 2.0, r.row_splits)

    def f(r: Any) -> Any:
        return tf.py_function(twice, [r], tf.RaggedTensorSpec([None, None], tf.float32))

    for run in (f, tf.function(f)):
        assert run(rows).to_list() == [[2.0, 4.0], [6.0]]
    with pytest.raises(tf.errors.InvalidArgumentError, match="not compatible"):
        tf.py_function(lambda r: 1.0, [rows], tf.RaggedTensorSpec([None, None], tf.float32))
    with pytest.raises(tf.errors.InvalidArgumentError, match="not a Tensor"):
        tf.py_function(lambda r: r, [rows], tf.float32)


def test_a_spec_of_a_tensor_gives_its_dtype_only() -> None:
    f = tf.function(lambda x: tf.py_function(lambda a: a, [x], tf.TensorSpec([], tf.float32)))
    assert f.get_concrete_function(tf.constant([1.0])).outputs[0].shape.rank is None
    assert f(tf.constant([1.0])).numpy().tolist() == [1.0]


@both_calls
def test_it_decorates_functions(call: Any) -> None:
    def twice(a: Any) -> Any:
        """Says so."""
        return a * np.float32(2)

    double = call(Tout=tf.float32)(twice)
    assert double.__doc__ == "Says so." and float(double(tf.constant(1.5))) == 3.0
    assert float(tf.function(double)(tf.constant(1.5))) == 3.0


def test_without_results_it_is_an_operation_while_a_function_is_traced() -> None:
    made: list[Any] = []

    @tf.function
    def f() -> None:
        for call in CALLS:
            made.append(call(lambda: None, [], [], name="mine"))

    f()
    assert [type(op) for op in made] == [tf.Operation] * 2
    assert [op.type for op in made] == ["EagerPyFunc", "PyFunc"]
    assert [op.name for op in made] == ["mine", "mine_1"]
    assert tf.py_function(lambda: None, [], []) == []
    assert tf.numpy_function(lambda: None, [], []) is None
