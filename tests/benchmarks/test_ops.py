"""Which ops are timed, and the verdict on them."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from benchmarks.op_calls import OpCall, make_arguments, op_calls
from benchmarks.op_report import OpMeasurement, summarize_ops


def _add(x: Any, y: Any, name: Any = None) -> Any:
    return x + y


def _strange(x: Any, frobnication: Any) -> Any:
    raise AssertionError("never called")


def _nothing(name: Any = None) -> None:
    raise AssertionError("never called")


def _module() -> SimpleNamespace:
    empty = SimpleNamespace()
    math = SimpleNamespace(add=_add, strange=_strange)
    return SimpleNamespace(
        **dict(add=_add, nothing=_nothing, _private=_add, Tensor=int, math=math),
        **dict(nn=empty, bitwise=empty, random=empty),
        constant=np.asarray,
    )


def test_functions_are_found_once_with_all_their_names_and_the_meanings_of_their_parameters() -> (
    None
):
    calls, unknown = op_calls(_module())
    assert calls == [OpCall(["add", "math.add"], {"x": "matrix", "y": "matrix"})]
    assert unknown == ["math.strange"]


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32"])
@pytest.mark.parametrize(("elements", "side"), [(16, 4), (1 << 20, 1024)])
def test_arguments_have_the_size_and_the_dtype_that_are_asked_for(
    elements: int, side: int, dtype: str
) -> None:
    call = OpCall(["add"], {"x": "matrix", "y": "matrix", "indices": "rows"})
    arguments = make_arguments(_module(), call, elements, dtype)
    assert arguments["x"].shape == (side, side)
    assert arguments["x"].dtype == dtype
    assert not np.array_equal(arguments["x"], arguments["y"])
    assert sorted(arguments["indices"]) == list(range(side))


def _measured(function: str, seconds: float) -> OpMeasurement:
    return OpMeasurement(function, 16, "float32", [seconds], [1.0])


def test_one_slow_op_in_ten_is_allowed() -> None:
    results = [_measured(f"op{i}", 1.0) for i in range(9)] + [_measured("slow", 3.0)]
    assert summarize_ops(results) == [
        "1 of 10 ops take over 2.00 x TensorFlow's time in a dtype or size; one in ten may: met",
        "  slow 3.00 x",
    ]


def test_more_than_one_slow_op_in_ten_is_too_many() -> None:
    results = [_measured(f"op{i}", 1.0) for i in range(8)] + [_measured("slow", 3.0)]
    assert summarize_ops(results)[0].endswith("missed")


def test_an_op_is_as_slow_as_its_slowest_case() -> None:
    results = [_measured("op", 1.0), _measured("op", 5.0), _measured("op", 3.0)]
    assert summarize_ops(results)[1:] == ["  op 5.00 x"]


def test_an_op_that_failed_has_its_error_in_its_row() -> None:
    result = OpMeasurement("op", 16, "int32", error="TypeError: no int32")
    assert result.row() == ["op int32 16", "TypeError: no int32"]
    assert summarize_ops([result])[0].startswith("0 of 0 ops")
