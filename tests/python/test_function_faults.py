"""Functions whose bodies fail, mutate what they were given, or let tensors of a trace escape."""

import gc
import weakref
from typing import Any

import graven as tf
import numpy as np
import pytest


def test_a_recursive_call_inside_a_first_call_that_fails_leaves_nothing_behind() -> None:
    # The row of the inner call named an entry that the failed first call had dropped: a crash.
    @tf.function
    def f(x: Any, depth: int) -> Any:
        if depth == 0:
            return x * 2.0
        f(x, 0)
        raise KeyError("outer")

    for _ in range(3):
        with pytest.raises(KeyError):
            f(tf.constant(1.0), 1)
    for _ in range(3):
        assert f(tf.constant(1.0), 0).numpy() == 2.0


def test_a_body_may_drop_the_objects_of_a_list_argument() -> None:
    # The key of the call named an object that the body had freed: a crash.
    class Item:
        pass

    items: list[Any] = []

    @tf.function
    def f(_: Any) -> Any:
        items.clear()
        gc.collect()
        return tf.constant(1.0)

    for _ in range(50):
        items.append(Item())
        assert f(items).numpy() == 1.0


@pytest.fixture
def escaped() -> Any:
    kept = []

    @tf.function
    def leak(x: Any) -> Any:
        kept.append(x * 2.0)
        return x

    leak(tf.constant([1.0, 2.0]))
    return kept[0]


def test_an_escaped_tensor_is_refused_as_an_argument_of_a_cached_call(escaped: Any) -> None:
    # It has no memory: the call returned [1, 1].
    @tf.function
    def f(x: Any) -> Any:
        return x + 1.0

    np.testing.assert_array_equal(f(tf.constant([1.0, 2.0])), [2.0, 3.0])
    with pytest.raises(TypeError, match="out of scope"):
        f(escaped)
    with pytest.raises(TypeError, match="out of scope"):
        f.get_concrete_function(tf.TensorSpec([2], tf.float32))(escaped)


def test_an_escaped_tensor_is_refused_as_a_capture(escaped: Any) -> None:
    @tf.function
    def f(x: Any) -> Any:
        return x + escaped

    for _ in range(2):
        with pytest.raises(TypeError, match="out of scope"):
            f(tf.constant([1.0, 2.0]))


def test_an_escaped_tensor_is_refused_as_the_value_of_a_variable(escaped: Any) -> None:
    with pytest.raises(TypeError, match="out of scope"):
        tf.Variable(escaped)


@pytest.mark.parametrize("dtype", [tf.int64, tf.float32, tf.complex128])
def test_a_tensor_whose_bytes_do_not_fit_in_64_bits_is_refused(dtype: Any) -> None:
    # 2**62 elements of 4 bytes are 0 bytes modulo 2**64: a crash.
    with pytest.raises(tf.errors.ResourceExhaustedError, match="4611686018427387904 elements"):
        tf.zeros([2**62], dtype)


def test_a_reshape_to_more_elements_than_can_be_counted_is_refused() -> None:
    # 2**64 elements are 0 modulo 2**64, so an empty tensor seemed to fit.
    with pytest.raises(tf.errors.InvalidArgumentError, match="too many elements"):
        tf.reshape(tf.zeros([0]), tf.constant([2**32, 2**32], tf.int64))


def test_a_method_that_replaces_a_dead_one_is_the_one_that_is_called() -> None:
    # Bindings were found by the address of the Function, which a later one may have again: the old
    # method was called.
    class Owner:
        pass

    owner = Owner()
    for i in range(100):
        method = tf.function(lambda self, i=i: tf.constant(i))
        bound = method.__get__(owner, Owner)
        assert bound().numpy() == i
        del method, bound


def test_the_functions_of_dead_instances_go() -> None:
    class Owner:
        @tf.function
        def method(self, x: Any) -> Any:
            return x * 2.0

    kinds = type(Owner.method)
    owners = [Owner() for _ in range(100)]
    for owner in owners:
        owner.method(tf.constant(1.0))
    del owner, owners
    for _ in range(200):
        Owner().method(tf.constant(1.0))
    gc.collect()
    functions = [f for f in gc.get_objects() if isinstance(f, kinds)]
    of_owner = [f for f in functions if f.python_function is Owner.method.python_function]
    # Owner.method itself, and what one pass of the map leaves for the next.
    assert 1 <= len(of_owner) <= 9


def test_an_initial_value_that_needs_an_argument_cannot_be_lifted() -> None:
    # get_concrete_function left a function that ran the conditional of a first call.
    held: list[Any] = []

    @tf.function
    def f(x: Any) -> Any:
        if not held:
            held.append(tf.Variable(x * 2.0))
        return held[0] + x

    with pytest.raises(tf.errors.InternalError, match=r"Unable to lift tensor .* the argument x"):
        f.get_concrete_function(tf.TensorSpec([]))
    assert not bool(held[0].is_initialized())
    held.clear()
    assert f(tf.constant(1.0)).numpy() == 3.0


