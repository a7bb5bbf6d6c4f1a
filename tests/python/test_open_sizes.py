"""Sizes that a trace leaves open: which do, what reads them, and what one sees of it.

That programs give what they give in TensorFlow is checked in tests/peers.
"""

# mypy: disable-error-code="untyped-decorator,misc"

import re
from collections.abc import Callable
from functools import partial
from typing import Any

import graven as tf
import pytest

function = partial(tf.function, reduce_retracing=None)


def call_with_rows(f: Any, rows: tuple[int, ...] = (2, 3, 4, 5)) -> int:
    """Calls with so many rows of two columns; returns the number of traces."""
    for n in rows:
        f(tf.ones([n, 2]))
    return int(f.cache_info().traces)


def shapes_of(f: Any) -> list[list[str]]:
    """The shapes of the arguments of the live traces."""
    signatures = [info.signature.partition(" -> ")[0] for info in f.cache_info().signatures]
    return [re.findall(r"shape=(\([^)]*\))", signature) for signature in signatures]


def is_any_open(*functions: Any) -> bool:
    """Whether a trace of these leaves a size open."""
    return "None" in str([shapes_of(f) for f in functions])


# --- What is left open.


def test_the_second_size_leaves_it_open() -> None:
    f = function(lambda x: x * 2.0)
    assert call_with_rows(f) == 2
    assert shapes_of(f) == [["(2, 2)"], ["(None, 2)"]]


def test_only_the_sizes_that_differ_are_open() -> None:
    f = function(lambda x, y: (x * 2.0, y * 2.0))
    f(tf.ones([2, 3]), tf.ones([1, 3]))
    f(tf.ones([2, 3]), tf.ones([2, 3]))
    assert shapes_of(f)[1] == ["(2, 3)", "(None, 3)"]


def test_ranks_and_dtypes_get_traces_of_their_own() -> None:
    f = function(lambda x: x + x)
    for x in (tf.ones([2]), tf.ones([2, 2]), tf.ones([2], tf.int32), tf.ones([])):
        f(x)
    assert f.cache_info().traces == 4 and not is_any_open(f)


def test_traces_with_another_number_are_not_generalised_together() -> None:
    f = function(lambda x, k: x * k)
    f(tf.ones([2]), 1)
    f(tf.ones([3]), 2)
    assert not is_any_open(f)


def test_a_special_trace_and_a_general_one_stay_together() -> None:
    f = function(lambda x: x * 2.0)
    call_with_rows(f)
    f(tf.ones([2, 2]))
    first, second = f.cache_info().signatures
    assert (first.hits, second.hits) == (1, 2)


def test_sizes_within_containers_are_left_open() -> None:
    f = function(lambda d: d["x"][0] + 1.0)
    for n in (2, 3, 4):
        f({"x": [tf.ones([n])], "k": 1})
    assert f.cache_info().traces == 2


def test_variables_keep_their_sizes() -> None:
    f = function(lambda v: v + 1.0)
    for n in (2, 3, 4):
        f(tf.Variable(tf.ones([n])))
    assert f.cache_info().traces == 3


def test_a_concrete_function_is_never_general() -> None:
    f = function(lambda x: x * 2.0)
    call_with_rows(f)
    concrete = f.get_concrete_function(tf.ones([7, 2]))
    assert concrete.structured_input_signature[0][0].shape == [7, 2]
    assert f.get_concrete_function(tf.ones([7, 2])) is concrete
    f(tf.ones([7, 2]))
    assert f.cache_info().signatures[2].hits == 1


def test_switched_off_each_shape_is_traced() -> None:
    assert call_with_rows(tf.function(lambda x: x * 2.0, reduce_retracing=False)) == 4


def test_true_shows_unknown_sizes_to_the_body() -> None:
    seen = []
    f = tf.function(lambda x: seen.append(x.shape[0]), reduce_retracing=True)
    call_with_rows(f)
    assert seen == [2, None]


def test_eight_sets_of_open_sizes_end_in_one_that_has_them_all() -> None:
    f = function(lambda *xs: tf.add_n([tf.reduce_sum(x) for x in xs]))
    for i in range(12):
        f(*(tf.ones([5 if i == j else 1]) for j in range(12)))
    for i in range(6):
        f(*(tf.ones([9 + i + j]) for j in range(12)))
    # The first is exact, eight have two open sizes each, and the last has all.
    assert [shapes.count("(None,)") for shapes in shapes_of(f)] == [0, *[2] * 8, 12]


