"""docs/numerics.md says what graven/kernels does."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_the_page_states_the_accuracy_of_every_function() -> None:
    source = (ROOT / "graven/kernels/accuracy.h").read_text()
    rows = re.findall(r"\{Instruction::k(\w+), ([\d.]+), ([\d.]+)\}", source)
    stated = [f"| {name.lower()} | {float32} | {float64} |" for name, float32, float64 in rows]
    page = (ROOT / "docs/numerics.md").read_text()
    table = page.split("| function | float32 | float64 |\n| --- | --- | --- |\n")[1]
    assert stated
    assert table.split("\n\n")[0].splitlines() == stated


def test_the_order_of_sums_has_the_sizes_of_the_kernels() -> None:
    page = (ROOT / "docs/numerics.md").read_text()
    header = (ROOT / "graven/kernels/reduction_order.h").read_text()
    sizes = dict(re.findall(r"\b(k\w+) = (\d+)", header))
    assert f"segments of {sizes['kRowSegment']};" in page
    assert f"at most {sizes['kRowOrderLaneBytes']} bytes of accumulators" in page
    assert f"segments of {sizes['kColumnSegment']}." in page
