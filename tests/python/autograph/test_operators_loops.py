"""Loops on tensors: loop variables, their inference and their errors."""

from typing import Any

import graven as tf
import pytest
from graven.autograph import _operators as ag
from python.autograph.converted_code import Names, traced

THREE, ZERO = tf.constant(3), tf.constant(0)


def counted(**before: Any) -> Any:
    """A function that counts to its argument, and binds a name to what `make` gives each time."""
    make = before.pop("make")

    def f(n: Any) -> Any:
        names = Names(i=0, **before)

        def body() -> None:
            names.x = make(names)
            names.i = names.i + 1

        names.while_(lambda: names.i < n, body)
        return names.x

    return f


def test_a_python_loop_touches_no_state() -> None:
    values = [3]

    def fail(*_: Any) -> Any:
        raise AssertionError("values flow by nonlocal")

    def f(x: Any) -> Any:
        ag.while_stmt(
            lambda: values[0] > 0, lambda: values.append(values.pop() - 1), fail, fail, (), {}
        )
        ag.for_stmt([1, 2], None, values.append, fail, fail, (), {})
        return x

    traced(f, ZERO)
    assert values == [0, 1, 2]


def test_the_test_of_a_python_loop_is_evaluated_once_per_iteration() -> None:
    answers = iter([True, True, False])

    def f(x: Any) -> Any:
        Names().while_(lambda: next(answers), lambda: None)
        return x

    traced(f, ZERO)
    assert list(answers) == []


def test_an_object_that_the_loop_leaves_alone_is_no_loop_variable() -> None:
    token = object()
    f = counted(x=[token, 1], make=lambda names: [token, names.x[1] * 2])

    def g(n: Any) -> Any:
        found = f(n)
        assert found[0] is token
        return found[1]

    assert traced(g, THREE) == 8


def test_an_object_that_changes_is_refused() -> None:
    with pytest.raises(TypeError, match="of type object after one iteration"):
        traced(counted(x=object(), make=lambda _: object()), THREE)


def test_a_name_that_stays_unbound_is_no_loop_variable() -> None:
    def f(n: Any) -> Any:
        names = Names(i=0, x=ag.Undefined("x"))
        names.while_(lambda: names.i < n, lambda: setattr(names, "i", names.i + 1))
        assert repr(names.x) == "x"
        return names.i

    assert traced(f, THREE) == 3


@pytest.mark.parametrize("before", [None, ag.Undefined("x")])
@pytest.mark.parametrize(
    "make", [lambda n: n.i * 2, lambda _: 4, lambda n: {"a": [n.i, 4.5], "b": (True,)}]
)
def test_a_value_of_the_first_iteration_gives_the_type(before: Any, make: Any) -> None:
    f = counted(x=before, make=make)
    expected = make(Names(i=2))
    assert traced(f, THREE) == expected
    with pytest.raises(tf.errors.InvalidArgumentError, match="at least once to initialize x"):
        traced(f, ZERO)


def test_an_inferred_loop_variable_may_have_an_unknown_size() -> None:
    def f(n: Any) -> Any:
        names = Names(i=0, x=ag.Undefined("x"))

        def body() -> None:
            names.x = tf.range(names.i)
            names.i = names.i + 1

        names.while_(lambda: names.i < n, body)
        assert names.x.shape.as_list() == [None]
        return names.x

    assert traced(f, THREE).tolist() == [0, 1]


NOT_INFERRED = [
    (ag.Undefined("x"), lambda n: ag.ld(n.x) + 1, "'x' must be defined before the loop"),
    (ag.Undefined("x"), lambda _: "text", "'x' must be defined before the loop"),
    (ag.Undefined("x"), lambda _: object(), "'x' must be defined before the loop"),
    (None, lambda _: None, "'x' is not allowed to be None before the loop"),
    (None, lambda n: n.x + 1, "'x' is not allowed to be None before the loop"),
]


@pytest.mark.parametrize(("before", "make", "phrase"), NOT_INFERRED)
def test_what_cannot_be_inferred_is_refused(before: Any, make: Any, phrase: str) -> None:
    with pytest.raises(ValueError, match=phrase):
        traced(counted(x=before, make=make), THREE)


def test_an_error_of_the_users_in_the_first_iteration_is_raised_as_it_is() -> None:
    def fails(_: Names) -> None:
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        traced(counted(x=None, make=fails), THREE)


