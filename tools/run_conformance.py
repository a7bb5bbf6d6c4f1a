"""Runs the conformance suite beside the list of what does not work yet.

tests/conformance/not_yet.txt has one line per test, `file.py::test  # what it waits for`, or per
file that cannot be imported yet, `file.py::*  # ...`. The other tests run as usual. A listed test
runs first, in a process of its own that is forked before the engine has worked here, for at most
LIMIT_S seconds, so that a crash or a hang stops nothing; it counts as an expected failure, and if
it passes, the run fails until its line is gone.

The suite runs in two profiles: in TensorFlow's, where Functions freeze globals and generalise
nothing, and with Graven's own defaults (`--profile default`). tests/conformance/not_by_default.txt
names the tests that hold in the first only, because they count traces or expect stale values.

    ./dev python tools/run_conformance.py             one half of ./dev test conformance
    ./dev python tools/run_conformance.py --profile default    the other half
    ./dev python tools/run_conformance.py --update    drops the lines of tests that pass, and puts
                                                      the failing tests of a file that can be
                                                      imported now in the place of its line
"""

import argparse
import faulthandler
import importlib
import json
import os
import select
import signal
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from _pytest.runner import runtestprotocol

SUITE = Path(__file__).resolve().parents[1] / "tests" / "conformance"
LIMIT_S = 20.0


class NotYetList:
    """The lines of such a file, comments and order kept."""

    def __init__(self, text: str, file: str = "not_yet.txt") -> None:
        self.file = file
        self.lines = text.splitlines()
        self.reasons: dict[str, str] = {}
        for line in self.lines:
            name, _, reason = line.partition("  # ")
            if not name.strip() or name.startswith("#"):
                continue
            if not reason.strip() or "::" not in name:
                raise ValueError(f"not `file.py::test  # what it waits for`: {line}")
            if name in self.reasons:
                raise ValueError(f"listed twice: {name}")
            self.reasons[name] = reason

    def without(self, passing: set[str], expanded: dict[str, list[str]]) -> str:
        """The text without the tests that pass, whole files replaced by their failing tests."""
        kept: list[str] = []
        for line in self.lines:
            name = line.partition("  # ")[0]
            if name in expanded:
                kept += [f"{test}  # {self.reasons[name]}" for test in expanded[name]]
            elif name not in passing:
                kept.append(line)
        return "".join(f"{line}\n" for line in kept)


@dataclass(frozen=True)
class Outcome:
    """What came of something that ran in a process of its own."""

    passed: bool
    why: str


