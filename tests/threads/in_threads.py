"""Runs work in many threads at once."""

import threading
from collections.abc import Callable
from typing import Any

THREADS = 16


def in_threads(work: Callable[[int], Any], threads: int = THREADS) -> list[Any]:
    """Runs work(0), work(1), ... at once, started together; returns what they return."""
    results: list[Any] = [None] * threads
    errors: list[BaseException] = []
    start = threading.Barrier(threads)

    def run(i: int) -> None:
        try:
            start.wait()
            results[i] = work(i)
        except BaseException as error:
            errors.append(error)

    running = [threading.Thread(target=run, args=[i]) for i in range(threads)]
    for thread in running:
        thread.start()
    for thread in running:
        thread.join()
    if errors:
        raise errors[0]
    return results
