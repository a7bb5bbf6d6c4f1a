"""Functions that records of the library make, as Python calls them."""

from __future__ import annotations

import copy
import inspect
import pickle
from typing import Any

import graven
import numpy as np
import pytest
from graven import _engine, _public

tf: Any = graven  # Wrong arguments are what is tested.


def test_arguments_bind_by_position_and_by_name() -> None:
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    expected = [[3.0], [7.0]]
    assert tf.reduce_sum(x, 1, True).numpy().tolist() == expected
    assert tf.reduce_sum(keepdims=True, axis=1, input_tensor=x).numpy().tolist() == expected
    key = "".join(["key", "dims"])  # Not interned, as names in ** may be.
    assert tf.reduce_sum(x, **{"axis": 1, key.replace("key", "keep"): True}).shape == [2, 1]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: tf.reduce_sum(), "missing required argument: 'input_tensor'"),
        (lambda: tf.reduce_sum([1], axes=0), "unexpected keyword argument 'axes'"),
        (lambda: tf.reduce_sum([1], input_tensor=[1]), "multiple values for argument"),
        (lambda: tf.reduce_sum([1], 0, False, None, 1), "at most 4 positional arguments but 5"),
        (lambda: tf.nn.conv2d([1], [1], "a", "SAME"), "argument 'strides': Expected int"),
        (lambda: tf.nn.conv2d([1], [1], 1, 1), "a list of pairs"),
        (lambda: tf.reduce_sum([1], name=1), "Expected string"),
    ],
)
def test_a_wrong_call_is_a_type_error_that_says_so(call: Any, message: str) -> None:
    @graven.function
    def traced() -> Any:
        return call()

    with pytest.raises(TypeError, match=message):
        traced()


def test_a_name_is_that_of_the_node_and_must_be_one() -> None:
    @graven.function
    def f(x: Any) -> Any:
        return tf.reduce_sum(x, name="total") + tf.nn.moments(x, [0], name="of_x")[0]

    names = {op.name for op in f.get_concrete_function(tf.ones([2])).graph.get_operations()}
    assert {"total", "total/Const", "of_x/mean"} <= names

    @graven.function
    def bad(x: Any) -> Any:
        return tf.reduce_sum(x, name="not a name")

    with pytest.raises(ValueError, match="'not a name' is not a valid"):
        bad(tf.ones([2]))


def test_the_names_of_a_record_are_one_object() -> None:
    assert tf.reduce_sum is tf.math.reduce_sum
    assert tf.reduce_sum.__name__ == "reduce_sum"
    assert list(inspect.signature(tf.nn.moments).parameters) == [
        "x", "axes", "shift", "keepdims", "name",
    ]  # fmt: skip


def test_an_exception_of_an_argument_arrives_as_it_is() -> None:
    class Bad:
        def __bool__(self) -> bool:
            raise KeyError("mine")

        def __index__(self) -> int:
            raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        tf.reduce_sum([1.0], keepdims=Bad())
    with pytest.raises(KeyError, match="mine"):
        tf.random.uniform([2], seed=Bad())


def test_a_type_answers_for_a_function_that_it_is_registered_with() -> None:
    class Rows:
        def __init__(self, rows: list[float]) -> None:
            self.rows = rows

    def sums(input_tensor: Rows, axis: Any = None, **rest: Any) -> Any:
        return "sum", input_tensor.rows, axis, rest

    _engine.dispatch("math.reduce_sum", Rows, sums)

    class More(Rows):
        pass

    assert tf.reduce_sum(More([1.0]), keepdims=True) == ("sum", [1.0], None, {"keepdims": True})
    assert tf.reduce_sum([1.0, 2.0]).numpy() == 3.0
    with pytest.raises(ValueError, match="no such function"):
        _engine.dispatch("nope", Rows, sums)


def test_what_numpy_and_tensors_give_as_axes_and_sizes() -> None:
    x = tf.ones([2, 3])
    for axis in (np.int64(1), np.array(1), tf.constant(1), [np.int32(1)], (1,), range(1, 2)):
        assert tf.reduce_sum(x, axis).numpy().tolist() == [3.0, 3.0]
    assert tf.reduce_sum(x, []).shape == [2, 3]
    for shape in ([2, 3], (2, 3), tf.TensorShape([2, 3]), np.array([2, 3]), tf.shape(x),
                  [tf.constant(2), 3], tf.TensorShape([2, 3]).as_list()):  # fmt: skip
        assert tf.random.uniform(shape, seed=1).shape == [2, 3]
    with pytest.raises(ValueError, match="needs a fully known shape"):
        tf.random.uniform(tf.TensorShape([None, 3]))


@pytest.mark.parametrize("name", ["math.reduce_sum", "nn.relu", "raw_ops.Relu", "roll"])
def test_a_function_of_a_record_is_pickled_and_copied_by_its_name(name: str) -> None:
    function = _public.function(name)
    assert pickle.loads(pickle.dumps(function)) is function
    assert copy.deepcopy(function) is function
    assert function.__module__ == f"graven.{name}".rpartition(".")[0]


@pytest.mark.parametrize("axis", [-2, -1, 0, 1])
def test_numbers_between_two_vectors_lie_along_any_new_axis(axis: int) -> None:
    start, stop = np.array([0.0, 10.0]), np.array([4.0, 30.0])
    y = graven.linspace(start, stop, 5, axis=axis)
    np.testing.assert_allclose(y.numpy(), np.linspace(start, stop, 5, axis=axis))
    with pytest.raises(ValueError, match=r"axis must be in \[-2, 1\], got -3"):
        graven.linspace(start, stop, 5, axis=-3)
