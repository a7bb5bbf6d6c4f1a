"""Every op for many rows at once, by its rule or in a loop, beside the op on each row alone."""

from collections.abc import Iterator
from typing import Any

import graven as tf
import numpy as np
import pytest
from graven import _engine

from ops.running import op_of
from ops.sample import WITHOUT_SAMPLES, Case, as_arrays, as_tensors, one_of_each_row, plain

# Ops that run in a loop over the rows whichever input depends on the row, and why.
IN_LOOPS = {
    **dict.fromkeys(
        (
            "BroadcastArgs", "BroadcastGradientArgs", "DynamicPartition", "LinSpace", "ListDiff",
            "NonMaxSuppressionV3", "Range", "Unique", "UniqueV2", "UniqueWithCounts",
            "UniqueWithCountsV2", "Where",
        ),
        "the values of a row decide about the size of its result",
    ),
    **dict.fromkeys(
        (
            "StatelessMultinomial", "StatelessParameterizedTruncatedNormal",
            "StatelessRandomBinomial", "StatelessRandomGammaV2", "StatelessRandomGammaV3",
            "StatelessRandomGetKeyCounter", "StatelessRandomGetKeyCounterAlg",
            "StatelessRandomNormal", "StatelessRandomNormalV2", "StatelessRandomPoisson",
            "StatelessRandomUniform", "StatelessRandomUniformFullInt",
            "StatelessRandomUniformFullIntV2", "StatelessRandomUniformInt",
            "StatelessRandomUniformIntV2", "StatelessRandomUniformV2", "StatelessShuffle",
            "StatelessTruncatedNormal", "StatelessTruncatedNormalV2",
        ),
        "a seed gives one draw; a seed that is the same for all rows is drawn from once",
    ),
    **dict.fromkeys(
        ("Conv2DBackpropFilter", "Conv3DBackpropFilterV2", "DepthwiseConv2dNativeBackpropFilter"),
        "sums over the images, which would have to be grouped by rows",
    ),
    **dict.fromkeys(
        (
            "CropAndResize", "CropAndResizeGradBoxes", "CropAndResizeGradImage",
            "DrawBoundingBoxesV2",
        ),
        "boxes name images by number",
    ),
    **dict.fromkeys(
        ("Bincount", "DenseBincount", "HistogramFixedWidth"), "counts over all that it is given"
    ),
    **dict.fromkeys(
        (
            "DynamicStitch", "InvertPermutation", "ParallelDynamicStitch",
            "TensorStridedSliceUpdate",
        ),
        "takes no axis in front, and is rare in rows",
    ),
    **dict.fromkeys(("StringFormat", "StringJoin"), "texts"),
}  # fmt: skip
# Ops whose rows need more than inputs, or have none.
NOT_TRIED = {
    **dict.fromkeys(
        (
            "AssignAddVariableOp", "AssignSubVariableOp", "AssignVariableOp", "DestroyResourceOp",
            "ReadVariableOp", "ResourceGather", "ResourceGatherNd", "ResourceScatterAdd",
            "ResourceScatterDiv", "ResourceScatterMax", "ResourceScatterMin", "ResourceScatterMul",
            "ResourceScatterNdAdd", "ResourceScatterNdMax", "ResourceScatterNdMin",
            "ResourceScatterNdSub", "ResourceScatterNdUpdate", "ResourceScatterSub",
            "ResourceScatterUpdate", "VarHandleOp", "VarIsInitializedOp", "VariableShape",
        ),
        "variables: reads run once, writes in a loop: tests/python/test_vectorized_map.py",
    ),
    **dict.fromkeys(
        (
            "Multinomial", "NonDeterministicInts", "RandomGamma", "RandomPoissonV2",
            "RandomShuffle", "RandomStandardNormal", "RandomUniform", "RandomUniformInt",
            "RngReadAndSkip", "RngSkip", "StatefulRandomBinomial", "StatefulStandardNormalV2",
            "StatefulTruncatedNormal", "StatefulUniform", "StatefulUniformFullInt",
            "StatefulUniformInt", "TruncatedNormal",
        ),
        "random: tests/python/test_vectorized_map.py",
    ),
    **dict.fromkeys(
        (
            "EmptyTensorList", "TensorListConcatLists", "TensorListConcatV2",
            "TensorListElementShape", "TensorListFromTensor", "TensorListGather",
            "TensorListGetItem", "TensorListLength", "TensorListPopBack", "TensorListPushBack",
            "TensorListPushBackBatch", "TensorListReserve", "TensorListResize",
            "TensorListScatterIntoExistingList", "TensorListScatterV2", "TensorListSetItem",
            "TensorListSplit", "TensorListStack",
        ),
        "lists: tests/python/test_vectorized_map.py",
    ),
    **dict.fromkeys(
        ("OptionalFromValue", "OptionalGetValue", "OptionalHasValue", "OptionalNone"),
        "optionals: tests/python/test_vectorized_map.py",
    ),
    **dict.fromkeys(
        ("Assert", "PrintV2", "ReadFile", "WriteFile"),
        "effects: tests/python/test_vectorized_map.py",
    ),
    **dict.fromkeys(
        ("Const", "StatelessRandomGetAlg"), "has no input that depends on a row"
    ),
}  # fmt: skip

