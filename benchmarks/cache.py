"""What a budget costs and keeps: `./dev bench cache`.

Hit rates of 20 types of arguments with room for ten traces, beside what is best possible, and the
time of a cached call with and without a budget.
"""

import random
import time
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from benchmarks.table import format_table

TYPES, ROOM, CALLS = 20, 10, 4000
BATCHES, CALLS_OF_BATCH = 40, 10_000


class Rate(NamedTuple):
    """The hit rate of a sequence of calls.

    Attributes:
      name: The sequence.
      hits: The part of the calls that found their trace.
      best: The part that keeping the ten most frequent types would give.
      target: The least that is wanted.
    """

    name: str
    hits: float
    best: float
    target: float


def in_turn(number: int) -> list[int]:
    """Calls of all types in turn, of which least recently used would keep none in time."""
    return [i % TYPES for i in range(number)]


def zipf(number: int, seed: int) -> list[int]:
    """Calls whose type of rank k is 1/k as frequent as the first; ranks are shuffled."""
    source = random.Random(seed)
    types = list(range(TYPES))
    source.shuffle(types)
    return source.choices(types, [1 / (rank + 1) for rank in range(TYPES)], k=number)


def popular(first: int, number: int, seed: int) -> list[int]:
    """Calls of which nine in ten go to the ten types from `first` on."""
    source = random.Random(seed)
    weights = [9.0 if (kind - first) % TYPES < ROOM else 1.0 for kind in range(TYPES)]
    return source.choices(range(TYPES), weights, k=number)


def best_rate(types: Sequence[int]) -> float:
    """The part of the calls that have one of the ten most frequent types."""
    return sum(count for _, count in Counter(types).most_common(ROOM)) / len(types)


def _calls(function: Any, types: Sequence[int]) -> float:
    before = function.cache_info().hits
    for kind in types:
        function(1.0, kind)
    return float(function.cache_info().hits - before) / len(types)


def _made(**options: int) -> Any:
    import graven as tf

    return tf.function(lambda x, n: x * float(n), **options)


def measure_rates() -> list[Rate]:
    """The hit rates of the three sequences, each with a new Function."""
    turn, drawn = in_turn(CALLS), zipf(CALLS, seed=1)
    rates = [
        Rate("20 types in turn", _calls(_made(max_traces=ROOM), turn), best_rate(turn), 0.45),
        Rate(
            "Zipf's popularity",
            _calls(_made(max_traces=ROOM), drawn),
            best_rate(drawn),
            best_rate(drawn) - 0.05,
        ),
    ]
    exchanged = _made(max_traces=ROOM)
    _calls(exchanged, popular(0, CALLS, seed=2))
    _calls(exchanged, popular(ROOM, 1000, seed=3))
    after = popular(ROOM, 1000, seed=4)
    best = best_rate(after)
    rates.append(
        Rate(
            "1 000 calls after the popular ten changed", _calls(exchanged, after), best, best - 0.05
        )
    )
    return rates


def _nanoseconds(function: Any, x: Any) -> Callable[[], float]:
    def batch() -> float:
        start = time.thread_time()
        for _ in range(CALLS_OF_BATCH):
            function(x)
        return (time.thread_time() - start) / CALLS_OF_BATCH * 1e9

    batch()
    return batch


def measure_hits() -> tuple[float, float]:
    """Nanoseconds of a cached `x + x` without and with a budget, the fastest batch of each.

    Batches are interleaved. The time is that of the thread, and includes the loop.
    """
    import graven as tf

    x = tf.constant(2.0)
    without = _nanoseconds(tf.function(lambda x: x + x), x)
    within = _nanoseconds(tf.function(lambda x: x + x, max_traces=ROOM, max_bytes=1 << 20), x)
    pairs = [(without(), within()) for _ in range(BATCHES)]
    return min(pair[0] for pair in pairs), min(pair[1] for pair in pairs)


def run() -> int:
    """Prints the tables; returns 1 if a rate is below its target or a hit costs 10 ns more."""
    import logging

    logging.getLogger("graven").setLevel(logging.ERROR)  # that traces are made again is the point
    rates = measure_rates()
    print(f"hits of {TYPES} types with max_traces={ROOM}")
    rows = [["calls", "hit rate", "best possible", "wanted", ""]]
    for rate in rates:
        verdict = "met" if rate.hits >= rate.target else "missed"
        numbers = [f"{number:.3f}" for number in (rate.hits, rate.best, rate.target)]
        rows.append([rate.name, *numbers, verdict])
    print(format_table(rows))
    without, within = measure_hits()
    cost_is_met = within - without <= 10
    print("\na cached call of x + x, nanoseconds of the thread")
    verdict = "met" if cost_is_met else "missed"
    print(
        format_table(
            [
                ["without budget", "with a budget", ""],
                [f"{without:.0f}", f"{within:.0f}", verdict],
            ]
        )
    )
    return 0 if cost_is_met and all(rate.hits >= rate.target for rate in rates) else 1
