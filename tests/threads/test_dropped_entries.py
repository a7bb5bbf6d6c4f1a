"""Traces are dropped while 16 threads call them, and objects in their keys come and go."""

from typing import Any

import graven as tf
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
