"""Times every op of a system beside eager TensorFlow and reports the ratios."""

import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.compare import Settings, cpus_for
from benchmarks.op_calls import DTYPES, OTHER_DTYPES, SIZES, OpCall
from benchmarks.op_results import difference
from benchmarks.process import CellError, Process
from benchmarks.root import ROOT
from benchmarks.summary import format_ratio, format_seconds, summarize
from benchmarks.systems import System

# An op may take this many times TensorFlow's time; so many in ten may miss it.
LARGEST_RATIO = 2.0
ALLOWED_MISSES = 0.1


@dataclass
class OpMeasurement:
    """One call at one size in one dtype: rounds of both systems, or why there are none."""

    title: str
    function: str
    elements: int
    dtype: str
    seconds: list[float] = field(default_factory=list)
    tensorflow_seconds: list[float] = field(default_factory=list)
    error: str = ""

    @property
    def ratio(self) -> float:
        """Of the fastest rounds: the other programs of a machine can only slow a round down."""
        return summarize(self.seconds).low / summarize(self.tensorflow_seconds).low

    @property
    def is_slow(self) -> bool:
        return not self.error and self.ratio > LARGEST_RATIO

    @property
    def is_op(self) -> bool:
        return self.function.startswith("raw_ops.")

    def row(self) -> list[str]:
        name = f"{self.title} {self.dtype} {self.elements}"
        if self.error:
            return [name, self.error]
        own, other = summarize(self.seconds).low, summarize(self.tensorflow_seconds).low
        figures = [format_seconds(own), format_seconds(other), format_ratio(self.ratio)]
        return [name, *figures, "slower" if self.is_slow else ""]


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


Note = Callable[[OpMeasurement, float], None]


def measure_ops(
    subject: _Worker, tensorflow: _Worker, names: Sequence[str], rounds: int, note: Note
) -> dict[str, str]:
    """Times each call that both have, and gives the ops and functions without one, and why.

    Each measurement is passed to note, with the part of the calls that is done.

    Raises:
      ValueError: A name that is not among those that can be called.
    """
    listed = subject.ask({"list": True})
    calls = [OpCall(**content) for content in listed["calls"]]
    untimed: dict[str, str] = dict(listed["untimed"])
    strange = sorted(set(names) - {name for call in calls for name in call.names})
    if strange:
        raise ValueError(f"no call of {', '.join(strange)} is known")
    if names:
        calls = [call for call in calls if set(names) & set(call.names)]
    for number, call in enumerate(calls, 1):
        refusals: list[str] = []
        timed = False
        for dtypes in (call.dtypes or DTYPES, () if call.dtypes else OTHER_DTYPES):
            for dtype in dtypes:
                for elements in SIZES:
                    result = OpMeasurement(call.title, call.function, elements, dtype)
                    refusal = _measure_op(subject, tensorflow, call, rounds, result)
                    if refusal:
                        refusals.append(refusal)
                        break
                    timed = True
                    note(result, number / len(calls))
                if timed and dtype in OTHER_DTYPES:
                    break
            if timed:
                break
        if not timed:
            untimed[call.title] = refusals[0]
    return untimed


def _measure_op(
    subject: _Worker, tensorflow: _Worker, call: OpCall, rounds: int, result: OpMeasurement
) -> str:
    """Fills in the result, or says that TensorFlow lacks the op in this dtype, in its words."""
    request = {"call": call.content(), "elements": result.elements, "dtype": result.dtype}
    try:
        theirs = tensorflow.ask(request)
        if "absent" in theirs:
            return "not in TensorFlow"
        if "refused" in theirs:
            return str(theirs["refused"])
        own = subject.ask(request)
        result.error = own.get("refused", "") or difference(own["results"], theirs["results"])
        for _ in range(0 if result.error else rounds):
            result.seconds.append(subject.ask({"round": True})["seconds"])
            result.tensorflow_seconds.append(tensorflow.ask({"round": True})["seconds"])
    except CellError as error:
        result.error = str(error)
    return ""


def is_met(results: Sequence[OpMeasurement]) -> bool:
    """Whether no more ops are slow than may be."""
    ops = [result for result in results if result.is_op]
    slow = {result.function for result in ops if result.is_slow}
    return len(slow) <= ALLOWED_MISSES * len({result.function for result in ops})


def summarize_ops(results: Sequence[OpMeasurement]) -> list[str]:
    """The closing lines: how many ops and functions are slower than allowed, and where."""
    ops = [result for result in results if result.is_op]
    others = [result for result in results if not result.is_op]
    lines = _summary("ops", ops)
    lines[0] += f"; one in ten may: {'met' if is_met(results) else 'missed'}"
    return lines + (_summary("functions made of ops", others) if others else [])


def _summary(what: str, results: Sequence[OpMeasurement]) -> list[str]:
    timed = {result.function for result in results if not result.error}
    slow: dict[str, list[OpMeasurement]] = {}
    for result in results:
        if result.is_slow:
            slow.setdefault(result.function, []).append(result)
    lines = [
        f"{len(timed)} {what} timed; {len(slow)} take over {format_ratio(LARGEST_RATIO)} "
        "TensorFlow's time in a dtype or size"
    ]
    for group in sorted(slow.values(), key=lambda each: -max(result.ratio for result in each)):
        cases = (f"{each.dtype} {each.elements} {format_ratio(each.ratio)}" for each in group)
        lines.append(f"  {group[0].function.removeprefix('raw_ops.')}: {', '.join(cases)}")
    return lines


def run(
    system: System,
    tensorflow: System,
    names: Sequence[str],
    threads: int,
    settings: Settings,
    path: Path | None,
) -> int:
    """Measures, prints a line a call, and gives the exit status.

    It is 1 if a call failed or gave other results than TensorFlow's, or if too many ops are slow.
    """
    workers: list[_Worker] = []
    results: list[OpMeasurement] = []

    def note(result: OpMeasurement, done: float) -> None:
        results.append(result)
        name, *cells = result.row()
        print(f"{done:4.0%} {name:54}" + "  ".join(f"{cell:>8}" for cell in cells), flush=True)

    print(
        f"done: how much of the run is; each time the fastest of {settings.rounds} interleaved "
        f"rounds\n\n{'done':>4} {'op, dtype, elements':54}"
        + "  ".join(f"{title:>8}" for title in (system.name, "TF", "ratio"))
    )
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
    if not names:
        print("not timed")
        print("\n".join(f"  {name}: {why}" for name, why in sorted(untimed.items())))
    if path is not None:
        path.write_text(json.dumps([asdict(result) for result in results], indent=1) + "\n")
    failed = sum(bool(result.error) for result in results)
    if failed:
        print(f"{failed} calls failed", file=sys.stderr)
    return 0 if is_met(results) and not failed else 1
