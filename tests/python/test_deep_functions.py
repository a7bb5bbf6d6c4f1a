"""Functions that call functions, deeper than stacks are: traced, run, differentiated and freed."""

import os
import resource
import subprocess
import sys
import threading
from collections.abc import Callable
from typing import Any

import graven as tf
import pytest

# The frames of a build with a sanitizer are larger.
IS_SANITIZED = "san.so" in os.environ.get("LD_PRELOAD", "")
STACK = (64 if IS_SANITIZED else 8) << 20

DEEP = """
import sys, threading
import graven as tf
sys.setrecursionlimit(10**6)

def around(function):
    return tf.function(lambda x: function(x) + 1.0)

def chain(depth):
    function = tf.function(lambda x: x * x)
    for _ in range(depth - 1):
        function = around(function)
    return function

def trace():
    assert float(chain(1000)(tf.constant(2.0))) == 1003.0

def differentiate():
    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = chain(1000)(x)
    assert float(tape.gradient(y, x)) == 4.0

def build_one_by_one():
    # No trace is deep, but the graphs are, and they are run, freed, and refuse a gradient.
    x = tf.constant(2.0)
    function = tf.function(lambda x: x * x)
    function(x)
    for _ in range(4000):
        function = around(function)
        function.get_concrete_function(x)
    assert float(function(x)) == 4004.0
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = function(x)
    try:
        tape.gradient(y, x)
    except RecursionError as error:
        assert "the gradient of" in str(error)
        assert str(error).rstrip().endswith("See docs/errors/recursion.md")
    else:
        raise AssertionError("no error")

def grow():
    @tf.function
    def grows(x, n):
        return grows(x, n + 1)
    try:
        grows(tf.constant(1.0), 0)
    except RecursionError as error:
        assert "KiB of this thread's stack are left" in str(error), error
        assert "grows (repeated " in str(error), error
        assert "in grows: return grows(x, n + 1)" in str(error), error
        assert str(error).rstrip().endswith("See docs/errors/recursion.md"), error
    else:
        raise AssertionError("no error")
    assert not grows._entries()

if IN_THREAD:
    failures = []
    threading.excepthook = lambda details: failures.append(details)
    threading.stack_size(STACK)
    thread = threading.Thread(target=WORK)
    thread.start()
    thread.join()
    assert not failures, failures
else:
    WORK()
print("done")
"""


@pytest.mark.parametrize("where", ["main", "thread"])
@pytest.mark.parametrize("work", ["trace", "differentiate", "build_one_by_one", "grow"])
def test_a_stack_of_8_mib_is_enough_or_an_error(work: str, where: str, tmp_path: Any) -> None:
    script = tmp_path / "deep.py"  # a file, so that messages show its lines
    text = DEEP.replace("WORK", work).replace("STACK", str(STACK))
    script.write_text(text.replace("IN_THREAD", str(where == "thread")))
    hard = resource.getrlimit(resource.RLIMIT_STACK)[1]
    run = subprocess.run(
        [sys.executable, str(script)],
        capture_output=True,
        text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_STACK, (STACK, hard)),
    )
    assert (run.returncode, run.stdout) == (0, "done\n"), run.stderr[-2000:]


def recursion_error(call: Callable[[], Any]) -> str:
    with pytest.raises(RecursionError) as raised:
        call()
    return str(raised.value)


def test_a_function_that_traces_itself_is_an_error_that_names_the_line() -> None:
    @tf.function
    def endless(x: tf.Tensor) -> Any:
        return endless(x) + 1.0

    text = recursion_error(lambda: endless(tf.constant(1.0)))
    assert "The function endless traces itself without end" in text
    assert "endless(x: TensorSpec(shape=(), dtype=tf.float32" in text
    assert "inside each other: endless (repeated " in text
    assert "in endless: return endless(x) + 1.0" in text
    assert text.rstrip().endswith("See docs/errors/recursion.md")
    assert endless.experimental_get_tracing_count() == 0


def test_functions_that_trace_each_other_are_listed_once() -> None:
    @tf.function
    def first(x: tf.Tensor) -> Any:
        return second(x)

    @tf.function
    def second(x: tf.Tensor) -> Any:
        return first(x) * 2.0

    outer = tf.function(lambda x: first(x))
    text = recursion_error(lambda: outer(tf.constant(1.0)))
    assert "<lambda> -> first -> second (repeated " in text
    assert " times: first -> second) -> first" in text
    assert text.count("in second: return first(x) * 2.0") == 1
    assert "in first: return second(x)" in text


def test_a_recursion_that_a_counter_ends_is_traced_as_tensorflow_does() -> None:
    count = 0

    @tf.function
    def counted(x: tf.Tensor) -> Any:
        nonlocal count
        count += 1
        return counted(x) + 1.0 if count < 30 else x

    assert float(counted(tf.constant(1.0))) == 30.0


def test_a_function_works_again_after_it_went_too_deep() -> None:
    is_endless = True

    @tf.function
    def f(x: tf.Tensor) -> Any:
        return f(x) if is_endless else x + 1.0

    recursion_error(lambda: f(tf.constant(1.0)))
    is_endless = False
    assert float(f(tf.constant(1.0))) == 2.0


def test_two_threads_that_trace_one_function_have_chains_of_their_own() -> None:
    texts: list[str] = []

    @tf.function
    def endless(x: tf.Tensor) -> Any:
        return endless(x)

    def work(value: Any) -> None:
        texts.append(recursion_error(lambda: endless(tf.constant(value))))

    threads = [threading.Thread(target=work, args=[value]) for value in (1.0, 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(texts) == 2 and all("traces itself without end" in text for text in texts)