# --- What reads nothing.

UNREAD: dict[str, Callable[[Any], Any]] = {
    "tf.shape": lambda x: tf.zeros([tf.shape(x)[0], 2]),
    "rank": lambda x: x * float(x.shape.rank + len(x.shape) + x.ndim),
    "other size": lambda x: x * x.shape[1] + x.shape[-1],
    "reshape": lambda x: tf.reshape(x, [-1, 1, x.shape[1]]),
    "is defined": lambda x: x if x.shape.is_fully_defined() else None,
    "same shape": lambda x: x if (x + 1.0).shape == x.shape else None,
    "gradient": lambda x: tf.gradients(tf.reduce_sum(x * x), x),
    "map_fn": lambda x: tf.map_fn(lambda row: row * 2.0, x),
    "matmul": lambda x: x @ tf.ones([2, 3]),
    "cond": lambda x: tf.cond(x[0, 0] > 0.0, lambda: x + 1.0, lambda: x),
    "vectorized_map": lambda x: tf.vectorized_map(lambda row: row * 2.0, x),
    "signature": lambda x: tf.function(
        lambda y: y * 2.0, input_signature=[tf.TensorSpec([None, 2])]
    )(x),
}


@pytest.mark.parametrize("name", UNREAD)
def test_what_needs_no_number_reads_no_size(name: str) -> None:
    f = function(UNREAD[name])
    assert call_with_rows(f) == 2


def test_loops_read_no_size() -> None:
    @function
    def f(x: Any) -> Any:
        y = x
        for row in x:
            y = y + row
        while tf.reduce_sum(y) < 1e3:
            y = y * 2.0
        return y

    assert call_with_rows(f) == 2


# --- What reads a size.


def test_a_size_that_is_read_is_the_number_of_the_call() -> None:
    seen = []

    @function
    def f(x: Any) -> Any:
        seen.append((x.shape[0], str(x.shape), repr(x)))
        return x * x.shape[0]

    for n in (2, 3, 4, 3):
        assert f(tf.ones([n, 2])).numpy().tolist() == [[float(n)] * 2] * n
    assert [s[:2] for s in seen] == [(n, f"({n}, 2)") for n in (2, 3, 4)]
    assert all(f"shape=({n}, 2)" in s[2] for n, s in zip((2, 3, 4), seen, strict=True))


def test_the_body_runs_once_for_each_size_that_it_reads() -> None:
    runs = []

    @function
    def f(x: Any) -> Any:
        runs.append("begins")
        y = x * 2.0
        runs.append(y.shape[0])
        return y

    assert call_with_rows(f) == 4
    assert runs == ["begins", 2, "begins", 3, "begins", 4, "begins", 5]


def test_a_size_that_is_not_read_stays_open_beside_one_that_is() -> None:
    f = function(lambda x, y: tf.reduce_sum(x) * y.shape[0])
    for n, m in ((2, 3), (3, 3), (4, 3), (5, 4), (6, 4), (7, 3)):
        f(tf.ones([n]), tf.ones([m]))
    assert f.cache_info().traces == 3


def test_pins_outlive_the_traces() -> None:
    f = function(lambda x: x * x.shape[0])
    call_with_rows(f, (2, 3))
    f.clear_cache()
    call_with_rows(f, (2, 3, 4))
    assert not is_any_open(f)


def test_tensors_made_before_a_size_was_read_show_it() -> None:
    shapes = []

    @function
    def f(x: Any) -> Any:
        y = x + 1.0
        z = tf.concat([y, y], 0)
        assert x.shape[0] is not None
        shapes.append((y.shape.as_list(), z.shape.as_list()))
        return z

    call_with_rows(f, (2, 3))
    assert shapes == [([2, 2], [4, 2]), ([3, 2], [6, 2])]
    assert f.get_concrete_function(tf.ones([3, 2])).output_shapes == [6, 2]


def test_a_read_in_another_function_reads_the_size_of_the_outermost_trace() -> None:
    inner = function(lambda y: tf.reduce_sum(y) * y.shape[0])
    outer = function(lambda x: inner(x * 2.0))
    for n in (2, 3, 4):
        assert outer(tf.ones([n])).numpy() == 2.0 * n * n
    assert outer.cache_info().traces == 3 and inner.cache_info().traces == 3
    assert not is_any_open(outer, inner)


