"""Deep, endless and failing programs: right or a clear error, and nothing is left behind."""

from __future__ import annotations

import re
import signal
import threading
import time
from typing import Any

import graven as tf
import pytest
from graven.autograph._replay import runs
from python.autograph.test_error_table import function_of


def elif_chain(count: int) -> str:
    lines = ["def f(x):", f"    if x > {count}:", "        y = x"]
    for i in range(count):
        lines += [f"    elif x > {count - 1 - i}:", f"        y = x * {i + 2}.0"]
    return "\n".join([*lines, "    else:", "        y = -x", "    return y"])


def nothing_is_left(f: Any, *args: Any) -> None:
    """Checks that other code runs as before, and that another thread can call the function."""
    assert tf.executing_eagerly() and not tf.inside_function()
    assert float(tf.function(lambda x: x + 1)(tf.constant(1.0))) == 2.0
    done: list[Any] = []

    def call() -> None:
        try:
            done.append(f(*args))
        except Exception as error:
            done.append(error)

    thread = threading.Thread(target=call)
    thread.start()
    thread.join(60)
    assert done, "the other thread waits"


def error_of_small_stack(f: Any, *args: Any) -> Exception:
    """Calls a function, which fails, in a thread with a stack of 256 KiB."""
    raised: list[Exception] = []

    def call() -> None:
        try:
            f(*args)
        except Exception as error:
            raised.append(error)

    before = threading.stack_size(256 << 10)
    thread = threading.Thread(target=call)
    thread.start()
    threading.stack_size(before)
    thread.join()
    (error,) = raised
    return error


def nested_ifs(name: str) -> Any:
    lines = ["def f(x):", "    y = x"]
    for i in range(95):
        lines.append("    " + " " * i + f"if x > {i - 90}:")
    return function_of("\n".join([*lines, " " * 99 + "y = x + 1", "    return y"]), name)


def test_95_nested_ifs() -> None:
    f = nested_ifs("<nested ifs>")
    g = tf.function(f)
    for value in (3.5, 5.0, -3.0):
        assert float(g(tf.constant(value))) == float(f(tf.constant(value)))


def test_95_nested_ifs_on_a_small_stack() -> None:
    f = tf.function(nested_ifs("<small nested ifs>"))
    error = error_of_small_stack(f, tf.constant(5.0))
    assert isinstance(error, RecursionError)
    text = str(error)
    assert re.search(r'File "<small nested ifs>", line \d+, in f  \*\n +if x > ', text)
    assert "of the 256 KiB of this thread's stack are left" in text
    assert float(f(tf.constant(5.0))) == 6.0
    nothing_is_left(f, tf.constant(5.0))


def test_an_elif_chain_of_50() -> None:
    f = function_of(elif_chain(50), "<elif 50>")
    g = tf.function(f)
    for value in (-1.0, 0.5, 20.5, 60.0):
        assert float(g(tf.constant(value))) == float(f(tf.constant(value)))


@pytest.mark.parametrize("stack", ["whole", "small"])
@pytest.mark.parametrize("count", [200, 300])
def test_a_longer_elif_chain_is_an_error_at_a_condition(count: int, stack: str) -> None:
    f = tf.function(function_of(elif_chain(count), "<long elif>"))
    if stack == "small":
        error = error_of_small_stack(f, tf.constant(0.5))
    else:
        with pytest.raises(RecursionError) as raised:
            f(tf.constant(0.5))
        error = raised.value
    assert isinstance(error, RecursionError)
    text = str(error)
    assert re.search(r'File "<long elif>", line \d+, in f  \*\n +elif x > \d+:\n', text)
    assert text.rstrip().endswith("See docs/errors/recursion.md")
    assert ("`elif` lies in the `else`" in text) == (stack == "whole")
    nothing_is_left(f, tf.constant(0.5))


@pytest.mark.parametrize("stack", ["whole", "small"])
def test_an_elif_chain_of_2000_is_an_error_at_a_condition(
    stack: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runs, "MAX_CONDITIONS", 40)
    f = tf.function(function_of(elif_chain(2000), "<elif 2000>"))
    if stack == "small":
        error = error_of_small_stack(f, tf.constant(0.5))
    else:
        with pytest.raises(tf.errors.OperatorNotAllowedInGraphError) as raised:
            f(tf.constant(0.5))
        error = raised.value
    assert isinstance(error, tf.errors.OperatorNotAllowedInGraphError)
    assert 'File "<elif 2000>", line 82, in f' in str(error)
    assert "more than 40 conditions" in str(error)
    assert "the statements of f are nested too deeply" in str(error)
    nothing_is_left(f, tf.constant(0.5))


