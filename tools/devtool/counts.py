"""Counting what tests did, over programs and frameworks."""

import re
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass, field
from pathlib import Path

DOCTEST_SUMMARY = re.compile(
    r"test cases:\s*\d+ \|\s*(\d+) passed \|\s*(\d+) failed \|\s*(\d+) skipped"
)


@dataclass
class Counts:
    """How many tests passed, failed, were skipped, and what is known not to work yet."""

    passed: int = 0
    failed: int = 0
    skipped: int = 0
    not_yet: int = 0
    names_of_skipped: list[str] = field(default_factory=list)

    def __add__(self, other: "Counts") -> "Counts":
        """The counts of two runs together."""
        return Counts(
            self.passed + other.passed,
            self.failed + other.failed,
            self.skipped + other.skipped,
            self.not_yet + other.not_yet,
            self.names_of_skipped + other.names_of_skipped,
        )

    def __str__(self) -> str:
        """The line that closes a run."""
        return f"{self.passed} passed, {self.failed} failed, {self.skipped} skipped"


def read_ctest(report: Path) -> Counts:
    """Counts the test cases of doctest programs in a JUnit report of CTest.

    A program that died before its summary, or that ended with an error its summary does not
    show (a sanitizer's finding at exit), is one failure.
    """
    total = Counts()
    for program in ElementTree.parse(report).getroot().iter("testcase"):
        output = program.findtext("system-out") or ""
        summary = DOCTEST_SUMMARY.search(output)
        passed, failed, skipped = map(int, summary.groups()) if summary else (0, 0, 0)
        counts = Counts(passed, failed, skipped)
        if program.get("status") != "run" and counts.failed == 0:
            counts.failed = 1
        total += counts
    return total


def read_pytest(report: Path) -> Counts:
    """Counts the tests in a JUnit report of pytest.

    An xfail is a test that does not pass yet. A test that fails and whose teardown fails too is
    one test.
    """
    counts = Counts()
    seen_failed: set[tuple[str | None, str | None]] = set()
    for test in ElementTree.parse(report).getroot().iter("testcase"):
        skipped = test.find("skipped")
        name = (test.get("classname"), test.get("name"))
        if test.find("failure") is not None or test.find("error") is not None:
            seen_failed.add(name)
        elif skipped is None:
            counts.passed += 1
        elif skipped.get("type") == "pytest.xfail":
            counts.not_yet += 1
        else:
            counts.skipped += 1
            counts.names_of_skipped.append(f"{name[0]}.{name[1]}: {skipped.get('message')}")
    counts.failed = len(seen_failed)
    return counts
