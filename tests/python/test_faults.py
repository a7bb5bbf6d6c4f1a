"""Bad input and faults: a clear error each time, and nothing crashes or is lost."""

import gc
import os
import signal
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import graven as tf
import pytest


def test_a_wrong_dtype_names_both() -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"float.*int32|int32.*float"):
        tf.constant([1.0]) + tf.constant([1])


def test_shapes_that_do_not_broadcast_are_named() -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"\[2\] vs. \[3\]"):
        tf.constant([1.0, 2.0]) + tf.constant([1.0, 2.0, 3.0])


def test_inner_dimensions_of_a_product_are_named() -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"\[MatMul\].*\[2,3\].*\[4,5\]"):
        tf.matmul(tf.zeros([2, 3]), tf.zeros([4, 5]))


def test_the_same_mistake_in_a_trace_is_a_value_error() -> None:
    function = tf.function(lambda a, b: tf.matmul(a, b))
    with pytest.raises(ValueError, match=r"\[MatMul\]"):
        function(tf.zeros([2, 3]), tf.zeros([4, 5]))


@pytest.mark.parametrize("axis", [2, -3])
def test_an_axis_out_of_range_names_the_range(axis: int) -> None:
    with pytest.raises((tf.errors.InvalidArgumentError, ValueError), match=r"\[-2, 2\)"):
        tf.reduce_sum(tf.zeros([2, 2]), axis=axis)


def test_a_ragged_list_is_no_tensor() -> None:
    with pytest.raises(ValueError, match="non-rectangular"):
        tf.constant([[1, 2], [3]])


def test_an_element_count_beyond_int64_is_refused() -> None:
    with pytest.raises((tf.errors.InvalidArgumentError, ValueError)):
        tf.zeros([1 << 40, 1 << 40])


def test_more_memory_than_there_is_is_refused() -> None:
    with pytest.raises(tf.errors.ResourceExhaustedError, match="bytes"):
        tf.zeros([1 << 44])


def test_a_memory_limit_is_kept() -> None:
    limit = tf.config.get_memory_limit()
    tf.config.set_memory_limit(1 << 28)
    try:
        with pytest.raises(tf.errors.ResourceExhaustedError, match="limit"):
            tf.zeros([1 << 28])
        assert tf.zeros([1 << 10]).shape == [1024]
    finally:
        tf.config.set_memory_limit(limit)


def test_an_index_out_of_range_names_index_and_range() -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"5 is not in \[0, 2\)"):
        tf.gather(tf.constant([1.0, 2.0]), [5])


def test_an_empty_list_of_tensors_is_refused() -> None:
    with pytest.raises((ValueError, tf.errors.InvalidArgumentError)):
        tf.concat([], 0)


class OwnError(Exception):
    """An error of the user's with an identity to keep."""


# AutoGraph makes exceptions anew, with the user's lines; without it they come back as they are.


def test_the_very_exception_of_the_body_comes_back() -> None:
    error = OwnError("boom")

    @tf.function(autograph=False)
    def function(x: tf.Tensor) -> tf.Tensor:
        raise error

    with pytest.raises(OwnError) as caught:
        function(tf.constant(1.0))
    assert caught.value is error


def test_the_very_exception_comes_back_through_nested_functions() -> None:
    error = OwnError("boom")

    @tf.function(autograph=False)
    def inner(x: tf.Tensor) -> tf.Tensor:
        raise error

    outer = tf.function(lambda x: inner(x) + 1.0, autograph=False)
    with pytest.raises(OwnError) as caught:
        outer(tf.constant(1.0))
    assert caught.value is error and outer.experimental_get_tracing_count() == 0


class Convertible:
    """Its conversion to a tensor raises, in one of the ways that there are."""

    def __init__(self, error: BaseException, name: str) -> None:
        self.error = error
        setattr(type(self), name, self.fail)

    def fail(self, *arguments: Any, **keywords: Any) -> Any:
        raise self.error


def by_tensor_protocol(error: BaseException) -> Any:
    return tf.add(type("Own", (Convertible,), {})(error, "__tf_tensor__"), 1.0)


def by_array_protocol(error: BaseException) -> Any:
    return tf.add(type("Own", (Convertible,), {})(error, "__array__"), 1.0)


def by_initial_value(error: BaseException) -> Any:
    def initial() -> Any:
        raise error

    return tf.Variable(initial)


