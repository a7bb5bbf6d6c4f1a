"""The check of who names ops."""

import check_op_names
import pytest

HANDLES = check_op_names.handles_of(
    "// inline OpHandle<NoAttrs> kComment;\n"
    "GRAVEN_API inline OpHandle<NoAttrs> kSum, kMean,\n    kProd;  // x -> y\n"
)


def test_handles_are_read_from_their_declarations() -> None:
    assert {"kSum", "kMean", "kProd"} == HANDLES


@pytest.mark.parametrize(
    ("path", "line", "found"),
    [
        ("graven/api/math.cc", "apply(engine::kSum, {x});", 1),
        ("graven/api/math.cc", "apply(kSum, {x}); apply(*kMean, {x});", 2),
        ("graven/api/math.cc", "case Instruction::kSum: // kMean", 0),
        ("graven/api/math.cc", 'error("kSum")', 0),
        ("graven/api/operand.cc", "apply(engine::kSum, {x});", 0),
        ("graven/python/math_test.cc", "apply(engine::kSum, {x});", 0),
        ("graven/library/math.cc", "c(kSum, {x});", 0),
        ("graven/runtime/run.cc", 'ops.find("Sum")', 1),
        ("graven/runtime/run.cc", 'names.find("sum")', 0),
    ],
)
def test_front_ends_apply_functions_and_others_look_nothing_up(
    path: str, line: str, found: int
) -> None:
    assert len(list(check_op_names.check_cpp(path, f"\n{line}\n", HANDLES))) == found


def test_a_module_of_the_package_names_no_op() -> None:
    text = "x = raw.Sum(x, axis=0)\ny = raw.register\nz = raw_ops.Mean\n"
    assert [line.split(": ")[0] for line in check_op_names.check_python("a.py", text)] == [
        "a.py:1",
        "a.py:3",
    ]
