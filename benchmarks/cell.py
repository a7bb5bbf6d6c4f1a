"""What a workload hands to the timing loop."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any


def nothing() -> None:
    pass


@dataclass(frozen=True)
class Cell:
    """One workload on one system, ready to be timed.

    Attributes:
      statement: What is timed, as source text over `names`. It is text so that a call of 250 ns is
        not measured through a Python function of 60 ns around it.
      names: The names that the statement reads.
      check: Gives a few numbers that the workload computes; all systems must agree on them. It is
        called once, before anything is timed.
      reset: Called before each round, outside the timing: it puts trained parameters back, so that
        no round runs on numbers that have decayed to denormals or exploded.
    """

    statement: str
    names: dict[str, Any]
    check: Callable[[], Sequence[float]]
    reset: Callable[[], None] = field(default=nothing)