def by_gradient(error: BaseException) -> Any:
    @tf.custom_gradient
    def f(x: Any) -> Any:
        def gradient(dy: Any) -> Any:
            raise error

        return x * 2.0, gradient

    x = tf.constant(1.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    return tape.gradient(y, x)


def by_structure(error: BaseException) -> Any:
    def raising(x: Any) -> Any:
        raise error

    return tf.nest.map_structure(raising, [tf.constant(1.0)])


def by_iterator(error: BaseException) -> Any:
    def items() -> Iterator[Any]:
        yield tf.constant(1.0)
        raise error

    return tf.stack(list(items()))


@pytest.mark.parametrize(
    "way",
    [
        by_tensor_protocol,
        by_array_protocol,
        by_initial_value,
        by_gradient,
        by_structure,
        by_iterator,
    ],
)
@pytest.mark.parametrize("kind", [OwnError, KeyboardInterrupt, SystemExit, StopIteration])
def test_the_very_exception_of_a_door_to_user_code_comes_back(
    way: Callable[[BaseException], Any], kind: type[BaseException]
) -> None:
    if kind is StopIteration and way is by_iterator:
        kind = LookupError  # a generator turns the other one into a RuntimeError
    error = kind("boom")
    with pytest.raises(kind) as eager:
        way(error)
    assert eager.value is error
    function = tf.function(lambda: way(error), autograph=False)
    for _ in range(2):
        with pytest.raises(kind) as traced:
            function()
        assert traced.value is error
    assert function.experimental_get_tracing_count() == 0
    names = [frame.name for frame in traced.traceback]
    assert way.__name__ in names


def test_each_thread_has_its_own_error() -> None:
    start = threading.Barrier(8)
    found: dict[int, set[str]] = {}

    def work(n: int) -> None:
        start.wait()
        for _ in range(50):
            try:
                tf.gather(tf.zeros([n + 1]), [100 + n])
            except tf.errors.InvalidArgumentError as error:
                found.setdefault(n, set()).add(str(error))

    threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {
        n: {f"[GatherV2] indices[0] = {100 + n} is not in [0, {n + 1})"} for n in range(8)
    }


def test_a_failed_run_leaves_variables_whole() -> None:
    v = tf.Variable([1.0, 2.0])

    @tf.function
    def function(x: tf.Tensor) -> tf.Tensor:
        v.assign_add([1.0, 1.0])
        return tf.gather(v, x)

    with pytest.raises(tf.errors.InvalidArgumentError):
        function(tf.constant([7]))
    assert v.numpy().tolist() == [2.0, 3.0]
    assert function(tf.constant([0])).numpy().tolist() == [3.0]


def test_a_deleted_variable_keeps_its_value_for_the_trace() -> None:
    held = [tf.Variable(1.0)]
    function = tf.function(lambda: held[0] + 1.0)
    assert function().numpy() == 2.0
    held.clear()
    gc.collect()
    assert function().numpy() == 2.0


def test_a_tape_names_the_deleted_variables_of_a_trace() -> None:
    held = [tf.Variable(1.0)]
    function = tf.function(lambda: held[0] + 1.0)
    function()
    held.clear()
    gc.collect()
    with tf.GradientTape(), pytest.raises(AssertionError, match="variables which have been del"):
        function()
    outer = tf.function(lambda: function() + 1.0)
    with pytest.raises(AssertionError, match="variables which have been deleted"):
        outer()


def test_a_function_dies_with_its_last_reference() -> None:
    function = tf.function(lambda x: x + 1.0)
    function(tf.constant(1.0))
    reference = weakref.ref(function)
    del function
    gc.collect()
    assert reference() is None


def test_a_function_in_a_cycle_dies_too() -> None:
    class Model:
        call: Any

    def make() -> weakref.ref[Model]:
        model = Model()
        model.call = tf.function(lambda x: x + float(len(vars(model))))
        model.call(tf.constant(1.0))
        return weakref.ref(model)

    reference = make()
    gc.collect()
    assert reference() is None


def test_threads_that_share_a_function_agree() -> None:
    weights = tf.Variable(2.0)
    function = tf.function(lambda x: tf.reduce_sum(x * weights), reduce_retracing=False)
    results, failures = [], []

    def work(n: int) -> None:
        try:
            for i in range(50):
                size = (n + i) % 7 + 1
                results.append((size, float(function(tf.ones([size])))))
        except Exception as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert all(value == 2.0 * size for size, value in results)
    assert function.experimental_get_tracing_count() == 7


def in_a_child(work: Callable[[], bool]) -> bool:
    """Whether work() is true in a child of a fork; fails if the child hangs."""
    child = os.fork()
    if child == 0:
        ok = False
        try:
            ok = work()
        finally:
            os._exit(0 if ok else 1)
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status) == 0
        time.sleep(0.01)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    pytest.fail("the child hangs")


