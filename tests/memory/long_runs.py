"""Programs that run long, each with ever new types, objects or Functions.

`python long_runs.py SCENARIO OPTIONS COUNT` runs one, with the options of its Functions as JSON.
Prints the bytes by which resident memory grew between a fifth of the run and its end.
"""

import gc
import json
import os
import sys
from collections.abc import Callable
from typing import Any

import graven as tf

Step = Callable[[int], object]
Options = dict[str, Any]

# Traces of the process may take a quarter of it, which is less than a long run would make.
MEMORY_LIMIT = 128 << 20

IMAGE = tf.ones([1, 4, 4, 2])
FILTERS = tf.ones([2, 2, 2, 2])
WEIGHTS = tf.ones([3, 3])
X = tf.ones([2, 3])


def work(x: Any) -> Any:
    """A matmul and a convolution, whose kernels have memory of their own."""
    rows = tf.reshape(x, [-1, 3])
    image = tf.nn.conv2d(IMAGE, FILTERS, 1, "SAME")
    return tf.reduce_sum(tf.matmul(rows, WEIGHTS)) + tf.reduce_sum(image)


def function(f: Callable[..., Any], options: Options) -> Any:
    """tf.function, whose overloads mypy cannot choose among by a dict of options."""
    return tf.function(f, **options)


def shapes(options: Options) -> Step:
    """Sizes that were not there before."""
    f = function(work, options)
    return lambda n: f(tf.ones([n % 100 + 1, n // 100 + 1, 3]))


def ranks(options: Options) -> Step:
    """Ranks from two to nine, with new sizes."""
    f = function(work, options)
    return lambda n: f(tf.ones([1] * (n % 8) + [n + 1, 3]))


def literals(options: Options) -> Step:
    """Python numbers as arguments."""
    f = function(lambda x, n: work(x) * float(n), options)
    return lambda n: f(X, n)


class Scale:
    """An object of the user's."""

    def __init__(self, n: int) -> None:
        self.value = float(n)


def objects(options: Options) -> Step:
    """Objects as arguments, which die after the call."""
    f = function(lambda x, scale: work(x) * scale.value, options)
    return lambda n: f(X, Scale(n))


def callables(options: Options) -> Step:
    """Fresh lambdas as arguments."""
    f = function(lambda x, g: work(g(x)), {**options, "share_equal_functions": True})
    return lambda n: f(X, lambda x: x * 2.0)


def captured_numbers(options: Options) -> Step:
    """Fresh lambdas as arguments, each with another number."""
    f = function(lambda x, g: work(g(x)), {**options, "share_equal_functions": True})

    def scaled(k: float) -> Any:
        return lambda x: x * k

    return lambda n: f(X, scaled(float(n)))


def captured_tensors(options: Options) -> Step:
    """The same with fresh tensors."""
    f = function(lambda x, g: work(g(x)), {**options, "share_equal_functions": True})

    def scaled(w: Any) -> Any:
        return lambda x: x * w

    return lambda n: f(X, scaled(tf.constant(float(n))))


def fresh_methods(options: Options) -> Step:
    """Methods of fresh objects."""
    f = function(lambda x, g: work(g(x)), {**options, "share_equal_functions": True})

    class Scaled:
        def __init__(self, k: float) -> None:
            self.k = k

        def apply(self, x: Any) -> Any:
            return x * self.k

    return lambda n: f(X, Scaled(float(n)).apply)


def functions(options: Options) -> Step:
    """Functions that are made, called and dropped."""

    def step(n: int) -> None:
        f = function(lambda x: work(x) * float(n), options)
        f(X)
        f(X)

    return step


class Model:
    """Reaches itself through the Function of its method."""

    def __init__(self, n: int, options: Options) -> None:
        self.scale = float(n)
        self.step = function(self._step, options)

    def _step(self, x: Any) -> Any:
        return work(x) * self.scale


def methods(options: Options) -> Step:
    """Cycles through self, which only Python's cycle collector finds."""
    return lambda n: Model(n, options).step(X)


def gradients(options: Options) -> Step:
    """Traces that are differentiated."""
    f = function(lambda x, n: work(x) * float(n), options)

    def step(n: int) -> None:
        with tf.GradientTape() as tape:
            tape.watch(X)
            y = f(X, n)
        tape.gradient(y, X)

    return step


def hits(options: Options) -> Step:
    """Nothing but hits, a hundred in each step."""
    f = function(work, options)

    def step(_n: int) -> None:
        for _ in range(100):
            f(X)

    return step


SCENARIOS: dict[str, Callable[[Options], Step]] = {
    make.__name__: make
    for make in (
        shapes,
        ranks,
        literals,
        objects,
        callables,
        captured_numbers,
        captured_tensors,
        fresh_methods,
        functions,
        methods,
        gradients,
        hits,
    )
}


def resident_bytes() -> int:
    """The memory of the process that is not swapped out, garbage collected first."""
    gc.collect()
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def main(scenario: str, options: str, count: int) -> None:
    """Runs a scenario and prints its growth."""
    tf.config.set_memory_limit(MEMORY_LIMIT)
    step = SCENARIOS[scenario](json.loads(options))
    begin = 0
    for n in range(count):
        if n == count // 5:
            begin = resident_bytes()
        step(n)
    print(resident_bytes() - begin)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
