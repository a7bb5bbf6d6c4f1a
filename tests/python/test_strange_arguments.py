"""Arguments that have no end, change while they are read, or cannot even be printed."""

import gc
import sys
import weakref
from collections.abc import Callable
from typing import Any

import attrs
import graven as tf
import numpy as np
import pytest


@tf.function
def ignore(x: Any) -> Any:
    return tf.constant(1.0)


def test_a_list_that_holds_itself_is_a_recursion_error() -> None:
    # These ended the process: the stack ran over.
    endless: list[Any] = []
    endless.append(endless)
    with pytest.raises(RecursionError):
        ignore(endless)


def test_a_dict_that_holds_itself_is_a_recursion_error() -> None:
    endless: dict[str, Any] = {}
    endless["self"] = endless
    with pytest.raises(RecursionError):
        ignore(endless)


def test_an_attrs_object_that_holds_itself_is_a_recursion_error() -> None:
    @attrs.define(eq=False)
    class Node:
        next: Any

    node = Node(None)
    node.next = node
    with pytest.raises(RecursionError):
        ignore(node)


def test_an_object_that_wraps_itself_is_a_recursion_error() -> None:
    class Wrapper:
        @property
        def __wrapped__(self) -> Any:
            return self

    with pytest.raises(RecursionError):
        ignore(Wrapper())


def test_a_result_that_holds_itself_is_a_recursion_error() -> None:
    endless: list[Any] = []
    endless.append(endless)
    with pytest.raises(RecursionError):
        tf.function(lambda: endless)()


def test_a_list_that_holds_itself_is_no_tensor() -> None:
    endless: list[Any] = []
    endless.append(endless)
    with pytest.raises((ValueError, RecursionError)):
        tf.constant(endless)


def test_a_long_chain_of_lists_is_an_argument() -> None:
    nested: list[Any] = []
    for _ in range(150):
        nested = [nested]
    assert ignore(nested).numpy() == 1.0
    assert ignore(nested).numpy() == 1.0
    assert ignore.experimental_get_tracing_count() >= 1


def test_an_unhashable_object_whose_repr_fails_is_a_type_error() -> None:
    class Unprintable:
        __hash__ = None  # type: ignore[assignment]

        def __repr__(self) -> str:
            raise ValueError("no text")

    with pytest.raises(TypeError, match="generic TraceType"):
        ignore(Unprintable())


def test_a_list_may_change_while_it_is_read() -> None:
    # What was read from it was freed, and read again.
    class Emptying:
        def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
            items.clear()
            gc.collect()
            return np.float32(1.0).reshape(())

    class Item:
        pass

    for _ in range(20):
        items: list[Any] = [Item(), Emptying(), Item(), [Item()]]
        assert ignore(items).numpy() == 1.0


def test_a_dict_may_change_while_it_is_read() -> None:
    class Emptying:
        def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
            items.clear()
            gc.collect()
            return np.float32(1.0).reshape(())

    for _ in range(20):
        items: dict[str, Any] = {"a": Emptying(), "b" * 100: [1.0] * 100, "c": "d" * 100}
        assert ignore(items).numpy() == 1.0


def test_what_changes_after_it_was_read_is_not_remembered() -> None:
    # The next call with such arguments ran a trace that was made for others: an internal error.
    class Emptying:
        def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
            items.clear()
            return np.float32(2.0).reshape(())

    @tf.function
    def total(items: Any, x: Any) -> Any:
        return tf.add_n([*items, x])

    for _ in range(3):
        items = [tf.constant(1.0), tf.constant(1.0)]
        assert total(items, Emptying()).numpy() == 2.0


def test_a_list_of_inputs_may_change_while_it_is_read() -> None:
    class Emptying:
        def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
            items.clear()
            gc.collect()
            return np.ones([1], np.float32)

    for _ in range(20):
        items: list[Any] = [Emptying(), *([1.0 * i] for i in range(100))]
        assert tf.concat(items, 0).shape == [101]


def test_a_list_that_holds_itself_and_tensors_is_a_recursion_error() -> None:
    endless: list[Any] = [[tf.constant(1.0)]]
    endless.append(endless)
    with pytest.raises(RecursionError):
        tf.convert_to_tensor(endless)


def test_a_list_that_holds_itself_behind_a_tensor_is_a_recursion_error() -> None:
    endless: list[Any] = [1.0]
    endless.append(endless)
    with pytest.raises(RecursionError):
        tf.convert_to_tensor([tf.constant(1.0), endless])


def test_a_class_that_changes_an_argument_when_it_is_looked_at_leaves_no_wrong_trace() -> None:
    box = [1.0]

    class Changing(type):
        def __getattr__(cls, name: str) -> Any:
            box[0] = 2.0
            raise AttributeError(name)

    class Strange(metaclass=Changing):
        pass

    first = tf.function(lambda numbers, _: tf.constant(numbers[0]))
    strange = Strange()
    first(box, strange)
    assert first([1.0], strange).numpy() == 1.0
    assert first([2.0], strange).numpy() == 2.0


@pytest.mark.parametrize("index", [2**63 - 1, -(2**63), 2**31])
def test_an_index_at_the_end_of_its_range_is_out_of_bounds(index: int) -> None:
    with pytest.raises((tf.errors.InvalidArgumentError, IndexError), match=r"out of bounds"):
        tf.constant([1.0, 2.0])[index]


def test_bools_of_any_bytes_are_true() -> None:
    # Two bools that were both true compared as different.
    bools = np.array([0, 1, 2, 255], np.uint8).view(np.bool_)
    tensor = tf.constant(bools)
    np.testing.assert_array_equal(tensor.numpy().view(np.uint8), [0, 1, 1, 1])
    np.testing.assert_array_equal(
        tf.equal(tensor, tf.constant([False, True, True, True])).numpy(), [True] * 4
    )


def test_a_function_that_was_not_initialised_says_so() -> None:
    kind: Any = type(ignore)
    empty = kind.__new__(kind)
    uses: list[Callable[[], Any]] = [
        lambda: empty(1.0),
        lambda: empty.experimental_get_tracing_count(),
        lambda: empty.python_function,
        lambda: empty._resolve((), {}),
        lambda: empty._entries(),
        lambda: empty._cache_info(),
        lambda: empty._clear_cache(),
    ]
    for use in uses:
        with pytest.raises(RuntimeError, match="not initialised"):
            use()


def test_names_that_utf8_cannot_write_are_no_obstacle_to_an_error() -> None:
    def fails(x: Any) -> Any:
        tf.debugging.assert_equal(x, 0.0)
        return x

    code = fails.__code__.replace(co_name="\ud800")
    fails.__code__ = code
    function: Any = tf.function(fails)
    with pytest.raises(tf.errors.InvalidArgumentError):
        function(tf.constant(1.0))


def test_classes_of_arguments_leave_nothing_behind() -> None:
    # A weak reference to each class stayed for ever.
    def call() -> None:
        class Option:
            pass

        tf.function(lambda option: tf.constant(1.0))(Option())

    def weak_references() -> int:
        gc.collect()
        return sum(type(item) is weakref.ReferenceType for item in gc.get_objects())

    call()
    before = weak_references()
    for _ in range(30):
        call()
    assert weak_references() - before < 10


def test_references_to_arguments_are_given_back() -> None:
    class Item:
        pass

    item = Item()
    arguments = [item, {"a": item}, (item,)]
    ignore(arguments)
    before = sys.getrefcount(item)
    for _ in range(100):
        ignore(arguments)
    assert sys.getrefcount(item) == before
