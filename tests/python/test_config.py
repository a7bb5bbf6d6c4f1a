"""Settings of the process: tf.config."""

from collections.abc import Iterator

import graven as tf
import numpy as np
import pytest


@pytest.fixture(autouse=True)
def restored_threads() -> Iterator[None]:
    yield
    tf.config.threading.set_intra_op_parallelism_threads(0)
    tf.config.threading.set_inter_op_parallelism_threads(0)


def test_numbers_of_threads_are_0_by_default_and_what_was_set_afterwards() -> None:
    threading = tf.config.threading
    assert threading.get_intra_op_parallelism_threads() == 0
    assert threading.get_inter_op_parallelism_threads() == 0
    threading.set_intra_op_parallelism_threads(2)
    threading.set_inter_op_parallelism_threads(3)
    assert threading.get_intra_op_parallelism_threads() == 2
    assert threading.get_inter_op_parallelism_threads() == 3


def test_a_negative_number_of_threads_is_refused() -> None:
    with pytest.raises(ValueError, match="0 or more, but got -1"):
        tf.config.threading.set_intra_op_parallelism_threads(-1)
    with pytest.raises(ValueError, match="0 or more, but got -2"):
        tf.config.threading.set_inter_op_parallelism_threads(-2)


def test_results_do_not_depend_on_the_number_of_threads() -> None:
    x = tf.constant(np.linspace(-3, 3, 1 << 18, dtype=np.float32))
    results = []
    for threads in (1, 2, 5):
        tf.config.threading.set_intra_op_parallelism_threads(threads)
        results.append(tf.reduce_sum(tf.tanh(x) * x).numpy().tobytes())
    assert results[0] == results[1] == results[2]
