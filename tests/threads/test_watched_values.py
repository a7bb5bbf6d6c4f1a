"""Values that traces watch change while 16 threads call."""

from typing import Any

import graven as tf
import pytest
from graven import _engine
from threads.in_threads import in_threads

CALLS = 100
rate: Any = 2.0
rates: Any = [2.0]


class Box:
    rate = 2.0


box = Box()


@pytest.mark.parametrize("tags", [True, False], ids=["tags", "identities"])
def test_calls_see_one_of_the_values_and_the_last_one_in_the_end(tags: bool) -> None:
    global rate, rates
    rate, box.rate, rates = 2.0, 2.0, [2.0]
    before = _engine.has_version_tags()
    _engine.use_version_tags(tags)

    @tf.function(stale="retrace")
    def f(x: Any) -> Any:
        return x * rate * box.rate * rates[0]

    def work(i: int) -> set[float]:
        global rate, rates
        seen = set()
        for n in range(CALLS):
            if i == 0:
                rate = 3.0 if n % 2 else 2.0
            elif i == 1:
                box.rate = 3.0 if n % 2 else 2.0
            elif i == 2:
                rates = [3.0 if n % 2 else 2.0]
            elif i == 3 and n % 25 == 0:
                f.clear_cache()
            seen.add(float(f(tf.constant(1.0))))
        return seen

    try:
        for seen in in_threads(work):
            assert seen <= {8.0, 12.0, 18.0, 27.0}
        rate, box.rate, rates[0] = 5.0, 7.0, 11.0
        assert f(tf.constant(1.0)) == 385.0
    finally:
        _engine.use_version_tags(before)


def test_errors_are_raised_on_the_threads_that_call() -> None:
    global rate
    rate = 2.0

    @tf.function(stale="error")
    def f(x: Any) -> Any:
        return x * rate

    f(tf.constant(1.0))
    rate = 3.0

    def work(i: int) -> str:
        with pytest.raises(RuntimeError) as raised:
            f(tf.constant(1.0))
        return str(raised.value)

    assert all("changed from 2.0 to 3.0" in text for text in in_threads(work))
