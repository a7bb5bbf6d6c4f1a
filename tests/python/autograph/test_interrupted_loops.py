"""Ctrl-C ends staged loops of all kinds; variables are whole, and the function can be called again.

Each program runs in a process of its own, so that a loop that cannot be interrupted fails its test.
"""

from __future__ import annotations

import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

# f(x) loops for ever where x is 1, and gives -1 where x is -1.
PROGRAMS = {
    "a scalar": """
        @tf.function
        def f(x):
            while x > 0:
                x = x * 1.0
            return x
        """,
    "integers": """
        @tf.function
        def f(x):
            i = tf.cast(x, tf.int32)
            while i > 0:
                i = (i * 7 + 1) % 1000 + 1
            return i
        """,
    "a scalar that leaves by break": """
        @tf.function
        def f(x):
            while True:
                if x < 0:
                    break
                x = tf.abs(x)
            return x
        """,
    "tensors": """
        @tf.function
        def f(x):
            m = tf.ones([50, 50]) * x
            while tf.reduce_sum(m) > 0:
                m = tf.matmul(m, tf.ones([50, 50])) / 50.0
            return m[0, 0]
        """,
    "loops in each other": """
        @tf.function
        def f(x):
            m = tf.ones([10]) * x
            while m[0] > 0:
                for i in tf.range(3):
                    while x > 2:
                        x = x - 1
                    m = m * 1.0
            return m[0]
        """,
    "a branch": """
        @tf.function
        def f(x):
            return tf.cond(x > 0, lambda: tf.while_loop(lambda y: y > 0, lambda y: y * 1.0, [x])[0],
                           lambda: x)
        """,
    "a long range": """
        @tf.function
        def f(x):
            y = tf.ones([4]) * x
            for i in tf.range(tf.where(x > 0, tf.constant(1 << 60, tf.int64), 0)):
                y = y + tf.cast(i, tf.float32)
            return y[0]
        """,
    "map_fn": """
        @tf.function
        def f(x):
            def row(e):
                while e > 0:
                    e = tf.abs(e)
                return e
            return tf.map_fn(row, tf.ones([8]) * x)[0]
        """,
    "map_fn of many rows": """
        @tf.function
        def f(x):
            rows = tf.range(30_000_000 if x > 0 else 1)
            return tf.reduce_sum(tf.map_fn(
                lambda i: tf.reduce_sum(tf.sin(tf.ones([200]) * x)), rows, tf.float32)) * 0 + x
        """,
    "vectorized_map": """
        @tf.function
        def f(x):
            def row(e):
                while tf.reduce_sum(e) > 0:
                    e = e * 1.0
                return e
            return tf.vectorized_map(row, tf.ones([8, 3]) * x)[0, 0]
        """,
    "scan": """
        @tf.function
        def f(x):
            def step(a, e):
                while a > 0:
                    a = a * e
                return a
            return tf.scan(step, tf.ones([8]), initializer=x)[0]
        """,
    "an inner function": """
        @tf.function
        def inner(x):
            while x > 0:
                x = x * 1.0
            return x
        @tf.function
        def f(x):
            return inner(x)
        """,
    "a gradient": """
        @tf.function
        def f(x):
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = x
                for i in tf.range(2):
                    y = y * x
            g = tape.gradient(y, x)
            while g * x > 0:
                g = g * 1.0
            return g / 3 - 2
        """,
    "a variable": """
        v = tf.Variable(0.0)
        @tf.function
        def f(x):
            while x > 0:
                v.assign_add(1.0)
                x = x * 1.0
            return x
        check = lambda: v > 0 and v == tf.round(v)
        """,
    "a variable of many elements": """
        v = tf.Variable(tf.zeros([100_000]))
        @tf.function
        def f(x):
            while x > 0:
                v.assign_add(tf.ones([100_000]))
                v.assign(v * 1.0)
                x = x * 1.0
            return x
        check = lambda: v[0] > 0 and tf.reduce_all(v == v[0])
        """,
    "variables of a fused loop": """
        v, w = tf.Variable(0), tf.Variable(0)
        @tf.function
        def f(x):
            while x > 0:
                v.assign_add(1)
                w.assign_add(2)
                x = x * 1.0
            return x
        # The loop may end between the two.
        check = lambda: v > 0 and (w == 2 * v or w == 2 * v - 2)
        """,
}

# A shell has Ctrl-C ignored in what it starts in the background; the program must not inherit that.
FRAME = """
import signal
import graven as tf
signal.signal(signal.SIGINT, signal.default_int_handler)
check = lambda: True
PROGRAM
f.get_concrete_function(tf.constant(1.0))
assert float(f(tf.constant(-1.0))) == -1.0
print("ready", flush=True)
try:
    f(tf.constant(1.0))
    print("ended", flush=True)
except KeyboardInterrupt:
    assert check()
    assert not tf.inside_function()
    print("interrupted", float(f(tf.constant(-1.0))), float(tf.reduce_sum(tf.ones([3]))))
    assert f.experimental_get_tracing_count() == 1
"""


@pytest.mark.parametrize("name", PROGRAMS)
def test_an_interrupt_ends_a_loop(name: str, tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(FRAME.replace("PROGRAM", textwrap.dedent(PROGRAMS[name])))
    process = subprocess.Popen(
        [sys.executable, program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        ready = process.stdout.readline()
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        out, errors = process.communicate(timeout=60)
    finally:
        process.kill()
    assert (ready, out, process.returncode) == ("ready\n", "interrupted -1.0 3.0\n", 0), errors
