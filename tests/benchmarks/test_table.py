"""What the program prints about its measurements."""

import pytest

from benchmarks.catalogue import BEST_PEER, WORKLOADS, Target, Workload, choose
from benchmarks.compare import Measurement, mark_disagreement
from benchmarks.table import best_peer, format_table, judge, report

_WORKLOAD = Workload("sum", "a sum")


def _results() -> list[Measurement]:
    return [
        Measurement("graven", False, [2e-6, 1e-6, 3e-6], values=[1.0]),
        Measurement("jax", True, [4e-6], values=[1.0]),
        Measurement("torch_eager", True, [8e-6], values=[1.0]),
        Measurement("tensorflow", True, error="ValueError: no such op"),
    ]


def test_columns_are_as_wide_as_their_widest_cell() -> None:
    assert format_table([["a", "1.0", "x"], ["long", "22.0", "yy"]]) == (
        "a      1.0   x\nlong  22.0  yy"
    )


def test_a_text_runs_across_the_columns() -> None:
    assert format_table([["a", "1.0", "x"], ["b", "what went wrong"]]) == (
        "a  1.0  x\nb  what went wrong"
    )


def test_the_best_peer_is_never_graven_nor_one_that_failed() -> None:
    assert best_peer(_results()) == ("jax", 4e-6)


def test_a_report_has_a_line_for_each_system_with_its_ratio_or_its_error() -> None:
    assert report(_WORKLOAD, _results()).splitlines() == [
        "sum: a sum",
        "  graven       2.00 us  spread 100%  0.50 x best peer",
        "  jax          4.00 us    spread 0%  1.00 x best peer",
        "  torch_eager  8.00 us    spread 0%  2.00 x best peer",
        "  tensorflow   ValueError: no such op",
    ]


def test_memory_is_shown_where_the_workload_asks_for_it() -> None:
    results = [Measurement("graven", False, [1.0], memory=39 << 20)]
    assert report(Workload("n", "t", shows_memory=True), results).endswith("+39 MiB")


@pytest.mark.parametrize(
    ("target", "row"),
    [
        (Target(0.5, "jax"), ["at most 0.50 x jax", "0.50 x", "met"]),
        (Target(0.4, "jax"), ["at most 0.40 x jax", "0.50 x", "missed"]),
        (Target(1.0, BEST_PEER), ["at most 1.00 x best peer (jax)", "0.50 x", "met"]),
        (Target(300e-9, None), ["at most 300 ns", "2.00 us", "missed"]),
        (Target(1.0, "tensorflow"), None),
    ],
)
def test_a_target_is_judged_by_medians(target: Target, row: list[str] | None) -> None:
    assert judge(target, "graven", _results()) == row


def test_a_target_without_a_figure_of_graven_is_not_judged() -> None:
    results = [Measurement("graven", False, error="E"), Measurement("jax", True, [1.0])]
    assert judge(Target(1.0, "jax"), "graven", results) is None


def test_a_result_unlike_that_of_the_peers_is_an_error() -> None:
    results = _results()
    results[0].values = [1.1]
    mark_disagreement(results, 1e-3)
    assert results[0].error == "WrongResult: [1.1]; jax has [1]"
    assert results[0].summary is None
    assert [bool(result.error) for result in results[1:]] == [False, False, True]


def test_without_peers_cells_are_compared_with_the_first() -> None:
    results = [
        Measurement("graven, 1 thread", False, [1.0], values=[1.0]),
        Measurement("graven, 2 threads", False, [1.0], values=[2.0]),
    ]
    mark_disagreement(results, 1e-3)
    assert [bool(result.error) for result in results] == [False, True]


def test_workloads_are_chosen_in_the_order_of_the_catalogue() -> None:
    assert [w.name for w in choose(["softmax", "import"])] == ["import", "softmax"]
    assert [w.name for w in choose([])] == list(WORKLOADS)


def test_an_unknown_workload_is_an_error_that_lists_them() -> None:
    with pytest.raises(ValueError, match=r"no workload sotfmax; there are import, .*softmax"):
        choose(["sotfmax"])
