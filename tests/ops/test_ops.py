"""Each row of the table: against NumPy, traced and eagerly, in other shapes, and refusals.

Kernels differ by dtype and all dtypes are compared; empty tensors and thin axes are the business of
what calls them, and take one dtype of a row.
"""

import builtins
from typing import Any

import graven as tf
import numpy as np
import pytest
from numpy.typing import NDArray

from ops.running import in_mode, op_of, prepare, run
from ops.sample import (
    Case,
    Wrong,
    all_cases,
    all_rows,
    as_tensors,
    assert_close,
    one_of_each_row,
)
from ops.setups import tensors_only

CASES = all_cases()
WITH_REFERENCE = [case for case in CASES if case.sample.reference is not None]
ONE_OF_EACH = one_of_each_row()
ELEMENTWISE = [case for case in ONE_OF_EACH if case.sample.is_elementwise]


def assert_same_bits(actual: list[NDArray[Any]], wanted: list[NDArray[Any]]) -> None:
    assert [(a.dtype, a.shape) for a in actual] == [(w.dtype, w.shape) for w in wanted]
    for a, w in zip(actual, wanted, strict=True):
        assert a.tolist() == w.tolist() if a.dtype.kind == "O" else a.tobytes() == w.tobytes()


@pytest.mark.parametrize("case", WITH_REFERENCE, ids=str)
def test_an_op_gives_what_numpy_gives(case: Case) -> None:
    results = run("eager", case)
    expected = case.expected()
    assert len(results) == len(expected)
    for actual, wanted in zip(results, expected, strict=True):
        assert_close(case, actual, wanted)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_traced_op_gives_the_bits_of_an_eager_one(case: Case, graphs: str) -> None:
    assert_same_bits(run("graph", case), run("eager", case))


@pytest.mark.parametrize("case", ONE_OF_EACH, ids=str)
def test_a_second_call_with_the_same_types_traces_nothing(case: Case) -> None:
    application = prepare(
        case.sample.setup, op_of(case.sample, case.attrs), as_tensors(tf, case.arrays())
    )
    function = tf.function(application.call)
    for _ in range(2):
        function(*application.arguments)
    application.after()
    assert function.experimental_get_tracing_count() == 1


@pytest.mark.parametrize("case", ELEMENTWISE, ids=str)
def test_an_elementwise_op_takes_empty_tensors(case: Case, mode: str) -> None:
    empty = [np.zeros((0, 3), array.dtype) for array in case.arrays()]
    for result in run(mode, case, as_tensors(tf, empty)):
        assert result.shape == (0, 3)


@pytest.mark.parametrize("case", ELEMENTWISE, ids=str)
def test_an_elementwise_op_takes_scalars(case: Case, mode: str) -> None:
    scalars = [array.reshape(-1)[0] for array in case.arrays()]
    vectors = [array.reshape(-1)[:1] for array in case.arrays()]
    [result] = run(mode, case, as_tensors(tf, scalars))
    assert result.shape == ()
    assert_same_bits([result.reshape(1)], run(mode, case, as_tensors(tf, vectors)))


# In all dtypes: how many elements a block and a vector have depends on theirs.
@pytest.mark.parametrize(
    "case", [c for c in CASES if c.sample.is_elementwise and c.sample.broadcasts], ids=str
)
def test_an_elementwise_op_broadcasts_over_many_blocks(case: Case, mode: str) -> None:
    arrays = [
        np.resize(array, 1) if i else np.resize(array, (1300, 3))
        for i, array in enumerate(case.arrays())
    ]
    [large] = run(mode, case, as_tensors(tf, arrays))
    rows = [array[:1] if i == 0 else array for i, array in enumerate(arrays)]
    [small] = run(mode, case, as_tensors(tf, rows))
    assert_same_bits([large[:1]], [small])
    assert large.shape == (1300, 3)


@pytest.mark.parametrize("case", [c for c in ELEMENTWISE if c.sample.broadcasts], ids=str)
def test_axes_of_size_1_broadcast_like_repeated_elements(case: Case, mode: str) -> None:
    arrays = case.arrays()
    shapes: list[tuple[int, ...]] = [(5, 1, 3), (1, 4, 1), (3,)]
    thin = [np.resize(a, shape) for a, shape in zip(arrays, shapes, strict=False)]
    full = np.broadcast_shapes(*[a.shape for a in thin])
    wide = [np.ascontiguousarray(np.broadcast_to(a, full)) for a in thin]
    assert_same_bits(run(mode, case, as_tensors(tf, thin)), run(mode, case, as_tensors(tf, wide)))


@pytest.mark.parametrize("row", all_rows()[1], ids=str)
def test_what_an_op_refuses_is_named(row: Wrong, mode: str) -> None:
    error = getattr(tf.errors, row.error, None) or getattr(builtins, row.error)
    inputs = as_tensors(
        tf, [value if isinstance(value, list) else np.array(value) for value in row.inputs]
    )
    application = prepare(row.setup, op_of(row, row.attrs), inputs)
    # What is known while tracing is refused there, by the errors of Python that S11 names.
    errors = (error, ValueError, TypeError) if mode == "graph" else error
    with pytest.raises(errors) as raised:
        in_mode(mode, lambda *x: tensors_only(application.call(*x)))(*application.arguments)
    in_graph = mode == "graph" and row.message_in_graph
    assert (row.message_in_graph if in_graph else row.message) in str(raised.value)
