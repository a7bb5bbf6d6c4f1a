"""`if` and conditional expressions on tensors: what flows out of the branches."""

from collections.abc import Callable
from typing import Any

import graven as tf
import pytest
from graven.autograph import _operators as ag
from python.autograph.converted_code import Names, function, traced

ONE, MINUS = tf.constant(1), tf.constant(-1)


def branches(main: Any, orelse: Any, before: Any = 0, name: str = "y") -> Callable[[Any], Any]:
    """A function that binds a name to one of two values, made in the branches."""

    def f(x: Any) -> Any:
        names = Names(**{name: before})

        def bind(make: Any) -> None:
            setattr(names, name, make() if callable(make) else make)

        names.if_(x > 0, lambda: bind(main), lambda: bind(orelse))
        return names.get()[0]

    return f


def test_a_python_condition_touches_no_state() -> None:
    names = Names(y=0)

    def fail(*_: Any) -> Any:
        raise AssertionError("values flow by nonlocal")

    ag.if_stmt([], lambda: setattr(names, "y", 1), lambda: None, fail, fail, ("y",), 1)
    assert names.y == 0


def test_both_branches_are_traced_from_the_same_state() -> None:
    seen = []

    def f(x: Any) -> Any:
        names = Names(y=5)

        def branch(value: int) -> None:
            seen.append(names.y)
            names.y = value

        names.if_(x > 0, lambda: branch(1), lambda: branch(2))
        return names.y

    assert (traced(f, ONE), traced(f, MINUS)) == (1, 2)
    assert seen == [5, 5, 5, 5]


def test_names_that_are_not_used_afterwards_keep_their_values() -> None:
    def f(x: Any) -> Any:
        names = Names(y=1, scratch="before")
        names.if_(x > 0, lambda: names.set((2, None)), lambda: names.set((3, 4.5)), nouts=1)
        assert names.scratch == "before"
        return names.y

    assert traced(f, ONE) == 2


def test_a_branch_that_fails_leaves_the_state_before_the_if() -> None:
    names = Names(y=1)

    def fails() -> None:
        names.y = 2
        raise KeyError("branch")

    def f(x: Any) -> None:
        names.if_(x > 0, fails)

    with pytest.raises(KeyError, match="branch"):
        traced(f, ONE)
    assert names.y == 1


def test_an_object_that_both_branches_leave_alone_passes() -> None:
    token = object()

    def f(x: Any) -> Any:
        names = Names(y=token, z=0)
        names.if_(x > 0, lambda: setattr(names, "z", 1))
        assert names.y is token
        return names.z

    assert traced(f, ONE) == 1


def test_an_object_beside_tensors_in_a_structure_passes() -> None:
    token = object()

    def f(x: Any) -> Any:
        names = Names(y=[token, x])
        names.if_(x > 0, lambda: setattr(names, "y", [token, x + 1]))
        assert names.y[0] is token
        return names.y[1]

    assert (traced(f, ONE), traced(f, MINUS)) == (2, -1)


def test_a_name_that_both_branches_leave_unbound_stays_so() -> None:
    def f(x: Any) -> Any:
        names = Names(y=ag.Undefined("y"), z=0)
        names.if_(x > 0, lambda: setattr(names, "z", 1))
        with pytest.raises(UnboundLocalError, match="'y' is used before assignment"):
            ag.ld(names.y)
        return names.z

    assert traced(f, ONE) == 1


def test_a_variable_is_read_in_its_branch() -> None:
    v, w = tf.Variable(3), tf.Variable(4)
    assert traced(branches(v, w), ONE) == 3


DIFFERENT = [
    (object, object, TypeError, "must return zero or more Tensors or ExtensionTypes or None"),
    (1, object, TypeError, "'y' is <object object .* of type object at the end of the else branch"),
    (1, None, ValueError, "'y' is None at the end of the else branch"),
    ((1, None), (1, 2), TypeError, "'y' must have the same nested structure"),
    ("a", 1, TypeError, "'y' has dtype string in the main branch, but dtype int32 in the else"),
    (1, ag.Undefined("y"), ValueError, "'y' must also be initialized in the else branch"),
    (ag.Undefined("y"), 1, ValueError, "'y' must also be initialized in the main branch"),
]


