"""copy.copy and copy.deepcopy of Functions and of objects that hold them."""

import copy
import pickle
from typing import Any

import graven as tf


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
