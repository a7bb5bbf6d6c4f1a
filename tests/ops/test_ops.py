"""Each row of the table: against NumPy, with empty and strided inputs, and what is refused."""

import builtins
from typing import Any

import graven as tf
import numpy as np
import pytest

from ops.sample import Case, Wrong, all_cases, all_rows, assert_close

CASES = all_cases()
WITH_REFERENCE = [case for case in CASES if case.sample.reference is not None]


def run(mode: str, op: str, inputs: list[Any], attrs: dict[str, Any]) -> list[Any]:
    """The outputs of an op, applied in a mode."""

    def apply(*arguments: Any) -> Any:
        return getattr(tf.raw_ops, op)(*arguments, **attrs)

    if mode == "graph":
        result = tf.function(apply)(*inputs)
    elif mode == "eager":
        result = apply(*inputs)
    else:
        raise ValueError(f"ops do not run in the mode {mode!r} yet")
    parts = result if isinstance(result, (list, tuple)) else [result]
    return [part.numpy() for part in parts]


def tensors(arrays: list[Any]) -> list[Any]:
    return [
        [tf.constant(item) for item in array] if isinstance(array, list) else tf.constant(array)
        for array in arrays
    ]


@pytest.fixture(scope="session")
def mode(request: pytest.FixtureRequest) -> str:
    return str(request.config.getoption("--mode"))


@pytest.mark.parametrize("case", WITH_REFERENCE, ids=str)
def test_an_op_gives_what_numpy_gives(case: Case, mode: str) -> None:
    results = run(mode, case.sample.op, tensors(case.arrays()), case.sample.attrs)
    expected = case.expected()
    assert len(results) == len(expected)
    for actual, wanted in zip(results, expected, strict=True):
        assert_close(case, np.asarray(actual), wanted)


@pytest.mark.parametrize("case", [c for c in CASES if c.sample.is_elementwise], ids=str)
def test_an_elementwise_op_takes_empty_tensors(case: Case, mode: str) -> None:
    empty = [np.zeros((0, 3), array.dtype) for array in case.arrays()]
    for result in run(mode, case.sample.op, tensors(empty), case.sample.attrs):
        assert np.asarray(result).shape == (0, 3)


@pytest.mark.parametrize("case", [c for c in CASES if c.sample.is_elementwise], ids=str)
def test_an_elementwise_op_broadcasts_over_many_blocks(case: Case, mode: str) -> None:
    arrays = [
        np.resize(array, 1) if i else np.resize(array, (1300, 3))
        for i, array in enumerate(case.arrays())
    ]
    [large] = run(mode, case.sample.op, tensors(arrays), case.sample.attrs)
    rows = [array[:1] if i == 0 else array for i, array in enumerate(arrays)]
    [small] = run(mode, case.sample.op, tensors(rows), case.sample.attrs)
    np.testing.assert_array_equal(np.asarray(large)[:1], small)
    assert np.asarray(large).shape == (1300, 3)


@pytest.mark.parametrize("row", all_rows()[1], ids=lambda row: f"{row.op}-{row.message[:40]}")
def test_what_an_op_refuses_is_named(row: Wrong) -> None:
    error = getattr(tf.errors, row.error, None) or getattr(builtins, row.error)
    with pytest.raises(error) as raised:
        run("eager", row.op, tensors([np.array(value) for value in row.inputs]), row.attrs)
    assert row.message in str(raised.value)
