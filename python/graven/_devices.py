"""The logical devices: which there are, and what a request for one leads to."""

from __future__ import annotations

from graven import _engine
from graven._device_spec import parse_device

_HERE = {"job": "localhost", "replica": "0", "task": "0"}


class _Cpus:
    """How many logical CPUs there are to be, and whether they have been made."""

    count = 1
    are_made = False


def set_count(count: int) -> None:
    """Sets the number of logical CPUs; they must not have been made."""
    _Cpus.count = count


def are_made() -> bool:
    """Tells whether the logical CPUs have been made, after which there are no more."""
    return _Cpus.are_made


def names() -> list[str]:
    """The names of the logical CPUs, "CPU:0" first; makes them."""
    if not _Cpus.are_made:
        _engine.make_logical_cpus(_Cpus.count)
        _Cpus.are_made = True
    return [f"CPU:{i}" for i in range(_Cpus.count)]


def full_name(device: str) -> str:
    """The name of "CPU:1" with job, replica and task."""
    return f"/job:localhost/replica:0/task:0/device:{device}"


def check_request(text: str, is_eager: bool) -> None:
    """Refuses a request that TensorFlow refuses.

    Args:
      text: The merged request.
      is_eager: Ops are computed at once. In a graph TensorFlow refuses it when the graph runs;
        Graven ignores it then.

    Raises:
      InvalidArgumentError: The request is for another process, or soft placement is off and the
        device is not there.
    """
    from graven.errors import InvalidArgumentError

    there = names()
    asked = parse_device(text)
    if is_eager and any(asked.get(part, here) != here for part, here in _HERE.items()):
        place = "/".join(f"{part}:{asked.get(part, here)}" for part, here in _HERE.items())
        device = asked.get("device", "CPU:0")
        raise InvalidArgumentError(None, None, f"/{place}/device:{device} unknown device.")
    if _engine.soft_device_placement():
        return
    device = asked.get("device", "CPU:0")
    if device not in there and device != "CPU:*":
        raise InvalidArgumentError(
            None,
            None,
            f"Could not satisfy device specification '{full_name(device)}'. "
            "enable_soft_placement=0. Supported device types [CPU]. All available devices "
            f"[{', '.join(full_name(name) for name in there)}].",
        )
