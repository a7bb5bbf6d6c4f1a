"""The list of what does not work yet: crashes stop nothing, and a test that passes must leave."""

import subprocess
import sys
from pathlib import Path

import pytest
import run_conformance
from run_conformance import NotYetList

RUNNER = Path(run_conformance.__file__)
TESTS = """
import os, time
import pytest
def test_passes(): pass
def test_fails(): assert False, "no such op"
def test_crashes(): os.abort()
def test_hangs(): time.sleep(100)
@pytest.mark.parametrize("text", ["a b", "c"])
def test_of_text(text): assert text == "c"
"""
LINES = [
    "# A comment that stays.",
    "test_a.py::test_fails  # control flow",
    "test_a.py::test_crashes  # function",
    "test_a.py::test_hangs  # function",
    "test_a.py::test_of_text[a b]  # function",
]


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    """A repository with the runner and a suite of two files, one of which cannot be imported."""
    folder = tmp_path / "tests" / "conformance"
    folder.mkdir(parents=True)
    (tmp_path / "tools").mkdir()
    text = RUNNER.read_text().replace("LIMIT_S = 20.0", "LIMIT_S = 2.0")
    (tmp_path / "tools" / RUNNER.name).write_text(text)
    (folder / "__init__.py").touch()
    (folder / "test_a.py").write_text(TESTS)
    (folder / "test_b.py").write_text("import no_such_module\n")
    return folder


def run(suite: Path, lines: list[str], *options: str) -> tuple[int, str]:
    """Writes the list and runs the suite; returns status and output."""
    (suite / "not_yet.txt").write_text("".join(f"{line}\n" for line in lines))
    command = [sys.executable, f"tools/{RUNNER.name}", "-q", *options]
    done = subprocess.run(command, cwd=suite.parents[1], capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def test_listed_tests_that_fail_crash_or_hang_stop_nothing(suite: Path) -> None:
    status, output = run(suite, [*LINES, "test_b.py::*  # data"])
    assert status == 0 and "2 passed, 5 xfailed" in output


def test_a_test_that_is_not_listed_fails_the_run(suite: Path) -> None:
    status, output = run(suite, [*LINES[:1], *LINES[2:], "test_b.py::*  # data"])
    assert status == 1 and "1 failed, 2 passed, 4 xfailed" in output


def test_a_listed_test_that_passes_fails_the_run(suite: Path) -> None:
    status, output = run(suite, [*LINES, "test_a.py::test_passes  # x", "test_b.py::*  # data"])
    assert status == 1 and "test_a.py::test_passes is listed in not_yet.txt and passes" in output


def test_a_listed_file_that_can_be_imported_fails_the_run(suite: Path) -> None:
    status, output = run(suite, ["test_a.py::*  # function", "test_b.py::*  # data"])
    assert status == 1 and "test_a.py::* is listed in not_yet.txt and passes" in output


def test_a_line_that_names_no_test_is_refused(suite: Path) -> None:
    status, output = run(suite, [*LINES, "test_a.py::test_gone  # x", "test_b.py::*  # data"])
    assert status != 0 and "not_yet.txt names no test: test_a.py::test_gone" in output


def test_update_removes_lines_and_adds_none_but_those_of_a_listed_file(suite: Path) -> None:
    lines = ["# Stays.", "test_a.py::*  # function", "test_b.py::*  # data"]
    status, _ = run(suite, lines, "--update")
    written = (suite / "not_yet.txt").read_text().splitlines()
    assert status == 0
    assert written == [
        "# Stays.",
        "test_a.py::test_fails  # function",
        "test_a.py::test_crashes  # function",
        "test_a.py::test_hangs  # function",
        "test_a.py::test_of_text[a b]  # function",
        "test_b.py::*  # data",
    ]
    status, _ = run(suite, [*written, "test_a.py::test_passes  # x"], "--update")
    assert (suite / "not_yet.txt").read_text().splitlines() == written


def test_a_line_without_a_reason_is_refused() -> None:
    with pytest.raises(ValueError, match="what it waits for"):
        NotYetList("test_a.py::test_x\n")


def test_the_default_profile_has_a_list_of_its_own(suite: Path) -> None:
    profile = "import os\ndef test_it(): assert os.environ['CONFORMANCE_PROFILE'] != 'default'\n"
    (suite / "test_c.py").write_text(profile)
    lines = [*LINES, "test_b.py::*  # data"]
    (suite / "not_by_default.txt").write_text("test_c.py::test_it  # counts traces\n")
    assert run(suite, lines)[0] == 0
    status, output = run(suite, lines, "--profile", "default")
    assert status == 0 and "2 passed, 6 xfailed" in output
    (suite / "not_by_default.txt").write_text("test_a.py::test_passes  # x\n")
    status, output = run(suite, lines, "--profile", "default")
    assert status == 1 and "test_passes is listed in not_by_default.txt and passes" in output
