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


def test_a_body_may_drop_the_objects_of_a_list_argument() -> None:
    # The key of the call named an object that the body had freed: a crash.
    class Item:
        pass

    items: list[Any] = []

    @tf.function
    def f(_: Any) -> Any:
        items.clear()
        gc.collect()
        return tf.constant(1.0)

    for _ in range(50):
        items.append(Item())
        assert f(items).numpy() == 1.0
