"""docs/explain.md: its programs print what stands below them."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = Path(__file__).resolve().parents[2] / "docs" / "explain.md"
PROGRAM = re.compile(r"```python\n((?:(?!```).)*)```\n\n((?: {4}[^\n]*\n)+)", re.DOTALL)
PROGRAMS = PROGRAM.findall(PAGE.read_text())


def words(output: str) -> list[str]:
    """The words of an output: each run takes another time."""
    return re.sub(r"[\d.]+ (ms|KiB)\b", r"N \1", output).split()


def test_the_page_has_programs() -> None:
    assert len(PROGRAMS) == 3


@pytest.mark.parametrize(("program", "output"), PROGRAMS)
def test_a_program_prints_what_stands_below_it(program: str, output: str, tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(program)
    done = subprocess.run(
        [sys.executable, "program.py"], capture_output=True, text=True, cwd=tmp_path
    )
    assert done.stderr == ""
    assert words(done.stdout.replace(f"{tmp_path}/", "")) == words(output)
