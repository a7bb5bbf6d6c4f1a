"""Eager work that takes long, or may block, lets the other threads of Python run meanwhile."""

import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

import graven as tf
import pytest

LIMIT_S = 300.0

# A pipe holds 64 KiB, so the print ends only if the thread reads meanwhile. In a process of its
# own, which stood still for ever.
PRINT_TO_A_PIPE = """
import os, sys, threading
import graven as tf

text = "x" * 200_000
end, begin = os.pipe()
os.dup2(begin, 1)
received = bytearray()
def read():
    while len(received) <= len(text):
        received.extend(os.read(end, 65536))
reader = threading.Thread(target=read)
reader.start()
tf.print(text, output_stream=sys.stdout)
reader.join()
assert received.decode() == text + "\\n"
"""

# Python unwound the stack of a thread that asked for its global lock while it ended, through C++
# that lets nothing through: the process was aborted.
END_WHILE_A_DAEMON_COMPUTES = """
import threading, time
import graven as tf

x = tf.random.uniform([500, 500])
square = tf.function(lambda x: tf.matmul(x, x)) if {in_function} else (lambda x: tf.matmul(x, x))
has_begun = threading.Event()
def work():
    while True:
        square(x)
        has_begun.set()
threading.Thread(target=work, daemon=True).start()
has_begun.wait()
"""


@pytest.mark.parametrize(
    "program",
    [
        PRINT_TO_A_PIPE,
        END_WHILE_A_DAEMON_COMPUTES.replace("{in_function}", "True"),
        END_WHILE_A_DAEMON_COMPUTES.replace("{in_function}", "False"),
    ],
    ids=["print_to_a_pipe", "end_while_a_function_runs", "end_while_an_op_runs"],
)
def test_a_program_of_two_threads_ends_well(program: str) -> None:
    command = [sys.executable, "-c", program]
    # What the frames of a thread hold that still runs is no leak, but looks like one: Python keeps
    # frames where the address sanitizer does not look.
    options = f"{os.environ.get('ASAN_OPTIONS', '')}:detect_leaks=0"
    done = subprocess.run(
        command,
        timeout=LIMIT_S,
        capture_output=True,
        text=True,
        env={**os.environ, "ASAN_OPTIONS": options},
    )
    assert (done.returncode, done.stderr) == (0, "")


# oneDNN and OpenBLAS take away at exit what their functions need, and C++'s exit() does not wait
# for threads: one process in twelve died of it on a busy machine.
END_IN_A_LIBRARY = """
import threading, time
import graven as tf

x = tf.random.uniform([500, 500])
has_begun = threading.Event()
def work():
    while True:
        {op}(x)
        has_begun.set()
for _ in range(2):
    threading.Thread(target=work, daemon=True).start()
has_begun.wait()
"""


@pytest.mark.parametrize("op", ["(lambda x: tf.matmul(x, x))", "tf.linalg.inv"])
def test_processes_end_while_threads_run_code_of_libraries(op: str) -> None:
    command = [sys.executable, "-c", END_IN_A_LIBRARY.replace("{op}", op)]
    options = f"{os.environ.get('ASAN_OPTIONS', '')}:detect_leaks=0"
    environment = {**os.environ, "ASAN_OPTIONS": options}
    processes = [subprocess.Popen(command, env=environment) for _ in range(12)]
    assert [process.wait(LIMIT_S) for process in processes] == [0] * 12


@pytest.fixture
def no_switches() -> Iterator[None]:
    """Python gives its lock to another thread only where who has it gives it away."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1000.0)
    yield
    sys.setswitchinterval(before)


def lets_others_run(action: Callable[[], Any], times: int) -> bool:
    """True if a thread that waits for Python's lock gets it while the action goes on."""
    begin, has_run = threading.Event(), threading.Event()

    def run() -> None:
        begin.wait()
        has_run.set()

    other = threading.Thread(target=run)
    other.start()
    begin.set()
    for _ in range(times):
        action()
        if has_run.is_set():
            break
    result = has_run.is_set()
    other.join()
    return result


def gradient_of_a_function() -> Callable[[], Any]:
    f = tf.function(lambda x: tf.reduce_sum(tf.matmul(x, x)))
    x = tf.ones([300, 300])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = f(x)
    return lambda: tape.gradient(y, x)


def assignment() -> Callable[[], Any]:
    v, x = tf.Variable(tf.zeros([1_000_000])), tf.ones([1_000_000])
    return lambda: v.assign_add(x)


LARGE = tf.ones([1_000_000])
MATRIX = tf.ones([300, 300])


@pytest.mark.parametrize(
    "action",
    [
        lambda: tf.matmul(MATRIX, MATRIX),
        lambda: tf.exp(LARGE),
        lambda: LARGE * LARGE,
        lambda: tf.reduce_sum(LARGE),
        lambda: tf.zeros([1_000_000]),
        lambda: tf.random.normal([1_000_000]),
        lambda: tf.sort(LARGE),
        assignment(),
        gradient_of_a_function(),
    ],
    ids=["matmul", "exp", "operator", "sum", "fill", "random", "sort", "assign", "gradient"],
)
def test_long_eager_work_lets_other_threads_run(
    action: Callable[[], Any], no_switches: None
) -> None:
    assert lets_others_run(action, times=300)


def test_a_small_op_does_not_give_the_lock_away(no_switches: None) -> None:
    x = tf.ones([4, 4])
    assert not lets_others_run(lambda: tf.matmul(x + x, x), times=300)
