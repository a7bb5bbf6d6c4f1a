"""The program in README.md prints what README.md says."""

import re
import subprocess
import sys
from pathlib import Path

README = Path(__file__).resolve().parents[2] / "README.md"


def test_the_program_in_the_readme_prints_what_stands_below_it(tmp_path: Path) -> None:
    found = re.search(r"```python\n(.*?)```\n\n((?: {4}[^\n]*\n)+)", README.read_text(), re.DOTALL)
    assert found
    command = [sys.executable, "-c", found[1]]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.stderr == ""
    assert done.stdout == re.sub("^ {4}", "", found[2], flags=re.MULTILINE)
