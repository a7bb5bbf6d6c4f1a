"""What the rounds of one cell come to: medians, spreads, ratios, and how they are written."""

import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

_SMALL = 1e-2
_UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "us"), (1e-9, "ns"))


@dataclass(frozen=True)
class Summary:
    """Rounds in seconds a call, reduced to their median and their extremes."""

    median: float
    low: float
    high: float

    @property
    def spread(self) -> float:
        """Width of the range of the rounds, as a part of the median."""
        return (self.high - self.low) / self.median


def summarize(seconds: Sequence[float]) -> Summary:
    """Reduces the rounds of a cell.

    Raises:
      ValueError: There is no round, or one took no time, which no clock measures honestly.
    """
    if not seconds:
        raise ValueError("a cell needs at least one round")
    if min(seconds) <= 0.0:
        raise ValueError(f"a round took {min(seconds)} seconds a call; it must be above zero")
    return Summary(statistics.median(seconds), min(seconds), max(seconds))


def best(medians: Iterable[tuple[str, float]]) -> tuple[str, float] | None:
    """The name with the smallest time, or None where nobody has one."""
    return min(medians, key=lambda item: item[1], default=None)


def format_seconds(seconds: float) -> str:
    """Three significant digits with the unit that leaves one to three before the point."""
    # Judged as printed: 0.9996 ms is 1 ms, not 1e+03 us.
    printed = float(f"{seconds:.3g}")
    scale, unit = next((each for each in _UNITS if printed >= each[0]), _UNITS[-1])
    return f"{_three_digits(seconds / scale)} {unit}"


def _three_digits(value: float) -> str:
    """At least three digits without an exponent; two of them after the point at most."""
    rounded = float(f"{value:.3g}")
    return f"{value:.{2 if rounded < 10 else 1 if rounded < 100 else 0}f}"


def format_ratio(ratio: float) -> str:
    """A ratio with as many digits as it takes to compare it with another."""
    return f"{_three_digits(ratio)} x"


def format_bytes(count: int) -> str:
    """Bytes in MiB with their sign."""
    return f"{count / 2**20:+.0f} MiB"


def differs(values: Sequence[float], reference: Sequence[float], tolerance: float) -> bool:
    """Whether two systems disagree about the same numbers.

    The tolerance is relative, but for numbers below _SMALL, which are means that nearly cancel.
    Numbers that are not finite differ from everything: no workload is meant to give one.
    """
    if len(values) != len(reference):
        return True
    return any(
        not abs(value - expected) <= tolerance * max(_SMALL, abs(expected))
        for value, expected in zip(values, reference, strict=True)
    )
