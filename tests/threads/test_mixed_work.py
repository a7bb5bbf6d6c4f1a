"""Threads that do different things to the same objects: trace, run, differentiate, list, collect.

Runs are long enough (LARGE) that Python's global lock is given away and the pool of threads works.
"""

import gc
import threading
from collections.abc import Callable
from typing import Any

import graven as tf
import numpy as np
import pytest
from threads.in_threads import in_threads

CALLS = 12
LARGE = 60_000


@pytest.fixture
def collector() -> Any:
    """Python's collector of cycles, at work on a thread of its own all the while."""
    done = threading.Event()

    def collect() -> None:
        while not done.is_set():
            gc.collect()
            done.wait(0.002)

    thread = threading.Thread(target=collect)
    thread.start()
    yield
    done.set()
    thread.join()


def test_new_types_old_types_and_listings_at_once(collector: Any) -> None:
    @tf.function(reduce_retracing=False)
    def total(x: Any, scale: Any = 2.0) -> Any:
        return tf.reduce_sum(x * scale)

    def work(i: int) -> None:
        for n in range(1, CALLS):
            kind = i % 4
            if kind == 0:  # the same new type in several threads
                assert float(total(tf.ones([n]))) == 2.0 * n
            elif kind == 1:  # types of its own
                assert float(total(tf.ones([n, i]))) == 2.0 * n * i
            elif kind == 2:  # literals
                assert float(total(tf.ones([3]), float(n))) == 3.0 * n
            else:
                info = total.cache_info()
                assert info.entries <= info.traces
                total.pretty_printed_concrete_signatures()
                concrete = total.get_concrete_function(tf.TensorSpec([n], tf.float32))
                assert float(concrete(tf.ones([n]))) == 2.0 * n

    in_threads(work)
    # Seen by all: one trace a type.
    sizes, own, literals = CALLS - 1, 4 * (CALLS - 1), CALLS - 2
    assert total.experimental_get_tracing_count() == sizes + own + literals


