"""./dev python is Python and nothing else; ./dev says what it does not know."""

import json
import os
import pty
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DEV = ROOT / "dev"


def dev(
    arguments: Sequence[str],
    cwd: Path = ROOT,
    text: str = "",
    env: dict[str, str] | None = None,
) -> subprocess.CompletedProcess[str]:
    """Runs ./dev."""
    command = [str(DEV), *arguments]
    return subprocess.run(command, cwd=cwd, input=text, env=env, capture_output=True, text=True)


def test_python_keeps_input_environment_and_folder(tmp_path: Path) -> None:
    program = (
        "import json, os, sys;"
        "print(json.dumps([sys.argv, sys.stdin.read(), os.getcwd(), dict(os.environ)]))"
    )
    env = {**os.environ, "PYTHONHASHSEED": "7", "MARK": "a b\n", "PWD": str(tmp_path)}
    done = dev(["python", "-c", program, "x", "--y z"], cwd=tmp_path, text="some\ninput", env=env)
    assert done.stderr == ""
    assert json.loads(done.stdout) == [["-c", "x", "--y z"], "some\ninput", str(tmp_path), env]


@pytest.mark.parametrize("folder", [".", "python", "graven", "tests", "/"])
def test_graven_can_be_imported_from_any_folder(folder: str) -> None:
    done = dev(["python", "-c", "import graven; print(graven.__file__)"], cwd=ROOT / folder)
    assert (done.stderr, done.returncode) == ("", 0)
    assert done.stdout == f"{ROOT / 'python' / 'graven' / '__init__.py'}\n"


def test_python_passes_on_its_status() -> None:
    assert dev(["python", "-c", "raise SystemExit(7)"]).returncode == 7


def test_python_has_what_tests_of_users_need() -> None:
    assert dev(["python", "-c", "import attrs, hypothesis, numpy, pytest"]).returncode == 0


def test_help_lists_the_verbs() -> None:
    words = {line.split()[0] for line in dev(["help"]).stdout.splitlines() if line[:2] == "  "}
    wanted = "help bootstrap build demo test sanitize mutate coverage bench lint python shell clean"
    assert words == set(wanted.split())


def test_help_of_the_benchmarks_needs_no_build() -> None:
    done = dev(["bench", "--help"])
    assert done.stdout.startswith("usage: ./dev bench") and "cached_call_cpp" in done.stdout
    assert (done.stderr, done.returncode) == ("", 0)


def test_a_verb_explains_itself() -> None:
    done = dev(["test", "--help"])
    assert done.stdout.startswith("Usage: ./dev test ") and "eager|graph" in done.stdout
    assert done.stdout == dev(["help", "test"]).stdout
    assert (done.stderr, done.returncode) == ("", 0)


def test_in_the_shell_python_is_the_projects_whatever_the_rc_file_says(tmp_path: Path) -> None:
    other = tmp_path / "python"
    other.write_text("#!/bin/sh\necho other\n")
    other.chmod(0o755)
    (tmp_path / ".bashrc").write_text(f"PATH={tmp_path}:$PATH; MARK=read\n")
    env = {**os.environ, "HOME": str(tmp_path), "SHELL": "/bin/bash"}
    controller, terminal = pty.openpty()  # Without a terminal bash reads no rc file.
    os.write(controller, b"command -v python; echo $MARK $VIRTUAL_ENV; exit\n")
    done = subprocess.run(
        [str(DEV), "shell"], stdin=terminal, stderr=terminal, stdout=subprocess.PIPE, env=env
    )
    os.close(controller)
    os.close(terminal)
    folder = ROOT / ".venv"
    assert done.stdout.decode().split() == [f"{folder}/bin/python", "read", str(folder)]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["tset"], "no verb is named tset"),
        (["build", "fast"], "no preset is named fast; there are dev, release"),
        (["test", "tests/no_such_file.py"], "tests/no_such_file.py is no part of the tests"),
        (["test", "README.md"], "README.md is no part of the tests: there are cpp, python, conf"),
        (["test", "docs"], "docs is no part of the tests"),
        (["test", "tests/ops/sample.py"], "the modes, eager, graph, roundtrip, nofusion,"),
        (["test", "--quick"], "test takes parts, modes, paths and --no-peers; not --quick"),
        (["sanitize", "msan"], "sanitize takes asan or tsan, not msan"),
        (["lint", "--fast"], "lint takes --no-tidy, not --fast"),
        (["mutate", "1"], "mutate takes SEED N [--list] [--only PATH] [--no-peers]: the following"),
        (["mutate", "1", "1", "--only", "docs"], "docs holds no file that faults are drawn from"),
        (["coverage", "base"], "unexpected: base"),
        (["demo", "fast"], "unexpected: fast"),
    ],
)
def test_what_is_not_known_is_refused(arguments: list[str], message: str) -> None:
    done = dev(arguments)
    assert done.returncode == 1 and message in done.stderr and done.stdout == ""
    assert done.stderr.count("\n") == 1  # It is refused before anything is built.
