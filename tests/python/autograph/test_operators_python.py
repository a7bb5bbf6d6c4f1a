"""Logic, builtins, lists, names and asserts of converted code."""

from typing import Any

import graven as tf
import pytest
from graven.autograph import _operators as ag
from python.autograph.converted_code import function, traced

EMPTY: Any = {}
ONE: Any = 1
CALLER = ag.FunctionScope("f", "fscope", ag.STD)


def call(f: Any, *args: Any, **kwargs: Any) -> Any:
    return ag.converted_call(f, args, kwargs or None, CALLER)


# Names


def test_an_unbound_name_is_refused_when_it_is_read() -> None:
    with pytest.raises(UnboundLocalError, match="'x' is used before assignment"):
        ag.ld(ag.Undefined("x"))
    assert ag.ld(5) == 5


def test_an_unbound_name_answers_attributes_and_items_with_itself() -> None:
    x: Any = ag.Undefined("x")
    assert x.a is x and x["k"] is x and x.a[0].b is x
    assert repr(x) == "x"


@pytest.mark.parametrize(
    "load", [lambda: EMPTY["k"], lambda: [][0], lambda: ONE.a, lambda: ONE["k"]]
)
def test_a_composite_that_is_not_there_is_unbound(load: Any) -> None:
    found = ag.ldu(load, "d['k']")
    assert type(found) is ag.Undefined and repr(found) == "d['k']"


def test_a_composite_is_read() -> None:
    assert ag.ldu(lambda: {"k": 1}["k"], "d['k']") == 1


# Logic


def test_python_operands_are_pythons() -> None:
    assert ag.and_(lambda: [], lambda: 1 / 0) == []
    assert ag.or_(lambda: "left", lambda: 1 / 0) == "left"
    assert ag.and_(lambda: 1, lambda: "right") == "right"
    assert ag.not_([]) is True


def test_eager_operands_decide_at_once() -> None:
    true, false = tf.constant(True), tf.constant(False)
    assert ag.and_(lambda: false, lambda: 1 / 0).numpy() == False  # noqa: E712
    assert ag.or_(lambda: false, lambda: "right") == "right"
    assert ag.not_(true).numpy() == False  # noqa: E712


@pytest.mark.parametrize("left", [True, False])
def test_a_tensor_on_the_left_stages_the_right(left: bool) -> None:
    def f(x: Any) -> Any:
        return ag.and_(lambda: x, lambda: True), ag.or_(lambda: x, lambda: False)

    assert traced(f, tf.constant(left)) == (left, left)


def test_equality_of_tensors_is_element_by_element() -> None:
    x = tf.constant([1, 2])
    assert ag.eq(x, 2).numpy().tolist() == [False, True]
    assert ag.not_eq(2, x).numpy().tolist() == [True, False]
    assert ag.eq("a", "a") is True and ag.not_eq("a", "a") is False


# Asserts


def test_an_assert_on_a_tensor_is_checked_when_the_function_runs() -> None:
    def f(x: Any) -> Any:
        ag.assert_stmt(x > 0, lambda: "not positive")
        return x

    g = function(f)
    assert g(tf.constant(1)).numpy() == 1
    with pytest.raises(tf.errors.InvalidArgumentError, match="not positive"):
        g(tf.constant(-1))


def test_an_assert_on_python_values_is_pythons() -> None:
    ag.assert_stmt([1], lambda: 1 / 0)
    with pytest.raises(AssertionError, match="empty"):
        ag.assert_stmt([], lambda: "empty")


# Lists


def test_python_lists_stay_lists() -> None:
    items = ag.new_list()
    assert ag.list_append(items, 1) is items
    assert ag.list_pop(ag.list_append(items, 2), 0) == ([2], 1)
    assert ag.list_pop(items) == ([], 2)
    assert ag.set_item({"k": 1}, "k", 2) == {"k": 2}
    assert ag.get_item({"k": 1}, "k") == 1


@pytest.mark.parametrize("i", [1, -1, tf.constant(1), tf.constant(-1, tf.int64)], ids=repr)
def test_a_row_of_a_tensor_is_set_in_a_copy(i: Any) -> None:
    x = tf.constant([[1, 2], [3, 4]])
    assert ag.set_item(x, i, 7).numpy().tolist() == [[1, 2], [7, 7]]
    assert ag.set_item(x, i, [5, 6]).numpy().tolist() == [[1, 2], [5, 6]]
    assert x.numpy().tolist() == [[1, 2], [3, 4]]


