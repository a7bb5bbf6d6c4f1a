"""./dev coverage: which lines of the engine the tests run, as gcov of the compiler counts them."""

import json
import os
import subprocess
import tempfile
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from devtool.build import build, build_folder
from devtool.commands import ROOT, DevError, say
from devtool.mutation.faults import HELPS_TESTS
from devtool.testing import TestRun

PRESET = "coverage"


@dataclass
class Lines:
    """How often each line of the engine's files ran, by the file's path in the repository."""

    counts: dict[str, dict[int, int]] = field(default_factory=dict)

    def add(self, report: dict[str, Any], root: Path) -> None:
        """Adds what gcov says of one object; a line of a header stands in many."""
        for file in report["files"]:
            path = Path(report["current_working_directory"], file["file"]).resolve()
            if root / "graven" not in path.parents or HELPS_TESTS.search(path.name):
                continue
            lines = self.counts.setdefault(path.relative_to(root).as_posix(), {})
            for line in file["lines"]:
                number = line["line_number"]
                lines[number] = lines.get(number, 0) + line["count"]

    def missed(self) -> dict[str, list[int]]:
        """The lines of each file that did not run."""
        return {
            file: [number for number, count in sorted(lines.items()) if count == 0]
            for file, lines in sorted(self.counts.items())
        }

    def table(self) -> str:
        """The lines that ran of each room, and of all."""
        rooms: dict[str, list[int]] = {}
        for file, lines in self.counts.items():
            parts = Path(file).parts
            rooms.setdefault(parts[1] if len(parts) > 2 else "api", []).extend(lines.values())
        rows = [*sorted(rooms.items()), ("all", [n for counts in rooms.values() for n in counts])]
        return "\n".join(row(name, counts) for name, counts in rows)


def row(name: str, counts: list[int]) -> str:
    """One line of the table."""
    ran = sum(count > 0 for count in counts)
    part = f"{100 * ran / len(counts):5.1f} %" if counts else "    - %"
    return f"{name:10} {part}  {ran} of {len(counts)} lines"


def read_notes(notes: Path) -> list[dict[str, Any]]:
    """What gcov says of an object, by the notes that the compiler left beside it.

    An object of which nothing ran has no counts; gcov then takes them for zero, with a warning.
    """
    with tempfile.TemporaryDirectory() as folder:
        command = ["gcov", "--json-format", "--stdout", str(notes)]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    if done.returncode != 0:
        raise DevError(f"gcov failed on {notes}: {done.stderr.strip()}")
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


def read_build(folder: Path, root: Path = ROOT) -> Lines:
    """Reads the counts of all objects of a build."""
    notes: Iterable[Path] = sorted(folder.rglob("*.gcno"))
    lines = Lines()
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for reports in pool.map(read_notes, notes):
            for report in reports:
                lines.add(report, root)
    return lines


def forget_counts(folder: Path) -> None:
    """Removes the counts of earlier runs, which programs would add to."""
    for file in folder.rglob("*.gcda"):
        file.unlink()


def coverage() -> int:
    """Builds, runs the tests and prints which lines ran."""
    build(PRESET)
    folder = build_folder(PRESET)
    forget_counts(folder)
    run = TestRun(PRESET, peers=False)
    run.cpp()
    run.python(["tests/ops", "tests/functions", "tests/python", "tests/threads"])
    run.python(["tests/ops"], ["--mode", "graph"])
    run.conformance()
    say("reading what gcov counted")
    lines = read_build(folder)
    (folder / "coverage.json").write_text(json.dumps(lines.missed(), indent=1) + "\n")
    print(lines.table())
    say(f"the lines that did not run: {(folder / 'coverage.json').relative_to(ROOT)}")
    return run.close()
