"""Traces are dropped while 16 threads call them, and objects in their keys come and go."""

import os
import signal
import subprocess
import sys
import time
from typing import Any

import graven as tf
import pytest
from threads.in_threads import THREADS, in_threads

ROUNDS = 60


class Thing:
    pass


def test_each_thread_drops_traces_that_others_run() -> None:
    f = tf.function(lambda x, n: x * 2.0 + n)

    def work(i: int) -> list[float]:
        results = []
        for k in range(ROUNDS):
            results.append(float(f(tf.constant(1.0), (i + k) % 5)) - (i + k) % 5)
            if k % 10 == i % 10:
                for entry in f._entries()[:1]:  # none, if the others dropped all
                    f._drop(entry)
        return results

    assert in_threads(work) == [[2.0] * ROUNDS] * THREADS
    info = f.cache_info()
    assert info.hits + info.misses == THREADS * ROUNDS


def test_objects_go_on_one_thread_while_others_call() -> None:
    kept = Thing()
    f = tf.function(lambda thing, x: x + 1.0)

    def work(i: int) -> Any:
        for _ in range(ROUNDS):
            assert float(f(Thing() if i % 4 == 0 else kept, tf.constant(1.0))) == 2.0
        return i

    assert in_threads(work) == list(range(THREADS))
    assert f.cache_info().entries == 1


def test_a_gradient_survives_that_another_thread_drops_the_trace() -> None:
    f = tf.function(lambda x: x * x)

    def work(i: int) -> list[float]:
        results = []
        for k in range(ROUNDS):
            x = tf.constant(float(i))
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = f(x)
            if k % 8 == i % 8:
                for entry in f._entries():
                    f._drop(entry)
            results.append(float(tape.gradient(y, x)))
        return results

    assert in_threads(work) == [[2.0 * i] * ROUNDS for i in range(THREADS)]


