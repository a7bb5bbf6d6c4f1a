"""Times every op of a system beside eager TensorFlow and reports the ratios."""

import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.compare import Settings, cpus_for
from benchmarks.op_calls import DTYPES, SIZES
from benchmarks.process import CellError, Process
from benchmarks.root import ROOT
from benchmarks.summary import format_ratio, format_seconds, summarize
from benchmarks.systems import System

# An op may take this many times TensorFlow's time; so many in ten may miss it.
LARGEST_RATIO = 2.0
ALLOWED_MISSES = 0.1


@dataclass
class OpMeasurement:
    """One op at one size in one dtype: rounds of both systems, or why there are none."""

    function: str
    elements: int
    dtype: str
    seconds: list[float] = field(default_factory=list)
    tensorflow_seconds: list[float] = field(default_factory=list)
    error: str = ""

    @property
    def ratio(self) -> float:
        return summarize(self.seconds).median / summarize(self.tensorflow_seconds).median

    def row(self) -> list[str]:
        name = f"{self.function} {self.dtype} {self.elements}"
        if self.error:
            return [name, self.error]
        own, other = summarize(self.seconds).median, summarize(self.tensorflow_seconds).median
        figures = [format_seconds(own), format_seconds(other), format_ratio(self.ratio)]
        return [name, *figures, "slower" if self.ratio > LARGEST_RATIO else ""]


class _Worker:
    """An op process that is started again after a crash."""

    def __init__(self, system: System, threads: int, settings: Settings) -> None:
        self._system, self._threads, self._settings = system, threads, settings
        self.process = self._start()

    def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        try:
            return self.process.ask(json.dumps(request))
        except CellError:
            self.process.end()
            self.process = self._start()
            raise

    def _start(self) -> Process:
        process = Process(
            [self._system.python, "-m", "benchmarks.op_worker", str(self._settings.round_seconds)],
            self._system.process_environment(self._threads),
            ROOT,
            self._settings.timeout,
            cpus_for(self._threads),
        )
        try:
            process.read()
        except BaseException:
            process.end()
            raise
        process.suspend()
        return process


def measure_ops(
    subject: _Worker,
    tensorflow: _Worker,
    names: Sequence[str],
    rounds: int,
    note: Callable[[OpMeasurement], None],
) -> list[str]:
    """Times each call that both have, passes it to note, and gives the names that were not timed.

    Raises:
      ValueError: A name that is not among the functions that can be called.
    """
    listed = tensorflow.ask({"list": True})
    known = {name for call_names, _ in listed["calls"] for name in call_names}
    strange = sorted(set(names) - known)
    if strange:
        raise ValueError(f"no call of {', '.join(strange)} is known")
    for call in listed["calls"]:
        if names and not set(names) & set(call[0]):
            continue
        for elements in SIZES:
            for dtype in DTYPES:
                result = OpMeasurement(call[0][0], elements, dtype)
                request = {"call": call, "elements": elements, "dtype": dtype}
                if _measure_op(subject, tensorflow, request, rounds, result):
                    note(result)
    own = subject.ask({"list": True})
    own_names = {name for call_names, _ in own["calls"] for name in call_names}
    own_names |= set(own["unknown"])
    return sorted(name for name in listed["unknown"] if name in own_names)


def _measure_op(
    subject: _Worker,
    tensorflow: _Worker,
    request: dict[str, Any],
    rounds: int,
    result: OpMeasurement,
) -> bool:
    """Fills in the result; False if one of the two does not have the op in this dtype at all."""
    try:
        answer = subject.ask(request)
        # TensorFlow's own refusal is how we learn that it lacks the dtype.
        if "absent" in answer or "refused" in tensorflow.ask(request):
            return False
        if "refused" in answer:
            result.error = answer["refused"]
            return True
        for _ in range(rounds):
            result.seconds.append(subject.ask({"round": True})["seconds"])
            result.tensorflow_seconds.append(tensorflow.ask({"round": True})["seconds"])
    except CellError as error:
        result.error = str(error)
    return True


def summarize_ops(results: Sequence[OpMeasurement]) -> list[str]:
    """The closing lines: how many functions are slower than allowed, and which."""
    timed = {result.function for result in results if not result.error}
    slower: dict[str, float] = {}
    for result in results:
        if not result.error and result.ratio > LARGEST_RATIO:
            slower[result.function] = max(result.ratio, slower.get(result.function, 0.0))
    verdict = "met" if len(slower) <= ALLOWED_MISSES * len(timed) else "missed"
    lines = [
        f"{len(slower)} of {len(timed)} ops take over {format_ratio(LARGEST_RATIO)} TensorFlow's "
        f"time in a dtype or size; one in ten may: {verdict}"
    ]
    worst = sorted(slower.items(), key=lambda item: -item[1])
    return lines + [f"  {name} {format_ratio(ratio)}" for name, ratio in worst]


def run(
    system: System,
    tensorflow: System,
    names: Sequence[str],
    threads: int,
    settings: Settings,
    path: Path | None,
) -> int:
    """Measures, prints a line an op, and gives the exit status: 1 if one failed."""
    workers: list[_Worker] = []
    results: list[OpMeasurement] = []

    def note(result: OpMeasurement) -> None:
        results.append(result)
        name, *cells = result.row()
        print(f"{name:60}" + "  ".join(f"{cell:>8}" for cell in cells), flush=True)

    try:
        for each in (system, tensorflow):
            workers.append(_Worker(each, threads, settings))
        untimed = measure_ops(workers[0], workers[1], names, settings.rounds, note)
    except CellError as error:
        print(f"ops: {error}", file=sys.stderr)
        return 1
    finally:
        for worker in workers:
            worker.process.end()
    print("\n".join(["", *summarize_ops(results)]))
    if untimed and not names:
        print(f"not timed, since their arguments are not known: {', '.join(untimed)}")
    if path is not None:
        path.write_text(json.dumps([asdict(result) for result in results], indent=1) + "\n")
    failed = sum(bool(result.error) for result in results)
    if failed:
        print(f"{failed} calls failed", file=sys.stderr)
    return 1 if failed else 0
