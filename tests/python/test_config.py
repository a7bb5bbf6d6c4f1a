"""Settings of the process: tf.config."""

import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from typing import Any

import graven as tf
import numpy as np
import pytest


@pytest.fixture(autouse=True)
def restored_threads() -> Iterator[None]:
    yield
    tf.config.set_num_threads(0)


def output_of(program: str) -> str:
    """What a program prints in a process of its own, in which there have been no tensors."""
    command = [sys.executable, "-c", textwrap.dedent(program)]
    done = subprocess.run(command, timeout=60.0, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_numbers_of_threads_are_0_by_default_and_what_was_set_afterwards() -> None:
    program = """
        import graven as tf
        threading = tf.config.threading
        def both():
            intra = threading.get_intra_op_parallelism_threads()
            return intra, threading.get_inter_op_parallelism_threads()
        print(both(), end=" ")
        threading.set_intra_op_parallelism_threads(2)
        threading.set_inter_op_parallelism_threads(3)
        print(both(), end=" ")
        assert float(tf.reduce_sum(tf.ones([1 << 18]))) == 1 << 18
        threading.set_intra_op_parallelism_threads(2)  # as it is
        threading.set_inter_op_parallelism_threads(3)
        print(both())
    """
    assert output_of(program) == "(0, 0) (2, 3) (2, 3)"


def test_numbers_of_threads_are_fixed_by_the_first_tensor() -> None:
    tf.constant(1)
    with pytest.raises(RuntimeError, match="number is 0 and cannot become 5 now"):
        tf.config.threading.set_intra_op_parallelism_threads(5)
    with pytest.raises(RuntimeError, match="number is 0 and cannot become 5 now"):
        tf.config.threading.set_inter_op_parallelism_threads(5)
    assert tf.config.threading.get_intra_op_parallelism_threads() == 0
    assert tf.config.threading.get_inter_op_parallelism_threads() == 0


def test_the_number_of_threads_of_our_own_may_change_at_any_time() -> None:
    tf.constant(1)
    assert tf.config.get_num_threads() == 0
    tf.config.set_num_threads(2)
    assert tf.config.get_num_threads() == 2
    assert tf.config.threading.get_intra_op_parallelism_threads() == 2


def test_a_negative_number_of_threads_is_refused() -> None:
    with pytest.raises(ValueError, match="0 or more, but got -1"):
        tf.config.threading.set_intra_op_parallelism_threads(-1)
    with pytest.raises(ValueError, match="0 or more, but got -2"):
        tf.config.threading.set_inter_op_parallelism_threads(-2)
    with pytest.raises(ValueError, match="0 or more, but got -3"):
        tf.config.set_num_threads(-3)


def test_results_do_not_depend_on_the_number_of_threads() -> None:
    x = tf.constant(np.linspace(-3, 3, 1 << 18, dtype=np.float32))
    results = []
    for threads in (1, 2, 5):
        tf.config.set_num_threads(threads)
        results.append(tf.reduce_sum(tf.tanh(x) * x).numpy().tobytes())
    assert results[0] == results[1] == results[2]


def test_memory_beyond_the_limit_is_a_resource_exhausted_error() -> None:
    before = tf.config.get_memory_limit()
    tf.config.set_memory_limit(tf.config.experimental.get_memory_info("CPU:0")["current"] + 10**6)
    try:
        with pytest.raises(tf.errors.ResourceExhaustedError):
            tf.zeros([10**7])
    finally:
        tf.config.set_memory_limit(before)
    assert tf.zeros([10**7]).shape == [10**7]


def test_memory_in_use_grows_with_a_tensor_and_falls_without() -> None:
    start = tf.config.experimental.get_memory_info("CPU:0")["current"]
    held = tf.zeros([10**6])
    grown = tf.config.experimental.get_memory_info("CPU:0")["current"]
    assert grown >= start + 4 * 10**6
    del held
    assert tf.config.experimental.get_memory_info("CPU:0")["current"] < grown


def test_there_is_one_device_of_each_list() -> None:
    assert [d.device_type for d in tf.config.list_physical_devices()] == ["CPU"]
    assert [d.name for d in tf.config.list_logical_devices("CPU")] == ["/device:CPU:0"]
    assert tf.config.list_physical_devices("GPU") == []


def test_the_one_device_may_be_configured_before_the_first_tensor_and_not_afterwards() -> None:
    program = """
        import graven as tf
        config, one = tf.config, tf.config.LogicalDeviceConfiguration()
        cpu = config.list_physical_devices("CPU")[0]
        config.set_logical_device_configuration(cpu, [one, one])
        config.set_logical_device_configuration(cpu, [one])
        assert config.get_logical_device_configuration(cpu) == [one]
        config.set_visible_devices([], "GPU")
        tf.ones([2])
        config.set_logical_device_configuration(cpu, [one])  # as it is
        config.set_visible_devices(cpu)
        for change in (
            lambda: config.set_logical_device_configuration(cpu, [one, one]),
            lambda: config.set_visible_devices([], "CPU"),
        ):
            try:
                change()
            except RuntimeError as error:
                print("cannot be modified" in str(error))
        assert config.get_visible_devices() == [cpu] and config.get_visible_devices("GPU") == []
    """
    assert output_of(program) == "True\nTrue"


# The same in both systems: tests/peers/test_devices_beside_tensorflow.py.
LOGICAL_DEVICES = """
    one = tf.config.LogicalDeviceConfiguration()
    tf.config.set_logical_device_configuration(tf.config.list_physical_devices("CPU")[0], [one] * 3)
"""


def with_three_cpus(program: str) -> str:
    return output_of(
        "import graven as tf\n" + textwrap.dedent(LOGICAL_DEVICES) + textwrap.dedent(program)
    )


def test_logical_cpus_cannot_be_changed_once_they_were_listed() -> None:
    program = """
        cpu = tf.config.list_physical_devices("CPU")[0]
        print([d.name for d in tf.config.list_logical_devices()])
        tf.config.set_logical_device_configuration(cpu, [one] * 3)
        try:
            tf.config.set_logical_device_configuration(cpu, [one] * 2)
        except RuntimeError as error:
            print(error)
    """
    listed, refused = with_three_cpus(program).splitlines()
    assert listed == "['/device:CPU:0', '/device:CPU:1', '/device:CPU:2']"
    assert refused.startswith("Virtual devices cannot be modified after being initialized")


def test_tensors_of_logical_cpus_are_in_the_memory_of_the_process() -> None:
    program = """
        import numpy as np
        with tf.device("/CPU:1"):
            x = tf.constant([1.0, 2.0])
        print(x.device[-5:], np.from_dlpack(x).tolist())
    """
    assert with_three_cpus(program) == "CPU:1 [1.0, 2.0]"


def test_programs_run_on_logical_cpus_as_on_one() -> None:
    program = """
        import numpy as np
        def step(x, w):
            with tf.GradientTape() as tape:
                with tf.device("/CPU:1"):
                    y = tf.nn.relu(tf.matmul(x, w))
                with tf.device("/CPU:2"):
                    loss = tf.reduce_sum(y * y) + tf.reduce_mean(tf.sort(y))
            return loss, tape.gradient(loss, w)

        def body(i, x):
            with tf.device("/CPU:2"):
                return i + 1, tf.concat([x[:1] + 1.0, x[1:]], 0)

        def loop(x):
            with tf.device("/CPU:1"):
                return tf.while_loop(lambda i, x: i < 3, body, [0, x])[1]

        x = tf.reshape(tf.range(6.0), [2, 3])
        w = tf.Variable(tf.ones([3, 2]))
        for f in (step, tf.function(step)):
            loss, dw = f(x, w)
            print(loss.numpy(), dw.numpy().tolist())
        print(tf.function(loop)(tf.constant([1.0, 2.0])).numpy().tolist())
        with tf.device("/CPU:1"):
            w.assign_add(tf.ones([3, 2]))
            s = tf.strings.join(["a", tf.constant("b")])
        print(w.numpy().tolist(), s.numpy(), np.asarray(tf.identity(w)).tolist())
        print(memoryview(loss.cpu()).tolist() == loss.numpy())
    """
    first, second, third, fourth, fifth = with_three_cpus(program).splitlines()
    # y is [[3, 3], [12, 12]].
    assert first == second == "313.5 [[72.75, 72.75], [103.25, 103.25], [133.75, 133.75]]"
    assert third == "[4.0, 2.0]"
    twos = "[[2.0, 2.0], [2.0, 2.0], [2.0, 2.0]]"
    assert fourth == f"{twos} b'ab' {twos}"
    assert fifth == "True"


def test_devices_that_are_not_there_cannot_be_configured() -> None:
    cpu = tf.config.list_physical_devices("CPU")[0]
    other = tf.config.PhysicalDevice("/physical_device:GPU:0", "GPU")
    calls: tuple[Callable[[], Any], ...] = (
        lambda: tf.config.set_visible_devices([cpu, other]),
        lambda: tf.config.set_logical_device_configuration(other, []),
        lambda: tf.config.get_logical_device_configuration(other),
    )
    for call in calls:
        with pytest.raises(ValueError, match=r"Unrecognized device: PhysicalDevice.*GPU:0"):
            call()
    with pytest.raises(ValueError, match=r"Unrecognized device: .*CPU:0.* is no GPU"):
        tf.config.set_visible_devices([cpu], "GPU")
    limited = tf.config.LogicalDeviceConfiguration(memory_limit=100)
    with pytest.raises(ValueError, match="CPU's logical device has no memory_limit, but got 100"):
        tf.config.set_logical_device_configuration(cpu, [limited])


@pytest.mark.parametrize(
    ("text", "full"),
    [
        ("/cpu:0", "/device:CPU:0"),
        ("/job:worker/replica:1/task:2/device:GPU:3", "/job:worker/replica:1/task:2/device:GPU:3"),
        ("/gpu:*", "/device:GPU:*"),
        ("", ""),
    ],
)
def test_a_device_spec_is_a_name_taken_apart(text: str, full: str) -> None:
    spec = tf.DeviceSpec.from_string(text)
    assert spec.to_string() == full
    assert tf.DeviceSpec.from_string(full) == spec


def test_an_unknown_device_is_refused_without_soft_placement() -> None:
    with tf.device("/cpu:7"):
        assert (tf.constant(1) + 1).numpy() == 2
    tf.config.set_soft_device_placement(False)
    try:
        with pytest.raises(tf.errors.InvalidArgumentError, match="CPU:7"):
            with tf.device("/cpu:7"):
                pass
        with tf.device(tf.DeviceSpec(device_type="CPU", device_index=0)):
            assert (tf.constant(1) + 1).numpy() == 2
    finally:
        tf.config.set_soft_device_placement(True)


@pytest.fixture
def restored_options() -> Iterator[None]:
    yield
    options = tf.config.optimizer.get_experimental_options()
    on_again = {name: not name.startswith("disable_") for name in options}
    tf.config.optimizer.set_experimental_options(on_again)


@pytest.mark.usefixtures("restored_options")
@pytest.mark.parametrize(
    "option",
    [
        {"constant_folding": False},
        {"arithmetic_optimization": False, "shape_optimization": False},
        {"function_optimization": False, "dependency_optimization": False},
        {"loop_optimization": False},
        {"disable_meta_optimizer": True},
    ],
    ids=str,
)
def test_functions_compute_the_same_without_passes(option: dict[str, bool]) -> None:
    def make() -> Any:
        v = tf.Variable(2.0)
        inner = tf.function(lambda x: x * 2.0 + tf.cast(tf.size(x), tf.float32))

        @tf.function
        def f(x: Any) -> Any:
            v.assign_add(1.0)
            two = tf.constant(1.0) + 1.0
            for _ in tf.range(3):
                if two > 0.0:
                    two *= tf.exp(0.0 * v)
            return inner(x) * two + inner(x) + v + 0.0 * tf.zeros_like(x)

        return [f(tf.constant(x)).numpy().tolist() for x in ([1.0, -2.0], [3.0], [[4.0]])]

    expected = make()
    tf.config.optimizer.set_experimental_options(option)
    assert tf.config.optimizer.get_experimental_options().items() >= option.items()
    assert make() == expected


def test_options_that_nobody_set_are_those_of_tensorflow() -> None:
    off = {"disable_model_pruning": False, "disable_meta_optimizer": False}
    assert tf.config.optimizer.get_experimental_options().items() >= off.items()


def test_options_of_the_graph_optimizer_that_cannot_be_honoured_are_refused() -> None:
    optimizer = tf.config.optimizer
    with pytest.raises(ValueError, match="no option 'colour'"):
        optimizer.set_experimental_options({"colour": True})
    for option in ("auto_mixed_precision", "debug_stripper", "disable_model_pruning"):
        with pytest.raises(NotImplementedError, match=option):
            optimizer.set_experimental_options({option: True})
        optimizer.set_experimental_options({option: False})
    with pytest.raises(NotImplementedError, match="set_jit"):
        optimizer.set_jit(True)
    optimizer.set_jit(False)
    assert optimizer.get_jit() == ""