def test_a_child_of_a_fork_can_go_on() -> None:
    a = tf.ones([300, 300])
    expected = float(tf.reduce_sum(tf.matmul(a, a)))
    assert in_a_child(lambda: float(tf.reduce_sum(tf.matmul(a, a))) == expected)


def test_functions_and_variables_go_on_in_a_child_of_a_fork() -> None:
    a = tf.ones([400, 400])
    v = tf.Variable(a)
    old = tf.function(lambda x: tf.reduce_sum(tf.matmul(x, v)) + tf.reduce_sum(tf.exp(x * v)))
    expected = float(old(a))

    def work() -> bool:
        new = tf.function(lambda x: tf.reduce_max(tf.tanh(x + v)))
        with tf.GradientTape() as tape:
            loss = old(a)
        gradient = tape.gradient(loss, v)
        v.assign_add(a)
        return (
            float(loss) == expected
            and gradient.shape == [400, 400]
            and float(new(a)) == float(tf.reduce_max(tf.tanh(a + 2.0)))
            and old.experimental_get_tracing_count() == 1
        )

    assert in_a_child(work)
    assert float(old(a)) == expected  # what the child wrote is the child's


def test_a_fork_beside_threads_that_compute_does_not_hang() -> None:
    a = tf.ones([300, 300])
    function = tf.function(lambda x: tf.reduce_sum(tf.matmul(x, x)))
    expected = float(function(a))
    stop = threading.Event()

    def work() -> None:
        while not stop.is_set():
            function(a)

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(5):
            assert in_a_child(lambda: float(function(a)) == expected)
    finally:
        stop.set()
        for thread in threads:
            thread.join()


INTERRUPTED = """
import signal
import graven as tf
# It is ignored where a shell runs the tests in the background.
signal.signal(signal.SIGINT, signal.default_int_handler)
v = tf.Variable(tf.zeros([64]))
x = tf.ones([700, 700])

@tf.function
def products(x):
    for _ in range(400):
        x = tf.matmul(x, x) * 0.001
    v.assign(x[0, :64])
    return x

@tf.function
def elements(x):
    x = tf.tile(x, [40, 1])
    for _ in range(200):
        x = tf.sin(x) + tf.exp(-x)
    v.assign(x[0, :64])
    return x

def eagerly(x):
    for _ in range(100000):
        x = tf.sin(x) + 1.0

def gradients(x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = products(x)
    tape.gradient(y, x)

def tracing(x):
    tf.function(lambda x: [x := x + 1.0 for _ in range(20000)][-1])(x)

for function in (products, elements):
    function.get_concrete_function(x)
print("ready", flush=True)
try:
    while True:
        WORK(x)
except KeyboardInterrupt:
    assert v.read_value().shape == [64]
    print("interrupted", float(tf.reduce_sum(tf.ones([3]))), flush=True)
"""


@pytest.mark.parametrize("work", ["products", "elements", "eagerly", "gradients", "tracing"])
def test_an_interrupt_ends_a_long_run(work: str) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED.replace("WORK", work)],
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        time.sleep(1.0)
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=60)
    finally:
        process.kill()
    assert out == "interrupted 3.0\n" and process.returncode == 0


@pytest.mark.parametrize(
    "make",
    [
        lambda: tf.pad(tf.ones([2]), [[1 << 62, 1 << 62]]),
        lambda: tf.tile(tf.ones([2]), tf.constant([1 << 62], tf.int64)),
        lambda: tf.zeros([1 << 62]),
    ],
    ids=["pad", "tile", "zeros"],
)
def test_a_size_beyond_any_memory_is_refused(make: Callable[[], tf.Tensor]) -> None:
    with pytest.raises((tf.errors.OpError, ValueError)):
        make()


def test_a_square_root_that_is_not_used_has_no_gradient_at_zero() -> None:
    x = tf.constant([0.0, 4.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.where(x > 0.0, tf.sqrt(x), 0.0 * x)
    assert tape.gradient(y, x).numpy().tolist() == [0.0, 0.25]


@pytest.mark.parametrize("axes", [[[9], [0]], [[0], [-3]]])
def test_tensordot_names_an_axis_out_of_range(axes: list[list[int]]) -> None:
    with pytest.raises((ValueError, IndexError), match="axes"):
        tf.tensordot(tf.ones([2, 2]), tf.ones([2, 2]), axes)


def test_a_product_of_an_unknown_rank_is_one_of_batches() -> None:
    specs = tf.TensorSpec(None), tf.TensorSpec([2, 2])
    product = tf.function(tf.matmul).get_concrete_function(*specs)
    assert "BatchMatMulV2" in [op.type for op in product.graph.get_operations()]
    assert product(tf.ones([3, 1, 2]), tf.ones([2, 2])).shape == [3, 1, 2]
