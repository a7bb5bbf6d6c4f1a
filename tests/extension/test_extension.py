"""Functions, tensors and variables cross between C++ and Python, in both directions.

extension.cc is the other side: an extension module as users write them.
"""

import copy
import gc
import importlib.machinery
import importlib.util
import inspect
import json
import os
import subprocess
import sys
import threading
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import graven as tf
import numpy as np
import pytest
from graven import _engine

ROOT = Path(__file__).resolve().parents[2]
FILE = ROOT / "build" / os.environ.get("GRAVEN_PRESET", "release") / "extension" / "extension.so"
HERE = Path(__file__).name


def load(file: Path) -> Any:
    loader = importlib.machinery.ExtensionFileLoader("extension", str(file))
    spec = importlib.util.spec_from_file_location("extension", file, loader=loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


ext = load(FILE)


def run_program(program: str) -> subprocess.CompletedProcess[str]:
    code = f"import sys; sys.path.insert(0, {str(FILE.parent)!r})\n{program}"
    command = [sys.executable, "-c", code]
    # Not in the checkout, whose folder graven would be found as a package.
    where = FILE.parent
    return subprocess.run(command, cwd=where, capture_output=True, text=True, timeout=120)


@tf.function
def square(x: Any) -> Any:
    return x * x


# --- A function of C++, used from Python.


def test_a_function_of_cpp_is_called_and_trains_its_variable() -> None:
    step = ext.make_step()
    losses = [float(step(tf.ones([2]), tf.zeros([2]))) for _ in range(3)]
    np.testing.assert_allclose(losses, [5.0, 3.2, 2.048], rtol=1e-6)
    assert step.experimental_get_tracing_count() == 1


def test_arrays_lists_and_keywords_are_arguments_of_a_function_of_cpp() -> None:
    step = ext.make_step()
    assert float(step([1.0, 1.0], y=np.zeros(2, np.float32))) == 5.0
    assert float(step(y=tf.zeros([2]), x=tf.Variable([0.0, 0.0]))) == 0.0
    assert step.experimental_get_tracing_count() == 1


def test_a_function_of_cpp_is_listed_among_those_of_the_process() -> None:
    step = ext.make_step()
    step(tf.ones([2]), tf.zeros([2]))
    row = tf.config.trace_cache_info().functions[-1]
    assert (row.name, row.entries, row.traces, row.misses) == ("step", 1, 1, 1)


def test_a_function_of_cpp_has_the_cache_info_of_any_function() -> None:
    step = ext.make_step()
    for size in (2, 2, 1):
        step(tf.ones([size]), tf.zeros([2]))
    info = step.cache_info()
    assert (info.entries, info.traces, info.hits, info.misses) == (2, 2, 1, 2)
    assert info.max_traces == 5 and info.max_bytes is None
    assert info.signatures[0].signature.startswith("step(x: TensorSpec(shape=(2,),")
    assert str(info).startswith("step: 2 traces of 2 ever made")
    assert step.__name__ == step.name == "step"
    assert repr(step) == "<graven Function step(x, y) of C++>"
    assert len(step.pretty_printed_concrete_signatures(verbose=False).splitlines()) == 2
    step.clear_cache()
    assert step.cache_info().entries == 0
    assert isinstance(step, tf.types.experimental.PolymorphicFunction)


def test_a_function_of_cpp_keeps_within_its_budget() -> None:
    step = ext.make_step()
    for rank in range(7):
        step(tf.ones([1] * rank), tf.zeros([2]))
    assert step.cache_info().entries == 5 and step.cache_info().traces == 7


def test_a_function_of_cpp_is_differentiated_by_a_tape_of_python() -> None:
    w = tf.Variable([1.0, 2.0])
    weighted = ext.make_weighted(w)
    x = tf.constant([3.0, 4.0])
    for _ in range(2):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = weighted(x) ** 2.0
        dw, dx = tape.gradient(y, [w, x])
        assert float(y) == 121.0
        assert dw.numpy().tolist() == [66.0, 88.0] and dx.numpy().tolist() == [22.0, 44.0]


def test_a_tape_of_python_names_the_variables_of_a_function_of_cpp() -> None:
    step = ext.make_step()
    with tf.GradientTape(persistent=True) as tape:
        loss = step(tf.ones([2]), tf.zeros([2]))
    (w,) = tape.watched_variables()
    assert w.name == "w:0" and w.numpy().tolist() == [pytest.approx(0.8), pytest.approx(1.6)]
    assert tape.gradient(loss, w).numpy().tolist() == [2.0, 4.0]
    concrete = step.get_concrete_function(tf.ones([2]), tf.zeros([2]))
    assert [v.name for v in concrete.variables] == ["w:0"]
    assert concrete(tf.ones([2]), tf.zeros([2])).shape == ()


def test_a_function_of_cpp_within_one_of_python_is_called_and_differentiated() -> None:
    step = ext.make_step()
    scale = ext.make_scale()

    @tf.function
    def outer(x: Any) -> Any:
        return scale(step(x, tf.zeros([2])), 3.0) if tf.reduce_sum(x) > 0 else x[0]

    assert float(outer(tf.ones([2]))) == 15.0
    with tf.GradientTape() as tape:
        x = tf.ones([2])
        tape.watch(x)
        y = outer(x)
    assert tape.gradient(y, x).numpy().tolist() == [pytest.approx(3.84), pytest.approx(15.36)]


def test_a_function_of_cpp_goes_wherever_a_function_of_python_does() -> None:
    scale = ext.make_scale()
    assert list(inspect.signature(scale).parameters) == ["x", "factor"]
    assert float(tf.function(scale)(tf.constant(2.0), 3.0)) == 6.0
    square_of_cpp = ext.make_twice(square)
    rows = tf.constant([1.0, 2.0])
    assert tf.map_fn(square_of_cpp, rows).numpy().tolist() == [2.0, 8.0]
    assert tf.vectorized_map(square_of_cpp, rows).numpy().tolist() == [2.0, 8.0]
    assert float(tf.cond(rows[0] > 0.0, lambda: square_of_cpp(rows[1]), lambda: rows[0])) == 8.0
    assert copy.copy(scale) is scale and copy.deepcopy([scale])[0] is scale


def test_a_function_of_cpp_is_explained_in_python() -> None:
    step = ext.make_step()
    assert "0 traces of 0 ever made" in str(step.explain())
    step(tf.ones([2]), tf.zeros([2]))
    text = str(step.explain())
    assert "the first trace" in text and f"{HERE}:" in text and "extension.cc:" in text
    call = step.explain(tf.ones([3]), tf.zeros([2])).to_dict()["functions"][0]["call"]
    assert call["why"]["path"] == "x"
    found = str(step.explain(tf.TensorSpec([2]), y=tf.TensorSpec([2])))
    assert "finds step#1" in found
    assert step.experimental_get_tracing_count() == 1


def test_structures_cross_by_the_types_of_the_parameters() -> None:
    structured = ext.make_structured()
    total, named = structured({"a": 1.0}, [(1.0, 2.0), [3.0, 4.0]], None, "a", True)
    assert float(total) == -15.0 and float(named["twice"]) == -30.0
    total, _ = structured(named={"a": 1.0}, points=(), times=3, key="a", negate=False)
    assert float(total) == 3.0
    assert ext.through_structure({"x": [(1, None), [np.int8(2), np.float32(2.5)]]}) == {
        "x": [(1, None), (2, 2.5)]
    }
    assert ext.make_nothing()() is None


def test_a_watched_value_of_cpp_makes_a_trace_of_python_around_it_new() -> None:
    rated = ext.make_rated("retrace")
    ext.set_rate(0.5)

    @tf.function
    def outer(x: Any) -> Any:
        return rated(x) + 1.0

    assert float(outer(tf.constant(2.0))) == 2.0
    ext.set_rate(3.0)
    assert float(rated(tf.constant(2.0))) == 6.0
    assert float(outer(tf.constant(2.0))) == 7.0
    assert "changed from 0.5 to 3" in str(outer.explain())
    ext.set_rate(0.5)
    assert float(outer(tf.constant(2.0))) == 2.0


SCALE = 2.0


def test_a_global_of_python_makes_a_trace_of_cpp_around_it_new() -> None:
    global SCALE
    SCALE = 2.0

    @tf.function
    def inner(x: Any) -> Any:
        return x * SCALE

    twice = ext.make_twice(inner)
    assert float(twice(tf.constant(1.0))) == 4.0
    SCALE = 5.0
    assert float(twice(tf.constant(1.0))) == 10.0
    assert "SCALE" in twice.cache_info().signatures[1].why
    SCALE = 2.0
    assert float(twice(tf.constant(1.0))) == 4.0
    assert twice.experimental_get_tracing_count() == 2


# How often each of two calls after a change of what the inner function has read gives 4 (the old
# trace), 10 (a new one) or an error, and how many traces the outer function has then.
STALE = [("retrace", [10.0, 10.0], 2), ("warn", [4.0, 4.0], 2), ("error", [None, None], 1)]
STALE += [("ignore", [4.0, 4.0], 1)]


def results(outer: Any) -> list[float | None]:
    values: list[float | None] = []
    for _ in range(2):
        try:
            values.append(float(outer(tf.constant(1.0))))
        except (RuntimeError, tf.errors.FailedPreconditionError):
            values.append(None)
    return values


@pytest.mark.parametrize(("stale", "expected", "traces"), STALE)
def test_what_a_function_of_python_does_about_a_change_holds_within_one_of_cpp(
    stale: str, expected: list[float | None], traces: int
) -> None:
    global SCALE
    SCALE = 2.0
    twice = ext.make_twice(tf.function(lambda x: x * SCALE, stale=stale))
    assert float(twice(tf.constant(1.0))) == 4.0
    SCALE = 5.0
    assert results(twice) == expected
    assert results(twice) == expected
    assert twice.experimental_get_tracing_count() == traces


@pytest.mark.parametrize(("stale", "expected", "traces"), STALE)
def test_what_a_function_of_cpp_does_about_a_change_holds_within_one_of_python(
    stale: str,
    expected: list[float | None],
    traces: int,
    capfd: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    ext.set_rate(2.0)
    rated = ext.make_rated(stale)
    outer = tf.function(lambda x: rated(x) * 2.0)
    assert float(outer(tf.constant(1.0))) == 4.0
    ext.set_rate(5.0)
    # As among functions of Python: where a new trace fails, the old one is run, with a report.
    is_error = expected == [None, None]
    expected = [4.0, 4.0] if is_error else expected
    assert results(outer) == expected
    assert results(outer) == expected
    assert outer.experimental_get_tracing_count() == traces
    assert ("The trace that this asks for failed" in caplog.text) == is_error
    assert capfd.readouterr().err.count("changed from 2 to 5") == (stale == "warn")


# --- A function of Python's, used from C++.


def test_a_function_of_python_is_called_from_cpp_and_shares_its_traces() -> None:
    f = tf.function(lambda x: x * 2.0)
    assert float(ext.call(f, tf.constant(2.0))) == 4.0
    assert float(f(tf.constant(2.0))) == 4.0
    assert ext.trace_counts(f) == ("<lambda>", 1, 1, 1)


def test_a_function_of_python_is_differentiated_in_cpp() -> None:
    assert float(ext.gradient(square, tf.constant(3.0))) == 6.0
    assert float(ext.gradient(ext.make_twice(square), 3.0)) == 12.0


def test_a_function_of_python_is_explained_in_cpp() -> None:
    f = tf.function(lambda x: x * 2.0)
    ext.call(f, tf.ones([2]))
    assert "the first trace" in ext.explain(f)
    assert "finds" in ext.explain(f, tf.ones([2]))
    assert "x: float32[3], was float32[2]" in ext.explain(f, tf.ones([3]))
    assert "x: float32[None], was float32[2]" in ext.explain_open(f)
    assert f.experimental_get_tracing_count() == 1


def test_numbers_and_variables_are_arguments_of_a_function_of_python() -> None:
    @tf.function
    def sum_and_product(x: Any, number: float) -> Any:
        assert isinstance(number, float)
        return x + number, x * number

    both = ext.call_with_number(sum_and_product, tf.constant(3.0), 2)
    assert [float(value) for value in both] == [5.0, 6.0]

    @tf.function
    def increment(v: Any) -> None:
        v.assign_add(1.0)

    v = tf.Variable(1.0)
    ext.update(increment, v)
    assert float(v) == 2.0


def test_a_result_of_another_type_is_named() -> None:
    f = tf.function(lambda x: {"a": x})
    with pytest.raises((TypeError, ValueError), match=r"The result of <lambda>: .*dict"):
        ext.call(f, 1.0)
    with pytest.raises(TypeError, match="The result of <lambda> must be a tuple or a list"):
        ext.call_with_number(tf.function(lambda x, y: x), 1.0, 2.0)
    with pytest.raises(TypeError, match="The result of <lambda> must have 2 items, not 3"):
        ext.call_with_number(tf.function(lambda x, y: (x, x, x)), 1.0, 2.0)


def test_a_concrete_function_is_asked_for_where_the_function_was_made() -> None:
    with pytest.raises(tf.errors.UnimplementedError, match="square is a function of another"):
        ext.concrete(square)


# --- Identity and lifetime.


def test_a_round_trip_gives_the_very_object() -> None:
    step = ext.make_scale()
    twice = ext.make_twice(square)
    assert ext.through_function(square) is square
    assert ext.through_function(twice) is twice
    x, v = tf.ones([2]), tf.Variable(1.0)
    assert ext.through_variable(v) is v
    made = ext.make_variable(5.0)
    assert ext.through_variable(made) is made and made.trainable and made.name == "made:0"
    made.assign_add(1.0)
    assert float(ext.through_variable(made)) == 6.0
    assert ext.through_tensor(x).ref() == x.ref()
    assert ext.through_tensor(None) is None
    with pytest.raises(TypeError, match="argument factor must be a number, not EagerTensor"):
        step(x, x)


def test_a_function_of_cpp_called_as_another_type_is_converted_by_its_own() -> None:
    scale = ext.make_scale()
    with pytest.raises(TypeError, match=r"scale.x, factor. is missing the argument 'factor'"):
        ext.call(scale, 1.0)
    assert float(ext.call_with_number(ext.make_pair(), 3.0, 2.0)[1]) == 6.0


def test_a_function_of_cpp_outlives_the_names_that_it_was_made_from() -> None:
    def make() -> tuple[Any, weakref.ref[Any]]:
        w = tf.Variable([1.0, 2.0])
        inner = tf.function(lambda x: tf.reduce_sum(x * w))
        return ext.make_twice(inner), weakref.ref(inner)

    twice, ended = make()
    gc.collect()
    assert ended() is not None
    assert float(twice(tf.ones([2]))) == 6.0
    twice.clear_cache()
    assert float(twice(tf.ones([2]))) == 6.0
    del twice
    gc.collect()
    assert ended() is None


def test_a_handle_owns_the_python_function() -> None:
    f = tf.function(lambda x: x + 1.0)
    count = sys.getrefcount(f)
    ext.keep(f)
    assert sys.getrefcount(f) == count + 1
    ended = weakref.ref(f)
    del f
    gc.collect()
    assert float(ext.call_kept(1.0)) == 2.0
    ext.drop_kept_elsewhere()
    gc.collect()
    assert ended() is None


def test_a_handle_owns_the_python_variable() -> None:
    v = tf.Variable(3.0)
    ended = weakref.ref(v)
    ext.keep_variable(v)
    del v
    gc.collect()

    @tf.function
    def read(x: Any) -> Any:
        return x * ext.read_kept_variable()

    for _ in range(2):
        with tf.GradientTape() as tape:
            y = read(tf.constant(2.0))
        (w,) = tape.watched_variables()
        assert w is ended() and float(tape.gradient(y, w)) == 2.0
    del w, tape, y, read
    ext.keep_variable(None)
    gc.collect()
    assert ended() is None


def test_a_variable_of_cpp_may_have_no_python_object_while_a_trace_of_python_uses_it() -> None:
    ext.keep_new_variable(3.0)

    @tf.function
    def read(x: Any) -> Any:
        return x * ext.read_kept_variable()

    for _ in range(2):
        gc.collect()
        with tf.GradientTape() as tape:
            y = read(tf.constant(2.0))
        (w,) = tape.watched_variables()
        assert w.name == "new:0" and float(tape.gradient(y, w)) == 2.0
        del w
    ext.keep_variable(None)


def test_what_a_body_owns_ends_with_the_function() -> None:
    f = tf.function(lambda x: x + 1.0)
    owner = ext.make_owner(f)
    assert float(owner(1.0)) == 2.0
    ended, function_ended = weakref.ref(owner), weakref.ref(f)
    del owner, f
    gc.collect()
    assert ended() is None and function_ended() is None
    assert "owner" not in [row.name for row in tf.config.trace_cache_info().functions]


def test_crossing_leaks_no_reference() -> None:
    x, f, v = tf.ones([2]), tf.function(lambda x: x * 2.0), tf.Variable(1.0)
    scale = ext.make_scale()

    def cross() -> None:
        ext.through_tensor(x)
        ext.through_variable(v)
        ext.through_function(f)
        ext.through_function(scale)
        ext.call(f, x)
        scale(x, 2.0)
        ext.make_twice(f)(x)
        ext.explain(f, x)
        with pytest.raises(TypeError):
            scale(x, "a")
        with pytest.raises(ValueError):
            ext.make_failing("op")(x)

    cross()
    gc.collect()
    objects = (x, f, v, scale, float, str, type(scale))
    before = [sys.getrefcount(o) for o in objects]
    for _ in range(100):
        cross()
    gc.collect()
    after = [sys.getrefcount(o) for o in objects]
    assert all(b <= a + 5 for a, b in zip(before, after, strict=True)), (before, after)


def resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def test_functions_made_and_dropped_in_a_loop_leave_nothing_behind() -> None:
    x = tf.ones([64])

    def rounds(n: int) -> None:
        for _ in range(n):
            f = tf.function(lambda x: x + 1.0, autograph=False)
            ext.call(ext.make_twice(f), x)
            ext.make_step()(tf.ones([2]), tf.zeros([2]))

    rounds(300)
    gc.collect()
    before = resident()
    rounds(600)
    gc.collect()
    assert resident() - before < 2 << 20


def test_python_ends_in_peace_with_global_functions_of_both_languages() -> None:
    done = run_program(
        """
import extension, graven as tf
class Ends:
    def __del__(self): print("the globals are cleared")
ends = Ends()
@tf.function
def f(x): return x * 2
twice = extension.make_twice(f)
step = extension.make_step()
info = step.explain()
print(float(twice(tf.constant(1.0))))
extension.keep(f)
"""
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "4.0\nthe globals are cleared\n"


@pytest.mark.parametrize(
    ("function", "printed"),
    [
        ("tf.function(lambda x: x * 2)", "Python has ended, and with it the functions that"),
        ("extension.make_identity()", "1\nexplained\n"),
    ],
)
def test_a_handle_may_be_used_when_python_has_ended(function: str, printed: str) -> None:
    done = run_program(
        f"""
import extension, graven as tf
f = {function}
f(tf.constant(1.0))
extension.keep(f)
extension.use_kept_at_end()
"""
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert printed in done.stdout


# --- Errors.


def test_null_is_the_exception_that_is_set() -> None:
    with pytest.raises(ZeroDivisionError):
        ext.from_null(lambda: 1 // 0)
    with pytest.raises(TypeError, match="There is no Python object"):
        ext.from_null(None)


def test_a_number_that_a_float_cannot_hold_is_refused() -> None:
    with pytest.raises(OverflowError, match=r"must be a number of at most 3.4.*, not 1e\+?300"):
        ext.make_pair()(1.0, 1e300)


def test_an_int_beyond_all_floats_is_refused_with_its_place() -> None:
    with pytest.raises(OverflowError, match=r"argument factor must be a number of at most 1\.79"):
        ext.make_scale()(1.0, 10**400)


def test_a_text_that_is_none_of_unicode_is_refused_with_its_place() -> None:
    with pytest.raises(ValueError, match="The object: a key must be a str that UTF-8 can hold"):
        ext.through_structure({"\ud800": []})


def test_a_variable_is_no_number() -> None:
    with pytest.raises(TypeError, match="argument factor must be a number, not Variable"):
        ext.make_scale()(1.0, tf.Variable(2.0))


class OwnError(Exception):
    pass


def failing(exception: BaseException) -> Any:
    def f(x: Any) -> Any:
        del x
        raise exception

    return tf.function(f, autograph=False)


# The code and the ErrorKind that C++ sees.
CROSSING: list[tuple[BaseException, int, int]] = [
    (ValueError("bad value"), 3, 1),
    (TypeError("bad type"), 3, 2),
    (IndexError("bad index"), 11, 3),
    (KeyError("bad key"), 5, 4),
    (RuntimeError("bad run"), 2, 7),
    (NotImplementedError("not yet"), 12, 8),
    (OverflowError("too large"), 3, 10),
    (KeyboardInterrupt("stop"), 1, 13),
    (OwnError("my own"), 2, 14),
    (RecursionError("too deep"), 8, 15),
    (tf.errors.NotFoundError(None, None, "no file"), 5, 0),
    (tf.errors.DataLossError(None, None, "lost"), 15, 0),
]


@pytest.mark.parametrize(("exception", "code", "kind"), CROSSING, ids=lambda v: type(v).__name__)
def test_an_exception_of_python_is_an_error_of_its_class_in_cpp(
    exception: BaseException, code: int, kind: int
) -> None:
    seen_code, seen_kind, message, line = ext.error_of(failing(exception), 1.0)
    assert (seen_code, seen_kind, line) == (code, kind, "line")
    assert str(exception) in message
    assert ("OwnError" in message) == isinstance(exception, OwnError)


@pytest.mark.parametrize("kind", [KeyboardInterrupt, ValueError, OwnError])
def test_an_exception_without_a_text_is_told_by_its_class(kind: type[BaseException]) -> None:
    message = ext.error_of(failing(kind()), 1.0)[2]
    assert message.endswith(kind.__name__)


@pytest.mark.parametrize(("exception", "code", "kind"), CROSSING, ids=lambda v: type(v).__name__)
def test_an_exception_that_passes_through_cpp_is_the_same_object(
    exception: BaseException, code: int, kind: int
) -> None:
    del code, kind
    with pytest.raises(type(exception)) as direct:
        ext.call(failing(exception), 1.0)
    assert direct.value is exception
    with pytest.raises(type(exception)) as traced:
        ext.make_twice(failing(exception))(1.0)
    assert traced.value is exception
    with pytest.raises(type(exception)) as plain:
        ext.call_python(lambda: failing(exception)(1.0))
    assert plain.value is exception


def test_an_error_of_cpp_is_an_exception_of_its_class_in_python() -> None:
    with pytest.raises(ValueError, match=r"extension.cc:\d+: in .*\[MatMul\] In\[0\] ndims must"):
        ext.make_failing("op")(tf.ones([2]))
    with pytest.raises(tf.errors.InvalidArgumentError, match="indices = 7 is not in"):
        ext.make_failing("run")(tf.ones([2]))
    with pytest.raises(IndexError, match=r"^no such thing$"):
        ext.make_failing("range")(1.0)
    with pytest.raises(RuntimeError, match=r"^the body fails$"):
        ext.make_failing("plain")(1.0)
    with pytest.raises(RuntimeError, match=r"an exception of C.. that is no std::exception"):
        ext.make_failing("number")(1.0)
    assert ext.error_of(ext.make_failing("op"), [1.0])[:2] == (3, 1)


def test_a_refusal_of_a_trace_lock_keeps_its_class_in_both_directions(tmp_path: Path) -> None:
    path = tmp_path / "traces.jsonl"
    path.write_text(json.dumps({"graven_trace_lock": 1}) + "\n")
    with tf.trace_lock(path, "locked"):
        with pytest.raises(tf.errors.TraceLockError):
            ext.make_scale()(1.0, 2.0)
        f = tf.function(lambda x: x)
        assert ext.error_of(f, 1.0)[3] == "lock"
        with pytest.raises(tf.errors.TraceLockError):
            ext.call(f, 1.0)


WRONG: list[tuple[Callable[[], Any], str]] = [
    (lambda: ext.call(len, 1.0), "must be what tf.function makes, not builtin_function_or_method"),
    (lambda: ext.call(None, 1.0), "must be what tf.function makes, not NoneType"),
    (lambda: ext.call(lambda x: x, 1.0), "must be what tf.function makes, not function"),
    (lambda: ext.through_variable(tf.ones([2])), "The object must be a tf.Variable, not .*Tensor"),
    (lambda: ext.make_scale()(1.0, "a"), "scale.*: argument factor must be a number, not str"),
    (lambda: ext.make_scale()(1.0, True), "argument factor must be a number, not bool"),
    (lambda: ext.make_scale()(1.0), r"scale\(x, factor\) is missing the argument 'factor'"),
    (
        lambda: ext.make_scale()(1.0, 2.0, 3.0),
        r"scale\(x, factor\) takes 2 arguments, 3 were given",
    ),
    (lambda: ext.make_scale()(1.0, y=2), "got an unexpected keyword argument 'y'"),
    (lambda: ext.make_scale()(1.0, x=2), "got two values for 'x'"),
    (lambda: ext.make_structured()([], [], None, "", True), "argument named must be a dict"),
    (lambda: ext.make_structured()({}, 1, None, "", True), "points must be a list or a tuple"),
    (lambda: ext.make_structured()({}, [(1,)], None, "", True), r"points\[0\] must have 2 items"),
    (lambda: ext.make_structured()({}, [], 1.5, "", True), "times must be an int, not float"),
    (lambda: ext.make_structured()({}, [], 1, 2, True), "key must be a str, not int"),
    (lambda: ext.make_structured()({}, [], 1, "", 0), "negate must be a bool, not int"),
    (lambda: ext.make_structured()({1: 1.0}, [], 1, "", True), "named: a key must be a str"),
    (
        lambda: ext.through_structure({"a": [(1, "b")]}),
        r"The object\['a'\]\[0\]\[1\] must be a number",
    ),
]


@pytest.mark.parametrize(("wrong", "message"), WRONG, ids=[message[:30] for _, message in WRONG])
def test_a_wrong_object_is_a_type_error_that_names_it(
    wrong: Callable[[], Any], message: str
) -> None:
    with pytest.raises(TypeError, match=message):
        wrong()


def test_a_number_that_does_not_fit_is_refused() -> None:
    with pytest.raises(OverflowError, match=r"\[0\]\[0\] must be an int from -2147483648 to"):
        ext.through_structure({"a": [(1 << 31, None)]})
    with pytest.raises(ValueError, match=r"The object: .*unsupported type"):
        ext.through_tensor(object())

    class Raises:
        def __float__(self) -> float:
            raise OwnError("no number today")

    with pytest.raises(OwnError, match="no number today"):
        ext.through_structure({"a": [(1, Raises())]})


# --- Threads.


def test_threads_of_cpp_call_a_function_of_python() -> None:
    f = tf.function(lambda x: x * 2.0)
    total = ext.call_on_threads(f, tf.ones([4]), 8, 50)
    assert float(total) == 8 * 50 * 8.0
    assert f.experimental_get_tracing_count() == 1


def test_threads_of_both_languages_call_functions_of_both_at_once() -> None:
    f = tf.function(lambda x: x * 2.0)
    twice = ext.make_twice(f)
    sums: list[float] = []

    def calls() -> None:
        sums.append(sum(float(tf.reduce_sum(twice(tf.ones([2])))) for _ in range(50)))
        sums.append(float(ext.call_on_threads(twice, tf.ones([2]), 3, 20)))

    threads = [threading.Thread(target=calls) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(sums) == [50 * 8.0] * 4 + [3 * 20 * 8.0] * 4
    assert twice.experimental_get_tracing_count() == 1


def test_other_threads_of_python_run_while_a_body_of_cpp_is_traced() -> None:
    """A body that waits for a Python thread would wait for ever with the GIL."""
    began, done = threading.Event(), threading.Event()

    def answer() -> None:
        began.wait(30)
        done.set()

    threading.Thread(target=answer, daemon=True).start()

    def body(x: Any) -> Any:
        began.set()
        assert done.wait(30)
        return x

    twice = ext.make_twice(tf.function(body, autograph=False))
    assert float(twice(1.0)) == 2.0


# --- Versions.


def test_the_header_is_of_the_version_of_the_package() -> None:
    assert ext.version() == tf.__version__


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ("version", f"was built with Graven {tf.__version__}, .* is version 0.0.9: build"),
        ("library", "another libgraven.so than .*/elsewhere/libgraven.so: link .*Graven::python"),
    ],
)
def test_a_module_of_another_version_or_library_is_not_imported(
    how: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / FILE.name  # a module that has not been imported yet
    file.write_bytes(FILE.read_bytes())
    monkeypatch.setattr(_engine, "__python_api__", ext.import_with(how))
    with pytest.raises(ImportError, match=message):
        load(file)
    monkeypatch.undo()
    assert float(load(file).through_tensor(1.0)) == 1.0


def test_a_package_without_the_interface_is_an_import_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / FILE.name
    file.write_bytes(FILE.read_bytes())
    monkeypatch.delattr(_engine, "__python_api__")
    with pytest.raises(ImportError, match=r"has no graven._engine.__python_api__: it is older"):
        load(file)


def test_a_package_that_is_not_there_is_an_import_error() -> None:
    program = """
import sys
sys.meta_path = [f for f in sys.meta_path if getattr(f, "__name__", "") != "GravenFinder"]
import extension
"""
    done = run_program(program)
    assert done.returncode != 0
    assert "ModuleNotFoundError: No module named 'graven'" in done.stderr
