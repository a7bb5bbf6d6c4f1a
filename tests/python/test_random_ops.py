"""What random functions do with seeds, sizes and the graphs in which they are used."""

import gc
import threading
import weakref
from collections.abc import Callable
from typing import Any

import graven as tf
import numpy as np
import pytest

DRAWS: list[Callable[[Any], Any]] = [
    lambda shape: tf.random.uniform(shape),
    lambda shape: tf.random.uniform(shape, 0, 9, tf.int32),
    lambda shape: tf.random.normal(shape),
    lambda shape: tf.random.truncated_normal(shape),
    lambda shape: tf.random.stateless_uniform(shape, [1, 2]),
    lambda shape: tf.random.stateless_uniform(shape, [1, 2], 0, 9, tf.int32),
    lambda shape: tf.random.stateless_normal(shape, [1, 2]),
    lambda shape: tf.random.stateless_truncated_normal(shape, [1, 2]),
    lambda shape: tf.random.Generator.from_seed(1).uniform(shape),
    lambda shape: tf.random.Generator.from_seed(1).uniform_full_int(shape),
    lambda shape: tf.random.Generator.from_seed(1).normal(shape),
    lambda shape: tf.random.Generator.from_seed(1).truncated_normal(shape),
]


@pytest.mark.parametrize("draw", DRAWS)
@pytest.mark.parametrize("shape", [[2**32 + 2, 3], [2**40], (2**31,), [np.int64(2**40)]])
def test_a_size_beyond_int32_is_not_another_size(draw: Callable[[Any], Any], shape: Any) -> None:
    # 2**32 + 2 was 2: a tensor of shape [2, 3].
    limit = tf.config.get_memory_limit()
    tf.config.set_memory_limit(1 << 28)
    try:
        with pytest.raises(tf.errors.ResourceExhaustedError, match=r"\[\w+\] Out of memory"):
            draw(shape)
    finally:
        tf.config.set_memory_limit(limit)


@pytest.mark.parametrize("draw", DRAWS)
def test_sizes_that_are_no_sizes_are_refused(draw: Callable[[Any], Any]) -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"Dimension -1 must be >= 0"):
        draw([2, -1])
    with pytest.raises(ValueError, match="out-of-range integer"):
        draw([2**64])
    with pytest.raises(tf.errors.InvalidArgumentError, match="has more elements than an int64"):
        draw([2**40, 2**40])


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


def test_a_generator_of_threefry_is_made_but_draws_nothing() -> None:
    generator = tf.random.Generator.from_seed(7, alg="threefry")
    assert generator.algorithm == 2
    assert generator.state.numpy().tolist() == [7, 0]
    with pytest.raises(tf.errors.UnimplementedError, match="ThreeFry"):
        generator.normal([2])


def test_an_algorithm_goes_by_number_name_or_member() -> None:
    names = (1, "philox", "Auto-Select", tf.random.Algorithm.PHILOX)
    drawn = [tf.random.stateless_uniform([2], [1, 2], alg=alg).numpy().tolist() for alg in names]
    assert all(numbers == drawn[0] for numbers in drawn)
    with pytest.raises(ValueError, match="`alg` got unsupported value other"):
        tf.random.Generator.from_seed(1, alg="other")


# The orders of TensorFlow 2.21 for global seeds from 0 on.
@pytest.mark.parametrize(
    ("rows", "orders"),
    [
        (1, [[0], [0], [0], [0], [0], [0]]),
        (2, [[1, 0], [0, 1], [1, 0], [0, 1], [1, 0], [0, 1]]),
        (3, [[0, 2, 1], [0, 2, 1], [2, 1, 0], [1, 2, 0], [0, 1, 2], [2, 0, 1]]),
    ],
)
def test_a_few_rows_are_shuffled_as_in_tensorflow(rows: int, orders: list[list[int]]) -> None:
    found = []
    for seed in range(6):
        tf.random.set_seed(seed)
        found.append(tf.random.shuffle(tf.range(rows)).numpy().tolist())
    assert found == orders
