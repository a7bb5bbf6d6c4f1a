"""copy.copy and copy.deepcopy of Functions and of objects that hold them."""

import copy
import pickle
from typing import Any

import graven as tf
import pytest


class Model(tf.Module):
    def __init__(self) -> None:
        super().__init__()
        self.scale = tf.Variable(2.0)
        self.step = tf.function(self.body, input_signature=[tf.TensorSpec([None])])

    def body(self, x: Any) -> Any:
        return x * self.scale

    @tf.function
    def method(self, x: Any) -> Any:
        return x + self.scale


def test_a_copy_has_the_options_and_no_traces() -> None:
    f = tf.function(lambda x: x + 1, input_signature=[tf.TensorSpec([None], tf.int32)])
    f(tf.constant([1]))
    g = copy.copy(f)
    assert g is not f
    assert g.python_function is f.python_function
    assert g.input_signature == f.input_signature
    assert g.experimental_get_tracing_count() == 0
    assert g(tf.constant([1, 2])).numpy().tolist() == [2, 3]
    assert copy.deepcopy(f).python_function is f.python_function


def test_a_deep_copy_of_a_model_computes_with_its_own_variables() -> None:
    model = Model()
    x = tf.constant([1.0])
    model.step(x), model.method(x)
    other = copy.deepcopy(model)
    other.scale.assign(5.0)
    assert model.step(x).numpy().tolist() == [2.0]
    assert other.step(x).numpy().tolist() == [5.0]
    assert other.method(x).numpy().tolist() == [6.0]


def test_a_copy_of_a_method_stays_with_its_instance() -> None:
    model = Model()
    method = copy.copy(model.method)
    assert method is not model.method
    assert method(tf.constant([1.0])).numpy().tolist() == [3.0]


class Holder(tf.Module):
    def __init__(self) -> None:
        super().__init__()
        self.numbers = [1, [2, 3]]
        self.names = {"units": 3}


def test_a_module_with_containers_can_be_pickled() -> None:
    holder = pickle.loads(pickle.dumps(Holder()))
    assert holder.numbers == [1, [2, 3]]
    assert holder.names == {"units": 3}
    holder.numbers.append(4)
    assert len(holder.numbers) == 3


def plain(x: Any) -> Any:
    return x + 1


signed = tf.function(plain, input_signature=[tf.TensorSpec([None], tf.int32)])


@tf.function
def decorated(x: Any) -> Any:
    return x * 2


class Scaled:
    def __init__(self) -> None:
        self.k = 3
        self.step = tf.function(self.body)

    def body(self, x: Any) -> Any:
        return x * self.k

    @tf.function
    def method(self, x: Any) -> Any:
        return x + self.k


def test_functions_are_pickled_by_name_or_with_what_they_are_of() -> None:
    assert _pickled(decorated) is decorated and _pickled(Scaled.method) is Scaled.method
    other = _pickled(signed)
    assert other is not signed and other.input_signature == signed.input_signature
    assert other(tf.constant([1])).numpy().tolist() == [2]
    assert other.experimental_get_tracing_count() == 1


def test_objects_are_pickled_with_their_functions() -> None:
    scaled = Scaled()
    assert int(scaled.step(tf.constant(2))) == 6
    other = _pickled(scaled)
    other.k = 5
    assert (int(other.step(tf.constant(2))), int(other.method(tf.constant(2)))) == (10, 7)
    assert (int(scaled.step(tf.constant(2))), int(scaled.method(tf.constant(2)))) == (6, 5)
    assert int(_pickled(scaled.method)(tf.constant(2))) == 5


def test_a_function_of_a_lambda_cannot_be_pickled() -> None:
    with pytest.raises((pickle.PicklingError, AttributeError), match="<lambda>"):
        _pickled(tf.function(lambda x: x))


def _pickled(value: Any) -> Any:
    return pickle.loads(pickle.dumps(value))
