"""./dev lint: each check runs, and all that it finds is shown, whatever the others found."""

import os
from collections.abc import Sequence
from pathlib import Path

from devtool.build import build, build_folder, configure
from devtool.commands import ROOT, DevError, say, show
from devtool.environments import FORMAT_PACKAGES, PROJECT, TIDY_PACKAGES, install_packages

SOURCES_TO_TIDY = rf"^{ROOT}/graven/.*(?<!_test)\.cc$"
SOURCE_FOLDERS = ("benchmarks", "cmake", "examples", "graven", "tests")


def cpp_files(*suffixes: str) -> list[Path]:
    """The C++ files of the repository that end so."""
    files = [file for folder in SOURCE_FOLDERS for file in (ROOT / folder).rglob("*")]
    return sorted(file.relative_to(ROOT) for file in files if file.suffix in suffixes)


def tidy_command() -> list[str | Path]:
    """clang-tidy over the sources that the release build compiles.

    Tests stay out: they do on purpose what it warns of, such as looking at what was moved from. It
    says what .clang-tidy names; the warnings of its own compiler are left to the one that builds.
    """
    jobs = str(os.cpu_count() or 1)
    return [
        "run-clang-tidy-19",
        "-quiet",
        "-extra-arg=-Wno-everything",
        "-p",
        build_folder("release"),
        "-j",
        jobs,
        SOURCES_TO_TIDY,
    ]


def lint(arguments: Sequence[str]) -> int:
    """Runs all checks; returns 1 if one of them finds something."""
    unknown = [word for word in arguments if word != "--no-tidy"]
    if unknown:
        raise DevError(f"lint takes --no-tidy, not {' '.join(unknown)}")
    install_packages(FORMAT_PACKAGES)
    python = PROJECT.ensure()
    ruff = python.parent / "ruff"
    checks: dict[str, list[str | Path]] = {
        "includes": [python, "tools/check_includes.py"],
        "exceptions": [python, "tools/check_exceptions.py"],
        "op names": [python, "tools/check_op_names.py"],
        "Python imports": [python, "tools/check_python_imports.py"],
        "file lists": [python, "tools/check_cmake_file_lists.py"],
        "clang-format": ["clang-format-14", "--dry-run", "-Werror", *cpp_files(".h", ".cc")],
        "ruff format": [ruff, "format", "--check", "--diff", "--quiet"],
        "ruff": [ruff, "check", "--quiet"],
        "stubs": [python, "tools/stubs.py", "build/typed/graven"],  # imports what is built
        # Its cache hides what a clean checkout shows: that a comment is no longer needed.
        "mypy": [python, "-m", "mypy", "--cache-dir", os.devnull],
    }
    if "--no-tidy" not in arguments:
        install_packages(TIDY_PACKAGES)
        configure("release")
        commands = build_folder("release") / "compile_commands.json"
        checks["thread safety"] = [python, "tools/check_thread_safety.py", commands]
        checks["clang-tidy"] = tidy_command()
    build("release")
    failed = []
    for name, command in checks.items():
        say(f"lint: {name}")
        if show(command) != 0:
            failed.append(name)
    say(f"lint found something: {', '.join(failed)}" if failed else "lint found nothing")
    return 1 if failed else 0
