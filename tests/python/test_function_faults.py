"""Functions whose bodies fail, mutate what they were given, or let tensors of a trace escape."""

import gc
from typing import Any

import graven as tf
import numpy as np
import pytest


def test_a_recursive_call_inside_a_first_call_that_fails_leaves_nothing_behind() -> None:
    # The row of the inner call named an entry that the failed first call had dropped: a crash.
    @tf.function
    def f(x: Any, depth: int) -> Any:
        if depth == 0:
            return x * 2.0
        f(x, 0)
        raise KeyError("outer")

    for _ in range(3):
        with pytest.raises(KeyError):
            f(tf.constant(1.0), 1)
    for _ in range(3):
        assert f(tf.constant(1.0), 0).numpy() == 2.0
