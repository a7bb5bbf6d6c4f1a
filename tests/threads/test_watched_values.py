"""Values that traces watch change while 16 threads call."""

import subprocess
import sys
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


# Python's collector runs whenever something is made, and finalizers within it let other threads go
# on, or call the Function themselves, while a call looks at what its trace watches.
COLLECTED = """
import gc
import logging
import threading
import time

import graven as tf

logging.disable(logging.CRITICAL)
CALLS = {calls}


class Box:
    pass


box = Box()
box.names = {{1.0, 2.0}}
box.note = 0
one = tf.constant(1.0)
depth = threading.local()


class Garbage:
    def __init__(self):
        self.me = self

    def __del__(self):
        {finalizer}


def from_within():
    if getattr(depth, "number", 0):
        return
    depth.number = 1
    box.note += 1  # makes an equal graph
    f(one)
    depth.number = 0


@tf.function
def f(x):
    total = 0.0
    for each in box.names:
        total += each
    if box.note < 0:
        return -x
    return x * total


def work():
    for i in range(CALLS):
        box.names = {{1.0, 2.0}}
        if i % 50 == 0:
            box.note += 1
        Garbage()
        assert f(one) == 3.0


f(one)
gc.set_threshold(1)
threads = [threading.Thread(target=work) for _ in range({threads})]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
print("done")
"""


@pytest.mark.parametrize(
    ("finalizer", "threads", "calls"),
    [("time.sleep(0)", 4, 3000), ("from_within()", 1, 300)],
    ids=["other threads", "the same thread"],
)
def test_what_is_watched_may_change_while_a_call_looks_at_it(
    finalizer: str, threads: int, calls: int
) -> None:
    code = COLLECTED.format(finalizer=finalizer, threads=threads, calls=calls)
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout) == (0, "done\n"), ran.stderr[-2000:]
