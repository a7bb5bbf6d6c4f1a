"""Lists that staged statements make longer: what they mean in Python, and what is refused."""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import Any

import graven as tf
import pytest
from python.autograph.beside_python import check_gradients, check_values
from python.autograph.growing_lists import VECTORS, programs

PROGRAMS = programs(tf)
BY_NAME = pytest.mark.parametrize("f", PROGRAMS.values(), ids=list(PROGRAMS))
ANY_LENGTH = [tf.TensorSpec([None])]


@BY_NAME
@pytest.mark.parametrize("values", VECTORS, ids=str)
def test_a_program_gives_what_python_gives(f: Callable[..., Any], values: list[float]) -> None:
    check_values(f, values)


@BY_NAME
@pytest.mark.parametrize("values", VECTORS, ids=str)
def test_a_program_has_the_gradients_that_python_gives(
    f: Callable[..., Any], values: list[float]
) -> None:
    check_gradients(f, values)


def test_the_length_of_a_list_is_a_tensor_and_that_of_its_stack_unknown() -> None:
    seen: list[Any] = []

    @tf.function
    def f(x: Any) -> Any:
        out = []
        for e in x:
            out.append(tf.stack([e, e]))
        rows = tf.stack(out)
        seen[:] = [tf.is_tensor(len(out)), rows.shape.as_list(), isinstance(out, list)]
        return rows

    assert f(tf.constant([1.0, 2.0])).shape == (2, 2)
    assert seen == [True, [None, 2], True]


def test_a_list_of_known_length_stays_a_list() -> None:
    @tf.function
    def f(x: Any) -> Any:
        out = [x[0]]
        if x[0] > 0:
            out.append(x[1])
        else:
            out.append(x[2])
        return out, tf.add(*out)

    out, total = f(tf.constant([1.0, 2.0, 3.0]))
    assert (type(out), [float(v) for v in out], float(total)) == (list, [1.0, 2.0], 3.0)


def test_the_optional_feature_of_lists_goes_along() -> None:
    feature = tf.autograph.experimental.Feature.LISTS

    @tf.function(experimental_autograph_options=feature)
    def f(x: Any) -> Any:
        out = []
        for e in x:
            out.append(e)
            if e > 1.5:
                out[-1] = e * 10
        last = out.pop()
        return tf.stack(out), last, out[0]

    rows, last, first = f(tf.constant([1.0, 2.0, 3.0]))
    assert (rows.numpy().tolist(), float(last), float(first)) == ([1.0, 20.0], 30.0, 1.0)


def test_a_list_may_be_read_by_inner_functions() -> None:
    @tf.function
    def f(x: Any) -> Any:
        out: list[Any] = []

        def total() -> Any:
            return tf.reduce_sum(tf.stack(out))

        for e in x:
            out.append(e)
        return total() * (lambda i: out[i])(-1)

    assert float(f(tf.constant([1.0, 2.0, 3.0]))) == 18.0


# What a program that runs on TensorFlow sees is as there: lists are Python's.


def test_a_list_of_pythons_values_is_changed_once_while_tracing() -> None:
    @tf.function
    def f(x: Any) -> Any:
        log, out = [], []
        for e in x:
            log.append("traced")
            out.append(e)
        if x[0] > 0:
            log.append("main")
        else:
            log.append("else")
        return tf.stack(out), tf.constant(log)

    x = tf.constant([1.0, 2.0, 3.0])
    assert [v.decode() for v in f(x)[1].numpy().tolist()] == ["traced", "main", "else"]


def test_a_list_whose_elements_nobody_uses_stays_pythons() -> None:
    @tf.function
    def f(x: Any) -> Any:
        out = []
        for e in x:
            out.append(e)
        return x + len(out)

    assert f(tf.constant([1.0, 2.0])).numpy().tolist() == [2.0, 3.0]


def test_side_effects_of_a_trace_without_such_lists_happen_once() -> None:
    log: list[str] = []

    @tf.function
    def f(x: Any) -> Any:
        log.append("traced")
        parts = []
        for k in range(3):
            parts.append(x * k)
        for _ in x:
            log.append("loop")
        return tf.add_n(parts)

    f(tf.constant([1.0, 2.0]))
    assert log == ["traced", "loop"]