def test_a_function_that_reads_nothing_is_general_within_a_general_one() -> None:
    inner = function(lambda y: y * 2.0)
    outer = function(lambda x: inner(x) + 1.0)
    assert call_with_rows(outer) == 2
    assert inner.cache_info().traces == 2


@pytest.mark.parametrize("place", ["cond", "while", "map_fn"])
def test_a_read_in_a_body_reads_the_size_of_the_trace(place: str) -> None:
    seen = []

    def read(x: Any) -> Any:
        seen.append(x.shape[0])
        return tf.reduce_sum(x) * x.shape[0]

    @function
    def f(x: Any) -> Any:
        if place == "cond":
            return tf.cond(x[0, 0] > 0.0, lambda: read(x), lambda: 0.0)
        if place == "while":
            return tf.while_loop(
                lambda i, _: i < 2, lambda i, t: (i + 1, t + read(x)), [tf.constant(0), 0.0]
            )[1]
        return tf.map_fn(lambda row: row * read(x), x)

    for n in (2, 3, 4):
        f(tf.ones([n, 2]))
    assert seen == [2, 3, 4] and not is_any_open(f)


def test_a_loop_variable_keeps_an_open_size() -> None:
    seen = []

    @function
    def f(x: Any) -> Any:
        y = tf.while_loop(lambda y: tf.reduce_sum(y) < 1e3, lambda y: [y * 2.0], [x])[0]
        seen.append(y.shape[0])
        return y

    call_with_rows(f, (2, 3, 4))
    assert seen == [2, 3, 4]


def test_a_custom_gradient_sees_numbers_after_the_trace() -> None:
    seen = []

    @tf.custom_gradient
    def twice(x: Any) -> Any:
        def grad(dy: Any) -> Any:
            seen.append((dy.shape.as_list(), x.shape.as_list()))
            return dy * 2.0

        return x * 2.0, grad

    f = function(lambda x: twice(x + 1.0))
    for n in (2, 3, 4):
        x = tf.ones([n, 2])
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        tape.gradient(y, x)
    assert seen == [([n, 2], [n, 2]) for n in (2, 3, 4)]


@pytest.mark.parametrize("fits", [lambda x: x + tf.ones([3, 2]), lambda x: tf.split(x, 3)[0]])
def test_an_op_that_other_sizes_would_not_fit_reads_the_size(fits: Callable[[Any], Any]) -> None:
    f = function(fits)
    for n in (1, 3, 4):
        try:
            f(tf.ones([n, 2]))
        except ValueError:
            assert n != 3
    assert not is_any_open(f)


def test_sizes_that_are_equal_in_the_call_may_meet() -> None:
    f = function(lambda x, y: x + y)
    for n in (2, 3, 4):
        f(tf.ones([n]), tf.ones([n]))
    assert f.cache_info().traces == 2


# --- Errors and effects.


def test_an_error_of_shapes_is_raised_in_the_body_which_may_catch_it() -> None:
    @function
    def f(x: Any) -> Any:
        try:
            return x + tf.ones([3, 2])
        except ValueError:
            return x * 0.0

    assert [float(tf.reduce_sum(f(tf.ones([n, 2])))) for n in (3, 4, 5, 4)] == [12, 0, 0, 0]


def test_sizes_that_do_not_fit_a_general_trace_are_the_error_of_an_exact_one() -> None:
    f = function(lambda x, y: x + y)
    for n in (2, 3, 4):
        f(tf.ones([n]), tf.ones([n]))
    for error in (ValueError, ValueError):
        with pytest.raises(error, match="Incompatible shapes"):
            f(tf.ones([5]), tf.ones([6]))


def test_a_trace_that_fails_is_made_again_with_the_sizes_of_the_call() -> None:
    runs = []

    @function
    def f(x: Any) -> Any:
        runs.append(1)
        if len(runs) == 2:
            raise RuntimeError("by chance")
        return x * 2.0

    assert f(tf.ones([2])).shape == [2] and f(tf.ones([3])).shape == [3]
    assert len(runs) == 3 and not is_any_open(f)


