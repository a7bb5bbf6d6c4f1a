"""No argument of a public function ends the process."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(__file__).with_name("odd_arguments.py")


@pytest.mark.parametrize("seed", range(3))
def test_odd_arguments_are_answered_or_refused(seed: int) -> None:
    run = subprocess.run(
        [sys.executable, PROGRAM, str(seed), "2000"], capture_output=True, text=True, timeout=300
    )
    last = run.stdout.splitlines()[-1:]
    assert run.returncode == 0, f"{run.returncode} after {last}: {run.stderr[-2000:]}"
    assert len(run.stdout.splitlines()) >= 2000
