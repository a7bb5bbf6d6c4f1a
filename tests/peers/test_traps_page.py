"""docs/traps.md: its programs print in both systems what the page says."""

import contextlib
import io
import re
from pathlib import Path

import graven
import pytest
import tensorflow

PAGE = Path(__file__).resolve().parents[2] / "docs" / "traps.md"
SECTION = re.compile(r"^## (.+?)\n(.*?)(?=^## |\Z)", re.DOTALL | re.MULTILINE)
PROGRAM = re.compile(r"```python\n(.*?)```\n", re.DOTALL)
OUTPUT = re.compile(
    r"^(Both print|TensorFlow prints|and Graven)\n\n((?: {4}[^\n]*\n)+)", re.MULTILINE
)
SECTIONS = [pytest.param(text, id=title) for title, text in SECTION.findall(PAGE.read_text())]


@pytest.mark.parametrize("section", SECTIONS)
def test_a_program_prints_what_the_page_says(section: str, tmp_path: Path) -> None:
    (program,) = PROGRAM.findall(section)
    outputs = {
        who: [line[4:] for line in text.splitlines()] for who, text in OUTPUT.findall(section)
    }
    both = outputs.get("Both print")
    expected = {
        tensorflow: both or outputs["TensorFlow prints"],
        graven: both or outputs["and Graven"],
    }
    file = tmp_path / "program.py"
    file.write_text(program)
    for tf, lines in expected.items():
        stdout = io.StringIO()
        with contextlib.redirect_stdout(stdout):
            exec(compile(program, str(file), "exec"), {"tf": tf, "__name__": "__main__"})
        assert stdout.getvalue().splitlines() == lines, tf.__name__
