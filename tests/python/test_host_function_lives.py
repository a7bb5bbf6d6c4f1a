"""Threads that call tf.py_function and tf.numpy_function, and how long their functions live."""

import gc
import subprocess
import sys
import textwrap
import threading
import weakref
from typing import Any

import graven as tf
from python.host_functions import both_calls


def run_program(program: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", "import graven as tf, numpy as np\n" + textwrap.dedent(program)],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    return done.stdout


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