@pytest.mark.parametrize(
    "i", [slice(0, 1), (0, 1), "k", tf.constant([0]), tf.constant(1.0)], ids=repr
)
def test_only_rows_of_a_tensor_can_be_set(i: Any) -> None:
    with pytest.raises(TypeError, match="Only a row of a tensor can be set"):
        ag.set_item(tf.constant([1, 2]), i, 7)


# Builtins


def test_builtins_on_python_values_are_pythons() -> None:
    assert call(abs, -1) == 1 and call(len, "ab") == 2 and call(int, "ff", 16) == 255
    assert call(int, "ff", base=16) == 255 and call(float) == 0.0 and call(int) == 0
    assert list(call(range, 1, 6, 2)) == [1, 3, 5] and call(sorted, [2, 1], reverse=True) == [2, 1]
    assert list(call(zip, [1], [2])) == [(1, 2)] and list(call(enumerate, "a", 1)) == [(1, "a")]
    assert call(any, [0, 1]) is True and call(all, []) is True
    assert call(isinstance, 1, int) is True and call(dict, a=1) == {"a": 1}


def test_numeric_builtins_on_tensors_are_ops() -> None:
    def f(x: Any) -> Any:
        return call(abs, x), call(float, x), call(int, call(float, x))

    assert traced(f, tf.constant(-3)) == (3, -3.0, -3)


@pytest.mark.parametrize(("bounds", "expected"), [((3,), [0, 1, 2]), ((-3,), []), ((5, 2), [])])
def test_a_range_of_tensors_may_be_empty(bounds: Any, expected: Any) -> None:
    assert call(range, *map(tf.constant, bounds)).numpy().tolist() == expected
    assert call(range, *bounds[:-1], tf.constant(bounds[-1])).numpy().tolist() == expected


def test_the_length_of_a_tensor_is_a_number_if_it_is_known() -> None:
    assert call(len, tf.ones([3, 2])) == 3
    assert call(len, tf.Variable([1, 2])) == 2


@pytest.mark.parametrize(("shape", "value"), [([None], [1, 2]), (None, [1, 2])])
def test_the_length_of_a_tensor_is_a_tensor_if_it_is_not_known(shape: Any, value: Any) -> None:
    spec = tf.TensorSpec(shape, tf.int32)
    f = function(lambda x: call(len, x), input_signature=[spec])
    assert f(tf.constant(value)).numpy() == 2


def test_a_scalar_of_unknown_rank_has_no_length() -> None:
    spec = tf.TensorSpec(None, tf.int32)
    f = function(lambda x: call(len, x), input_signature=[spec])
    with pytest.raises(tf.errors.InvalidArgumentError, match="len requires non-zero rank"):
        f(tf.constant(1))


def test_a_vector_is_sorted() -> None:
    x = tf.constant([2, 3, 1])
    assert call(sorted, x).numpy().tolist() == [1, 2, 3]
    assert call(sorted, x, reverse=True).numpy().tolist() == [3, 2, 1]
    with pytest.raises(ValueError, match="1D"):
        call(sorted, tf.ones([1, 2]))


def test_print_of_tensors_prints_when_the_function_runs(capfd: Any) -> None:
    def f(x: Any) -> Any:
        call(print, "value", x, sep="=")
        call(print, "once")
        return x

    g = function(f)
    g(tf.constant(1))
    g(tf.constant(2))
    assert sorted(capfd.readouterr().out.split()) == ["once", "value=1", "value=2"]


def test_converted_code_is_not_converted_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Staged `and`, `or` and exits of loops were warned of, as code that is not in its file."""
    monkeypatch.setenv("AUTOGRAPH_STRICT_CONVERSION", "1")

    @tf.function
    def f(x: Any) -> Any:
        for i in tf.range(4):
            if x > 2.0 and (i > 5 or x > 3.0):
                break
            x += 1.0
        return x

    assert float(f(tf.constant(1.0))) == 4.0
