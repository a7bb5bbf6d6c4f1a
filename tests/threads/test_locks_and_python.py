"""A thread that waits for the engine lets the other threads of Python run.

Each program here stood still for ever: one thread held a lock of the engine and waited for
Python's global lock or for another thread, the others held that and waited for the engine. It
runs in a process of its own, as a test that hangs with the global lock could not be ended.
"""

import subprocess
import sys

import pytest

LIMIT_S = 300.0

START = """
import threading, time
import graven as tf

def in_threads(work, count=8):
    start = threading.Barrier(count)
    errors = []
    def run(i):
        try:
            start.wait()
            work(i)
        except BaseException as error:
            errors.append(error)
    threads = [threading.Thread(target=run, args=[i]) for i in range(count)]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
    if errors: raise errors[0]
"""

FIRST_IMPORT_OF_NUMPY = """
x = tf.constant([1.0, 2.0])
in_threads(lambda i: x.numpy())
"""

CUSTOM_GRADIENT = """
@tf.custom_gradient
def slow(x):
    def gradient(dy):
        time.sleep(0.05)  # other threads run meanwhile
        return dy * 3.0
    return x * 3.0, gradient

@tf.function
def f(x):
    return slow(x)

def work(i):
    x = tf.constant(1.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    assert float(tape.gradient(y, x)) == 3.0

f(tf.constant(1.0))
in_threads(work)
"""

LISTING_WHILE_TRACING = """
class Key:
    # A literal of the key: hashable, compared by Python, kept by the types of the arguments.
    __slots__ = ("value",)
    def __init__(self, value): self.value = value
    def __hash__(self): return 1
    def __eq__(self, other):
        time.sleep(0)
        return isinstance(other, Key) and self.value == other.value

@tf.function
def f(x, key):
    time.sleep(0.001)
    return x + 1.0

def work(i):
    for k in range(30):
        if i % 2:
            f(tf.constant(1.0), Key(k % 5))
        else:
            f.cache_info()
            f.pretty_printed_concrete_signatures()

in_threads(work)
"""


# Each thread builds the gradient of its Function, for which it needs that of the other's.
GRADIENTS_OF_EACH_OTHER = """
both_build = threading.Barrier(2)
is_building = [False, False]

def make(i):
    @tf.custom_gradient
    def doubled(x):
        def gradient(dy):
            if not is_building[i]:
                is_building[i] = True
                both_build.wait()
                with tf.GradientTape() as tape:
                    y = tf.constant(2.0)
                    tape.watch(y)
                    z = functions[1 - i](y)
                tape.gradient(z, y)
            return dy * 5.0
        return x * 2.0, gradient
    return tf.function(lambda x: doubled(x))

functions = [make(0), make(1)]
for f in functions: f(tf.constant(1.0))

def work(i):
    x = tf.constant(1.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = functions[i](x)
    assert float(tape.gradient(y, x)) == 5.0

in_threads(work, count=2)
"""

# Each thread traces its Function, which calls the other's.
TRACES_OF_EACH_OTHER = """
both_trace = threading.Barrier(2)
this_thread = threading.local()

def make(i):
    @tf.function(autograph=False)
    def f(x):
        if hasattr(this_thread, "traces"):
            return x
        this_thread.traces = True
        both_trace.wait()
        return functions[1 - i](x) * 2.0
    return f

functions = [make(0), make(1)]

def work(i):
    assert float(functions[i](tf.constant(1.0))) in (2.0, 4.0)

in_threads(work, count=2)
"""

# The trace ends only after the thread that waits for it was interrupted.
INTERRUPT_OF_A_WAIT = """
import signal
is_tracing, was_interrupted = threading.Event(), threading.Event()

@tf.function(autograph=False)
def f(x):
    is_tracing.set()
    was_interrupted.wait()
    return x + 1.0

other = threading.Thread(target=lambda: f(tf.constant(1.0)))
other.start()
is_tracing.wait()
signal.signal(signal.SIGALRM, signal.default_int_handler)
signal.setitimer(signal.ITIMER_REAL, 0.2)
try:
    f(tf.constant(2.0))
except KeyboardInterrupt:
    was_interrupted.set()
other.join()
assert was_interrupted.is_set()
assert float(f(tf.constant(2.0))) == 3.0 and f.experimental_get_tracing_count() == 1
"""


@pytest.mark.parametrize(
    "program",
    [
        FIRST_IMPORT_OF_NUMPY,
        CUSTOM_GRADIENT,
        LISTING_WHILE_TRACING,
        GRADIENTS_OF_EACH_OTHER,
        TRACES_OF_EACH_OTHER,
        INTERRUPT_OF_A_WAIT,
    ],
    ids=[
        "first_import_of_numpy",
        "custom_gradient",
        "listing_while_tracing",
        "gradients_of_each_other",
        "traces_of_each_other",
        "interrupt_of_a_wait",
    ],
)
def test_threads_do_not_wait_for_each_other_for_ever(program: str) -> None:
    command = [sys.executable, "-c", START + program]
    done = subprocess.run(command, timeout=LIMIT_S, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
