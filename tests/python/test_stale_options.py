"""What happens when a watched value has changed: tf.function(stale=...), reports, and faults."""

from __future__ import annotations

import gc
import logging
import textwrap
import weakref
from pathlib import Path
from typing import Any

import graven as tf
import pytest
from python.captures.as_module import run_as_module

ONE = tf.constant(1.0)
k: Any = 2.0
flag: Any = False
step = 0
holder: Any = None


@pytest.fixture(autouse=True)
def _globals() -> None:
    global k, flag, step, holder
    k, flag, step, holder = 2.0, False, 0, None


class Box:
    k: Any
    inner: Any
    calls: Any

    def __init__(self, **values: Any) -> None:
        self.__dict__.update(values)


def _module(name: str, source: str, folder: Path) -> Any:
    return run_as_module("import graven as tf\n" + textwrap.dedent(source), folder, name)


class Lazy(tf.Module):
    """Makes its variable when it is first called."""

    def __init__(self) -> None:
        super().__init__()
        self.w: Any = None

    @tf.function(stale="retrace")
    def __call__(self, x: Any) -> Any:
        if self.w is None:
            self.w = tf.Variable(2.0)
        return x * self.w


def _entries(f: Any) -> int:
    return int(f.cache_info().entries)


def test_an_unknown_option_is_refused() -> None:
    with pytest.raises(ValueError, match="stale must be one of"):
        tf.function(lambda x: x, stale="sometimes")


def test_warn_runs_the_old_trace_and_says_once_what_changed(
    caplog: pytest.LogCaptureFixture,
) -> None:
    global k

    @tf.function(stale="warn")
    def f(x: Any) -> Any:
        return x * k  # the line in the report

    f(ONE)
    k = 5.0
    with caplog.at_level(logging.WARNING, "graven"):
        assert f(ONE) == 2.0
        assert f(ONE) == 2.0
    (record,) = caplog.records
    line = f.python_function.__code__.co_firstlineno + 2
    assert f"f: k, read at {__file__}:{line} in f, changed from 2.0 to 5.0" in record.message
    caplog.clear()
    k = 7.0
    with caplog.at_level(logging.WARNING, "graven"):
        assert f(ONE) == 2.0
    assert len(caplog.records) == 1
    assert f.experimental_get_tracing_count() == 1


def test_error_raises_until_the_value_is_back() -> None:
    global k

    @tf.function(stale="error")
    def f(x: Any) -> Any:
        return x * k

    f(ONE)
    k = 5.0
    for _ in range(2):
        with pytest.raises(RuntimeError, match=r"k, read at .*, changed from 2\.0 to 5\.0"):
            f(ONE)
    k = 2.0
    assert f(ONE) == 2.0


def test_cache_info_says_which_value_asked_for_a_trace() -> None:
    global k

    @tf.function(stale="retrace")
    def f(x: Any) -> Any:
        return x * k

    f(ONE)
    k = 5.0
    f(ONE)
    why = f.cache_info().signatures[1].why
    assert why.startswith("k, read at ") and why.endswith("changed from 2.0 to 5.0")


def test_a_concrete_function_reports_a_change_once(caplog: pytest.LogCaptureFixture) -> None:
    global k

    @tf.function(stale="retrace")
    def f(x: Any) -> Any:
        return x * k

    concrete = f.get_concrete_function(ONE)
    k = 5.0
    with caplog.at_level(logging.WARNING, "graven"):
        assert concrete(ONE) == 2.0
        assert concrete(ONE) == 2.0
    assert len(caplog.records) == 1
    assert f(ONE) == 5.0


def test_a_concrete_function_raises_under_error() -> None:
    global k

    @tf.function(stale="error")
    def f(x: Any) -> Any:
        return x * k

    concrete = f.get_concrete_function(ONE)
    k = 5.0
    with pytest.raises(RuntimeError, match=r"changed from 2\.0 to 5\.0"):
        concrete(ONE)


def test_a_tape_keeps_the_trace_that_it_recorded() -> None:
    global k

    @tf.function(stale="retrace")
    def f(x: Any) -> Any:
        return x * k

    with tf.GradientTape() as tape:
        tape.watch(ONE)
        y = f(ONE)
    k = 5.0
    f(ONE)
    assert tape.gradient(y, ONE) == 2.0


def test_an_equal_graph_keeps_the_old_trace() -> None:
    global flag

    @tf.function(stale="retrace")
    def f(x: Any) -> Any:
        rate = 2.0
        if flag:
            rate = 4.0 / 2.0
        return x * rate

    f(ONE)
    flag = True
    f(ONE)
    assert f.experimental_get_tracing_count() == 2
    assert _entries(f) == 1
    f(ONE)
    assert f.experimental_get_tracing_count() == 2