def test_a_trace_that_fails_after_an_effect_is_not_made_again() -> None:
    v, runs = tf.Variable(0), []

    @function
    def f(x: Any) -> Any:
        with tf.init_scope():
            v.assign_add(1)
        runs.append(1)
        if len(runs) == 2:
            raise RuntimeError("by chance")
        return x * 2.0

    f(tf.ones([2]))
    with pytest.raises(RuntimeError, match="by chance"):
        f(tf.ones([3]))
    assert int(v) == 2 == len(runs)


def test_a_trace_that_fails_after_a_loop_with_effects_is_not_made_again() -> None:
    v, runs = tf.Variable(0), []

    @tf.function
    def count() -> None:
        for _ in tf.range(3):
            v.assign_add(1)

    @function
    def f(x: Any) -> Any:
        with tf.init_scope():
            count()
        runs.append(1)
        if len(runs) == 2:
            raise RuntimeError("by chance")
        return x * 2.0

    f(tf.ones([2]))
    with pytest.raises(RuntimeError, match="by chance"):
        f(tf.ones([3]))
    assert int(v) == 6 and len(runs) == 2


def test_a_trace_that_fails_after_it_made_a_variable_is_not_made_again() -> None:
    made: dict[int, Any] = {}

    @function
    def f(x: Any) -> Any:
        key = len(made)
        if key:
            made[key] = tf.Variable(1.0)
        made.setdefault(0, None)
        return x * 2.0

    f(tf.ones([2]))
    with pytest.raises(ValueError, match="non-first call"):
        f(tf.ones([3]))
    assert set(made) == {0, 1}


def test_an_interrupt_ends_the_trace() -> None:
    runs = []

    @function
    def f(x: Any) -> Any:
        runs.append(1)
        if len(runs) == 2:
            raise KeyboardInterrupt
        return x * 2.0

    f(tf.ones([2]))
    with pytest.raises(KeyboardInterrupt):
        f(tf.ones([3]))
    assert len(runs) == 2


# --- What one sees.


def test_why_says_what_is_open_and_what_is_read() -> None:
    general, special = function(lambda x: x * 2.0), function(lambda x: x * x.shape[0])
    for f in (general, special):
        call_with_rows(f)
    assert general.cache_info().signatures[1].why.endswith("; serves other sizes too")
    assert special.cache_info().signatures[2].why.endswith("; its body reads x.shape[0]")


def test_as_many_sizes_as_one_likes_leave_no_traces_behind() -> None:
    f = function(lambda x: tf.reduce_sum(x))
    for n in range(1, 400):
        f(tf.ones([n]))
    info = f.cache_info()
    assert info.traces == info.entries == 2 and info.hits == 397


def test_seeded_numbers_are_those_of_a_trace_for_each_size() -> None:
    """One trace served all sizes with one stream, which went on from size to size."""

    def body(x: Any) -> Any:
        return tf.nn.dropout(x, 0.5) + tf.random.uniform(tf.shape(x), seed=7)

    @function
    def inner(x: Any) -> Any:
        return body(x) * 2.0

    def numbers(f: Any) -> list[Any]:
        tf.random.set_seed(1)
        results = []
        for rows in (2, 3, 4, 5, 2, 4, 3, 4):
            with tf.GradientTape() as tape:
                x = tf.ones([rows, 2])
                if rows == 5:
                    tape.watch(x)
                results.append(f(x).numpy().tolist())
        tf.random.set_seed(1)
        results += [f(tf.ones([rows, 2])).numpy().tolist() for rows in (4, 3, 4)]
        return results

    for each in (body, lambda x: inner(x) + body(x)):
        general, exact = function(each), tf.function(each, reduce_retracing=False)
        assert numbers(general) == numbers(exact)
        assert is_any_open(general)


# A new type is compared with the last 32 traces of its kind, so that a miss costs no more in a
# cache of thousands.
@pytest.mark.parametrize(("others", "traces"), [(31, 1), (32, 2)])
def test_a_size_is_left_open_if_one_of_the_last_32_traces_had_another(
    others: int, traces: int
) -> None:
    f = function(lambda x: x + 1.0)
    f(tf.ones([5]))
    for rank in range(2, 2 + others):
        f(tf.ones([1] * rank))
    before = f.experimental_get_tracing_count()
    for size in (6, 7, 8):
        f(tf.ones([size]))
    assert f.experimental_get_tracing_count() == before + traces
