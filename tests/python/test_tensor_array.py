"""tf.TensorArray where Graven differs from TensorFlow, and what its conformance tests leave out."""

from typing import Any

import graven as tf
import numpy as np
import pytest


def test_the_gradient_of_a_repeated_gather_adds_up() -> None:
    """TensorFlow's traced one counts an index that repeats once; its eager one adds up."""

    def gradient(x: tf.Tensor) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.TensorArray("float32", 3).unstack(x).gather([2, 0, 2]) * [1.0, 2.0, 4.0]
        return tape.gradient(y, x)

    x = tf.constant([1.0, 2.0, 3.0])
    for f in (gradient, tf.function(gradient)):
        assert f(x).numpy().tolist() == [2.0, 0.0, 5.0]


def test_an_array_is_fed_to_a_function_and_given_back() -> None:
    """In TensorFlow an array is a constant of the trace, and comes back as its flow."""
    traces = 0

    @tf.function
    def doubled(array: tf.TensorArray) -> tf.TensorArray:
        nonlocal traces
        traces += 1
        return tf.TensorArray("float32", 2).unstack(array.stack() * 2.0)

    for values in ([1.0, 2.0], [3.0, 4.0]):
        array = tf.TensorArray("float32", 2, clear_after_read=False).unstack(values)
        result = doubled(array)
        assert isinstance(result, tf.TensorArray)
        assert result.read(1).numpy() == 2 * values[1]
        assert result.write(0, 9.0).stack().numpy()[0] == 9.0
        assert array.stack().numpy().tolist() == values
    assert traces == 1


def test_gradients_flow_through_arrays_that_cross_functions() -> None:
    @tf.function
    def fill(x: tf.Tensor) -> tf.TensorArray:
        return tf.TensorArray("float32", 2).write(0, x * x).write(1, x)

    @tf.function
    def total(array: tf.TensorArray) -> Any:
        return array.read(0) * 3.0 + array.read(1)

    x = tf.constant(5.0)
    for f in (lambda x: total(fill(x)), tf.function(lambda x: total(fill(x)), autograph=False)):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        assert tape.gradient(y, x).numpy() == 31.0


def test_a_spec_says_what_an_array_is() -> None:
    array = tf.TensorArray("int32", 2, dynamic_size=True, element_shape=[None])
    spec = tf.type_spec_from_value(array)
    assert spec == tf.TensorArraySpec([None], tf.int32, dynamic_size=True)
    assert spec == tf.TensorArraySpec.from_value(array)
    assert spec.value_type is tf.TensorArray
    assert spec.is_compatible_with(array)
    assert not spec.is_compatible_with(tf.TensorArray("float32", 2))
    with pytest.raises(TypeError, match="Expected value to be a TensorArray"):
        tf.TensorArraySpec.from_value(1)  # type: ignore[arg-type]


def test_an_array_is_one_leaf_of_a_structure() -> None:
    array = tf.TensorArray("int32", 2)
    assert tf.nest.flatten({"a": [array, 1]}) == [array, 1]
    assert not tf.is_tensor(array)
    with pytest.raises(TypeError):
        iter(array)  # type: ignore[call-overload]


def test_eagerly_an_array_may_be_made_of_the_flow_of_another() -> None:
    array = tf.TensorArray("float32", 3, element_shape=[2]).write(1, [1.0, 2.0])
    other = tf.TensorArray("float32", flow=array.flow, element_shape=[2], clear_after_read=False)
    assert other.size().numpy() == 3
    assert other.stack().numpy().tolist() == [[0, 0], [1, 2], [0, 0]]
    other.write(0, [5.0, 6.0])
    assert other.read(0).numpy().tolist() == [5, 6]
    assert array.read(0).numpy().tolist() == [0, 0]


def test_a_handle_is_refused() -> None:
    with pytest.raises(ValueError, match="handle"):
        tf.TensorArray("float32", 2, handle=tf.constant(1))


@pytest.mark.parametrize("traced", [False, True])
def test_indices_of_int64_are_refused_in_graphs(traced: bool) -> None:
    def f() -> Any:
        return tf.TensorArray("float32", 2).write(tf.constant(1, tf.int64), 1.0).read(1)

    if not traced:
        assert f().numpy() == 1.0
        return
    with pytest.raises(TypeError):
        tf.function(f, autograph=False)()


def test_parts_of_one_length_tell_their_shape() -> None:
    @tf.function(autograph=False)
    def f(x: tf.Tensor) -> Any:
        part = tf.TensorArray("float32", 2).split(x, [2, 2]).read(1)
        assert part.shape == [2, 3]
        return part

    x = np.arange(12, dtype="float32").reshape(4, 3)
    np.testing.assert_array_equal(f(tf.constant(x)), x[2:])


@pytest.mark.parametrize("traced", [False, True])
def test_elements_that_were_not_written_are_joined_as_the_others(traced: bool) -> None:
    """They have the one length of those that were written."""

    def joined(x: tf.Tensor) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.TensorArray("float32", 3).write(1, x).concat()
        return y, tape.gradient(y, x, output_gradients=tf.range(6.0))

    y, dx = (tf.function(joined) if traced else joined)(tf.constant([1.0, 2.0]))
    assert y.numpy().tolist() == [0.0, 0.0, 1.0, 2.0, 0.0, 0.0]
    assert dx.numpy().tolist() == [2.0, 3.0]


def test_eagerly_parts_may_differ_in_length() -> None:
    array = tf.TensorArray("float32", 2).split(tf.constant([1.0, 2.0, 3.0]), [1, 2])
    assert array.element_shape.rank is None
    assert array.concat().numpy().tolist() == [1.0, 2.0, 3.0]
    assert array.read(1).numpy().tolist() == [2.0, 3.0]
    with pytest.raises(tf.errors.InvalidArgumentError, match="TensorArray dtype is int32"):
        tf.TensorArray("int32", 1).split(tf.constant([1.0]), [1])


