"""tf.py_function and tf.numpy_function: when they run, what they get and give, and their errors."""

import gc
import subprocess
import sys
import textwrap
import threading
import weakref
from collections.abc import Callable
from typing import Any

import graven as tf
import numpy as np
import pytest
from graven import _engine

CALLS: list[Any] = [tf.py_function, tf.numpy_function]
both_calls = pytest.mark.parametrize("call", CALLS, ids=["py_function", "numpy_function"])


def run_program(program: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", "import graven as tf, numpy as np\n" + textwrap.dedent(program)],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    return done.stdout


# --- When it runs.


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


# --- What it gets and gives.


def test_py_function_gets_tensors_and_numpy_function_values_of_numpy() -> None:
    types: list[Any] = []

    def note(*args: Any) -> None:
        types.extend(type(a) for a in args)

    values = [tf.constant(1.0), tf.constant([1, 2]), tf.constant("a"), tf.constant(["a"]), 3]

    @tf.function
    def f(call: Any) -> None:
        call(note, values, [])

    f(tf.numpy_function)
    assert types == [np.float32, np.ndarray, bytes, np.ndarray, np.int32]
    types.clear()
    f(tf.py_function)
    assert types == [type(values[0])] * 5


@both_calls
def test_what_it_gets_stays_as_it_is(call: Any) -> None:
    kept: list[Any] = []

    @tf.function
    def f(x: Any) -> Any:
        y = x + 1.0
        call(kept.append, [y], [])
        return y * 2.0 + 1.0

    x = np.arange(1000, dtype=np.float32)
    for scale in (1, 2):
        f(tf.constant(x * scale))
    assert (np.asarray(kept[0]) == x + 1).all() and (np.asarray(kept[1]) == 2 * x + 1).all()


def test_arrays_of_numpy_function_may_be_written() -> None:
    def clear(a: Any) -> Any:
        a[0] = -1.0
        return a

    x = tf.constant([1.0, 2.0])
    f = tf.function(lambda x: (tf.numpy_function(clear, [x], tf.float32), x))
    assert [y.numpy().tolist() for y in f(x)] == [[-1.0, 2.0], [1.0, 2.0]]
    assert x.numpy().tolist() == [1.0, 2.0]


@pytest.mark.parametrize("traced", [False, True], ids=["eager", "traced"])
@pytest.mark.parametrize(
    ("result", "dtype", "expected"),
    [
        (3, tf.float32, 3.0),
        ([[[1, 2], [3, 4]]], [tf.int64], [[[1, 2], [3, 4]]]),
        (np.array([1.5]), tf.float32, [1.5]),
        ("text", tf.string, b"text"),
        (["a\0", "\u00e9"], [tf.string, tf.string], [b"a\0", "\u00e9".encode()]),
        ((1, 2.5), (tf.int32, tf.float64), [1, 2.5]),
        ([1, 2], [tf.int32], [1]),  # what is too much is left out, as in TensorFlow
        ([1, 2], tf.int32, 1),
        (True, tf.bool, True),
    ],
)
def test_results_are_converted(result: Any, dtype: Any, expected: Any, traced: bool) -> None:
    def f() -> Any:
        return tf.py_function(lambda: result, [], dtype)

    got = (tf.function(f) if traced else f)()
    as_list = [x.numpy() for x in got] if isinstance(got, list) else got.numpy()
    assert np.array_equal(as_list, expected)


@both_calls
def test_shapes_are_unknown_until_they_are_said(call: Any) -> None:
    @tf.function
    def f(x: Any) -> Any:
        y = call(lambda a: a, [x], tf.float32)
        assert y.shape.rank is None
        y.set_shape([2])
        z = tf.ensure_shape(call(lambda a: a, [x], tf.float32), [2])
        assert y.shape == z.shape == [2]
        return y + z

    assert f(tf.constant([1.0, 2.0])).numpy().tolist() == [2.0, 4.0]
    with pytest.raises(tf.errors.InvalidArgumentError, match="shape"):
        tf.function(lambda x: tf.ensure_shape(call(lambda a: a[:1], [x], tf.float32), [2]))(
            tf.constant([1.0, 2.0])
        )


def test_composite_tensors_go_in_and_out() -> None:
    rows = tf.ragged.constant([[1.0, 2.0], [3.0]])

    def twice(r: Any) -> Any:
        return tf.RaggedTensor.from_row_splits(r.values * 2.0, r.row_splits)

    def f(r: Any) -> Any:
        return tf.py_function(twice, [r], tf.RaggedTensorSpec([None, None], tf.float32))

    for run in (f, tf.function(f)):
        assert run(rows).to_list() == [[2.0, 4.0], [6.0]]
    with pytest.raises(tf.errors.InvalidArgumentError, match="not compatible"):
        tf.py_function(lambda r: 1.0, [rows], tf.RaggedTensorSpec([None, None], tf.float32))
    with pytest.raises(tf.errors.InvalidArgumentError, match="not a Tensor"):
        tf.py_function(lambda r: r, [rows], tf.float32)


def test_a_spec_of_a_tensor_gives_its_dtype_only() -> None:
    f = tf.function(lambda x: tf.py_function(lambda a: a, [x], tf.TensorSpec([], tf.float32)))
    assert f.get_concrete_function(tf.constant([1.0])).outputs[0].shape.rank is None
    assert f(tf.constant([1.0])).numpy().tolist() == [1.0]


@both_calls
def test_it_decorates_functions(call: Any) -> None:
    def twice(a: Any) -> Any:
        """Says so."""
        return a * np.float32(2)

    double = call(Tout=tf.float32)(twice)
    assert double.__doc__ == "Says so." and float(double(tf.constant(1.5))) == 3.0
    assert float(tf.function(double)(tf.constant(1.5))) == 3.0


def test_without_results_it_is_an_operation_while_a_function_is_traced() -> None:
    made: list[Any] = []

    @tf.function
    def f() -> None:
        for call in CALLS:
            made.append(call(lambda: None, [], [], name="mine"))

    f()
    assert [type(op) for op in made] == [tf.Operation] * 2
    assert [op.type for op in made] == ["EagerPyFunc", "PyFunc"]
    assert [op.name for op in made] == ["mine", "mine_1"]
    assert tf.py_function(lambda: None, [], []) == []
    assert tf.numpy_function(lambda: None, [], []) is None


# --- Gradients.


def derivatives(f: Callable[[Any], Any], x: Any, order: int) -> list[float]:
    """f(x), f'(x), f''(x), ..."""
    if order == 0:
        return [f(x)]
    with tf.GradientTape() as tape:
        tape.watch(x)
        values = derivatives(f, x, order - 1)
    return [*values, tape.gradient(values[-1], x)]


def power_of_four(x: Any) -> Any:
    return tf.py_function(lambda a: a * a * a * a, [x], tf.float32)


@pytest.mark.parametrize(
    "f",
    [power_of_four, tf.function(power_of_four), tf.function(tf.function(power_of_four))],
    ids=["eager", "traced", "nested"],
)
def test_gradients_of_any_order_are_those_of_what_it_computed(f: Any) -> None:
    x = tf.constant(2.0)
    expected = [16.0, 32.0, 48.0, 48.0, 24.0]
    assert [float(y) for y in derivatives(f, x, 4)] == expected
    in_a_trace = tf.function(lambda x: derivatives(f, x, 4))
    assert [float(y) for y in in_a_trace(x)] == expected


def test_its_gradient_runs_what_was_recorded_and_not_the_function_again() -> None:
    runs: list[float] = []

    def note(a: Any) -> Any:
        runs.append(float(a))
        return a * a

    f = tf.function(lambda x: tf.py_function(note, [x], tf.float32))
    x = tf.constant(3.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y, z = f(x), f(2.0 * x)
    assert [float(tape.gradient(y, x)) for _ in range(2)] == [6.0, 6.0]
    assert float(tape.gradient(z, x)) == 24.0
    assert runs == [3.0, 6.0]


def test_gradients_flow_through_loops_and_branches_around_it() -> None:
    @tf.function
    def f(x: Any) -> Any:
        for _ in tf.range(3):
            if x > 0.0:
                x = tf.ensure_shape(tf.py_function(lambda a: a * a, [x], tf.float32), [])
        return x

    x = tf.constant(1.1)
    assert float(derivatives(f, x, 1)[1]) == pytest.approx(8 * 1.1**7, rel=1e-5)
    assert float(derivatives(f, x, 2)[2]) == pytest.approx(56 * 1.1**6, rel=1e-5)


def test_each_argument_has_a_gradient_of_its_own() -> None:
    x = tf.constant(3.0)

    def f(a: Any, b: Any, n: Any, c: Any) -> Any:
        return a * a * b * tf.cast(n, tf.float32), n + 1

    @tf.function
    def g(x: Any) -> Any:
        return tf.py_function(f, [x, x, tf.constant(2), x + 1.0], [tf.float32, tf.int32])

    with tf.GradientTape() as tape:
        tape.watch(x)
        y, n = g(x)
    assert float(tape.gradient(y, x)) == 54.0 and int(n) == 3


def test_an_argument_without_a_path_to_the_result_has_a_gradient_of_zeros() -> None:
    x = tf.constant([1.0, 2.0])
    f = tf.function(lambda x: tf.py_function(lambda a, b: a + a, [x, x * 5.0], tf.float32))
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    assert tape.gradient(y, x).numpy().tolist() == [2.0, 2.0]


def test_rows_of_a_gradient_become_one_tensor() -> None:
    table = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    with tf.GradientTape() as tape:
        tape.watch(table)
        y = tf.py_function(lambda t: tf.gather(t, [1, 1]), [table], tf.float32)
    assert tape.gradient(y, table).numpy().tolist() == [[0.0, 0.0], [2.0, 2.0]]


def test_variables_are_differentiated_as_arguments_only() -> None:
    v = tf.Variable(2.0)
    f = tf.function(lambda x: tf.py_function(lambda a: a * v, [x], tf.float32))
    g = tf.function(lambda: tf.py_function(lambda a: a * a, [v], tf.float32))
    with tf.GradientTape(persistent=True) as tape:
        y, z = f(tf.constant(3.0)), g()
    assert tape.gradient(y, v) is None and float(tape.gradient(z, v)) == 4.0


def test_jacobians_go_row_by_row() -> None:
    x = tf.constant([1.0, 2.0])

    def f(x: Any) -> Any:
        return tf.ensure_shape(tf.py_function(lambda a: a * a * a, [x], tf.float32), [2])

    for run in (f, tf.function(f)):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = run(x)
        assert tape.jacobian(y, x).numpy().tolist() == [[3.0, 0.0], [0.0, 12.0]]


def test_a_jacobian_has_no_gradient_and_says_so() -> None:
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.py_function(lambda a: a * a * a, [x], tf.float32)
        jacobian = tape.jacobian(y, x)
    with pytest.raises(tf.errors.UnimplementedError, match="gradient of a jacobian"):
        outer.gradient(jacobian, x)


def test_rows_that_call_it_have_gradients() -> None:
    def slope(x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.py_function(lambda a: a * a, [x], tf.float32)
        return tape.gradient(y, x)

    x = tf.constant([1.0, 2.0])
    for mapped in (tf.map_fn, tf.vectorized_map):
        assert mapped(slope, x).numpy().tolist() == [2.0, 4.0]
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = mapped(power_of_four, x)
        assert tape.gradient(y, x).numpy().tolist() == [4.0, 32.0]


@pytest.mark.parametrize("f", [power_of_four, tf.function(power_of_four)], ids=["eager", "traced"])
def test_forward_mode_goes_through_it(f: Any) -> None:
    x = tf.constant(2.0)
    with tf.autodiff.ForwardAccumulator(x, tf.constant(10.0)) as accumulator:
        y = f(x)
    assert float(y) == 16.0 and float(accumulator.jvp(y)) == 320.0


def test_a_custom_gradient_within_it_is_used() -> None:
    @tf.custom_gradient
    def f(x: Any) -> Any:
        return x * 2.0, lambda dy: dy * 100.0

    x = tf.constant(3.0)
    g = tf.function(lambda x: tf.py_function(lambda a: f(a), [x], tf.float32))
    assert float(derivatives(g, x, 1)[1]) == 100.0


def test_no_gradient_flows_through_numpy_function() -> None:
    x = tf.constant(3.0)
    f = tf.function(lambda x: tf.numpy_function(lambda a: a * 2, [x], tf.float32))
    assert derivatives(f, x, 1)[1] is None


# --- Errors.


def test_an_error_names_the_lines_and_is_the_cause() -> None:
    error = KeyError("the cause")

    def fail(a: Any) -> Any:
        raise error

    @tf.function
    def f(x: Any) -> Any:
        return tf.py_function(fail, [x], tf.float32)  # here

    for run in (f, lambda x: tf.py_function(fail, [x], tf.float32)):
        with pytest.raises(tf.errors.UnknownError, match="KeyError: 'the cause'") as caught:
            run(tf.constant(1.0))
        assert caught.value.__cause__ is error
        assert "raise error" in str(caught.value)
    with pytest.raises(tf.errors.UnknownError, match="# here"):
        f(tf.constant(1.0))
    assert error.__traceback__ is not None


@both_calls
def test_a_keyboard_interrupt_passes(call: Any) -> None:
    def interrupt(a: Any) -> Any:
        raise KeyboardInterrupt

    f = tf.function(lambda x: call(interrupt, [x], tf.float32))
    for _ in range(2):
        with pytest.raises(KeyboardInterrupt):
            f(tf.constant(1.0))


class UnspeakableError(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no words")


def test_an_error_without_a_text_is_an_error() -> None:
    def fail() -> None:
        raise UnspeakableError

    with pytest.raises(tf.errors.UnknownError, match="UnspeakableError"):
        tf.py_function(fail, [], [])


@both_calls
@pytest.mark.parametrize(
    ("result", "dtypes", "message"),
    [
        ([1.0], [tf.float32] * 2, "returns 1 values, but expects to see 2 values"),
        (None, tf.float32, "returns 0 values, but expects to see 1 values"),
        (1.0, [], "returns 1 values, but expects to see 0 values"),
        ("text", tf.int32, "int32|integer|number"),
        (object(), tf.float32, "object"),
    ],
)
def test_wrong_results_are_errors(call: Any, result: Any, dtypes: Any, message: str) -> None:
    given = np.float32(result) if type(result) is float else result

    @tf.function
    def f() -> Any:
        call(lambda: given, [], dtypes)
        return 1

    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        f()


def test_numpy_function_takes_no_more_results_than_it_said() -> None:
    f = tf.function(lambda: tf.numpy_function(lambda: [np.int32(1)] * 2, [], tf.int32))
    with pytest.raises(tf.errors.InvalidArgumentError, match="returns 2 values, but expects"):
        f()
    g = tf.function(lambda: tf.numpy_function(lambda: np.int32(1), [], tf.float32))
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"0-th value returned by .* is int32"):
        g()


@both_calls
def test_wrong_arguments_are_errors(call: Any) -> None:
    x = tf.constant(1.0)
    f: Any = lambda *args, **kwargs: tf.function(lambda: call(*args, **kwargs))()  # noqa: E731
    for run in (call, f):
        with pytest.raises(TypeError, match="Tout"):
            run(abs, [x])
        with pytest.raises(TypeError, match="Missing argument `inp`"):
            run(abs, Tout=tf.float32)
        with pytest.raises(TypeError, match="as a decorator"):
            run(None, [x], tf.float32)
        with pytest.raises(TypeError, match=r"(?i)iterat"):
            run(abs, x, tf.float32)
        with pytest.raises((TypeError, ValueError)):
            run(abs, [None], tf.float32)
    with pytest.raises(ValueError, match="Expected func to be callable"):
        f(3, [x], tf.float32)
    for dtypes in ("floot", [[tf.float32]], 3.5):
        with pytest.raises(TypeError):
            f(abs, [x], dtypes)


def test_a_variable_is_no_result() -> None:
    v = tf.Variable(1.0)
    with pytest.raises(tf.errors.UnknownError, match="Attempting to return a variable"):
        tf.py_function(lambda: v, [], tf.float32)


def test_a_run_that_failed_leaves_the_function_as_it_was() -> None:
    fails = [True]

    def maybe(a: Any) -> Any:
        if fails[0]:
            raise ValueError("not now")
        return a

    f = tf.function(lambda x: tf.py_function(maybe, [x], tf.float32))
    with pytest.raises(tf.errors.InvalidArgumentError, match="not now"):
        f(tf.constant(1.0))
    fails[0] = False
    assert float(f(tf.constant(1.0))) == 1.0
    assert f.experimental_get_tracing_count() == 1


def test_an_unknown_token_is_an_error() -> None:
    for op in (tf.raw_ops.EagerPyFunc, tf.raw_ops.PyFunc, tf.raw_ops.PyFuncStateless):
        with pytest.raises(tf.errors.InvalidArgumentError, match='token "pyfunc_nobody"'):
            op(input=[], token="pyfunc_nobody", Tout=[tf.float32])


# --- Threads and lives.


@both_calls
def test_threads_call_it_at_once(call: Any) -> None:
    f = tf.function(lambda x: call(lambda a: a + a, [x], tf.float32))
    f(tf.constant(0.0))
    wrong: list[float] = []

    def work(number: int) -> None:
        for i in range(200):
            x = float(1000 * number + i)
            if float(f(tf.constant(x))) != 2 * x:
                wrong.append(x)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_other_threads_run_while_it_waits() -> None:
    entered, go_on = threading.Event(), threading.Event()

    def wait(a: Any) -> Any:
        entered.set()
        assert go_on.wait(timeout=30)
        return a

    f = tf.function(lambda x: tf.py_function(wait, [x], tf.float32))
    thread = threading.Thread(target=lambda: f(tf.constant(1.0)))
    thread.start()
    assert entered.wait(timeout=30)
    assert float(tf.function(lambda x: x + 1.0)(tf.constant(1.0))) == 2.0
    go_on.set()
    thread.join()


class Token:
    """Something to follow."""


@both_calls
def test_it_dies_with_the_function_that_calls_it(call: Any) -> None:
    def make(token: Token) -> Any:
        @tf.function
        def f(x: Any) -> Any:
            # A cycle: the callback holds the Function whose trace calls it.
            return call(lambda a: a if token and f else -a, [x], tf.float32)

        f(tf.constant(1.0))
        return f

    token = Token()
    alive = weakref.ref(token)
    f = make(token)
    del token
    gc.collect()
    assert alive() is not None
    del f
    gc.collect()
    assert alive() is None


@both_calls
def test_it_dies_after_an_eager_call(call: Any) -> None:
    token = Token()
    alive = weakref.ref(token)
    with tf.GradientTape() as tape:
        x = tf.Variable(2.0)
        y = call(lambda a, held=token: a * a, [x], tf.float32)
    del token
    gc.collect()
    assert alive() is None
    if call is tf.py_function:
        assert float(tape.gradient(y, x)) == 4.0


def test_a_tape_differentiates_after_the_function_is_gone() -> None:
    x = tf.constant(2.0)
    f = tf.function(lambda x: tf.py_function(lambda a: a * a, [x], tf.float32))
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    del f
    gc.collect()
    assert float(tape.gradient(y, x)) == 4.0


def test_a_concrete_function_keeps_it() -> None:
    f = tf.function(lambda x: tf.py_function(lambda a: a * a, [x], tf.float32))
    concrete = f.get_concrete_function(tf.constant(1.0))
    del f
    gc.collect()
    assert float(concrete(tf.constant(3.0))) == 9.0

    def calls(concrete: Any) -> Any:
        return tf.function(lambda x: concrete(x))

    outer = calls(concrete)
    del concrete
    gc.collect()
    assert float(outer(tf.constant(3.0))) == 9.0


def test_it_runs_after_a_fork() -> None:
    out = run_program(
        """
        import os
        f = tf.function(lambda x: tf.py_function(lambda a: a * 2, [x], tf.float32))
        f(tf.constant(1.0))
        child = os.fork()
        if child == 0:
            os._exit(int(f(tf.constant(21.0))))
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
        """
    )
    assert out == "42\n"


def test_it_runs_until_python_ends() -> None:
    """Functions of atexit call it, and daemons do until they are stopped."""
    out = run_program(
        """
        import atexit, threading
        f = tf.function(lambda x: tf.py_function(lambda a: a * 2, [x], tf.float32))
        f(tf.constant(1.0))
        atexit.register(lambda: print(float(f(tf.constant(2.0)))))
        def work():
            while True:
                f(tf.constant(1.0))
        threading.Thread(target=work, daemon=True).start()
        """
    )
    assert out == "4.0\n"


def test_a_call_while_modules_go_is_an_error_at_most() -> None:
    out = run_program(
        """
        f = tf.function(lambda x: tf.py_function(lambda a: a * 2, [x], tf.float32))
        f(tf.constant(1.0))
        class Last:
            def __del__(self, f=f, x=tf.constant(3.0)):
                try:
                    print(float(f(x)))
                except Exception:
                    print("error")
        last = Last()
        """
    )
    assert out in ("6.0\n", "error\n")


# --- Graphs.


def test_its_token_stands_in_the_graph() -> None:
    f = tf.function(lambda x: tf.py_function(lambda a: a, [x], tf.float32))
    graph = f.get_concrete_function(tf.constant(1.0)).graph
    (node,) = [op for op in graph.get_operations() if op.type == "EagerPyFunc"]
    assert node.get_attr("token").startswith(b"pyfunc_")
    assert node.get_attr("Tin") == node.get_attr("Tout") == [tf.float32]


@both_calls
def test_a_graph_that_was_printed_and_parsed_finds_it(call: Any) -> None:
    _engine.set_round_trip(True)
    try:
        f = tf.function(lambda x: call(lambda a: a + a, [x], tf.float32) * 2.0)
        assert float(f(tf.constant(3.0))) == 12.0
    finally:
        _engine.set_round_trip(False)