CHANGED = [
    (1, lambda _: 2.5, TypeError, "'x' has dtype int32 before the loop, but dtype float32 after"),
    (1, lambda _: (1, 2), TypeError, "'x' does not have the same nested structure after one"),
    (1, lambda _: None, ValueError, "'x' is None at the end of the iteration"),
    (1, lambda _: ag.Undefined("x"), ValueError, "'x' is not defined at the end of the iteration"),
    (
        tf.ones([2]),
        lambda names: tf.ones([names.x.shape[0] + 1]),
        ValueError,
        r"shape \(2,\) before the loop, but shape \(3,\) after one iteration. Use tf.auto",
    ),
]


@pytest.mark.parametrize(("before", "make", "error", "phrase"), CHANGED)
def test_a_loop_variable_must_keep_its_type(
    before: Any, make: Any, error: type[Exception], phrase: str
) -> None:
    with pytest.raises(error, match=phrase):
        traced(counted(x=before, make=make), THREE)


def test_shape_invariants_go_by_the_identity_of_values() -> None:
    def f(n: Any) -> Any:
        x, y = tf.constant([1]), tf.constant([1])
        names = Names(i=0, x=x, y=y)

        def body() -> None:
            names.x = tf.concat([names.x, names.x], 0)
            names.i = names.i + 1

        opts = {"shape_invariants": [(x, tf.TensorShape([None]))]}
        names.while_(lambda: names.i < n, body, **opts)
        assert (names.x.shape.as_list(), names.y.shape.as_list()) == ([None], [1])
        return names.x

    assert traced(f, THREE).shape == (8,)


def test_maximum_iterations_ends_a_loop_on_an_eager_tensor() -> None:
    names = Names(i=tf.constant(0))

    def body() -> None:
        names.i = names.i + 1

    names.while_(lambda: names.i < 9, body, maximum_iterations=2)
    assert names.i.numpy() == 2


def test_a_test_that_becomes_a_tensor_is_refused() -> None:
    def f(n: Any) -> Any:
        names = Names(more=True)
        names.while_(lambda: names.more, lambda: setattr(names, "more", n > 0))
        return n

    with pytest.raises(NotImplementedError, match="started as non-Tensor, then changed to Tensor"):
        traced(f, THREE)


# Returns


def returning_loop(n: Any) -> Names:
    """The names of a function after a loop that returns ten times its counter if that is two."""
    names = Names(i=0, do_return=False, retval_=ag.UndefinedReturnValue())

    def body() -> None:
        found = Names(do_return=names.do_return, retval_=names.retval_)
        found.if_(tf.equal(names.i, 2), lambda: found.set((True, names.i * 10)))
        names.set((names.i + 1, found.do_return, found.retval_))

    names.while_(lambda: ag.and_(lambda: ag.not_(names.do_return), lambda: names.i < n), body)
    return names


def test_a_return_on_one_path_of_a_loop_works_if_another_follows() -> None:
    def f(n: Any) -> Any:
        names = returning_loop(n)
        after = Names(do_return=names.do_return, retval_=names.retval_)
        after.if_(ag.not_(after.do_return), lambda: after.set((True, tf.constant(-1))))
        assert after.do_return is True
        return after.retval_

    assert [traced(f, tf.constant(n)) for n in (5, 1)] == [20, -1]


def test_a_return_on_one_path_of_a_loop_is_refused_if_none_follows() -> None:
    def f(n: Any) -> Any:
        names = returning_loop(n)
        with ag.FunctionScope("f", "fscope", ag.STD) as scope:
            return scope.ret(names.retval_, names.do_return)

    with pytest.raises(NotImplementedError, match="a return statement cannot be placed inside"):
        traced(f, THREE)


def test_a_loop_that_always_returns_must_iterate() -> None:
    def f(n: Any) -> Any:
        names = Names(do_return=False, retval_=ag.UndefinedReturnValue())

        def body() -> None:
            names.set((True, n * 10))

        names.while_(lambda: ag.and_(lambda: ag.not_(names.do_return), lambda: n > 0), body)
        with ag.FunctionScope("f", "fscope", ag.STD) as scope:
            return scope.ret(names.retval_, names.do_return)

    assert traced(f, THREE) == 30
    with pytest.raises(tf.errors.InvalidArgumentError, match="the function return value"):
        traced(f, ZERO)


# `for`


def digits(elements: Any, **opts: Any) -> Any:
    names = Names(e=ag.Undefined("e"), total=0)

    def body(element: Any) -> None:
        names.e = element
        names.total = names.total * 10 + element

    names.for_(elements, body, iterate_names="e", **opts)
    return names.e, names.total