def test_a_value_that_decides_a_branch_stays_watched() -> None:
    global step

    @tf.function(stale="retrace")
    def f(x: Any) -> Any:
        return x * 3.0 if step > 20 else x * 2.0

    for step in range(25):
        assert f(ONE) == (3.0 if step > 20 else 2.0)
    assert _entries(f) == 2


def test_counters_and_what_is_only_printed_cause_nothing(capsys: Any) -> None:
    global step
    box = Box(calls=0)
    log: list[str] = []

    @tf.function(stale="retrace")
    def f(x: Any) -> Any:
        global step
        step += 1
        box.calls += 1
        log.append("tracing")
        print(f"tracing {k}")
        return x * 2.0

    f(ONE)
    step, box.calls = 0, 0
    log.clear()
    globals()["k"] = 3.0
    f(ONE)
    assert (step, box.calls, log) == (0, 0, [])
    assert capsys.readouterr().out == "tracing 2.0\n"


def test_a_value_made_while_tracing_causes_nothing() -> None:
    m = Lazy()
    for _ in range(3):
        assert m(ONE) == 2.0
    assert m.__call__.experimental_get_tracing_count() == 2


def test_a_value_that_always_changes_is_right_bounded_and_reported_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    global step

    @tf.function(stale="retrace")
    def f(x: Any) -> Any:
        return x * float(step)

    with caplog.at_level(logging.WARNING, "graven"):
        for step in range(100):
            if step == 8:
                assert "each change of it costs a trace" not in caplog.text
            assert f(ONE) == float(step)
    assert _entries(f) == 17, "the last one, and 16 of values that are gone"
    reports = [r.message for r in caplog.records if "each change of it costs a trace" in r.message]
    assert len(reports) == 1
    assert "each change of it costs a trace: 8 so far, which took " in reports[0]
    assert "step, read at" in reports[0] and "tensor" in reports[0]


def test_sizes_and_a_value_that_change_together_make_no_traces_without_bound() -> None:
    global step

    @tf.function(stale="retrace")
    def f(x: Any) -> Any:
        return x * float(step)

    for step in range(200):
        assert float(f(tf.ones([step % 5 + 1]))[0]) == float(step)
    assert _entries(f) <= 21


def test_a_log_line_beside_a_custom_gradient_makes_no_second_trace() -> None:
    global step

    def note(text: str) -> None:
        seen.append(text)

    @tf.custom_gradient
    def double(x: Any) -> Any:
        scale = x * 2.0
        return scale, lambda dy: dy * 2.0 + 0.0 * scale

    @tf.function(stale="retrace")
    def f(x: Any) -> Any:
        note(f"step {step}")
        return double(x)

    seen: list[str] = []
    for step in range(6):  # noqa: B007 (a global)
        assert f(ONE) == 2.0
    assert _entries(f) == 1


def test_a_retrace_that_fails_runs_the_old_trace(caplog: pytest.LogCaptureFixture) -> None:
    global k
    traces = []

    @tf.function(stale="retrace")
    def f(x: Any) -> Any:
        traces.append(k)
        return x * k

    f(ONE)
    k = "no number"
    with caplog.at_level(logging.WARNING, "graven"):
        assert f(ONE) == 2.0
        assert f(ONE) == 2.0
    assert len(traces) == 2, "it is tried once"
    assert len(caplog.records) == 1
    assert "k, read at" in caplog.records[0].message
    assert "failed (" in caplog.records[0].message
    k = 5.0
    assert f(ONE) == 5.0


def test_a_retrace_that_would_create_variables_leaves_the_object_as_it_was() -> None:
    m = Lazy()
    assert m(ONE) == 2.0
    variable, m.w = m.w, None
    assert m(ONE) == 2.0, "as TensorFlow: the old trace and its variable"
    assert m.w is None
    variable.assign(3.0)
    assert m(ONE) == 3.0


def test_ctrl_c_in_a_retrace_is_told() -> None:
    global k

    @tf.function(stale="retrace")
    def f(x: Any) -> Any:
        if k == 5.0:
            raise KeyboardInterrupt
        return x * k

    f(ONE)
    k = 5.0
    with pytest.raises(KeyboardInterrupt):
        f(ONE)
    k = 2.0
    assert f(ONE) == 2.0


