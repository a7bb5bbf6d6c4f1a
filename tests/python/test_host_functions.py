"""tf.py_function and tf.numpy_function: when they run, and what graphs hold of them."""

import sys
import textwrap
from typing import Any

import graven as tf
import numpy as np
import pytest
from graven import _engine
from python.host_functions import CALLS, both_calls


@both_calls
def test_it_runs_at_every_call_in_the_order_of_the_program(call: Any) -> None:
    seen: list[str] = []

    def log(text: str) -> None:
        call(lambda: seen.append(text), [], [])

    v = tf.Variable(1.0)

    @tf.function
    def f() -> Any:
        log("before")
        v.assign_add(1.0)
        call(lambda x: seen.append(f"v is {float(x)}"), [v], [])
        v.assign_add(1.0)
        log("after")
        return v.read_value()

    assert [float(f()) for _ in range(2)] == [3.0, 5.0]
    assert seen == ["before", "v is 2.0", "after", "before", "v is 4.0", "after"]
    assert f.experimental_get_tracing_count() == 1


def test_it_reads_what_it_captures_when_it_runs_without_a_retrace() -> None:
    scale = [2.0]

    @tf.function
    def f(x: Any) -> Any:
        return tf.py_function(lambda a: a * scale[0], [x], tf.float32)

    assert float(f(tf.constant(3.0))) == 6.0
    scale[0] = 5.0
    assert float(f(tf.constant(3.0))) == 15.0
    assert f.experimental_get_tracing_count() == 1


SCALE = 2.0


def scaled(a: Any) -> Any:
    return a * SCALE


