"""The timing loop, driven by a clock that only moves when the statement runs."""

import itertools

import pytest

from benchmarks.timing import BATCHES, WARM_UP_SECONDS, Loop, plan


class _Clock:
    """Time passes when the statement calls `work`."""

    def __init__(self, seconds_per_call: float) -> None:
        self.now = 0.0
        self.calls = 0
        self.seconds_per_call = seconds_per_call

    def __call__(self) -> float:
        return self.now

    def work(self) -> None:
        self.calls += 1
        self.now += self.seconds_per_call


def _loop(clock: _Clock, round_seconds: float = 0.3) -> Loop:
    return Loop("work()", {"work": clock.work}, round_seconds, clock)


@pytest.mark.parametrize("seconds", [1e-3, 0.05, 0.2, 5.0])
def test_a_round_gives_the_seconds_of_one_call(seconds: float) -> None:
    clock = _Clock(seconds)
    loop = _loop(clock)
    loop.warm_up()
    assert loop.round() == pytest.approx(seconds)


def test_a_round_takes_about_the_time_that_is_asked_for() -> None:
    clock = _Clock(1e-3)
    loop = _loop(clock)
    loop.warm_up()
    before = clock.now
    loop.round()
    assert clock.now - before == pytest.approx(0.3, rel=0.05)


def test_warming_up_lasts_until_the_time_is_spent() -> None:
    clock = _Clock(1e-3)
    _loop(clock).warm_up()
    assert WARM_UP_SECONDS <= clock.now < 2 * WARM_UP_SECONDS


def test_a_slow_call_is_warmed_up_twice() -> None:
    clock = _Clock(30.0)
    _loop(clock).warm_up()
    assert clock.calls == 2


def test_a_first_call_is_timed_without_any_before_it() -> None:
    clock = _Clock(2.0)
    assert _loop(clock).once() == 2.0
    assert clock.calls == 1


def test_a_round_before_the_warm_up_is_an_error() -> None:
    with pytest.raises(RuntimeError, match="warmed up"):
        _loop(_Clock(1.0)).round()


@pytest.mark.parametrize(
    ("seconds_per_call", "expected"),
    [(1e-6, (60000, BATCHES)), (0.05, (1, BATCHES)), (0.1, (1, 3)), (7.0, (1, 1))],
)
def test_a_round_is_cut_into_batches_that_fit_it(
    seconds_per_call: float, expected: tuple[int, int]
) -> None:
    number, batches = plan(seconds_per_call, 0.3 + 1e-9)
    assert (number, batches) == expected


def test_a_round_may_be_judged_by_its_fastest_batch() -> None:
    clock = _Clock(0.0)
    seconds = itertools.cycle([0.2, 0.4, 0.3])

    def work() -> None:
        clock.now += next(seconds)

    loop = Loop("work()", {"work": work}, 3.0, clock, summary=min)
    loop.warm_up()
    assert loop.round() == pytest.approx(0.2)