def test_functions_come_and_go_while_others_run(collector: Any) -> None:
    class Model(tf.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weight = tf.Variable(tf.ones([4]))

        @tf.function
        def __call__(self, x: Any) -> Any:
            return x * self.weight

    def work(i: int) -> None:
        for n in range(CALLS):
            model = Model()
            assert float(tf.reduce_sum(model(tf.fill([4], float(i))))) == 4.0 * i
            made = tf.function(lambda x, n=n: x + float(n))
            assert float(made(1.0)) == 1.0 + n
            model.me = model  # only the collector ends it

    in_threads(work)


def test_gradients_while_the_function_is_traced_anew() -> None:
    @tf.function
    def loss(x: Any) -> Any:
        return tf.reduce_sum(x * x * x)

    def work(i: int) -> None:
        for n in range(1, CALLS):
            x = tf.fill([n + i % 3], float(i))
            with tf.GradientTape() as outer:
                outer.watch(x)
                with tf.GradientTape() as tape:
                    tape.watch(x)
                    y = loss(x)
                first = tape.gradient(y, x)
            second = outer.gradient(first, x)
            np.testing.assert_array_equal(first.numpy(), np.full([n + i % 3], 3.0 * i * i))
            np.testing.assert_array_equal(second.numpy(), np.full([n + i % 3], 6.0 * i))

    in_threads(work)


def test_readers_of_a_variable_see_whole_values() -> None:
    v = tf.Variable(tf.zeros([LARGE]))

    @tf.function
    def write(value: Any) -> None:
        v.assign(tf.fill([LARGE], value))

    @tf.function
    def add(value: Any) -> None:
        v.assign_add(tf.fill([LARGE], value))

    @tf.function
    def ends() -> Any:
        value = v.read_value()
        return tf.reduce_min(value), tf.reduce_max(value)

    def work(i: int) -> None:
        for n in range(CALLS):
            if i % 4 == 0:
                write(float(n))
            elif i % 4 == 1:
                add(1.0)
            elif i % 4 == 2:
                v.assign(tf.fill([LARGE], float(n)))
            else:
                low, high = ends()
                assert float(low) == float(high)
                value = v.numpy()
                assert value.min() == value.max()

    in_threads(work)


def test_no_scattered_addition_is_lost() -> None:
    v = tf.Variable(tf.zeros([8], tf.int64))

    def work(i: int) -> None:
        for _ in range(CALLS):
            v.scatter_add(tf.IndexedSlices(tf.ones([2], tf.int64), tf.constant([i % 8, 0])))

    in_threads(work)
    assert int(tf.reduce_sum(v)) == 2 * 16 * CALLS


def test_captures_may_be_replaced_while_the_function_runs() -> None:
    base = tf.Variable(tf.ones([LARGE]))

    def concrete_of(value: Any) -> Any:
        @tf.function
        def add(x: Any) -> Any:
            return tf.reduce_max(x + base), tf.reduce_min(x + base)

        return add.get_concrete_function(value)

    x = tf.zeros([LARGE])
    concrete = concrete_of(x)
    others = [tf.Variable(tf.fill([LARGE], float(i))) for i in range(4)]

    def work(i: int) -> None:
        for n in range(CALLS):
            if i % 2:
                high, low = concrete(x)
                assert float(high) == float(low)
            else:
                concrete.set_external_captures([others[(i + n) % 4].handle])
                assert len(concrete.captured_inputs) == 1

    in_threads(work)


def test_the_number_of_threads_may_change_while_they_work() -> None:
    a = tf.random.stateless_uniform([120, 90], seed=[1, 2])
    b = tf.random.stateless_uniform([90, 110], seed=[3, 4])
    x = tf.random.stateless_uniform([LARGE], seed=[5, 6])

    @tf.function
    def both(a: Any, b: Any, x: Any) -> Any:
        return tf.reduce_sum(tf.matmul(a, b)), tf.reduce_sum(tf.tanh(x) * x)

    before = tf.config.get_num_threads()
    expected = [float(result) for result in both(a, b, x)]

    def work(i: int) -> None:
        for n in range(CALLS):
            if i == 0:
                tf.config.set_num_threads(1 + n % 4)
            assert [float(result) for result in both(a, b, x)] == expected

    try:
        in_threads(work)
    finally:
        tf.config.set_num_threads(before)


def test_variables_are_created_once_by_the_first_of_many_calls() -> None:
    class Counter:
        def __init__(self) -> None:
            self.v: Any = None

        @tf.function
        def __call__(self) -> Any:
            if self.v is None:
                self.v = tf.Variable(0, dtype=tf.int64)
            return self.v.assign_add(1)

    counter = Counter()
    results = in_threads(lambda i: [int(counter()) for _ in range(CALLS)])
    # What a call returns is read after it added, when others may have added too.
    for counts in results:
        assert counts == sorted(counts)
        assert counts[-1] <= 16 * CALLS
    assert int(counter.v) == 16 * CALLS


def test_threads_that_end_leave_what_they_traced() -> None:
    @tf.function(reduce_retracing=False)
    def f(x: Any) -> Any:
        with tf.name_scope("scope"):
            return tf.reduce_sum(x * 2.0)

    def run(target: Callable[[], Any]) -> None:
        thread = threading.Thread(target=target)
        thread.start()
        thread.join()

    for n in range(1, 40):
        run(lambda n=n: f(tf.ones([n % 7 + 1])))  # type: ignore[misc]
    assert f.experimental_get_tracing_count() == 7
    assert float(f(tf.ones([3]))) == 6.0


def test_random_numbers_are_drawn_once() -> None:
    generator = tf.random.Generator.from_seed(1)

    @tf.function
    def draw() -> Any:
        return generator.uniform([2], maxval=2**62, dtype=tf.int64)

    results = in_threads(lambda i: [tuple(draw().numpy()) for _ in range(CALLS)])
    assert len({numbers for part in results for numbers in part}) == 16 * CALLS