@pytest.mark.parametrize(("main", "orelse", "error", "phrase"), DIFFERENT)
def test_branches_that_do_not_agree_are_refused(
    main: Any, orelse: Any, error: type[Exception], phrase: str
) -> None:
    with pytest.raises(error, match=phrase):
        traced(branches(main, orelse), ONE)


def test_a_name_that_is_none_in_both_branches_is_none() -> None:
    """TensorFlow refuses it; in the second attempt it is what Python means."""
    assert function(branches(None, None))(ONE) is None


def test_a_ragged_tensor_has_no_truth() -> None:
    with pytest.raises(TypeError, match="RaggedTensor"):
        Names().if_(tf.ragged.constant([[1], []]), lambda: None)


def test_an_eager_condition_runs_one_branch_and_makes_tensors() -> None:
    names = Names(y=0)
    names.if_(tf.constant(True), lambda: setattr(names, "y", 1), lambda: 1 / 0)
    assert names.y.numpy() == 1


def test_an_eager_condition_is_checked_too() -> None:
    with pytest.raises(ValueError, match="condition of if statement expected to be"):
        Names().if_(tf.constant(1), lambda: None)


# Returns


def returning(x: Any, then: Callable[[Names], None], flag: bool = True) -> Names:
    """The names of a function after an `if` that returns ten times x in one branch."""
    names = Names(do_return=False, retval_=ag.UndefinedReturnValue())

    def returns() -> None:
        names.set((True, x * 10))

    if flag:
        names.if_(x > 0, returns)
    else:
        names.if_(x > 0, lambda: None, returns)
    then(names)
    return names


def return_one(names: Names) -> None:
    names.if_(ag.not_(names.do_return), lambda: names.set((True, tf.constant(1))))


@pytest.mark.parametrize(("flag", "results"), [(True, [20, 1]), (False, [1, -20])])
def test_a_return_in_one_branch_and_one_behind_it_are_a_value_on_all_paths(
    flag: bool, results: list[int]
) -> None:
    def f(x: Any) -> Any:
        names = returning(x, return_one, flag)
        assert names.do_return is True
        with ag.FunctionScope("f", "fscope", ag.STD) as scope:
            return scope.ret(names.retval_, names.do_return)

    assert [traced(f, tf.constant(x)) for x in (2, -2)] == results


@pytest.mark.parametrize(("flag", "branch"), [(True, "else"), (False, "main")])
def test_a_return_in_one_branch_only_is_refused_where_the_function_ends(
    flag: bool, branch: str
) -> None:
    def f(x: Any) -> Any:
        names = returning(x, lambda _: None, flag)
        with ag.FunctionScope("f", "fscope", ag.STD) as scope:
            return scope.ret(names.retval_, names.do_return)

    with pytest.raises(ValueError, match=f"the {branch} branch must also have a return statement"):
        traced(f, ONE)


def test_a_return_of_none_in_both_branches_returns_none() -> None:
    def f(x: Any) -> Any:
        names = Names(do_return=False, retval_=ag.UndefinedReturnValue())
        names.if_(x > 0, lambda: names.set((True, None)), lambda: names.set((True, None)))
        assert names.get() == (True, None)
        return x

    traced(f, ONE)


def test_a_function_that_does_not_return_gives_none() -> None:
    with ag.FunctionScope("f", "fscope", ag.STD) as scope:
        assert scope.ret(ag.UndefinedReturnValue(), False) is None


# Conditional expressions


def test_a_conditional_expression_of_an_object_in_both_places_is_the_object() -> None:
    token = object()

    def f(x: Any) -> Any:
        assert ag.if_exp(x > 0, lambda: token, lambda: token, "x > 0") is token
        return x

    traced(f, ONE)


def test_a_conditional_expression_on_python_values_evaluates_one() -> None:
    assert ag.if_exp([], lambda: 1 / 0, lambda: "no", "[]") == "no"
