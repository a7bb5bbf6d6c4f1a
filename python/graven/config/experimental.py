"""The memory that tensors take, and determinism (tf.config.experimental)."""

from graven import _device_spec, _devices, _engine, _public


def _check_device(device: str) -> None:
    there = _devices.names()
    if _device_spec.parse_device(device).get("device", "CPU:0") not in (*there, "CPU:*"):
        raise ValueError(f"There is no device {device}: there is {', '.join(there)}.")


def enable_op_determinism() -> None:
    """Makes errors of numbers that no program foresees, for the rest of the process.

    Ops give the same bits in each run anyway, for any number of threads (docs/numerics.md). From
    now on random ops need a seed of their own or `tf.random.set_seed`, or raise a RuntimeError, as
    does `tf.random.Generator.from_non_deterministic_state`.

    Source: tf.config.experimental.enable_op_determinism.
    """
    _engine.require_seeds()


def get_memory_info(device: str) -> dict[str, int]:
    """Returns the bytes in live tensors: "current", and "peak", the most there were.

    Args:
      device: "CPU:0".

    Raises:
      ValueError: There is no such device.

    Source: tf.config.experimental.get_memory_info, which has it for GPUs and TPUs only.
    """
    _check_device(device)
    return {"current": _engine.memory_in_use(), "peak": _engine.peak_memory_in_use()}


def reset_memory_stats(device: str) -> None:
    """Lets "peak" of get_memory_info begin anew.

    Args:
      device: "CPU:0".

    Raises:
      ValueError: There is no such device.

    Source: tf.config.experimental.reset_memory_stats.
    """
    _check_device(device)
    _engine.reset_peak_memory()


_public.complete(__name__)