@pytest.mark.parametrize(
    ("bounds", "expected"),
    [((4,), (3, 123)), ((2, 5), (4, 234)), ((5, 2), (5, 0)), ((6, 0, -2), (2, 642))],
)
def test_a_range_is_counted_and_never_made(bounds: Any, expected: Any) -> None:
    f = tf.function(lambda *b: digits(tf.range(*b)), autograph=False)
    tensors = [tf.constant(b) for b in bounds]
    assert tuple(t.numpy() for t in f(*tensors)) == expected


def test_the_rows_of_a_tensor_are_counted() -> None:
    assert traced(lambda x: digits(x), tf.constant([4, 5, 6])) == (6, 456)


def test_the_rows_of_an_eager_tensor_are_iterated() -> None:
    e, total = digits(tf.constant([4, 5, 6]), maximum_iterations=2)
    assert (e.numpy(), total.numpy()) == (5, 45)


@pytest.mark.parametrize("run", [traced, lambda f, x: tf.nest.map_structure(int, f(x))])
def test_the_rows_of_ragged_tensors_are_ragged(run: Any) -> None:
    rows = tf.ragged.constant([[[1], [2, 3]], [], [[4, 5, 6]]])

    def f(x: Any) -> Any:
        names = Names(counts=0, total=0)

        def body(row: Any) -> None:
            names.counts = names.counts * 10 + tf.cast(row.nrows(), tf.int32)
            names.for_(row, lambda cell: setattr(names, "total", names.total + sum_of(cell)))

        names.for_(rows, body)
        return names.counts, names.total + x

    assert run(f, ZERO) == (201, 21)


def sum_of(cell: Any) -> Any:
    return tf.reduce_sum(cell)


@pytest.mark.parametrize("run", [traced, lambda f, x: f(x)], ids=["traced", "eager"])
def test_a_scalar_has_no_rows(run: Any) -> None:
    with pytest.raises(ValueError, match="len requires a non-scalar tensor"):
        run(lambda x: digits(x), THREE)


def test_a_python_loop_that_is_left_takes_no_element_more() -> None:
    elements, left = iter([1, 2, 3]), list[int]()
    names = Names()
    names.for_(elements, left.append, extra_test=lambda: len(left) < 2)
    assert (left, list(elements)) == ([1, 2], [3])


def test_leaving_a_python_loop_must_not_depend_on_a_tensor() -> None:
    def f(x: Any) -> Any:
        Names().for_([1, 2], lambda _: None, extra_test=lambda: x > 0)
        return x

    with pytest.raises(NotImplementedError, match="which depend on a TF condition are not"):
        traced(f, THREE)


def test_an_object_may_bring_its_own_loop() -> None:
    class Own:
        def _autograph_for_loop(self, extra_test: Any, body: Any, *state: Any) -> None:
            body(tf.constant(7))

    def f(x: Any) -> Any:
        return digits(Own())[1] + x

    assert traced(f, ZERO) == 7


def test_no_gradient_flows_through_a_variable_that_each_iteration_stops() -> None:
    """The body returned the value as it got it, and so did the gradient."""

    @tf.function
    def f(x: Any) -> Any:
        stopped, passed = x * 3.0, x * 5.0
        for _ in tf.range(2):
            stopped = tf.stop_gradient(stopped)
            passed = tf.identity(passed)
        return stopped + passed

    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    assert y.numpy() == 16.0
    assert tape.gradient(y, x).numpy() == 5.0


def test_a_target_is_read_after_its_loop_in_a_branch_of_a_loop() -> None:
    """It could have its value of the iteration before, had the loop no element: it was refused."""

    @tf.function(input_signature=[tf.TensorSpec([]), tf.TensorSpec([None])])
    def f(x: Any, t: Any) -> Any:
        for _ in tf.range(3):
            if x > 0.0:
                for row in t:  # noqa: B007
                    x += 1.0
                x += row
        return x

    assert float(f(1.0, [1.0, 2.0])) == 13.0
    with pytest.raises(tf.errors.InvalidArgumentError, match="iterate at least once to initialize"):
        f(1.0, [])


def test_a_target_of_a_loop_without_elements_keeps_its_value() -> None:
    @tf.function(input_signature=[tf.TensorSpec([]), tf.TensorSpec([None])])
    def f(x: Any, t: Any) -> Any:
        if x > 0.0:
            row = x + 0.0
            x = x + 0.0
        else:
            row = x + 1.0
        for row in t:
            x += row
        return row

    assert [float(f(x, [])) for x in (3.0, -3.0)] == [3.0, -2.0]
    assert float(f(3.0, [5.0])) == 5.0