def test_variables_of_the_first_attempt_and_effects_count_once() -> None:
    made: list[Any] = []
    count = tf.Variable(0)

    @tf.function
    def f(x: Any) -> Any:
        if not made:
            made.append(tf.Variable(2.0))
        count.assign_add(1)
        out = []
        for e in x:
            out.append(e * made[0])
            count.assign_add(10)
        return tf.stack(out)

    x = tf.constant([1.0, 2.0])
    assert f(x).numpy().tolist() == [2.0, 4.0]
    assert int(count) == 21
    assert len(made) == 1


def test_random_numbers_are_those_of_a_function_without_a_second_attempt() -> None:
    def numbers(grows: bool) -> list[float]:
        tf.random.set_seed(7)

        @tf.function
        def f(x: Any) -> Any:
            out = []
            y = tf.random.uniform([3])
            for e in x:
                out.append(e)
            return y + tf.stack(out) * 0 if grows else y

        return list(f(tf.constant([1.0, 2.0, 3.0])).numpy())

    assert numbers(True) == numbers(False)


def test_an_own_exception_of_a_branch_passes() -> None:
    @tf.function
    def f(x: Any) -> Any:
        out = []
        for e in x:
            out.append(e)
        try:
            return tf.stack(out)
        except ValueError:
            return x * 0

    # As on TensorFlow: the program has an answer to the leak.
    assert f(tf.constant([1.0, 2.0])).numpy().tolist() == [0.0, 0.0]


# What is refused.


def _unequal_shapes(x: Any) -> Any:
    out = [x]
    for e in x:
        out.append(e)
    return tf.stack(out)


def _unequal_dtypes(x: Any) -> Any:
    out = []
    for e in x:
        out.append(e)
    for e in x:
        out.append(tf.cast(e, tf.int32))
    return out[-1]


def _unequal_structures(x: Any) -> Any:
    out = []
    for e in x:
        if e > 0:
            out.append((e, e))
        else:
            out.append(e)
    return out[0]


def _objects(x: Any) -> Any:
    out = []
    for e in x:
        out.append((e, "a", object()))
    return out[0][0]


def _stack_of_pairs(x: Any) -> Any:
    out = []
    for e in x:
        out.append((e, e))
    return tf.stack(out)


def _comprehension(x: Any) -> Any:
    out = []
    for e in x:
        out.append(e)
    return tf.stack([e * 2 for e in out])


def _zipped(x: Any) -> Any:
    out = []
    for e in x:
        out.append(e)
    return [a + b for a, b in zip(out, [1.0], strict=True)]


def _sorted(x: Any) -> Any:
    out = []
    for e in x:
        out.append(e)
    out.sort()
    return tf.stack(out)


def _two_names(x: Any) -> Any:
    out: list[Any] = []
    other = out
    for e in x:
        out.append(e)
        other.append(e)
    return tf.stack(out)


def _concat_of_scalars(x: Any) -> Any:
    out = []
    for e in x:
        out.append(e)
    return tf.concat(out, 0)


REFUSED = [
    (_unequal_shapes, ValueError, r"'out' is a list that the loop in line \d+ .*one shape"),
    (_unequal_dtypes, TypeError, r"must have one dtype: float32 and int32 came"),
    (_unequal_structures, TypeError, r"'out' .* the `if` in line \d+ .*must have one structure"),
    (_objects, TypeError, "must have one type, tensors: 'a'|object"),
    (_stack_of_pairs, TypeError, "The elements of 'out' are structures"),
    (_comprehension, TypeError, "Python cannot iterate over 'out': the loop in line"),
    (_zipped, TypeError, "Python cannot iterate over 'out': the loop in line"),
    (_sorted, AttributeError, "'out' has no sort here"),
    (_two_names, TypeError, "'other' and 'out' are one list|'out' and 'other' are one list"),
    (_concat_of_scalars, ValueError, "The elements of 'out' are scalars: use tf.stack"),
]


@pytest.mark.parametrize(("f", "kind", "phrase"), REFUSED, ids=lambda p: getattr(p, "__name__", ""))
def test_what_a_list_in_the_graph_cannot_do_is_an_error(
    f: Callable[..., Any], kind: type[Exception], phrase: str
) -> None:
    with pytest.raises(kind, match=phrase) as raised:
        tf.function(f)(tf.constant([1.0, 2.0]))
    assert __file__ in str(raised.value)


def _returned(x: Any) -> Any:
    out = []
    for e in x:
        out.append(e)
    return out