def test_equal_names_in_two_modules_are_two_values(tmp_path: Path) -> None:
    helper = _module("captures_a", "cfg = 2.0\ndef scale(x): return x * cfg\n", tmp_path)
    user = _module(
        "captures_b",
        """
        import captures_a
        cfg = 10.0
        @tf.function(stale="retrace")
        def f(x): return captures_a.scale(x) + cfg
        """,
        tmp_path,
    )
    assert user.f(ONE) == 12.0
    helper.cfg = 3.0
    assert user.f(ONE) == 13.0
    user.cfg = 20.0
    assert user.f(ONE) == 23.0
    helper.cfg, user.cfg = 2.0, 10.0
    assert user.f(ONE) == 12.0
    assert user.f.experimental_get_tracing_count() == 3


def test_watched_objects_are_not_kept_alive() -> None:
    global holder
    holder = Box(inner=Box(k=2.0))

    @tf.function(stale="retrace")
    def f(x: Any) -> Any:
        return x * holder.inner.k

    f(ONE)
    gone = [weakref.ref(holder), weakref.ref(holder.inner)]
    holder = None
    assert [r() for r in gone] == [None, None]
    holder = Box(inner=Box(k=5.0))
    assert f(ONE) == 5.0


def test_a_function_that_its_object_holds_dies_with_it() -> None:
    class M:
        def __init__(self) -> None:
            self.k = 2.0
            self.layers: list[Any] = [Box(k=1.0), {"k": [self]}]
            self.f = tf.function(lambda x: x * self.k * self.layers[0].k, stale="retrace")

    m = M()
    m.f(ONE)
    gone = weakref.ref(m)
    del m
    gc.collect()
    assert gone() is None


class Lying:
    """Equal to everything, or an error."""

    def __init__(self, value: float, error: bool) -> None:
        self.value = value
        self.error = error

    def __eq__(self, other: object) -> bool:
        if self.error:
            raise RuntimeError("no comparisons")
        return True

    def __hash__(self) -> int:
        raise RuntimeError("no hashes")


@pytest.mark.parametrize("error", [False, True])
def test_users_comparisons_are_not_asked(error: bool) -> None:
    global k
    k = Lying(2.0, error)

    @tf.function(stale="retrace")
    def f(x: Any) -> Any:
        return x * k.value

    assert f(ONE) == 2.0
    k = Lying(5.0, error)
    assert f(ONE) == 5.0


def test_a_container_in_itself_can_be_watched() -> None:
    global k
    k = [2.0]
    k.append(k)

    @tf.function(stale="retrace")
    def f(x: Any) -> Any:
        for one in k[:1]:
            x = x * one
        return x

    assert f(ONE) == 2.0
    assert f(ONE) == 2.0
    assert f.experimental_get_tracing_count() == 1
    k[0] = 5.0
    assert f(ONE) == 5.0


def test_an_inner_function_that_ignores_is_ignored() -> None:
    global k

    @tf.function(stale="ignore")
    def inner(x: Any) -> Any:
        return x * k

    @tf.function(stale="retrace")
    def f(x: Any) -> Any:
        return inner(x)

    f(ONE)
    k = 5.0
    assert f(ONE) == 2.0


def test_bytes_of_watches_are_counted() -> None:
    global k
    k = [float(i) for i in range(64)]

    def body(x: Any) -> Any:
        for one in k[:2]:
            x = x * one
        return x

    sizes = []
    for stale in ("ignore", "retrace"):
        f = tf.function(body, stale=stale)
        f(ONE)
        sizes.append(f.cache_info().signatures[0].bytes)
    assert sizes[1] > sizes[0] + 64 * 8


IMPURE = {
    "time.time()": ("import time", "tf.timestamp()"),
    "random.random()": ("import random", "tf.random.uniform"),
    "random.gauss(0.0, 1.0)": ("import random", "tf.random.normal"),
    "random.randint(0, 9)": ("import random", "tf.random.uniform"),
    "np.random.normal()": ("import numpy as np", "tf.random.normal"),
    "np.random.rand()": ("import numpy as np", "tf.random.uniform"),
    "rng.normal()": ("import numpy as np\nrng = np.random.default_rng(0)", "tf.random.normal"),
    "datetime.datetime.now().second": ("import datetime", "tf.timestamp()"),
    "uuid.uuid4().int % 7": ("import uuid", "an argument"),
    "os.urandom(1)[0]": ("import os", "tf.random.uniform"),
}