@both_calls
def test_it_reads_globals_when_it_runs_without_a_retrace(
    call: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    f = tf.function(lambda x: call(scaled, [x], tf.float32))
    x = tf.constant(3.0)
    assert float(f(x)) == 6.0
    monkeypatch.setattr(sys.modules[__name__], "SCALE", np.float32(7.0))
    assert float(f(x)) == 21.0
    assert f.experimental_get_tracing_count() == 1


def test_another_function_of_the_same_name_is_called_after_a_retrace() -> None:
    def double(a: Any) -> Any:
        return a * 2

    f = tf.function(lambda x: tf.py_function(double, [x], tf.float32))
    assert float(f(tf.constant(3.0))) == 6.0

    def double(a: Any) -> Any:  # type: ignore[no-redef]  # noqa: F811
        return a * 20

    assert float(f(tf.constant(3.0))) == 60.0


class Model:
    flag = False


@both_calls
def test_a_value_that_leaves_the_graph_as_it_is_makes_two_traces(call: Any) -> None:
    """The tokens of two traces differ, what they call does not."""
    model = Model()

    @tf.function
    def f(x: Any) -> Any:
        rate = 2.0 if model.flag else 4.0 / 2.0
        y = call(lambda a: a + a, [x], tf.float32)
        return call(scaled, [y], tf.float32) * rate

    for i in range(10):
        model.flag = bool(i % 2)
        assert float(f(tf.constant(1.0))) == 8.0
    assert f.experimental_get_tracing_count() == 2
    assert f.cache_info().entries == 1, "the second graph was the first one's equal"


def test_a_trace_whose_callback_captured_another_object_is_another() -> None:
    model = Model()

    @tf.function
    def f(x: Any) -> Any:
        seen: list[float] = []
        kept.append((model.flag, seen))

        def note(a: Any) -> Any:
            seen.append(float(a))
            return a

        return tf.py_function(note, [x], tf.float32)

    kept: list[Any] = []
    f(tf.constant(1.0))
    model.flag = True
    f(tf.constant(2.0))
    assert kept == [(False, [1.0]), (True, [2.0])]


def test_a_function_without_source_runs_it_once_before_its_condition() -> None:
    """The body is run for each way through its conditions, and these runs must be seen as one."""
    names: dict[str, Any] = {"tf": tf, "runs": []}
    text = """
        @tf.function
        def f(x):
            y = tf.py_function(lambda a: runs.append(1) or a, [x], tf.float32)
            if x > 0:
                return y * 2.0
            return tf.numpy_function(lambda a: -a, [y], tf.float32)
    """
    exec(textwrap.dedent(text), names)
    assert [float(names["f"](tf.constant(x))) for x in (3.0, -4.0)] == [6.0, 4.0]
    assert len(names["runs"]) == 2


@both_calls
def test_sizes_stay_open(call: Any) -> None:
    f = tf.function(lambda x: call(lambda a: a + a, [x], tf.float32) + 1.0)
    for n in (1, 2, 3, 4):
        assert f(tf.ones([n])).numpy().tolist() == [3.0] * n
    assert f.experimental_get_tracing_count() == 2


@both_calls
def test_it_runs_in_the_branch_that_is_taken(call: Any) -> None:
    seen: list[float] = []

    def note(a: Any) -> Any:
        seen.append(float(a))
        return a

    @tf.function
    def f(x: Any) -> Any:
        return call(note, [x], tf.float32) if x > 0 else -x

    assert [float(f(tf.constant(x))) for x in (1.0, -2.0, 3.0)] == [1.0, 2.0, 3.0]
    assert seen == [1.0, 3.0]


@both_calls
def test_it_runs_in_each_iteration_of_a_loop(call: Any) -> None:
    seen: list[Any] = []

    def note(i: Any, x: Any) -> Any:
        seen.append(i)
        return x + np.float32(1)

    @tf.function
    def f(n: Any) -> Any:
        x = tf.constant(0.0)
        for i in tf.range(n):
            x = tf.ensure_shape(call(note, [i, x], tf.float32), [])
        return x

    assert float(f(tf.constant(5))) == 5.0
    # Each is a value of its own, though the loop writes its counter over the last one.
    assert [int(i) for i in seen] == [0, 1, 2, 3, 4]


@both_calls
def test_it_runs_in_maps_and_in_functions_within_functions(call: Any) -> None:
    double = tf.function(
        lambda x: tf.ensure_shape(call(lambda a: a * np.float32(2), [x], tf.float32), [])
    )
    x = tf.constant([1.0, 2.0, 3.0])
    for mapped in (tf.map_fn, tf.vectorized_map):
        assert mapped(double, x).numpy().tolist() == [2.0, 4.0, 6.0]
        in_a_trace = tf.function(lambda x, mapped=mapped: mapped(double, x))
        assert in_a_trace(x).numpy().tolist() == [2.0, 4.0, 6.0]


def test_a_stateless_one_runs_only_for_its_results() -> None:
    runs: list[Any] = []

    def note(a: Any) -> Any:
        runs.append(a)
        return a

    @tf.function
    def f(x: Any, is_used: bool) -> Any:
        y = tf.numpy_function(note, [x], tf.float32, stateful=False)
        return y if is_used else x

    f(tf.constant(1.0), False)
    assert runs == []
    f(tf.constant(1.0), True)
    assert runs == [1.0]


@both_calls
def test_equal_calls_are_not_merged_and_constants_not_folded(call: Any) -> None:
    runs: list[int] = []

    def count() -> Any:
        runs.append(1)
        return np.float32(len(runs))

    @tf.function
    def f() -> Any:
        return call(count, [], tf.float32) + call(count, [], tf.float32)

    assert runs == []
    assert [float(f()), float(f())] == [3.0, 7.0]


def test_converted_code_runs_as_plain_python_on_values() -> None:
    @tf.function
    def f(x: Any) -> Any:
        def collatz(n: Any) -> Any:
            steps, seen = 0, []
            while n != 1:
                n = n // 2 if n % 2 == 0 else 3 * n + 1
                seen.append(int(n))
                steps += 1
            for i in tf.range(2):
                assert int(i) in (0, 1)
            return steps, max(seen)

        return tf.py_function(collatz, [x], [tf.int32, tf.int32])

    assert [int(y) for y in f(tf.constant(6))] == [8, 16]


def test_builtins_are_pythons_own_in_it(capsys: pytest.CaptureFixture[str]) -> None:
    v = tf.Variable(2.0)
    seen: list[Any] = []

    @tf.function
    def f(x: Any) -> None:
        def note(a: Any) -> None:
            seen.extend([float(v), int(a[0]), len(a), max(a), abs(-1), list(range(2))])
            print("printed", len(seen))

        for call in CALLS:
            call(note, [x], [])

    f(tf.constant([1.0, 3.0]))
    assert [type(s) for s in seen[:3]] == [float, int, int]
    assert seen[:3] == [2.0, 1, 2] and float(seen[3]) == 3.0 and seen[4:6] == [1, [0, 1]]
    assert capsys.readouterr() == ("printed 6\nprinted 12\n", "")


def test_it_runs_eagerly_outside_of_every_scope() -> None:
    seen = []

    def look(a: Any) -> Any:
        seen.append((tf.executing_eagerly(), tf.inside_function()))
        with tf.init_scope():
            return tf.Variable(a) + 1.0

    with tf.name_scope("outer"), tf.GradientTape() as tape:
        x = tf.Variable(1.0)
        y = tf.function(lambda: tf.py_function(look, [x], tf.float32))()
    assert float(y) == 2.0 and seen == [(True, False)]
    assert tape.watched_variables() == (x,)


def test_denormals_are_kept_while_it_runs() -> None:
    tiny = np.float32(1e-40)

    @tf.function
    def f(x: Any) -> Any:
        return tf.numpy_function(lambda a: np.float32(a * np.float32(0.5) > 0), [x], tf.float32)

    assert float(f(tf.constant(tiny))) == 1.0


def test_it_may_call_functions_and_be_called_by_them() -> None:
    @tf.function
    def factorial(n: Any) -> Any:
        def rest(n: Any) -> Any:
            return n * factorial(n - 1) if n > 1 else n

        return tf.ensure_shape(tf.py_function(rest, [n], tf.int32), [])

    assert int(factorial(tf.constant(10))) == 3628800


# --- Graphs.


def test_its_token_stands_in_the_graph() -> None:
    f = tf.function(lambda x: tf.py_function(lambda a: a, [x], tf.float32))
    graph = f.get_concrete_function(tf.constant(1.0)).graph
    (node,) = [op for op in graph.get_operations() if op.type == "EagerPyFunc"]
    assert node.get_attr("token").startswith(b"pyfunc_")
    assert node.get_attr("Tin") == node.get_attr("Tout") == [tf.float32]


@both_calls
def test_a_graph_that_was_printed_and_parsed_finds_it(call: Any) -> None:
    _engine.set_round_trip("text")
    try:
        f = tf.function(lambda x: call(lambda a: a + a, [x], tf.float32) * 2.0)
        assert float(f(tf.constant(3.0))) == 12.0
    finally:
        _engine.set_round_trip("")
