"""Processes that measure: each way in which one can fail has its text."""

import io
import json
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from benchmarks.process import CellError, Process, run_once
from benchmarks.worker import Answer, describe, serve

_ECHO = """
import sys
for line in sys.stdin:
    print('{"said": "%s"}' % line.strip(), flush=True)
"""
_COUNTER = """
import json, sys, threading, time
count = 0
def work():
    global count
    while True:
        count += 1
        time.sleep(0.001)
threading.Thread(target=work, daemon=True).start()
for line in sys.stdin:
    print(json.dumps({"count": count}), flush=True)
"""


@contextmanager
def _process(program: str, timeout: float = 30.0) -> Iterator[Process]:
    process = Process([sys.executable, "-c", program], os.environ, Path.cwd(), timeout)
    try:
        yield process
    finally:
        process.end()


def test_a_process_answers_line_by_line() -> None:
    with _process(_ECHO) as process:
        assert process.ask("one") == {"said": "one"}
        assert process.ask("two") == {"said": "two"}


def test_a_process_stands_still_between_its_answers() -> None:
    with _process(_COUNTER) as process:
        process.ask("start")
        before = process.ask("now")["count"]
        time.sleep(0.5)
        # Awake it would have counted some hundreds further.
        assert process.ask("now")["count"] - before < 100


def test_an_error_in_an_answer_is_the_error_of_the_cell() -> None:
    program = """print('{"error": "KeyError: x"}', flush=True); input()"""
    with _process(program) as process, pytest.raises(CellError, match=r"^KeyError: x$"):
        process.read()


def test_a_process_that_ends_tells_its_status_and_its_last_words() -> None:
    program = "import sys; print('first', file=sys.stderr); sys.exit('the last words')"
    with (
        _process(program) as process,
        pytest.raises(CellError, match=r"^ended with exit status 1: the last words$"),
    ):
        process.ask("x")


def test_a_process_that_crashes_tells_the_signal() -> None:
    program = "import os, signal; os.kill(os.getpid(), signal.SIGABRT)"
    with (
        _process(program) as process,
        pytest.raises(CellError, match=r"^ended with signal SIGABRT"),
    ):
        process.ask("x")


def test_a_process_that_says_nothing_runs_out_of_time() -> None:
    program = "import time; time.sleep(60)"
    with _process(program, timeout=0.2) as process, pytest.raises(CellError, match="TimeoutError"):
        process.ask("x")


def test_a_program_that_is_not_there_is_named() -> None:
    with pytest.raises(CellError, match=r"FileNotFoundError: .*no-such-program"):
        run_once(["/no-such-program"], os.environ, Path.cwd(), 1.0)


def test_a_process_is_held_to_its_cpus() -> None:
    cpu = min(os.sched_getaffinity(0))
    program = "import json, os; print(json.dumps({'cpus': sorted(os.sched_getaffinity(0))}))"
    command = [sys.executable, "-c", program]
    assert run_once(command, os.environ, Path.cwd(), 30.0, {cpu}) == {"cpus": [cpu]}


def _answers(requests: str, start: Answer | BaseException) -> list[Answer]:
    def make() -> Answer:
        if isinstance(start, BaseException):
            raise start
        return start

    def handle(request: str) -> Answer:
        return {"value": 10 // int(request)}

    out = io.StringIO()
    serve(io.StringIO(requests), out, make, handle)
    return [json.loads(line) for line in out.getvalue().splitlines()]


def test_a_worker_answers_each_request() -> None:
    assert _answers("5\n2\n", {"version": "1"}) == [{"version": "1"}, {"value": 2}, {"value": 5}]


def test_a_worker_that_cannot_start_answers_with_the_error_only() -> None:
    assert _answers("5\n", ImportError("no module\nhint")) == [{"error": "ImportError: no module"}]


def test_a_worker_stops_at_its_first_error() -> None:
    assert _answers("5\n0\n2\n", {})[1:] == [
        {"value": 2},
        {"error": "ZeroDivisionError: integer division or modulo by zero"},
    ]


def test_an_error_without_words_is_its_class() -> None:
    assert describe(KeyboardInterrupt()) == "KeyboardInterrupt"