@pytest.mark.parametrize("call", IMPURE)
def test_a_value_that_is_never_the_same_is_reported_once(
    call: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    imports, instead = IMPURE[call]
    name = f"captures_impure_{list(IMPURE).index(call)}"
    source = f"""
{imports}
def noise(): return float({call})
@tf.function(stale="retrace")
def f(x): return x + noise()
@tf.function(stale="retrace")
def quiet(x):
    print({call})
    return x
"""
    program = _module(name, source, tmp_path)
    with caplog.at_level(logging.WARNING, "graven"):
        program.f(ONE)
        program.f(tf.constant([1.0]))
        program.quiet(ONE)
    (record,) = [r for r in caplog.records if "another value" in r.message]
    line = imports.count("\n") + 4
    assert f"{program.__file__}:{line} in noise" in record.message
    assert f"use {instead}" in record.message


def test_objects_that_live_no_longer_than_the_trace_cause_nothing() -> None:
    class Scale:
        def __init__(self, rate: float) -> None:
            self.rate = rate
            self.me = self  # dies by the cycle collector

        def of(self, x: Any) -> Any:
            return x * self.rate

    def helper(box: Box, x: Any) -> Any:
        return x * box.k

    @tf.function(stale="retrace")
    def f(x: Any) -> Any:
        return helper(Box(k=2.0), Scale(3.0).of(x))

    for _ in range(3):
        assert f(ONE) == 6.0
        gc.collect()
    assert f.experimental_get_tracing_count() == 1


def test_what_a_helper_only_prints_causes_nothing(capsys: Any) -> None:
    global step

    def say(text: str, number: int) -> None:
        print(text, number)

    @tf.function(stale="retrace")
    def f(x: Any) -> Any:
        say(f"at step {step}", number=step)
        return x * 2.0

    for step in range(3):  # noqa: B007 (a global)
        f(ONE)
    assert capsys.readouterr().out == "at step 0 0\n"


def test_retracing_is_the_default() -> None:
    global k

    @tf.function
    def f(x: Any) -> Any:
        return x * k

    f(ONE)
    k = 5.0
    assert f(ONE) == 5.0


def test_what_tracing_changes_outside_is_logged_for_those_who_ask(
    caplog: pytest.LogCaptureFixture,
) -> None:
    log: list[str] = []
    box = Box(calls=0)
    queue, named = [1, 2], {"a": 1}

    @tf.function(stale="retrace")
    def f(x: Any) -> Any:
        box.calls += 1
        log.append("tracing")
        queue.pop()
        del named["a"]
        return x * 2.0

    with caplog.at_level(logging.INFO, "graven"):
        f(ONE)
    line = f.python_function.__code__.co_firstlineno
    for what, offset in (("box.calls", 2), ("log", 3), ("queue", 4), ("named", 5)):
        start = f"{what} is changed at {__file__}:{line + offset} in f while it is traced"
        assert any(record.message.startswith(start) for record in caplog.records), what
    assert all(record.levelno == logging.INFO for record in caplog.records)


def test_functions_without_source_are_watched() -> None:
    names: dict[str, Any] = {"tf": tf}
    exec("k = 2.0\n@tf.function\ndef f(x): return x * k", names)
    assert names["f"](ONE) == 2.0
    names["k"] = 5.0
    assert names["f"](ONE) == 5.0


def test_an_object_that_refuses_to_be_looked_at_can_be_watched() -> None:
    global k

    def refuse(self: Any, *name: str) -> Any:
        raise RuntimeError("no attributes")

    k = type("Refusing", (), {"__getattr__": refuse, "__class__": property(refuse)})()

    @tf.function(stale="retrace")
    def f(x: Any) -> Any:
        return x * 2.0 if k is None else x * 3.0

    assert f(ONE) == 3.0
    k = None
    assert f(ONE) == 2.0


def test_traces_of_old_values_are_not_taken_for_those_that_a_budget_drops(
    caplog: pytest.LogCaptureFixture,
) -> None:
    global step

    @tf.function(stale="retrace", max_traces=100)
    def f(x: Any) -> Any:
        return x * float(step)

    with caplog.at_level(logging.WARNING, "graven"):
        for step in range(40):  # noqa: B007 (a global)
            f(ONE)
    assert not [r for r in caplog.records if "made again" in r.message]
    assert "read at" in f.cache_info().gone[-1].why


scale: Any = None


def test_what_closures_held_that_are_gone_is_freed() -> None:
    global scale

    class Held:
        rate = 2.0

    def closure(number: float) -> Any:
        held = Held()
        gone.append(weakref.ref(held))
        return lambda x: x * number * held.rate

    @tf.function
    def f(x: Any) -> Any:
        return scale(x)

    gone: list[Any] = []
    for i in range(8):
        scale = closure(float(i))
        assert f(ONE) == 2.0 * i
    gc.collect()
    assert [held() is None for held in gone] == [True] * 7 + [False]
