"""The timing loop, the same for every system."""

import gc
import statistics
import timeit
from collections.abc import Callable, Sequence
from typing import Any

BATCHES = 5
WARM_UP_SECONDS = 0.5
WARM_UP_CALLS = 2

Clock = Callable[[], float]


class Loop:
    """Times a statement: warmed up once, then round by round.

    Batches are long enough for the clock and short enough to give a round a median. The collector
    of garbage stays on, as it is in programs.
    """

    def __init__(
        self,
        statement: str,
        names: dict[str, Any],
        round_seconds: float,
        timer: Clock = timeit.default_timer,
        summary: Callable[[Sequence[float]], float] = statistics.median,
    ) -> None:
        self._timer = timeit.Timer(statement, setup=gc.enable, timer=timer, globals=names)
        self._round_seconds = round_seconds
        self._summary = summary
        self._seconds_per_call: float | None = None

    def warm_up(self, at_least: float = WARM_UP_SECONDS) -> None:
        """Calls for so many seconds, so that caches, compilation and the estimate settle."""
        spent, calls, number = 0.0, 0, 1
        while True:
            seconds = self._timer.timeit(number)
            spent, calls = spent + seconds, calls + number
            self._seconds_per_call = max(seconds / number, 1e-9)
            if calls >= WARM_UP_CALLS and spent >= at_least:
                return
            if seconds < at_least / 10:
                number *= 2

    def round(self) -> float:
        """Seconds a call: the summary of the batches of one round, usually their median."""
        if self._seconds_per_call is None:
            raise RuntimeError("a loop must be warmed up before it is timed")
        number, batches = plan(self._seconds_per_call, self._round_seconds)
        means = [self._timer.timeit(number) / number for _ in range(batches)]
        return self._summary(means)

    def once(self) -> float:
        """Seconds of one call, with nothing before it."""
        return self._timer.timeit(1)


def plan(seconds_per_call: float, round_seconds: float) -> tuple[int, int]:
    """How many calls make a batch and how many batches a round, never none."""
    number = max(1, int(round_seconds / BATCHES / seconds_per_call))
    if number > 1:
        return number, BATCHES
    return 1, max(1, min(BATCHES, int(round_seconds / seconds_per_call)))