def test_a_gradient_of_an_entry_that_was_dropped_before_any_gradient_was_made() -> None:
    w = tf.Variable(3.0)
    f = tf.function(lambda x: tf.reduce_sum(tf.exp(x * w) * x))

    def work(i: int) -> list[tuple[float, float]]:
        results = []
        for _ in range(ROUNDS // 4):
            x = tf.constant([0.0] * (1 + i % 3))
            with tf.GradientTape(persistent=True) as tape:
                tape.watch(x)
                with tf.GradientTape() as inner:
                    inner.watch(x)
                    y = f(x)
                for entry in f._entries():
                    f._drop(entry)
                first = inner.gradient(y, x)
            for entry in f._entries():
                f._drop(entry)
            # d/dx exp(3x)x is 1 at 0, and its derivative 6.
            second = tape.gradient(first, x)
            results.append((float(first[0]), float(second[0])))
        return results

    assert in_threads(work) == [[(1.0, 6.0)] * (ROUNDS // 4)] * THREADS


# An endless product, whose trace another thread drops again and again, and Ctrl-C.
INTERRUPTED = """
import signal, sys, threading, time
import graven as tf
signal.signal(signal.SIGINT, signal.default_int_handler)
v = tf.Variable(tf.zeros([64]))
x = tf.ones([500, 500])

@tf.function
def products(x):
    for _ in range(40):
        x = tf.matmul(x, x) * 0.001
    v.assign(x[0, :64])
    return x

products(x)
stop = threading.Event()
def drop():
    while not stop.wait(0.002):
        for entry in products._entries():
            products._drop(entry)
thread = threading.Thread(target=drop)
thread.start()
print("ready", flush=True)
try:
    while True:
        WORK
except KeyboardInterrupt:
    pass
stop.set()
thread.join()
values = v.numpy()
assert values.shape == (64,) and values.min() == values.max()
first = products(x).numpy()
for entry in products._entries():
    assert products._drop(entry)
assert (products(x).numpy() == first).all()
print("interrupted", flush=True)
"""
GRADIENT = """
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = products(x)
        tape.gradient(y, x)
"""


@pytest.mark.parametrize("work", ["products(x)", GRADIENT.strip()], ids=["call", "gradient"])
def test_an_interrupt_ends_a_call_whose_entry_is_dropped_meanwhile(work: str) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED.replace("WORK", work)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        time.sleep(1.0)
        process.send_signal(signal.SIGINT)
        out, errors = process.communicate(timeout=60)
    finally:
        process.kill()
    assert (process.returncode, out) == (0, "interrupted\n"), errors


# The interpreter ends while daemons call, trace, differentiate and drop.
ENDING = """
import threading, time
import graven as tf
v = tf.Variable(1.0)
f = tf.function(lambda x, n: tf.reduce_sum(tf.exp(x * 0.001) * v) + n)
kept = [f.get_concrete_function(tf.ones([8]), n) for n in range(4)]
started = threading.Barrier(9)

def work(i):
    x = tf.ones([8])
    started.wait()
    k = 0
    while True:
        k += 1
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x, (i + k) % 6)
        if k % 3 == 0:
            tape.gradient(y, x)
        for entry in f._entries()[k % 2 :: 2]:
            f._drop(entry)

for i in range(8):
    threading.Thread(target=work, args=[i], daemon=True).start()
started.wait()
time.sleep(0.3)
END
"""


# The same while code of the user's runs beneath the engine: of its types, objects and their end.
ENDING_IN_USER_CODE = """
import threading, time
import graven as tf
from graven.types.experimental import TraceType

class Kind(TraceType):
    def __init__(self, n): self.n = n
    def is_subtype_of(self, other): time.sleep(0); return self == other
    def most_specific_common_supertype(self, others): return None
    def placeholder_value(self, context): time.sleep(0); return Thing(self.n)
    def __eq__(self, other): time.sleep(0); return isinstance(other, Kind) and self.n == other.n
    def __hash__(self): time.sleep(0); return self.n

class Thing:
    def __init__(self, n): self.n = n
    def __tf_tracing_type__(self, context): time.sleep(0); return Kind(self.n)
    def __del__(self): time.sleep(0)

class Owner:
    def __hash__(self): time.sleep(0); return 7
    def __eq__(self, other): time.sleep(0); return self is other
    @tf.function
    def call(self, thing): return tf.constant(1.0) * thing.n

started = threading.Barrier(9)

def work():
    started.wait()
    k = 0
    while True:
        k += 1
        Owner().call(Thing(k % 5))

for _ in range(8):
    threading.Thread(target=work, daemon=True).start()
started.wait()
time.sleep(0.3)
"""


def must_end_well(program: str) -> str:
    """Runs a program and returns what it said. Daemons that are stopped where they are leave
    objects, which nanobind tells; the process must end as it should."""
    # What only the Python frames of a running thread point to looks like a leak: they do not lie in
    # memory that the leak checker searches.
    options = os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0"
    run = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, "ASAN_OPTIONS": options},
    )
    assert run.returncode == 0, run.stderr[-2000:]
    for word in ("Fatal", "terminate called", "Segmentation", "Sanitizer"):
        assert word not in run.stderr, run.stderr[-2000:]
    return run.stderr


@pytest.mark.parametrize(
    "end", ["pass", "raise SystemExit(0)", "del f, kept, v"], ids=["end", "exit", "del"]
)
def test_the_interpreter_ends_while_threads_call_and_drop(end: str) -> None:
    for _ in range(3):
        said = must_end_well(ENDING.replace("END", end))
        # Those that miss a name which the program has deleted say so.
        if end != "del f, kept, v":
            assert "Traceback" not in said, said[-2000:]


def test_the_interpreter_ends_while_threads_run_code_of_the_users() -> None:
    for _ in range(3):
        must_end_well(ENDING_IN_USER_CODE)


def test_the_cache_is_cleared_and_over_its_budget_while_16_threads_call() -> None:
    f = tf.function(lambda x, n: x * 2.0 + n, max_traces=3)

    def work(i: int) -> list[float]:
        results = []
        for k in range(ROUNDS):
            n = (i + k) % 7
            results.append(float(f(tf.constant(1.0), n)) - n)
            if i == 0 and k % 10 == 0:
                f.clear_cache()
                str(f.cache_info())
        return results

    assert in_threads(work) == [[2.0] * ROUNDS] * THREADS
    info = f.cache_info()
    assert info.hits + info.misses == THREADS * ROUNDS
    f(tf.constant(1.0), 100)  # while others ran them, more than three stayed
    assert f.cache_info().entries <= 3
