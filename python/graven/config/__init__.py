"""Settings of the process (tf.config)."""

from collections.abc import Sequence as _Sequence
from typing import NamedTuple as _NamedTuple

from graven import _devices, _engine, _public
from graven.config import experimental as experimental
from graven.config import optimizer as optimizer
from graven.config import threading as threading


def run_functions_eagerly(run_eagerly: bool) -> None:
    """Lets every Function run its Python code at each call, without traces.

    Args:
      run_eagerly: Any truthy value switches it on.

    Source: tf.config.run_functions_eagerly.
    """
    _engine.set_run_functions_eagerly(bool(run_eagerly))


def functions_run_eagerly() -> bool:
    """Tells what run_functions_eagerly was given last.

    Source: tf.config.functions_run_eagerly.
    """
    return bool(_engine.functions_run_eagerly())


# --- Devices


class PhysicalDevice(_NamedTuple):
    """A device of the machine.

    Source: tf.config.PhysicalDevice.
    """

    name: str
    device_type: str


class LogicalDevice(_NamedTuple):
    """A device that ops run on.

    Source: tf.config.LogicalDevice.
    """

    name: str
    device_type: str


class LogicalDeviceConfiguration(_NamedTuple):
    """What a logical device is to be like.

    Attributes:
      memory_limit: In megabytes; of a GPU's device only.
      experimental_priority: Of a GPU's device only.
      experimental_device_ordinal: Of a GPU's device only.

    Source: tf.config.LogicalDeviceConfiguration.
    """

    memory_limit: int | None = None
    experimental_priority: int | None = None
    experimental_device_ordinal: int | None = None


_CPU = PhysicalDevice("/physical_device:CPU:0", "CPU")
_logical_configuration: list[LogicalDeviceConfiguration] | None = None


def _of_type(device_type: str | None) -> list[PhysicalDevice]:
    return [_CPU] if device_type in (None, "CPU") else []


def _check_device(device: PhysicalDevice) -> None:
    if device != _CPU:
        raise ValueError(f"Unrecognized device: {device!r}. There is {_CPU!r}.")


def list_physical_devices(device_type: str | None = None) -> list[PhysicalDevice]:
    """Returns the devices of the machine that Graven can use.

    Args:
      device_type: Such as "CPU"; None means all.

    Source: tf.config.list_physical_devices.
    """
    return _of_type(device_type)


def list_logical_devices(device_type: str | None = None) -> list[LogicalDevice]:
    """Returns the devices that ops run on.

    Args:
      device_type: Such as "CPU"; None means all.

    Source: tf.config.list_logical_devices.
    """
    devices = [LogicalDevice(f"/device:{name}", "CPU") for name in _devices.names()]
    return [d for d in devices if device_type in (None, d.device_type)]


def get_visible_devices(device_type: str | None = None) -> list[PhysicalDevice]:
    """Returns the devices of the machine that are used: all of them.

    Args:
      device_type: Such as "CPU"; None means all.

    Source: tf.config.get_visible_devices.
    """
    return _of_type(device_type)


def set_visible_devices(
    devices: PhysicalDevice | _Sequence[PhysicalDevice], device_type: str | None = None
) -> None:
    """Says which devices of the machine are used, which may leave out what is not there anyhow.

    Args:
      devices: The CPU, alone or in a sequence; or none, with a device_type such as "GPU".
      device_type: The type of device that this is about; None means all.

    Raises:
      ValueError: There is no such device, or it is of another type.
      RuntimeError: The CPU is not among them, and there have been tensors.
      NotImplementedError: The CPU is not among them: ops could run nowhere.

    Source: tf.config.set_visible_devices.
    """
    given = [devices] if isinstance(devices, PhysicalDevice) else list(devices)
    for device in given:
        _check_device(device)
        if device_type not in (None, device.device_type):
            raise ValueError(f"Unrecognized device: {device!r} is no {device_type}.")
    if device_type in (None, "CPU") and not given:
        if _engine.has_made_tensors():
            raise RuntimeError("Visible devices cannot be modified after being initialized")
        raise NotImplementedError("Graven cannot do without the CPU: there is no other device yet")


def get_logical_device_configuration(
    device: PhysicalDevice,
) -> list[LogicalDeviceConfiguration] | None:
    """Returns what set_logical_device_configuration was given last; None by default.

    Args:
      device: A device of the machine.

    Raises:
      ValueError: There is no such device.

    Source: tf.config.get_logical_device_configuration.
    """
    _check_device(device)
    return None if _logical_configuration is None else list(_logical_configuration)


def set_logical_device_configuration(
    device: PhysicalDevice, logical_devices: _Sequence[LogicalDeviceConfiguration]
) -> None:
    """Says which logical devices one of the machine is cut into; must come before the first tensor.

    The logical CPUs share memory and threads: an op runs as fast on one of them as on another.

    Args:
      device: A device of the machine: the CPU.
      logical_devices: A LogicalDeviceConfiguration for each; without any there is one.

    Raises:
      ValueError: There is no such device, or a CPU's has a limit, a priority or an ordinal.
      RuntimeError: They differ from what is set, and there have been tensors, or the logical
        devices were asked for.

    Source: tf.config.set_logical_device_configuration.
    """
    global _logical_configuration
    _check_device(device)
    wanted = list(logical_devices)
    for configuration in wanted:
        for name, value in configuration._asdict().items():
            if value is not None:
                raise ValueError(f"A CPU's logical device has no {name}, but got {value!r}.")
    if wanted == _logical_configuration:
        return
    if _engine.has_made_tensors() or _devices.are_made():
        raise RuntimeError(
            "Virtual devices cannot be modified after being initialized: "
            "this must come before the first tensor of the program."
        )
    _logical_configuration = wanted
    _devices.set_count(max(len(wanted), 1))


