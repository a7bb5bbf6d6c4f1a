"""One thread and two give the same bits."""

from collections.abc import Iterator
from typing import Any

import graven as tf
import numpy as np
import pytest
from numpy.typing import NDArray

from ops.running import run
from ops.sample import Case, all_cases, as_tensors

# Enough elements for several pieces, however cheap one is.
MANY = 1 << 18
CASES = all_cases()


@pytest.fixture(autouse=True)
def threads_are_as_before() -> Iterator[None]:
    before = tf.config.threading.get_intra_op_parallelism_threads()
    yield
    tf.config.threading.set_intra_op_parallelism_threads(before)


def assert_same_with_both(case: Case, arrays: list[Any]) -> None:
    results: list[list[NDArray[Any]]] = []
    for threads in (1, 2):
        tf.config.threading.set_intra_op_parallelism_threads(threads)
        results.append(run("eager", case, as_tensors(tf, arrays)))
    for one, two in zip(*results, strict=True):
        assert one.shape == two.shape
        assert (
            one.tolist() == two.tolist()
            if one.dtype.kind == "O"
            else np.array_equal(one.reshape(-1).view(np.uint8), two.reshape(-1).view(np.uint8))
        )


@pytest.mark.parametrize("case", [c for c in CASES if not c.sample.is_elementwise], ids=str)
def test_one_thread_and_two_give_the_same_bits(case: Case) -> None:
    assert_same_with_both(case, case.arrays())


@pytest.mark.parametrize("case", [c for c in CASES if c.sample.is_elementwise], ids=str)
def test_one_thread_and_two_give_the_same_bits_of_many_elements(case: Case) -> None:
    assert_same_with_both(case, [np.resize(array, MANY) for array in case.arrays()])
