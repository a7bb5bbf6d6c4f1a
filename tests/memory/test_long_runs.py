"""A cache cannot grow without bound: resident memory stays where a fifth of a long run has left it.

10 000 types, objects or Functions that were not there before, and a million hits, with the
defaults, where the budget of the process bounds them, and with a budget of one Function.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from memory.long_runs import SCENARIOS

PROGRAM = Path(__file__).with_name("long_runs.py")
COUNT = int(os.environ.get("LONG_RUN", "10000"))
LIMIT = 2 << 20  # bytes
BOUNDED: dict[str, object] = {"reduce_retracing": False, "max_bytes": 16 << 20}


def growth(scenario: str, options: dict[str, object], count: int) -> int:
    command = [sys.executable, str(PROGRAM), scenario, json.dumps(options), str(count)]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    return int(ended.stdout)


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_memory_stays_within_the_budget_of_a_function(scenario: str) -> None:
    assert growth(scenario, BOUNDED, COUNT) <= LIMIT


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_memory_stays_with_the_defaults(scenario: str) -> None:
    assert growth(scenario, {}, COUNT) <= LIMIT
