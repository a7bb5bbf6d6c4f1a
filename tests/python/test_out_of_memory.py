"""Memory that ends inside what the optimiser fused: an error with op and line, nothing broken."""

import gc
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

import graven as tf
import numpy as np
import pytest

ROWS, COLUMNS = 2048, 1024  # of float32: 8 MiB
BYTES = ROWS * COLUMNS * 4


@pytest.fixture
def limit() -> Iterator[Callable[[int], None]]:
    """Lets so many bytes more be allocated than are in use."""
    gc.collect()  # what is collected later would leave more
    before = tf.config.get_memory_limit()

    def set_limit(more: int) -> None:
        current = tf.config.experimental.get_memory_info("CPU:0")["current"]
        tf.config.set_memory_limit(current + more)

    yield set_limit
    tf.config.set_memory_limit(before)


def elements(x: Any) -> Any:
    y = tf.sin(x * 2.0) + 1.0
    return y * x


def reduction(x: Any) -> Any:
    halves = tf.reshape(x, [-1, 2, COLUMNS // 2])
    return tf.reduce_sum(halves * 2.0 + 1.0, axis=1)  # of half as many elements


def rows(x: Any) -> Any:
    centered = x - tf.reduce_mean(x, axis=1, keepdims=True)
    return centered * tf.math.rsqrt(tf.reduce_mean(centered * centered, axis=1, keepdims=True))


def softmax(x: Any) -> Any:
    return tf.nn.softmax(x * 0.5 + 1.0) * 3.0


def product(x: Any) -> Any:
    return tf.nn.relu(tf.matmul(x, x, transpose_b=True) + 1.0)


WORK = [elements, reduction, rows, softmax, product]


@pytest.mark.parametrize("work", WORK, ids=lambda work: work.__name__)
def test_it_is_an_error_of_an_op_on_its_line_and_the_next_call_is_right(
    work: Callable[[Any], Any], limit: Callable[[int], None]
) -> None:
    function = tf.function(work, input_signature=[tf.TensorSpec([None, COLUMNS], tf.float32)])
    values = np.random.default_rng(0).normal(size=[ROWS, COLUMNS]).astype(np.float32)
    x, part = tf.constant(values), tf.constant(values[:64])
    expected, expected_part = function(x).numpy(), function(part).numpy()
    for _ in range(3):
        limit(BYTES // 4)
        with pytest.raises(tf.errors.ResourceExhaustedError) as raised:
            function(x)
        text = str(raised.value)
        assert "Out of memory when allocating a tensor" in text
        assert "Detected at node" in text
        assert f"in {work.__name__}" in text and __file__ in text
        np.testing.assert_array_equal(function(part), expected_part)
        limit(1 << 40)
        np.testing.assert_array_equal(function(x), expected)
    np.testing.assert_array_equal(x, values)


@pytest.mark.parametrize("work", WORK, ids=lambda work: work.__name__)
def test_a_gradient_that_finds_no_memory_is_an_error_and_the_next_is_right(
    work: Callable[[Any], Any], limit: Callable[[int], None]
) -> None:
    function = tf.function(work)
    x = tf.random.stateless_normal([ROWS, COLUMNS], seed=[1, 2])

    def gradient() -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = function(x)
        return tape.gradient(y, x)

    expected = gradient().numpy()
    limit(BYTES // 4)
    with pytest.raises(tf.errors.ResourceExhaustedError):
        gradient()
    limit(1 << 40)
    np.testing.assert_array_equal(gradient(), expected)


def test_variables_keep_whole_values_when_a_step_finds_no_memory(
    limit: Callable[[int], None],
) -> None:
    first, second = tf.Variable(tf.ones([ROWS, COLUMNS])), tf.Variable(tf.ones([ROWS, COLUMNS]))
    count = tf.Variable(0)

    @tf.function
    def step(x: Any) -> Any:
        count.assign_add(1)
        first.assign(tf.exp(x * 0.0) + first)
        second.assign(tf.nn.softmax(x + second) * 0.0 + first)
        return tf.reduce_sum(first * second)

    x = tf.ones([ROWS, COLUMNS])
    step(x)
    failures = 0
    for more in range(0, 6 * BYTES, BYTES // 2):
        before = first.numpy()[0, 0]
        limit(more)
        try:
            step(x)
        except tf.errors.ResourceExhaustedError:
            failures += 1
        limit(1 << 40)
        for variable in (first, second):
            values = variable.numpy()
            assert values.min() == values.max()
        assert first.numpy()[0, 0] in (before, before + 1.0)
    assert failures > 0
    assert int(count) >= 1
    start = first.numpy()[0, 0]
    step(x)
    assert first.numpy()[0, 0] == second.numpy()[0, 0] == start + 1.0


# A process with no 64 KiB to be had, in which function, of which everything but the memory of its
# kernels is there, is run.
EXHAUSTED = """
import resource
import graven as tf
import numpy as np
N = 2048
work = WORK
function = tf.function(work, input_signature=[tf.TensorSpec([None, N], tf.float32)])
values = np.random.default_rng(0).normal(size=[N, N]).astype(np.float32)
x, part = tf.constant(values), tf.constant(values[:1])
tf.matmul(x, x)  # the threads are there
for _ in range(3):
    function(part)
blocks = [tf.zeros(shape) for shape in [[N, N], [N], [N], [N], [N]]]
del blocks  # the allocator has them now

used = 4096 * int(open("/proc/self/statm").read().split()[0])
resource.setrlimit(resource.RLIMIT_AS, (used, resource.RLIM_INFINITY))
taken, size = [], 1 << 24
while size >= 1 << 16:
    try:
        taken.append(bytearray(size))
    except MemoryError:
        size //= 2
try:
    function(x)
    failure = "it ran"
except tf.errors.ResourceExhaustedError as error:
    failure = str(error)
del taken
resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
assert "Out of memory when allocating" in failure and "bytes to compute in" in failure, failure
assert "docs/errors/out-of-memory.md" in failure and "Detected at node" in failure, failure
for found, expected in zip(tf.nest.flatten(function(x)), tf.nest.flatten(work(x))):
    tf.debugging.assert_near(found, expected, rtol=1e-3, atol=1e-3)
"""


@pytest.mark.skipif("san.so" in os.environ.get("LD_PRELOAD", ""), reason="sanitizers end it")
@pytest.mark.parametrize(
    "work",
    [
        "lambda x: tf.reduce_max(tf.sin(x) * x)",
        "lambda x: tf.sin(x) * 2.0",
        "lambda x: tf.reduce_sum(x * x + 1.0, 0)",
        "lambda x: (tf.reduce_sum(x * x + 1.0, 1), tf.reduce_sum(x, 1))",
        "lambda x: tf.nn.softmax(x * 2.0 + 1.0) * 3.0",
    ],
    ids=["all", "elements", "columns", "rows", "softmax"],
)
def test_no_memory_to_compute_in_is_an_error_and_not_the_end_of_the_process(work: str) -> None:
    # "terminate called after throwing an instance of 'std::bad_alloc'", on a thread of the pool.
    command = [sys.executable, "-c", EXHAUSTED.replace("WORK", work)]
    environment = {**os.environ, "MALLOC_ARENA_MAX": "1"}
    done = subprocess.run(command, env=environment, timeout=60.0, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
