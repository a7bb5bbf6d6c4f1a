"""tf.DeviceSpec: the name of a device, taken apart."""

from __future__ import annotations

import re

_DEVICE_PART = re.compile(
    r"(?:job:(?P<job>[^/]+))|(?:replica:(?P<replica>\d+))|(?:task:(?P<task>\d+))"
    r"|(?:device:(?P<kind>[A-Za-z_]+)(?::(?P<number>\d+|\*))?)"
    r"|(?P<short>cpu|gpu|tpu|CPU|GPU|TPU)(?::(?P<short_number>\d+|\*))?"
)
_ORDER = ("job", "replica", "task", "device")


def parse_device(text: str) -> dict[str, str]:
    """Takes a device's name apart: job, replica, task and device, as far as it says them.

    Raises:
      ValueError: It is no name of a device.
    """
    parts: dict[str, str] = {}
    for piece in text.strip("/").split("/") if text else []:
        match = _DEVICE_PART.fullmatch(piece)
        if match is None:
            raise ValueError(
                f"Unknown attribute {piece!r} is encountered while parsing the "
                f"device spec: {text!r}."
            )
        for key in ("job", "replica", "task"):
            if match[key]:
                parts[key] = match[key]
        kind, number = match["kind"] or match["short"], match["number"] or match["short_number"]
        if kind:
            parts["device"] = f"{kind.upper()}:{number or '*'}"
    return parts


def device_text(parts: dict[str, str]) -> str:
    """The full form of a device's name."""
    return "".join(f"/{key}:{parts[key]}" for key in _ORDER if key in parts)


class DeviceSpec:
    """The name of a device, or as much of it as matters.

    Args:
      job: The name of a job.
      replica: The number of a replica.
      task: The number of a task.
      device_type: Such as "CPU".
      device_index: The number of the device.

    Source: tf.DeviceSpec.
    """

    def __init__(
        self,
        job: str | None = None,
        replica: int | None = None,
        task: int | None = None,
        device_type: str | None = None,
        device_index: int | None = None,
    ) -> None:
        self.job = job
        self.replica = replica
        self.task = task
        self.device_type = None if device_type is None else device_type.upper()
        self.device_index = device_index

    @classmethod
    def from_string(cls, spec: str) -> DeviceSpec:
        """Takes a name apart.

        Args:
          spec: Such as "/job:worker/device:CPU:0".

        Returns:
          A DeviceSpec of what the name says.

        Raises:
          ValueError: It is no name of a device.
        """
        parts = parse_device(spec)
        kind, _, number = parts.get("device", "").partition(":")
        return cls(
            job=parts.get("job"),
            replica=int(parts["replica"]) if "replica" in parts else None,
            task=int(parts["task"]) if "task" in parts else None,
            device_type=kind or None,
            device_index=int(number) if number.isdigit() else None,
        )

    def to_string(self) -> str:
        """Returns the name."""
        parts = {
            key: str(value)
            for key, value in (("job", self.job), ("replica", self.replica), ("task", self.task))
            if value is not None
        }
        if self.device_type is not None:
            number = "*" if self.device_index is None else self.device_index
            parts["device"] = f"{self.device_type}:{number}"
        return device_text(parts)

    def __str__(self) -> str:
        return self.to_string()

    def __repr__(self) -> str:
        return f"DeviceSpec.from_string({self.to_string()!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DeviceSpec) and self.to_string() == other.to_string()

    def __hash__(self) -> int:
        return hash(self.to_string())
