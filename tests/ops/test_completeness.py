"""Every op of the registry has a row."""

from pathlib import Path

from graven import _engine

from ops.sample import WITHOUT_SAMPLES, all_rows

NO_ROW_YET = set((Path(__file__).parent / "no_row_yet.txt").read_text().split())


def test_the_records_of_ops_have_no_mistakes() -> None:
    assert _engine.registry_errors() == []


def test_every_op_has_a_row() -> None:
    names = set(_engine.op_names())
    rows = {row.op for row in all_rows()[0]}
    assert sorted(rows - names) == []
    assert sorted(set(WITHOUT_SAMPLES) - names) == []
    assert sorted(names - rows - set(WITHOUT_SAMPLES) - NO_ROW_YET) == []


def test_the_list_of_ops_without_rows_only_shrinks() -> None:
    rows = {row.op for row in all_rows()[0]}
    assert sorted(NO_ROW_YET & rows) == []
    assert sorted(NO_ROW_YET - set(_engine.op_names())) == []