def test_eagerly_indices_count_as_in_a_python_list() -> None:
    array = tf.TensorArray("float32", 3).unstack([1.0, 2.0, 3.0])
    assert array.gather([-1, 0]).numpy().tolist() == [3.0, 1.0]
    with pytest.raises(IndexError, match="of an array of size 3"):
        array.gather([-4])
    for index in (0.0, "0", [0], tf.constant([0]), tf.constant(0.0)):
        with pytest.raises(TypeError):
            array.write(index, 4.0)
        with pytest.raises(TypeError):
            array.read(index)
    assert array.write(np.int64(0), 4.0).read(tf.constant(0)).numpy() == 4.0


def test_what_is_no_index_or_no_vector_is_refused_in_graphs() -> None:
    @tf.function(input_signature=[tf.TensorSpec(None, "int32")])
    def write(i: tf.Tensor) -> Any:
        return tf.TensorArray("float32", 2).write(i, 1.0).stack()

    assert write(tf.constant(1)).numpy().tolist() == [0.0, 1.0]
    with pytest.raises(tf.errors.InvalidArgumentError, match="index must be a scalar"):
        write(tf.constant([1]))
    with pytest.raises(tf.errors.InvalidArgumentError, match="at least a vector"):
        tf.function(lambda: tf.TensorArray("float32", 2).unstack(tf.constant(1.0)).stack())()


def test_a_loop_tells_the_shape_of_the_elements_that_it_writes() -> None:
    shapes: list[Any] = []

    @tf.function
    def rows(n: Any, x: Any) -> Any:
        array = tf.TensorArray(tf.float32, n)
        for i in tf.range(n):
            array = array.write(i, x * 2.0)
        shapes.append(array.element_shape)
        stacked = array.stack()
        shapes.append(stacked.shape)
        return tf.reshape(stacked, [-1, stacked.shape[-1]])

    assert rows(tf.constant(2), tf.ones([3])).numpy().tolist() == [[2.0] * 3] * 2
    assert rows(tf.constant(0), tf.ones([3])).shape == [0, 3]
    assert [shape.as_list() for shape in shapes] == [[3], [None, 3]]


def test_loops_in_loops_tell_the_shape_of_elements_too() -> None:
    @tf.function
    def joined(n: Any, x: Any) -> Any:
        array = tf.TensorArray(tf.float32, 0, dynamic_size=True)
        i = 0
        while i < n:
            for _ in tf.range(2):
                array = array.write(array.size(), x)
            if i > 1:
                array = array.write(array.size(), x * 2.0)
            i += 1
        return array.concat()

    assert joined(tf.constant(0), tf.ones([1])).shape == [0]
    assert joined(tf.constant(3), tf.ones([1])).numpy().tolist() == [1.0] * 6 + [2.0]


def test_an_array_that_a_loop_of_each_row_fills() -> None:
    def filled(row: Any) -> Any:
        array = tf.TensorArray(tf.float32, 3)
        for i in tf.range(3):
            array = array.write(i, row * 2.0)
        return array.stack()

    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    wanted = [[[2.0 * value for value in row]] * 3 for row in x.numpy().tolist()]
    of_rows = tf.autograph.to_graph(filled)
    assert tf.function(lambda x: tf.vectorized_map(of_rows, x))(x).numpy().tolist() == wanted


def test_a_write_that_is_not_used_tells_the_shape_of_the_elements() -> None:
    """In a graph the array stays as it was: of zeros, of which the shape is known now."""

    def stacked() -> Any:
        array = tf.TensorArray("float32", 2)
        array.write(0, [1.0, 2.0])
        return array.stack()

    assert tf.function(stacked)().numpy().tolist() == [[0.0, 0.0], [0.0, 0.0]]

    @tf.function
    def two_shapes() -> Any:
        array = tf.TensorArray("float32", 2)
        array.write(0, [1.0, 2.0])
        return array.write(1, [1.0]).stack()

    with pytest.raises(ValueError, match="Inconsistent shapes"):
        two_shapes()


def test_parts_of_several_lengths_may_differ_from_the_shape_of_the_elements() -> None:
    """TensorFlow compares the other axes only."""

    def parts() -> Any:
        array = tf.TensorArray("float32", 2, element_shape=[1])
        array = array.split([1.0, 2.0, 3.0], [1, 2])
        return array.read(0), array.read(1)

    for f in (parts, tf.function(parts)):
        assert [part.numpy().tolist() for part in f()] == [[1.0], [2.0, 3.0]]


def test_eager_numbers_of_elements_are_a_vector() -> None:
    array = tf.TensorArray("float32", 3, clear_after_read=False).unstack([1.0, 2.0, 3.0])
    for numbers in (1, [[1, 2]]):
        with pytest.raises(TypeError, match="must be a vector"):
            array.gather(numbers)
        with pytest.raises(TypeError, match="must be a vector"):
            array.scatter(numbers, [1.0])


def test_a_loop_that_returns_early_carries_an_array() -> None:
    @tf.function
    def f(x: Any) -> Any:
        out = tf.TensorArray(tf.float32, 0, dynamic_size=True)
        for e in x:
            out = out.write(out.size(), e)
            if e > 1.5:
                return tf.reduce_sum(out.stack())
        return out.stack()[0]

    # What is returned has no shape before the loop, so that the loop gives shape_invariants.
    assert float(f(tf.constant([1.0, 2.0, 3.0]))) == 3.0
    assert float(f(tf.constant([1.25, 1.0]))) == 1.25
