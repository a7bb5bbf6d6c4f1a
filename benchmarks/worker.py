"""The process that measures one cell: `python -m benchmarks.worker MODULE WORKLOAD SECONDS`.

MODULE is one of benchmarks.workloads, SECONDS how long a round lasts.
It takes one word a line on standard input and answers each with one JSON object a line, on the
standard output that it was started with; whatever libraries print goes to standard error.

    (start) -> {"system": name, "version": text, "threads": number}
    check   -> {"values": [numbers]}
    warm_up -> {}
    round   -> {"seconds": a call, "memory": bytes by which resident memory grew}
    once    -> the same, for one call without anything before it

An error is answered with {"error": its class and first line}, and ends the process.
"""

import functools
import importlib
import json
import os
import sys
from collections.abc import Callable
from typing import Any, TextIO

Answer = dict[str, Any]


def describe(error: BaseException) -> str:
    """The class of an error and the first line of what it says."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__


def resident_bytes() -> int:
    with open("/proc/self/statm") as statm:
        return int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def serve(
    requests: TextIO, answers: TextIO, start: Callable[[], Answer], handle: Callable[[str], Answer]
) -> None:
    """Answers each line of requests until they end or one fails.

    This is the top of the process: every error, KeyboardInterrupt included, becomes an answer.
    """

    def answer(make: Callable[[], Answer]) -> bool:
        try:
            content = make()
        except BaseException as error:
            content = {"error": describe(error)}
        answers.write(json.dumps(content) + "\n")
        answers.flush()
        return "error" not in content

    if not answer(start):
        return
    for line in requests:
        if not answer(functools.partial(handle, line.strip())):
            return


def take_standard_output() -> TextIO:
    """The standard output of this process; from now on what is printed goes to standard error."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    return answers


class _CellServer:
    def __init__(self, module: str, workload: str, round_seconds: float) -> None:
        self._module, self._workload, self._round_seconds = module, workload, round_seconds

    def start(self) -> Answer:
        from benchmarks.timing import Loop

        wanted = int(os.environ["BENCHMARK_THREADS"])
        workloads: Any = importlib.import_module(f"benchmarks.workloads.{self._module}")
        workloads.configure(wanted)
        self._cell = getattr(workloads, self._workload)()
        self._loop = Loop(self._cell.statement, self._cell.names, self._round_seconds)
        threads = workloads.threads()
        if threads != wanted:
            raise RuntimeError(f"it runs on {threads} threads; it must on {wanted}")
        return {"version": workloads.version(), "threads": threads}

    def handle(self, request: str) -> Answer:
        match request:
            case "check":
                return {"values": [float(value) for value in self._cell.check()]}
            case "warm_up":
                self._cell.reset()
                self._loop.warm_up()
                return {}
            case "round":
                return self._timed(self._loop.round)
            case "once":
                return self._timed(self._loop.once)
            case _:
                raise ValueError(f"no request {request!r}")

    def _timed(self, measure: Callable[[], float]) -> Answer:
        self._cell.reset()
        before = resident_bytes()
        seconds = measure()
        return {"seconds": seconds, "memory": resident_bytes() - before}


def main() -> None:
    module, workload, round_seconds = sys.argv[1:]
    server = _CellServer(module, workload, float(round_seconds))
    serve(sys.stdin, take_standard_output(), server.start, server.handle)


if __name__ == "__main__":
    main()