def conds(depth: int) -> Any:
    @tf.function
    def f(x: Any) -> Any:
        def nested(i: int) -> Any:
            if i == 0:
                return x
            return tf.cond(x > -i, lambda: nested(i - 1) + 1, lambda: x)

        return nested(depth)

    return f


def test_conds_nested_through_closures() -> None:
    assert float(conds(60)(tf.constant(1.0))) == 61.0


@pytest.mark.parametrize("stack", ["whole", "small"])
def test_conds_nested_1000_deep_through_closures_are_an_error(stack: str) -> None:
    f = conds(1000)
    if stack == "small":
        error = error_of_small_stack(f, tf.constant(1.0))
    else:
        with pytest.raises(RecursionError) as raised:
            f(tf.constant(1.0))
        error = raised.value
    assert isinstance(error, RecursionError)
    assert "in nested" in str(error) and "See docs/errors/recursion.md" in str(error)
    nothing_is_left(f, tf.constant(1.0))


def test_a_recursion_in_a_branch_is_an_error_at_its_line() -> None:
    text = """
        def f(x):
            if x > 0:
                return f(x - 1)  # here
            return x
        """
    f = tf.function(function_of(text, "<recursion>"))
    with pytest.raises(RecursionError, match='File "<recursion>", line 3, in f'):
        f(tf.constant(1.0))
    nothing_is_left(f, tf.constant(1.0))


@pytest.mark.parametrize(
    "text",
    [
        """
        def f(x):
            def fails():
                raise KeyError("here")
            return tf.cond(x > 0, fails, lambda: x)
        """,
        """
        def f(x):
            if x > 0:
                return x
            raise KeyError("here")
        """,
        """
        def f(x):
            for i in tf.range(3):
                while x > 0:
                    raise KeyError("here")
            return x
        """,
        """
        def f(x):
            return tf.map_fn(lambda row: {}["here"], tf.reshape(x, [1]))
        """,
    ],
    ids=["cond", "if", "loops", "map_fn"],
)
def test_a_part_that_raises_while_traced_leaves_nothing(text: str) -> None:
    f = tf.function(function_of(text, "<raises>"))
    for _ in range(2):
        with pytest.raises(KeyError, match="here"):
            f(tf.constant([1.0])[0])
    nothing_is_left(f, tf.constant(1.0))
    assert f.cache_info().entries == 0


def test_a_caught_error_of_a_branch_leaves_the_trace_whole() -> None:
    @tf.function
    def f(x: Any) -> Any:
        try:
            if x > 0:
                raise KeyError("no")
        except KeyError:
            x = x + 1
        if x > 0:
            x = x * 2
        return x

    assert float(f(tf.constant(1.0))) == 4.0


def interrupted(f: Any, *args: Any) -> None:
    """Presses Ctrl-C in a call."""
    main = threading.main_thread()
    assert threading.current_thread() is main and main.ident is not None
    # What shells run in the background ignores it, and then nothing would end the loop.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(0.3, lambda: signal.pthread_kill(main.ident or 0, signal.SIGINT))
    timer.start()
    start = time.monotonic()
    try:
        with pytest.raises(KeyboardInterrupt):
            f(*args)
        timer.join()
    finally:
        signal.signal(signal.SIGINT, before)
    assert time.monotonic() - start < 30


def test_an_endless_loop_is_interrupted_and_variables_are_whole() -> None:
    v = tf.Variable(tf.zeros([1000]))

    @tf.function
    def f(x: Any) -> Any:
        while x > 0:
            v.assign_add(tf.ones([1000]))
            x = x * 1.0
        return x

    f.get_concrete_function(tf.constant(1.0))
    interrupted(f, tf.constant(1.0))
    values = v.numpy()
    assert values[0] > 0 and (values == values[0]).all()
    assert float(f(tf.constant(-1.0))) == -1.0
    nothing_is_left(f, tf.constant(-1.0))


def test_an_endless_trace_is_interrupted() -> None:
    @tf.function
    def f(x: Any, stop: bool) -> Any:
        if x > 0:
            while not stop:
                pass
        return x

    interrupted(f, tf.constant(1.0), False)
    assert float(f(tf.constant(1.0), True)) == 1.0
    nothing_is_left(f, tf.constant(1.0), True)
