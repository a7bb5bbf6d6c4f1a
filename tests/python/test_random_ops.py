"""What random functions do with seeds, sizes and the graphs in which they are used."""

import gc
import threading
import weakref
from typing import Any

import graven as tf


def test_the_graph_of_a_finished_trace_is_not_kept() -> None:
    # The table of how many ops had asked for seeds kept the last graph.
    tf.random.set_seed(1)

    @tf.function
    def f() -> Any:
        return tf.random.uniform([2])

    graph = f.get_concrete_function().graph
    assert graph.get_operations()
    gone = weakref.ref(graph)
    del f, graph
    gc.collect()
    assert gone() is None


def seeds(concrete: Any) -> list[int]:
    return [
        op.get_attr("seed2") for op in concrete.graph.get_operations() if op.type == "RandomUniform"
    ]


def test_ops_without_seeds_are_counted_in_each_graph() -> None:
    tf.random.set_seed(1)
    inner_seeds: list[int] = []

    @tf.function
    def outer() -> Any:
        @tf.function
        def inner() -> Any:
            return tf.random.uniform([]) + tf.random.uniform([])

        first = tf.random.uniform([])
        inner_seeds.extend(seeds(inner.get_concrete_function()))
        return first + tf.random.uniform([])

    assert seeds(outer.get_concrete_function()) == [0, 1]
    assert inner_seeds == [0, 1]


def test_two_threads_that_trace_at_once_count_for_themselves() -> None:
    # Each forgot what the other had counted.
    tf.random.set_seed(1)
    turn = threading.Barrier(2)
    found: dict[int, list[int]] = {}

    def work(i: int) -> None:
        @tf.function
        def f() -> Any:
            total = tf.zeros([])
            for _ in range(3):
                turn.wait(timeout=60)
                total += tf.random.uniform([])
            return total

        found[i] = seeds(f.get_concrete_function())

    threads = [threading.Thread(target=work, args=[i]) for i in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {0: [0, 1, 2], 1: [0, 1, 2]}
