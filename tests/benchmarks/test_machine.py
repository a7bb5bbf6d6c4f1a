"""How the time of other programs is told from ours."""

import subprocess
import sys

import pytest

from benchmarks import machine
from benchmarks.machine import Neighbours, busy_seconds, describe_machine


def test_busy_time_is_all_but_idle_and_waiting_and_counts_guests_once() -> None:
    assert busy_seconds("cpu  100 20 30 9999 9999 4 5 6 50 10\n", 100) == 1.65


def test_a_process_of_ours_is_no_neighbour(monkeypatch: pytest.MonkeyPatch) -> None:
    spin = "import time\nend = time.process_time() + 1\nwhile time.process_time() < end: pass"
    # The machine seems to do nothing, so that what is subtracted for the process shows.
    monkeypatch.setattr(machine, "busy_seconds", lambda *_: 100.0)
    neighbours = Neighbours()
    before = neighbours._now()
    subprocess.run([sys.executable, "-c", spin], check=True)
    assert neighbours._now() - before == pytest.approx(-1.0, abs=0.5)
    assert neighbours.share() == 0.0


def test_the_share_of_neighbours_is_a_part_of_all_cpus(monkeypatch: pytest.MonkeyPatch) -> None:
    busy = iter([0.0, 1e9])
    monkeypatch.setattr(machine, "busy_seconds", lambda *_: next(busy))
    assert Neighbours().share() == 1.0


def test_the_machine_is_described_in_one_line() -> None:
    assert "CPUs" in describe_machine()
    assert "\n" not in describe_machine()
