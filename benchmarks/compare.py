"""Measures one workload on several systems, their rounds interleaved, one process a cell."""

import os
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.catalogue import CACHED_CALL_CPP, IMPORT, Workload
from benchmarks.process import CellError, Process, run_once
from benchmarks.root import ROOT
from benchmarks.summary import Summary, differs, summarize
from benchmarks.systems import System, cached_call_executable


@dataclass(frozen=True)
class Settings:
    """How to measure.

    Attributes:
      rounds: Rounds of every cell; a workload may want fewer.
      round_seconds: About how long a round measures.
      timeout: Seconds after which a cell that gives no answer has failed.
      preset: The build whose C++ program is run.
      pinned: Each process may use as many CPUs as threads; without it only what it is told counts.
    """

    rounds: int
    round_seconds: float
    timeout: float
    preset: str = "release"
    pinned: bool = True


@dataclass
class Measurement:
    """What a cell came to: either an error or a summary.

    `memory` is the largest growth of resident memory in a round; `values` are for comparison.
    """

    column: str
    is_peer: bool
    seconds: list[float] = field(default_factory=list)
    memory: int = 0
    values: list[float] = field(default_factory=list)
    version: str = ""
    error: str = ""

    @property
    def summary(self) -> Summary | None:
        return None if self.error else summarize(self.seconds)


@dataclass(frozen=True)
class Column:
    """A system on a number of threads."""

    system: System
    threads: int
    title: str


def cpus_for(threads: int) -> set[int]:
    """The first so many CPUs of those that this process may use."""
    return set(sorted(os.sched_getaffinity(0))[:threads])


class _Cell:
    """One workload on one column; subclasses know how it is run."""

    def __init__(self, workload: Workload, column: Column, settings: Settings) -> None:
        self.workload, self.column, self.settings = workload, column, settings
        self.result = Measurement(column.title, column.system.is_peer)

    def start(self) -> None:
        """Whatever comes before the first round."""

    def round(self) -> None:
        raise NotImplementedError

    def end(self) -> None:
        """Frees what the cell holds; called once."""

    def note(self, answer: dict[str, object]) -> None:
        """Enters an answer with seconds into the result."""
        seconds, memory = answer["seconds"], answer.get("memory", 0)
        if not isinstance(seconds, float | int) or not isinstance(memory, int):
            raise CellError(f"ValueError: no seconds in the answer {answer}")
        self.result.seconds.append(float(seconds))
        self.result.memory = max(self.result.memory, memory)
        self.result.version = str(answer.get("version", self.result.version))

    @property
    def _environment(self) -> dict[str, str]:
        return self.column.system.process_environment(self.column.threads)

    @property
    def _cpus(self) -> set[int] | None:
        return cpus_for(self.column.threads) if self.settings.pinned else None

    def _process(self) -> Process:
        system = self.column.system
        arguments = (system.workloads, self.workload.name, str(self.settings.round_seconds))
        process = Process(
            [system.python, "-m", "benchmarks.worker", *arguments],
            self._environment,
            ROOT,
            self.settings.timeout,
            self._cpus,
        )
        try:
            self.result.version = process.read()["version"]
        except BaseException:
            process.end()
            raise
        return process

    def _run_once(self, command: Sequence[str | Path], folder: Path) -> dict[str, object]:
        return run_once(command, self._environment, folder, self.settings.timeout, self._cpus)


class _LastingCell(_Cell):
    """One process for all rounds, warmed up first."""

    process: Process | None = None

    def start(self) -> None:
        self.process = self._process()
        self.result.values = self.process.ask("check")["values"]
        self.process.ask("warm_up")

    def round(self) -> None:
        assert self.process is not None
        self.note(self.process.ask("round"))

    def end(self) -> None:
        if self.process is not None:
            self.process.end()


class _FreshCell(_Cell):
    """A process for each round, in which the timed call is the first."""

    def round(self) -> None:
        process = self._process()
        try:
            self.note(process.ask("once"))
            self.result.values = process.ask("check")["values"]
        finally:
            process.end()


class _ImportCell(_Cell):
    def start(self) -> None:
        self._import()  # Not counted: it reads the files from the disk and may write .pyc files.

    def round(self) -> None:
        self.note(self._import())

    def _import(self) -> dict[str, object]:
        system = self.column.system
        # A folder without anything of that name in it.
        with tempfile.TemporaryDirectory() as folder:
            program = ROOT / "benchmarks" / "import_time.py"
            return self._run_once([system.python, "-P", program, system.module], Path(folder))


class _CppCell(_Cell):
    """Runs `build/<preset>/benchmarks/cached_call --threads N`: it prints {"seconds": a call}."""

    def round(self) -> None:
        program = cached_call_executable(self.settings.preset)
        self.note(self._run_once([program, "--threads", str(self.column.threads)], ROOT))


def _make_cell(workload: Workload, column: Column, settings: Settings) -> _Cell:
    if workload.name == IMPORT:
        return _ImportCell(workload, column, settings)
    if workload.name == CACHED_CALL_CPP:
        return _CppCell(workload, column, settings)
    kind = _FreshCell if workload.fresh_process else _LastingCell
    return kind(workload, column, settings)


def compare(workload: Workload, columns: Sequence[Column], settings: Settings) -> list[Measurement]:
    """Measures a workload on the columns for which it has a meaning.

    A cell that fails says so in its measurement and is left out of the rounds that follow. The
    order within a round moves on by one each time, so that nobody always comes after the same.
    """
    cells = [
        _make_cell(workload, column, settings)
        for column in columns
        if column.system.name not in workload.absent
    ]
    try:
        for cell in cells:
            _attempt(cell, cell.start)
        for number in range(min(settings.rounds, workload.max_rounds)):
            shift = number % len(cells) if cells else 0
            for cell in cells[shift:] + cells[:shift]:
                if not cell.result.error:
                    _attempt(cell, cell.round)
    finally:
        for cell in cells:
            cell.end()
    results = [cell.result for cell in cells]
    mark_disagreement(results, workload.tolerance)
    return results


def _attempt(cell: _Cell, step: Callable[[], None]) -> None:
    try:
        step()
    except CellError as error:
        cell.result.error = str(error)
        print(f"{cell.workload.name}, {cell.column.title}: {error}", file=sys.stderr)


def mark_disagreement(results: Sequence[Measurement], tolerance: float) -> None:
    """A cell whose numbers are not those of the others has no figure.

    The reference is the first peer that has numbers, and the first cell where no peer runs.
    """
    sound = sorted((r for r in results if not r.error), key=lambda result: not result.is_peer)
    for result in sound[1:]:
        reference = sound[0]
        if differs(result.values, reference.values, tolerance):
            result.error = (
                f"WrongResult: {_shorten(result.values)}; "
                f"{reference.column} has {_shorten(reference.values)}"
            )


def _shorten(values: Sequence[float]) -> str:
    return (
        "["
        + ", ".join(f"{value:.6g}" for value in values[:4])
        + (", ...]" if len(values) > 4 else "]")
    )
