"""examples/serving.py and serving.cc are one program in two languages."""

import json
import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
PYTHON = ROOT / "examples" / "serving.py"
PROGRAM = ROOT / "build" / os.environ.get("GRAVEN_PRESET", "release") / "bin" / "serving"
README = (ROOT / "README.md").read_text()


def run(*command: str | Path) -> str:
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_both_languages_print_what_stands_in_the_readme(tmp_path: Path) -> None:
    python = run(sys.executable, PYTHON, tmp_path / "python.jsonl")
    assert run(PROGRAM, tmp_path / "cpp.jsonl") == python
    assert f"Both print\n\n{textwrap.indent(python, '    ')}\n" in README


def traces_in(lock: Path) -> list[tuple[Any, Any, list[str]]]:
    """Functions, types and watched numbers, whose names are those of the language."""
    lines = [json.loads(line) for line in lock.read_text().splitlines()[1:]]
    return [
        (
            line["function"].removeprefix("__main__."),
            line["arguments"],
            sorted(f"{float(value):.2f}" for value in line["watched"].values()),
        )
        for line in lines
    ]


def test_the_locks_of_both_list_the_same_traces(tmp_path: Path) -> None:
    run(sys.executable, PYTHON, tmp_path / "python.jsonl")
    run(PROGRAM, tmp_path / "cpp.jsonl")
    python, cpp = (traces_in(tmp_path / f"{name}.jsonl") for name in ("python", "cpp"))
    assert python == cpp
    assert [(name, watched) for name, _, watched in python] == [
        ("learn", ["0.50", "1.00"]), ("score", ["1.00"]), ("score", ["1.00"])
    ]  # fmt: skip


def test_the_excerpts_in_the_readme_stand_in_the_programs() -> None:
    section = README.partition("## One cache, two languages")[2]
    for language, program in (("python", "serving.py"), ("cpp", "serving.cc")):
        excerpt = re.search(rf"```{language}\n(.*?)```", section, re.DOTALL)
        assert excerpt
        parts = re.split("\n\n+", excerpt[1].strip("\n"))
        source = (ROOT / "examples" / program).read_text()
        assert len(parts) == 3 and all(part in source for part in parts)