def in_own_process(action: Callable[[], Outcome], limit_s: float = LIMIT_S) -> Outcome:
    """Runs an action in a forked process; its death or a hang is an outcome too."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.setsid()
            faulthandler.disable()
            null = os.open(os.devnull, os.O_RDWR)
            for descriptor in (0, 1, 2):
                os.dup2(null, descriptor)
            outcome = action()
            os.write(writer, json.dumps([outcome.passed, outcome.why[:2000]]).encode())
        finally:
            os._exit(0)
    os.close(writer)
    try:
        ready, _, _ = select.select([reader], [], [], limit_s)
        answer = os.read(reader, 65536) if ready else b""
    finally:
        os.close(reader)
        if not _ended(child):
            os.killpg(child, signal.SIGKILL)
            os.waitpid(child, 0)
    if not ready:
        return Outcome(False, f"still running after {limit_s:g} s")
    if not answer:
        return Outcome(False, "its process died")
    passed, why = json.loads(answer)
    return Outcome(passed, why)


def _ended(child: int) -> bool:
    """Whether a child has ended by itself; its status is collected then."""
    return os.waitpid(child, os.WNOHANG)[0] == child


def import_outcome(name: str) -> Outcome:
    """Tries to import a file of the suite."""
    try:
        importlib.import_module(f"{SUITE.name}.{name}")
    except BaseException as error:
        return Outcome(False, repr(error))
    return Outcome(True, "")


def test_outcome(item: pytest.Item) -> Outcome:
    """Runs one test with its fixtures."""
    reports = runtestprotocol(item, log=False, nextitem=None)
    failed = [report for report in reports if not report.passed]
    return Outcome(not failed, failed[0].longreprtext[-2000:] if failed else "")


class WholeFile(pytest.Item):
    """Stands for a listed file; passes when the file can be imported."""

    def runtest(self) -> None:
        """Imports the file."""
        outcome = import_outcome(self.path.stem)
        if not outcome.passed:
            raise ImportError(outcome.why)


class FileNotYet(pytest.File):
    """A file that is listed as a whole: one item, whatever it holds."""

    def collect(self) -> Iterator[pytest.Item]:
        """The one item."""
        yield WholeFile.from_parent(self, name="*")


class NotYetPlugin:
    """Gives pytest the lists.

    Args:
      listed: The list whose entries must fail.
      update: Whether its entries that pass go.
      others: A list of the other profile: what happens to its entries here counts for nothing.
    """

    def __init__(self, listed: NotYetList, update: bool, others: NotYetList | None = None) -> None:
        self.listed = listed
        self.update = update
        self.others = others
        self.passing: set[str] = set()
        self.expanded: dict[str, list[str]] = {}

    @staticmethod
    def name_of(node: pytest.Item) -> str:
        """The name of a test in the list: its id from the file's name on."""
        return node.path.name + node.nodeid[node.nodeid.index("::") :]

    def reason(self, item: pytest.Item) -> str | None:
        """What a test waits for, or None if it is not listed."""
        whole = f"{item.path.name}::*"
        name = whole if whole in self.expanded else self.name_of(item)
        reason = self.listed.reasons.get(name)
        return self.reason_elsewhere(item) if reason is None else reason

    def reason_elsewhere(self, item: pytest.Item) -> str | None:
        """What a test waits for by the other list."""
        return self.others.reasons.get(self.name_of(item)) if self.others else None

    def pytest_pycollect_makemodule(
        self, module_path: Path, parent: pytest.Collector
    ) -> pytest.Collector | None:
        """Collects a file that is listed as a whole as one item."""
        whole = f"{module_path.name}::*"
        if self.others and whole in self.others.reasons:
            return FileNotYet.from_parent(parent, path=module_path)
        if whole not in self.listed.reasons:
            return None
        if self.update and in_own_process(lambda: import_outcome(module_path.stem)).passed:
            self.expanded[whole] = []
            return None
        return FileNotYet.from_parent(parent, path=module_path)

    def pytest_collection_modifyitems(
        self, session: pytest.Session, items: list[pytest.Item]
    ) -> None:
        """Puts listed tests first; refuses a list that names tests that do not exist."""
        items.sort(key=lambda item: self.reason(item) is None)
        files = {item.path.name for item in items}
        unknown = [
            name
            for name in self.listed.reasons.keys() - {self.name_of(item) for item in items}
            if name.partition("::")[0] in files
            and name not in self.expanded
            and not any("::" in argument for argument in session.config.args)
        ]
        if unknown:
            names = ", ".join(sorted(unknown))
            raise pytest.UsageError(f"{self.listed.file} names no test: {names}")

    def pytest_runtest_protocol(
        self, item: pytest.Item, nextitem: pytest.Item | None
    ) -> bool | None:
        """Runs a listed test in its own process and reports the reverse of what came of it."""
        reason = self.reason(item)
        if reason is None:
            return None
        outcome = in_own_process(lambda: test_outcome(item))
        name = self.name_of(item)
        if outcome.passed:
            self.passing.add(name)
        elif f"{item.path.name}::*" in self.expanded:
            self.expanded[f"{item.path.name}::*"].append(name)
        stale = outcome.passed and not self.update and self.reason_elsewhere(item) is None
        report = pytest.TestReport(
            item.nodeid,
            item.location,
            keywords={},
            outcome="failed" if stale else "passed" if outcome.passed else "skipped",
            longrepr=f"{name} is listed in {self.listed.file} and passes: remove its line, by hand "
            "or with ./dev python tools/run_conformance.py --update"
            if stale
            else None,
            when="call",
        )
        if not outcome.passed:
            report.wasxfail = f"waits for {reason}: {outcome.why}"
        item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
        item.ihook.pytest_runtest_logreport(report=report)
        item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
        return True


def main(arguments: list[str]) -> int:
    """Runs the suite, or the tests that are named; other arguments go to pytest."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--update", action="store_true", help="remove lines of tests that pass")
    parser.add_argument("--profile", choices=("tensorflow", "default"), default="tensorflow")
    options, rest = parser.parse_known_args(arguments)
    os.environ["CONFORMANCE_PROFILE"] = options.profile
    listed, others = NotYetList((SUITE / "not_yet.txt").read_text()), None
    if options.profile == "default":
        others = listed
        name = "not_by_default.txt"
        listed = NotYetList((SUITE / name).read_text(), name)
    file = SUITE / listed.file
    plugin = NotYetPlugin(listed, options.update, others)
    named = [word for word in rest if not word.startswith("-")]
    where = [] if named else [str(SUITE)]
    sys.path.insert(0, str(SUITE.parent))
    # The watchdog of faulthandler is a thread, and what is forked beside it waits for it for ever.
    always = ["-p", "no:cacheprovider", "-o", "faulthandler_timeout=0", "--import-mode=prepend"]
    status = pytest.main([*always, *rest, *where], [plugin])
    if options.update:
        file.write_text(listed.without(plugin.passing, plugin.expanded))
    return int(status)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
