"""Every op of the registry has a row."""

from graven import _engine

from ops.sample import WITHOUT_SAMPLES, all_rows


def test_the_records_of_ops_have_no_mistakes() -> None:
    assert _engine.registry_errors() == []


def test_every_op_has_a_row() -> None:
    names = set(_engine.op_names())
    rows = {row.op for row in all_rows()[0]}
    assert sorted(rows - names) == []
    assert sorted(set(WITHOUT_SAMPLES) - names) == []
    assert sorted(names - rows - set(WITHOUT_SAMPLES)) == []