def get_soft_device_placement() -> bool:
    """Tells whether ops that ask for a device that is not there run on another one.

    Source: tf.config.get_soft_device_placement.
    """
    return bool(_engine.soft_device_placement())


def set_soft_device_placement(enabled: bool) -> None:
    """Says whether ops that ask for a device that is not there run on another one.

    Args:
      enabled: With False such an op is an InvalidArgumentError.

    Source: tf.config.set_soft_device_placement.
    """
    _engine.set_soft_device_placement(bool(enabled))


# --- Threads


def set_num_threads(num_threads: int) -> None:
    """Sets the number of threads that compute; may be called at any time.

    Args:
      num_threads: 0 means one for each CPU that the process may use. Results do not depend on it.

    Raises:
      ValueError: The number is negative.

    Source: Graven's own; tf.config.threading has TensorFlow's, for the start of a program.
    """
    if num_threads < 0:
        raise ValueError(f"a number of threads is 0 or more, but got {num_threads}")
    _engine.set_num_threads(num_threads)


def get_num_threads() -> int:
    """Returns the number of threads that was set; 0 by default.

    Source: Graven's own.
    """
    return _engine.num_threads()


# --- Memory


def set_memory_limit(num_bytes: int) -> None:
    """Limits the memory of tensors; what would exceed it is a ResourceExhaustedError.

    Args:
      num_bytes: The limit. At the start it is the container's, or the machine's memory.

    Raises:
      ValueError: num_bytes is not positive.

    Source: Graven's own.
    """
    if num_bytes <= 0:
        raise ValueError(f"A memory limit must be positive, not {num_bytes}.")
    _engine.set_memory_limit(int(num_bytes))


def get_memory_limit() -> int:
    """Returns the limit of the memory of tensors in bytes.

    Source: Graven's own.
    """
    return int(_engine.memory_limit())


# --- Traces


class FunctionCacheInfo(_NamedTuple):
    """One Function in a TraceCacheInfo.

    Attributes:
      name: The name of the Python function, a method's with its class: "Model.step".
      entries: Live traces.
      traces: Traces ever made.
      bytes: Memory of the entries. What Functions share counts in the first of them.
      captured_bytes: The part of `bytes` that are captured tensors, which the limit does not count.
      hits: Calls that found their trace.
      misses: Calls that had to trace.
      evictions: Entries that went.

    Source: Graven's own.
    """

    name: str
    entries: int
    traces: int
    bytes: int
    captured_bytes: int
    hits: int
    misses: int
    evictions: int


class TraceCacheInfo(_NamedTuple):
    """What the traces of all Functions of the process hold; str() makes a table of it.

    Attributes:
      limit: What set_trace_cache_bytes set, in bytes.
      bytes: Memory of all traces.
      captured_bytes: The part of `bytes` that are captured tensors, which the limit does not count.
      functions: One FunctionCacheInfo for each live Function, in the order of their making.
      beside: Memory of the process that belongs to no trace, in bytes by name: kernels of eager
        calls, caches of libraries, what Functions remember of traces that went.
      text: The table.

    Source: Graven's own.
    """

    limit: int
    bytes: int
    captured_bytes: int
    functions: tuple[FunctionCacheInfo, ...]
    beside: dict[str, int]
    text: str

    def __str__(self) -> str:
        return self.text


def set_trace_cache_bytes(num_bytes: int) -> None:
    """Limits the memory of the traces of all Functions together.

    Beyond it the traces go that are worth least: calls lately, times milliseconds to trace them,
    per byte. Takes effect when the next trace is made. Traces that are in use, held by the program
    or called by a live graph stay.

    Args:
      num_bytes: The limit. Until it is set it is a quarter of get_memory_limit().

    Raises:
      TypeError: num_bytes is no int.
      ValueError: num_bytes is not positive.

    Source: Graven's own.
    """
    if isinstance(num_bytes, bool) or not isinstance(num_bytes, int):
        raise TypeError(f"num_bytes must be a positive int, not {num_bytes!r}.")
    if not 0 < num_bytes < 1 << 63:
        raise ValueError(f"num_bytes must be positive and below 2**63, not {num_bytes}.")
    _engine.set_trace_cache_bytes(num_bytes)


def get_trace_cache_bytes() -> int:
    """Returns the limit of the memory of all traces in bytes.

    Source: Graven's own.
    """
    return int(_engine.trace_cache_bytes())


def trace_cache_info() -> TraceCacheInfo:
    """Returns what the traces of all Functions hold, counted anew; print() shows it as a table.

    Source: Graven's own.
    """
    (limit, num_bytes, captured_bytes), functions, beside, text = _engine.trace_cache_info()
    rows = tuple(FunctionCacheInfo(*row) for row in functions)
    return TraceCacheInfo(limit, num_bytes, captured_bytes, rows, dict(beside), text)


_public.complete(__name__)
