"""examples/digits.cc computes what examples/digits.py computes, bit for bit."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = ROOT / "build" / os.environ.get("GRAVEN_PRESET", "release") / "bin" / "digits"


def train(command: list[str], result: Path) -> dict[str, Any]:
    """What a program writes after two epochs, each loss as the text that it wrote."""
    options = ["--epochs", "2", "--json", str(result)]
    done = subprocess.run([*command, *options], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    read: dict[str, Any] = json.loads(result.read_text(), parse_float=str)
    return read


def test_python_and_cpp_compute_the_same_losses_bit_for_bit(tmp_path: Path) -> None:
    python = train([sys.executable, str(ROOT / "examples" / "digits.py")], tmp_path / "python.json")
    cpp = train([str(PROGRAM)], tmp_path / "cpp.json")
    assert len(python["losses"]) == 90
    assert cpp["losses"] == python["losses"]
    assert cpp["test_accuracy"] == python["test_accuracy"]
    assert cpp["traces"] == python["traces"]
