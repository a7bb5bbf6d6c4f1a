"""Calls public functions with arguments that no program should give: python odd_arguments.py SEED N

Whatever comes is answered or refused by an exception. The last call is written first, so that one
that ends the process is known.
"""

from __future__ import annotations

import random
import sys
from typing import Any

import graven as tf
import numpy as np
from graven import _engine, _public

# It changes all numbers that are drawn later.
LEFT_OUT = {"random.set_seed"}


def odd_values() -> list[Any]:
    """Values of all kinds that a parameter may meet."""
    numbers = [0, 1, -1, 2, -7, 2**40, 2**70, 0.5, float("nan"), float("inf"), True, 3 + 1j]
    texts = ["a", b"b", "", "SAME", "VALID", "NHWC", "NCHW", "float32"]
    lists = [[], [1], [-1, 2], [[0, 0], [1, 1]], [1, 2.5], (None, 1), ["x"], {"a": 1}, range(3)]
    shapes = [tf.TensorShape(dims) for dims in ([2, 2], [None, 2], None)]
    constants = [
        tf.constant(value)
        for value in (1, [1, 2], [[1.0, 2.0], [3.0, 4.0]], "s", True, [True, False], 1j)
    ]
    tensors = [
        tf.zeros([0]), tf.zeros([2, 0]), tf.ones([2, 3, 4]), tf.ones([1, 4, 4, 2]),
        tf.constant([1, 2], tf.int64), tf.constant(2, tf.uint8), tf.ones([2, 2], tf.float16),
    ]  # fmt: skip
    arrays = [np.array([1, 2]), np.zeros((2, 2)), np.float32(3), np.int64(2)]
    others = [
        None, ..., object(), tf.float32, tf.int32, tf.Variable([[1.0, 2.0], [3.0, 4.0]]),
        tf.IndexedSlices(tf.ones([1, 2]), tf.constant([0]), tf.constant([2, 2])),
        [tf.constant(1.0), tf.constant([1.0])], [tf.ones([2]), None], lambda: 1,
    ]  # fmt: skip
    return [*numbers, *texts, *lists, *shapes, *constants, *tensors, *arrays, *others]


def call(function: Any, arguments: dict[str, Any]) -> None:
    """Calls a function, which may refuse its arguments, but not fail inside."""
    try:
        function(**arguments)
    except Exception as error:
        if isinstance(error, tf.errors.InternalError | SystemError | AssertionError):
            raise


def main(seed: int, count: int) -> None:
    """Makes as many calls, each eagerly or while a function is traced."""
    draw = random.Random(seed)
    values = odd_values()
    public = {
        n for n in _engine.library_names().values() if not n.rpartition(".")[2].startswith("_")
    }
    names = sorted(public - LEFT_OUT)
    for _ in range(count):
        name = draw.choice(names)
        function = _public.function(name)
        arguments = {
            parameter: draw.choice(values)
            for parameter, default in function._parameters
            if not parameter.startswith("*") and (default == () or draw.random() < 0.4)
        }
        sys.stdout.write(f"{name} {sorted(arguments)} {list(map(type, arguments.values()))}\n")
        sys.stdout.flush()
        if draw.random() < 0.6:
            call(function, arguments)
        else:
            traced = tf.function(lambda f=function, a=arguments: f(**a), autograph=False)
            call(traced, {})


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