def _under_another_name(x: Any) -> Any:
    out: list[Any] = []
    other = out
    for e in x:
        out.append(e)
    return tf.stack(other)


def _of_another_function(x: Any) -> Any:
    def add(values: Any, value: Any) -> None:
        values.append(value)

    out: list[Any] = []
    for e in x:
        add(out, e)
    return tf.stack(out)


@pytest.mark.parametrize(
    "f", [_returned, _under_another_name, _of_another_function], ids=lambda f: f.__name__
)
def test_elements_that_nobody_can_know_are_out_of_scope(f: Callable[..., Any]) -> None:
    with pytest.raises(ValueError, match="out of scope") as raised:
        tf.function(f)(tf.constant([1.0, 2.0]))
    assert type(raised.value).__name__ == "InaccessibleTensorError"


def test_the_error_of_a_returned_list_says_what_to_return() -> None:
    with pytest.raises(ValueError, match="out of scope") as raised:
        tf.function(_returned)(tf.constant([1.0, 2.0]))
    assert "Return tf.stack(out)" in "".join(raised.value.__notes__)


def test_popping_from_an_empty_list_is_an_error_when_it_runs() -> None:
    @tf.function(input_signature=ANY_LENGTH)
    def f(x: Any) -> Any:
        out = []
        for e in x:
            out.append(e)
        return out.pop()

    assert float(f(tf.constant([1.0, 2.0]))) == 2.0
    with pytest.raises(tf.errors.InvalidArgumentError, match="empty list"):
        f(tf.constant([], tf.float32))


def test_an_index_out_of_range_is_an_error_when_it_runs() -> None:
    @tf.function(input_signature=ANY_LENGTH)
    def f(x: Any) -> Any:
        out = []
        for e in x:
            out.append(e)
        return out[2]

    assert float(f(tf.constant([1.0, 2.0, 3.0]))) == 3.0
    with pytest.raises(tf.errors.InvalidArgumentError, match="element 2 in a list with 1"):
        f(tf.constant([1.0]))


def test_a_loop_over_lists_moves_no_more_than_the_new_element() -> None:
    @tf.function
    def f(n: Any) -> Any:
        out = []
        for i in tf.range(n):
            out.append(tf.cast(i, tf.float32))
        return tf.reduce_sum(out)

    n = 20_000
    assert float(f(tf.constant(n))) == pytest.approx(n * (n - 1) / 2, rel=1e-5)
    kinds = [op.type for op in f.get_concrete_function(tf.constant(n)).graph.get_operations()]
    assert "TensorListStack" in kinds
    assert not any("Concat" in kind for kind in kinds)


def leaking_function() -> Callable[..., Any]:
    kept: list[Any] = []

    def nested(x: Any) -> Any:
        total = x[0]
        for e in x:
            while total < e:
                if e > 0:
                    kept.append(e * 2)
                total += 1.0
        return total

    def f(x: Any) -> Any:
        nested(x)
        gc.collect()
        return kept[0] + 1

    return f


def test_a_tensor_of_a_branch_in_a_loop_is_out_of_scope_wherever_it_is_used() -> None:
    """Graphs between it and the function are gone by then."""
    for _ in range(20):
        with pytest.raises(ValueError, match="out of scope") as raised:
            tf.function(leaking_function())(tf.constant([1.0, 2.0]))
        assert type(raised.value).__name__ == "InaccessibleTensorError"


@pytest.mark.parametrize(
    ("join", "size"),
    [(lambda out, axis: tf.stack(out, axis), 2), (lambda out, axis: tf.concat(out, axis), 1)],
    ids=["stack", "concat"],
)
def test_an_axis_that_the_joined_list_has_not_is_refused(join: Any, size: int) -> None:
    def joined(axis: int) -> Any:
        @tf.function
        def f(x: Any) -> Any:
            out = []
            for e in x:
                out.append(tf.stack([e, e]))
            return join(out, axis)

        return f(tf.constant([1.0, 2.0, 3.0]))

    assert joined(-size).numpy().tolist() == joined(0).numpy().tolist()
    assert joined(size - 1).numpy().tolist() == joined(-1).numpy().tolist()
    for axis in (size, -size - 1):
        with pytest.raises(ValueError, match=rf"axis = {axis} not in \[-{size}, {size}\)"):
            joined(axis)
