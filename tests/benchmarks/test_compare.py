"""Interleaving of cells, and what a failure of one does to the others."""

import pytest

from benchmarks import compare as compare_module
from benchmarks.catalogue import Workload
from benchmarks.compare import Column, Settings, compare
from benchmarks.process import CellError
from benchmarks.systems import GRAVEN, JAX, SYSTEMS, TENSORFLOW, System

_SETTINGS = Settings(rounds=3, round_seconds=0.1, timeout=1.0)


class _FakeCell(compare_module._Cell):
    """Notes what is done to it; fails where `fails` says."""

    log: list[str]
    fails: frozenset[str] = frozenset()

    def start(self) -> None:
        self._do("start")

    def round(self) -> None:
        self._do("round")
        self.note({"seconds": 1.0, "memory": len(self.log)})

    def end(self) -> None:
        self._do("end")

    def _do(self, what: str) -> None:
        what = f"{self.column.title} {what}"
        self.log.append(what)
        if what in self.fails:
            raise CellError(f"{what} failed")


@pytest.fixture
def cell(monkeypatch: pytest.MonkeyPatch) -> type[_FakeCell]:
    class Cell(_FakeCell):
        log: list[str] = []  # noqa: RUF012

    monkeypatch.setattr(compare_module, "_make_cell", Cell)
    return Cell


def _columns(*systems: System) -> list[Column]:
    return [Column(system, 2, system.name) for system in systems]


def test_rounds_are_interleaved_and_their_order_moves_on(cell: type[_FakeCell]) -> None:
    compare(Workload("w", "w"), _columns(GRAVEN, TENSORFLOW, JAX), _SETTINGS)
    rounds = [line.split()[0] for line in cell.log if line.endswith("round")]
    assert rounds == [
        *("graven", "tensorflow", "jax"),
        *("tensorflow", "jax", "graven"),
        *("jax", "graven", "tensorflow"),
    ]


def test_every_cell_starts_before_the_first_round_and_ends_after_the_last(
    cell: type[_FakeCell],
) -> None:
    compare(Workload("w", "w"), _columns(GRAVEN, JAX), _SETTINGS)
    assert cell.log[:2] == ["graven start", "jax start"]
    assert cell.log[-2:] == ["graven end", "jax end"]


@pytest.mark.parametrize(("step", "rounds"), [("graven start", 0), ("graven round", 1)])
def test_a_cell_that_fails_is_left_out_and_says_why(
    cell: type[_FakeCell], step: str, rounds: int
) -> None:
    cell.fails = frozenset({step})
    own, other = compare(Workload("w", "w"), _columns(GRAVEN, JAX), _SETTINGS)
    assert own.error == f"{step} failed"
    assert own.summary is None
    assert cell.log.count("graven round") == rounds
    assert other.seconds == [1.0, 1.0, 1.0]
    assert "graven end" in cell.log


def test_a_system_without_the_workload_has_no_cell(cell: type[_FakeCell]) -> None:
    results = compare(Workload("w", "w", absent=frozenset({"jax"})), _columns(*SYSTEMS), _SETTINGS)
    assert "jax" not in [result.column for result in results]
    assert len(results) == len(SYSTEMS) - 1


def test_a_workload_may_want_fewer_rounds(cell: type[_FakeCell]) -> None:
    (result,) = compare(Workload("w", "w", max_rounds=2), _columns(GRAVEN), _SETTINGS)
    assert result.seconds == [1.0, 1.0]


def test_the_memory_of_a_cell_is_that_of_its_largest_round(cell: type[_FakeCell]) -> None:
    (result,) = compare(Workload("w", "w"), _columns(GRAVEN), _SETTINGS)
    assert result.memory == 4  # The cell notes start, and a line for each of three rounds.
