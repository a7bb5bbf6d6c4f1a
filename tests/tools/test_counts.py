"""The closing line of ./dev test counts what really ran."""

import subprocess
import sys
from pathlib import Path

from devtool.counts import Counts, read_ctest, read_pytest

CTEST = """<testsuite>
  <testcase name="graven_base_test" status="run"><system-out>
[doctest] test cases: 12 | 11 passed | 0 failed | 1 skipped
[doctest] assertions: 40 | 40 passed | 0 failed |</system-out></testcase>
  <testcase name="graven_ir_test" status="fail"><failure/><system-out>
[doctest] test cases:  3 |  1 passed |  2 failed | 0 skipped</system-out></testcase>
  <testcase name="graven_ops_test" status="fail"><failure/><system-out>
Segmentation fault</system-out></testcase>
  <testcase name="graven_api_test" status="fail"><failure/><system-out>
[doctest] test cases:  5 |  5 passed |  0 failed | 0 skipped
ERROR: LeakSanitizer: detected memory leaks</system-out></testcase>
</testsuite>"""

PYTEST = """
import pytest
def test_passes(): pass
def test_fails(): assert False
@pytest.fixture
def broken():
    yield
    raise ValueError
def test_teardown_fails(broken): pass
def test_fails_twice(broken): assert False
@pytest.mark.skip(reason="no")
def test_is_skipped(): pass
@pytest.mark.xfail
def test_does_not_yet_pass(): assert False
"""


def test_a_crash_and_an_error_after_the_summary_are_failures(tmp_path: Path) -> None:
    report = tmp_path / "report.xml"
    report.write_text(CTEST)
    assert str(read_ctest(report)) == "17 passed, 4 failed, 1 skipped"


def test_reports_of_pytest_count_each_test_once(tmp_path: Path) -> None:
    (tmp_path / "test_sample.py").write_text(PYTEST)
    report = tmp_path / "report.xml"
    command = [sys.executable, "-m", "pytest", "-q", f"--junitxml={report}", "test_sample.py"]
    assert subprocess.run(command, cwd=tmp_path, capture_output=True).returncode == 1
    counts = read_pytest(report)
    assert (counts.passed, counts.failed, counts.skipped, counts.not_yet) == (1, 3, 1, 1)
    assert counts.names_of_skipped == ["test_sample.test_is_skipped: no"]


def test_counts_add_up() -> None:
    assert Counts(1, 2, 3, 4, ["a"]) + Counts(1, 1, 1, 1, ["b"]) == Counts(2, 3, 4, 5, ["a", "b"])
