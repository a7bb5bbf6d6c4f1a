"""Which ops are timed, and the verdict on them."""

from types import SimpleNamespace
from typing import Any

import graven
import numpy as np
import pytest

from benchmarks.op_arguments import make_arguments
from benchmarks.op_calls import DTYPES, OTHER_DTYPES, OpCall, arguments_for, op_calls, resolve
from benchmarks.op_report import OpMeasurement, is_met, summarize_ops
from benchmarks.op_results import describe_result, difference

CALLS, UNTIMED = op_calls(graven)


def _add(x: Any, y: Any, name: Any = None) -> Any:
    return x + y


def _strange(x: Any, frobnication: Any) -> Any:
    raise AssertionError("never called")


def _nothing(name: Any = None) -> None:
    raise AssertionError("never called")


def _relu(features: Any, name: Any = None) -> Any:
    return features


def _module() -> SimpleNamespace:
    empty = SimpleNamespace()
    math = SimpleNamespace(add=_add, strange=_strange)
    return SimpleNamespace(
        **dict(add=_add, nothing=_nothing, _private=_add, Tensor=int, math=math),
        **dict(nn=empty, bitwise=empty, linalg=empty, random=empty, strings=empty),
        raw_ops=SimpleNamespace(Relu=_relu, Unheard=_strange),
        constant=np.asarray,
    )


def test_every_op_is_timed_or_has_a_reason_why_not() -> None:
    ops = set(dir(graven.raw_ops))
    timed = {call.function.removeprefix("raw_ops.") for call in CALLS if call.is_op}
    assert sorted(ops - timed - set(UNTIMED)) == []
    assert [why for why in UNTIMED.values() if "not known" in why] == []


@pytest.mark.parametrize("call", CALLS, ids=lambda call: call.title)
def test_a_call_works_in_one_dtype_at_least(call: OpCall) -> None:
    function = resolve(graven, call.function)
    errors = []
    for dtype in call.dtypes or (*DTYPES, *OTHER_DTYPES):
        arguments, kept = make_arguments(graven, call.meanings, 16, dtype)
        try:
            describe_result(function(**arguments))
        except (graven.errors.OpError, TypeError, ValueError) as error:
            errors.append(error)
        else:
            return
        finally:
            del kept
    raise errors[0]


def test_ops_come_first_and_functions_follow_once_with_all_their_names() -> None:
    calls, untimed = op_calls(_module())
    assert calls == [
        OpCall("Relu", "raw_ops.Relu", ["Relu", "raw_ops.Relu"], {"features": "signed_matrix"}),
        OpCall("add", "add", ["add", "math.add"], {"x": "matrix", "y": "matrix"}),
    ]
    assert untimed["Unheard"] == untimed["math.strange"]
    assert untimed["Unheard"] == "the meaning of frobnication is not known"


def test_an_op_can_be_asked_for_by_its_public_names() -> None:
    (relu,) = [call for call in CALLS if call.title == "Relu"]
    assert {"Relu", "raw_ops.Relu", "nn.relu"} <= set(relu.names)


def test_a_parameter_that_a_system_calls_otherwise_is_found_by_its_place() -> None:
    def sum_of(input: Any, axis: Any, keep_dims: bool = False) -> None: ...

    meanings = {"input": "matrix", "reduction_indices": "axes_tensor"}
    assert arguments_for(sum_of, meanings) == {"input": "matrix", "axis": "axes_tensor"}


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32"])
@pytest.mark.parametrize(("elements", "side"), [(16, 4), (1 << 20, 1024)])
def test_arguments_have_the_size_and_the_dtype_that_are_asked_for(
    elements: int, side: int, dtype: str
) -> None:
    meanings = {"x": "matrix", "y": "matrix", "indices": "rows"}
    arguments, _ = make_arguments(_module(), meanings, elements, dtype)
    assert arguments["x"].shape == (side, side)
    assert arguments["x"].dtype == dtype
    assert not np.array_equal(arguments["x"], arguments["y"])
    assert sorted(arguments["indices"]) == list(range(side))


def test_arguments_of_one_call_are_the_same_in_every_process() -> None:
    meanings = {"x": "matrix", "y": "signed_matrix"}
    first, _ = make_arguments(_module(), meanings, 16, "float32")
    again, _ = make_arguments(_module(), meanings, 16, "float32")
    np.testing.assert_array_equal(first["y"], again["y"])


def _described(values: Any) -> Any:
    return describe_result(graven.constant(values))


def test_results_are_compared_by_dtype_shape_and_values() -> None:
    ours = _described([1.0, float("nan"), 3.0])
    assert difference(ours, _described([1.0, float("nan"), 3.0 + 1e-5])) == ""
    assert "WrongResult" in difference(ours, _described([1.0, float("nan"), 3.1]))
    assert "WrongResult" in difference(ours, _described([1.0, 2.0, 3.0]))
    assert difference(ours, _described([1.0, 2.0])) == "float32[3], float32[2] in TensorFlow"
    assert difference([], ours) == "0 results, 1 in TensorFlow"
    texts = _described(["a", "b"])
    assert difference(texts, texts) == ""
    assert "WrongResult" in difference(texts, _described(["a", "c"]))


def _measured(op: str, seconds: float) -> OpMeasurement:
    return OpMeasurement(op, f"raw_ops.{op}", 16, "float32", [seconds], [1.0])


def test_one_slow_op_in_ten_is_allowed() -> None:
    results = [_measured(f"Op{i}", 1.0) for i in range(9)] + [_measured("Slow", 3.0)]
    assert is_met(results)
    assert summarize_ops(results) == [
        "10 ops timed; 1 take over 2.00 x TensorFlow's time in a dtype or size; "
        "one in ten may: met",
        "  Slow: float32 16 3.00 x",
    ]


def test_more_than_one_slow_op_in_ten_is_too_many() -> None:
    results = [_measured(f"Op{i}", 1.0) for i in range(8)] + [_measured("Slow", 3.0)]
    assert not is_met(results)
    assert summarize_ops(results)[0].endswith("missed")


def test_an_op_is_counted_once_and_its_slow_cases_are_named() -> None:
    results = [_measured("Op", 1.0), _measured("Op", 5.0), _measured("Op", 3.0)]
    assert summarize_ops(results)[0].startswith("1 ops timed; 1 take over")
    assert summarize_ops(results)[1:] == ["  Op: float32 16 5.00 x, float32 16 3.00 x"]


def test_functions_made_of_ops_have_a_summary_of_their_own() -> None:
    function = OpMeasurement("nn.moments", "nn.moments", 16, "float32", [3.0], [1.0])
    results = [_measured("Op", 1.0), function]
    assert is_met(results)
    assert summarize_ops(results)[1:] == [
        "1 functions made of ops timed; 1 take over 2.00 x TensorFlow's time in a dtype or size",
        "  nn.moments: float32 16 3.00 x",
    ]


def test_the_fastest_rounds_are_compared() -> None:
    result = OpMeasurement("Op", "raw_ops.Op", 16, "int32", [9.0, 2.0, 8.0], [7.0, 4.0])
    assert result.ratio == 0.5


def test_an_op_that_failed_has_its_error_in_its_row() -> None:
    result = OpMeasurement("Op", "raw_ops.Op", 16, "int32", error="TypeError: no int32")
    assert result.row() == ["Op int32 16", "TypeError: no int32"]
    assert summarize_ops([result])[0].startswith("0 ops timed")