def test_the_initialization_function_takes_values_from_outside() -> None:
    start = tf.fill([200], 3.0)
    held: list[Any] = []

    @tf.function
    def f(x: Any) -> Any:
        if not held:
            held.append(tf.Variable(start * 2.0))
        return held[0][0] * x

    initialize = f.get_initialization_function(tf.TensorSpec([]))
    assert len(initialize.captured_inputs) == 2
    assert initialize() is None
    assert held[0].numpy().tolist() == [6.0] * 200
    assert f(tf.constant(2.0)).numpy() == 12.0


def test_a_deferred_capture_of_another_type_is_a_type_error_at_the_call() -> None:
    big, box = tf.ones([200]), [tf.fill([200], 5.0)]
    concrete = tf.function(lambda: big * 2.0).get_concrete_function()
    concrete.replace_capture_with_deferred_capture(big, lambda: box[0], tf.TensorSpec([200]))
    assert concrete()[0].numpy() == 10.0
    assert concrete.captured_inputs[0] is box[0]
    box[0] = tf.ones([200], tf.int32)
    with pytest.raises(TypeError, match="Can not cast"):
        concrete()
    with pytest.raises(ValueError, match="no such capture"):
        concrete.replace_capture_with_deferred_capture(
            tf.ones([200]), lambda: big, tf.TensorSpec([200])
        )


def test_the_function_of_a_deferred_capture_is_collected_with_the_function() -> None:
    def build() -> Any:
        class Token:
            pass

        token, big = Token(), tf.ones([200])
        f = tf.function(lambda: (token, big * 2.0)[1])
        concrete = f.get_concrete_function()
        concrete.replace_capture_with_deferred_capture(
            big, lambda: (f, token, big)[2], tf.TensorSpec([200])
        )
        concrete()
        f()
        return weakref.ref(token)

    reference = build()
    gc.collect()
    assert reference() is None


@pytest.mark.parametrize("argument", [None, {"a": 1}], ids=str)
def test_a_pure_function_refuses_what_is_no_tensor(argument: Any) -> None:
    f = tf.function(lambda x: x, experimental_implements="id")
    with pytest.raises(ValueError, match="Tensor"):
        f(argument)
    with pytest.raises(ValueError, match="Tensor"):
        f.get_concrete_function(x=argument)


def test_a_pure_function_takes_keywords_and_specs() -> None:
    f = tf.function(lambda x, y=2: x + y, experimental_implements="add")
    assert f(1, y=[3, 4]).numpy().tolist() == [4, 5]
    concrete = f.get_concrete_function(tf.TensorSpec([], tf.int32), y=5)
    assert concrete(tf.constant(1), tf.constant(6)).numpy() == 7


@pytest.mark.parametrize(
    "take",
    [
        lambda y: y[1:],
        lambda y: tf.reduce_sum(y[1:]),
        lambda y: tf.bitwise.bitwise_and(y, tf.zeros([0], tf.int32)) + 1,
        lambda y: tf.tile(y, [0]),
        lambda y: tf.stack([y[0], 3])[1],
        lambda y: tf.concat([[3], y], 0)[0],
    ],
    ids=["slice", "sum", "broadcast", "tile", "stack", "concat"],
)
def test_what_is_known_of_a_vector_does_not_hide_that_an_op_refuses_its_elements(take: Any) -> None:
    # Inference knew the elements, there were none or they were others, and a constant took their
    # place: the op that would have refused them was not run.
    def divide(x: Any) -> Any:
        return take(8 // x)

    def gather(x: Any) -> Any:
        return take(tf.gather([7, 8], x))

    for work, good, bad in ((divide, [4], [0]), (gather, [1], [2])):
        function = tf.function(work)
        np.testing.assert_array_equal(function(tf.constant(good)), work(tf.constant(good)))
        with pytest.raises(tf.errors.InvalidArgumentError) as eager:
            work(tf.constant(bad))
        with pytest.raises(tf.errors.InvalidArgumentError) as traced:
            function(tf.constant(bad))
        assert str(eager.value) in str(traced.value)


# TensorFlow has raised a ValueError up to 2.11, and a TypeError since.
@pytest.mark.parametrize(
    "arguments", [(tf.constant([[1]]),), (tf.constant([1.5]),), (1.5,), (1, 2), ("text",), ()]
)
def test_what_does_not_fit_an_input_signature_has_both_classes(arguments: tuple[Any, ...]) -> None:
    f = tf.function(lambda x: x, input_signature=[tf.TensorSpec([None], tf.int32)])
    for kind in (TypeError, ValueError, tf.errors.InputSignatureError):
        with pytest.raises(kind, match=r"Binding inputs .* Python inputs incompatible with"):
            f(*arguments)
    with pytest.raises(TypeError) as without:
        tf.function(lambda x: x)(1, 2)
    assert not isinstance(without.value, ValueError)
