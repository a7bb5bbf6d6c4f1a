"""Puts one fault after another into a copy of the tree, and asks the tests."""

import hashlib
import json
import os
import re
import shutil
import time
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from devtool.build import build, build_folder
from devtool.commands import ROOT, DevError, say
from devtool.mutation import objects
from devtool.mutation.asking import first_to_notice
from devtool.mutation.faults import Fault
from devtool.mutation.parts import (
    PRESET,
    PYTHON_PARTS,
    LimitedRun,
    Program,
    built_programs,
    programs_that_could_notice,
)
from devtool.mutation.processes import run_within
from devtool.mutation.scratch import hash_of_copy
from devtool.testing import PEERS_FOLDER

BUILD_LIMIT_S = 3600.0
# What a program of the build itself leaves; all else is compiled or linked.
IS_COMPILED = re.compile(r"\.o$|^(bin|lib|python)/")


class Outcome(Enum):
    """What came of a fault. The last two are no faults, and others are drawn for them."""

    NOTICED = "noticed"
    MISSED = "not noticed"
    DOES_NOT_BUILD = "does not build"
    CHANGES_NOTHING = "does not change the code"


@dataclass(frozen=True)
class Result:
    """What came of a fault, and the test that noticed it."""

    outcome: Outcome
    by: str | None = None

    def __str__(self) -> str:
        """What is printed of it."""
        return f"{self.outcome.value} by {self.by}" if self.by else self.outcome.value


class Trials:
    """Tries faults in the copy that this runs in, after the tests have passed there without one."""

    def __init__(self, folder: Path, peers: bool) -> None:
        self._folder = folder
        self._logs = folder / "logs"
        self._logs.mkdir(exist_ok=True)
        self._build = build_folder(PRESET)
        self._python_parts = [part for part in PYTHON_PARTS if peers or part != PEERS_FOLDER]
        self._run = LimitedRun(self._logs, peers)
        self._seconds: dict[str, float] = {}
        self._programs: list[Program] = []
        self._objects: dict[Path, str] = {}
        self._digests: dict[str, str] = {}

    def prepare(self) -> None:
        """Builds without a fault and makes sure that the tests are green.

        Green tests are remembered for as long as the tree stays as it is, each with its time.
        """
        build(PRESET)
        self._programs = built_programs()
        self._objects = objects.digests(self._build)
        self._digests = {program.name: self._digest(program) for program in self._programs}
        file, tree = self._folder / "baseline.json", hash_of_copy()
        known = json.loads(file.read_text()) if file.exists() else {}
        if known.get("tree") == tree:
            self._seconds = known["seconds"]
        parts = [*(program.name for program in self._programs), *self._python_parts]
        for part in parts:
            if part in self._seconds:
                continue
            say(f"without a fault: {part}")
            started = time.monotonic()
            failed = self._run.first_failure(part, BUILD_LIMIT_S)
            if failed is not None:
                raise DevError(f"without a fault there fails {failed}; see {self._logs}")
            self._seconds[part] = time.monotonic() - started
            file.write_text(json.dumps({"tree": tree, "seconds": self._seconds}))
        say(f"without a fault all tests pass, in {sum(self._seconds.values()):.0f} s")

    def try_fault(self, fault: Fault) -> Result:
        """Puts a fault in, asks the tests that could notice it, and takes it out again."""
        shutil.rmtree(ROOT / ".hypothesis", ignore_errors=True)  # what other faults made fail
        file = ROOT / fault.file
        text = file.read_text()
        faulty = fault.applied(text)
        if fault.room is None:
            try:
                if objects.same_bytecode(text, faulty):
                    return Result(Outcome.CHANGES_NOTHING)
            except SyntaxError:
                return Result(Outcome.DOES_NOT_BUILD)
        try:
            file.write_text(faulty)
            return self._try_python() if fault.room is None else self._try_cpp(fault.room)
        finally:
            file.write_text(text)

    def _try_python(self) -> Result:
        # A fault of C++ that was tried before is out of its file, but still in what was built.
        ended = self._build_targets(None)
        if ended is not None:
            raise DevError(f"without a fault the build fails; see {self._logs}")
        return self._ask(self._python_parts) or Result(Outcome.MISSED)

    def _try_cpp(self, room: str) -> Result:
        """Builds no more than the next tests need, as most faults are noticed by the first."""
        since = time.time_ns()
        own, beside = programs_that_could_notice(room, self._programs, self._seconds)
        for programs in (own, beside, None):
            if programs is not None and not programs:
                continue
            ended = self._build_targets(programs)
            if ended is not None:
                return ended
            # Tests of their own, compiled with a header of the engine, say nothing of it.
            if not objects.has_changed(self._build, since, self._objects):
                continue
            parts = self._python_parts if programs is None else self._that_differ(programs)
            noticed = self._ask(parts)
            if noticed is not None:
                return noticed
            if programs is None:
                return Result(Outcome.MISSED)
        return Result(Outcome.CHANGES_NOTHING)

    def _ask(self, parts: Sequence[str]) -> Result | None:
        """Runs parts up to the first that notices."""
        quick_first = sorted(parts, key=self._seconds.__getitem__)
        # Two CTests at a time would write the same log.
        processors = os.cpu_count() or 1 if set(parts) <= set(PYTHON_PARTS) else 1
        by = first_to_notice(quick_first, self._first_failure, processors)
        return None if by is None else Result(Outcome.NOTICED, by)

    def _first_failure(self, part: str) -> str | None:
        return self._run.first_failure(part, 60 + 4 * self._seconds[part])

    def _build_targets(self, programs: Sequence[Program] | None) -> Result | None:
        """Builds programs, or everything; gives what came of the fault if that fails."""
        log = self._logs / "build.log"
        named = ["--target", *(program.name for program in programs)] if programs else []
        command = ["cmake", "--build", "--preset", PRESET, *named]
        status = run_within(BUILD_LIMIT_S, command, log)
        if status == 0:
            return None
        if status is None:
            return Result(Outcome.NOTICED, f"the build (not done after {BUILD_LIMIT_S:.0f} s)")
        return result_of_failed_build(log.read_text(errors="replace"))

    def _digest(self, program: Program) -> str:
        return hashlib.sha256((self._build / "bin" / program.name).read_bytes()).hexdigest()

    def _that_differ(self, programs: Sequence[Program]) -> list[str]:
        """The programs that may not be what they are without a fault; others cannot notice it.

        What crosses rooms may link libgraven.so, and then its own file does not tell.
        """
        return [
            program.name
            for program in programs
            if program.room is None or self._digest(program) != self._digests[program.name]
        ]


def result_of_failed_build(log: str) -> Result:
    """What a failed build says of a fault: it does not compile, or the build's programs fail."""
    failed = re.findall(r"^FAILED: (\S+)", log, re.MULTILINE)
    others = [name for name in failed if not IS_COMPILED.search(name)]
    if failed and len(others) == len(failed):
        return Result(Outcome.NOTICED, f"the build, which makes {others[0]}")
    return Result(Outcome.DOES_NOT_BUILD)