SCALES = (1.0, 0.75, 0.5)
CASES = [case for case in one_of_each_row() if case.sample.setup is plain and case.arrays()]


def rows_of(array: Any) -> Any:
    """Several arrays like one, along a new axis; floats are scaled."""
    if isinstance(array, list):
        return [rows_of(item) for item in array]
    if array.dtype.kind in "fc" or array.dtype.name == "bfloat16":
        return np.stack([(array * np.array(s)).astype(array.dtype) for s in SCALES])
    return np.stack([array] * len(SCALES))


def patterns(case: Case) -> Iterator[tuple[int, ...]]:
    """Which inputs depend on the row: each alone, and all together."""
    places = tuple(i for i, a in enumerate(case.arrays()) if not isinstance(a, list) or a)
    yield from ((i,) for i in places)
    if len(places) > 1:
        yield places


def row(value: Any, number: int) -> Any:
    """One row of an input."""
    if isinstance(value, list):
        return [item[number] for item in value]
    return value[number]


def mapped(case: Case, batched: tuple[int, ...], falls_back: bool) -> list[Any]:
    """The outputs for all rows at once."""
    arrays = case.arrays()
    inputs = as_tensors(tf, [rows_of(a) if i in batched else a for i, a in enumerate(arrays)])
    op = op_of(case.sample, case.attrs)

    def call(own: Any) -> Any:
        return op(*[own[batched.index(i)] if i in batched else x for i, x in enumerate(inputs)])

    elems = [inputs[i] for i in batched]
    results = tf.vectorized_map(call, elems, fallback_to_while_loop=falls_back, warn=False)
    return as_arrays(results)


def one_by_one(case: Case, batched: tuple[int, ...]) -> list[Any] | None:
    """The same, row after row; none if shapes differ."""
    arrays = case.arrays()
    op = op_of(case.sample, case.attrs)
    found = []
    for number in range(len(SCALES)):
        own = [row(rows_of(a), number) if i in batched else a for i, a in enumerate(arrays)]
        found.append(as_arrays(op(*as_tensors(tf, own))))
    if any(
        part.shape != first.shape
        for one in found
        for part, first in zip(one, found[0], strict=False)
    ):
        return None
    return [np.stack(parts) for parts in zip(*found, strict=True)]


def is_random(case: Case) -> bool:
    """True if the op gives other values each time."""
    op = op_of(case.sample, case.attrs)
    inputs = as_tensors(tf, case.arrays())
    first, second = as_arrays(op(*inputs)), as_arrays(op(*inputs))
    return any(
        a.dtype.kind != "O" and a.tobytes() != b.tobytes()
        for a, b in zip(first, second, strict=False)
    )


def assert_like(actual: Any, expected: Any) -> None:
    """Compares values that other orders of sums may have made."""
    assert actual.shape == expected.shape
    assert actual.dtype == expected.dtype
    if actual.dtype.kind in "fc" or actual.dtype.name == "bfloat16":
        wide = np.complex128 if actual.dtype.kind == "c" else np.float64
        narrow = actual.dtype.itemsize == 2
        tolerance = 2e-2 if narrow else 1e-4
        np.testing.assert_allclose(
            actual.astype(wide), expected.astype(wide), rtol=tolerance, atol=tolerance
        )
    else:
        np.testing.assert_array_equal(actual, expected)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_an_op_for_many_rows_is_the_op_for_each(case: Case) -> None:
    random = is_random(case)
    for batched in patterns(case):
        try:
            expected = one_by_one(case, batched)
        except (tf.errors.OpError, ValueError, TypeError):
            continue  # what suits one row as a whole need not suit it scaled
        if expected is None:
            continue
        actual = mapped(case, batched, falls_back=True)
        assert len(actual) == len(expected)
        for a, e in zip(actual, expected, strict=True):
            if random:
                assert (a.shape, a.dtype) == (e.shape, e.dtype)
            else:
                assert_like(a, e)


def has_rule(case: Case) -> bool:
    """True if some input may depend on the row without a loop."""
    for batched in patterns(case):
        try:
            mapped(case, batched, falls_back=False)
        except (tf.errors.OpError, ValueError, TypeError):
            continue
        return True
    return False


def test_the_list_of_ops_that_run_in_loops_is_right() -> None:
    with_rule = {case.sample.op for case in CASES if has_rule(case)}
    in_loops = {case.sample.op for case in CASES} - with_rule
    assert sorted(in_loops - set(IN_LOOPS)) == []
    assert sorted(set(IN_LOOPS) - in_loops) == []


def test_every_op_is_tried() -> None:
    tried = {case.sample.op for case in CASES}
    others = set(_engine.op_names()) - tried - set(WITHOUT_SAMPLES)
    assert sorted(others - set(NOT_TRIED)) == []
    assert sorted(set(NOT_TRIED) - others) == []
