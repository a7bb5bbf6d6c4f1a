"""The parts that tests run in to find a fault: how each runs, and which test failed first in it."""

import json
import os
import re
import subprocess
import time
import xml.etree.ElementTree as ElementTree
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from check_includes import HOUSE, rooms_below

from devtool.commands import ROOT
from devtool.mutation.processes import limit_memory, run_within
from devtool.testing import CONFORMANCE, PEERS_FOLDER, TestRun

PRESET = "release"
# What may notice a fault of any file; the programs of C++ tests come before.
PYTHON_PARTS = (
    "tests/extension",
    "tests/functions",
    "tests/ops",
    "tests/python",
    CONFORMANCE,
    "tests/threads",
    PEERS_FOLDER,
)
# To the first failure; a line for each test, begun before it runs, so that a crash is somebody's.
# No word is without a dash: the runner of the conformance suite would take it for a test.
ONE_BY_ONE = ("-x", "-vv", "-pno:cacheprovider")
STARTED = re.compile(r"^(tests/\S+\.py::.*?)(?: (?:PASSED|XFAIL|SKIPPED|FAILED|ERROR)\b.*| *)$")


@dataclass(frozen=True)
class Program:
    """A program of C++ tests, and the folder whose tests it has."""

    name: str
    folder: str

    @property
    def room(self) -> str | None:
        """The room that it tests; None for what crosses rooms."""
        return self.folder.removeprefix("graven/") if self.folder.startswith("graven/") else None


def programs(listing: str) -> list[Program]:
    """The programs in what ctest --show-only=json-v1 prints."""
    return [
        Program(test["name"], label)
        for test in json.loads(listing)["tests"]
        for entry in test["properties"]
        if entry["name"] == "LABELS"
        for label in entry["value"][:1]
    ]


def built_programs() -> list[Program]:
    """The programs of C++ tests that the build has."""
    command = ["ctest", "--preset", PRESET, "--show-only=json-v1"]
    return programs(subprocess.check_output(command, cwd=ROOT, text=True))


def programs_that_could_notice(
    room: str, all_programs: Sequence[Program], seconds: dict[str, float]
) -> tuple[list[Program], list[Program]]:
    """The programs of a room, and those of rooms above it and of what crosses rooms.

    The quick ones come first among each.
    """
    quick_first = sorted(all_programs, key=lambda program: seconds.get(program.name, 0.0))
    own = [program for program in quick_first if program.room == room]
    beside = [
        program
        for program in quick_first
        if program.room is None or (program.room != room and room in rooms_below(program.room))
    ]
    return own, beside if room in HOUSE else quick_first


class LimitedRun(TestRun):
    """Runs parts of the tests into logs, each for a limited time and up to its first failure."""

    def __init__(self, logs: Path, peers: bool) -> None:
        super().__init__(PRESET, peers)
        # A file that changes twice in a second would leave the bytecode of the first change.
        self.env["PYTHONDONTWRITEBYTECODE"] = "1"
        self._logs = logs
        self._limit_s = 0.0
        self._hung = False
        self._log = logs / "none.log"
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        self._before = limit_memory(memory // 2)

    def say(self, message: str) -> None:
        """Keeps quiet: a fault is one line, whatever runs for it."""

    def show(self, command: Sequence[str | Path]) -> int:
        """Runs tests into the log of their part."""
        status = run_within(self._limit_s, command, self._log, env=self.env, before=self._before)
        self._hung = status is None
        return 1 if status is None else status

    def first_failure(self, part: str, limit_s: float) -> str | None:
        """Runs a part; names its first test that failed, crashed or ran too long, if one did."""
        self._limit_s = limit_s
        self._log = self._logs / f"{part.replace('/', '-')}.log"
        failed_before = self.counts.failed
        started = time.monotonic()
        if part == CONFORMANCE:
            report = "conformance"
            self.conformance(ONE_BY_ONE)
        elif part in PYTHON_PARTS:
            end = f"-{Path(part).name}"  # for these run side by side
            report = ("peers" if part == PEERS_FOLDER else "python") + end
            self.python([part], ONE_BY_ONE, end)
        else:
            report = "cpp"
            self.cpp("--tests-regex", f"^{part}$", "--timeout", str(int(limit_s)))
        if self.counts.failed == failed_before:
            return None
        # CTest ends a program itself, after whole seconds.
        hung = self._hung or time.monotonic() - started >= int(limit_s)
        file = self.reports / f"{report}.xml"
        output = self._log.read_text(errors="replace")
        name = None
        if not self._hung and file.exists():
            name = first_of_ctest(file) if report == "cpp" else first_of_pytest(file)
        if name is None and report != "cpp":
            name = last_started(output)
        what = f"{part}: {name}" if name and report == "cpp" else name or part
        return f"{what} (not done after {limit_s:.0f} s)" if hung else what


def first_of_pytest(report: Path) -> str | None:
    """The first test that failed, by a JUnit report of pytest."""
    for test in ElementTree.parse(report).getroot().iter("testcase"):
        if test.find("failure") is not None or test.find("error") is not None:
            folder = (test.get("classname") or "").replace(".", "/")
            return f"{folder}.py::{test.get('name')}" if folder else test.get("name")
    return None


def first_of_ctest(report: Path) -> str | None:
    """The first test case of doctest that failed or crashed, by a JUnit report of CTest."""
    for program in ElementTree.parse(report).getroot().iter("testcase"):
        if program.get("status") != "run":
            return first_of_doctest(program.findtext("system-out") or "")
    return None


def first_of_doctest(output: str) -> str | None:
    """The first test case with an error in the output of a doctest program."""
    case = None
    for line in output.splitlines():
        if found := re.match(r"TEST CASE: +(.+)", line):
            case = found[1].strip()
        elif "ERROR:" in line and case:
            return case
    return None


def last_started(output: str) -> str | None:
    """The test that ran when a pytest that names each test ended without a report."""
    found = None
    for line in output.splitlines():
        started = STARTED.match(line.partition(" Fatal Python error")[0])
        found = started[1] if started else found
    return found
