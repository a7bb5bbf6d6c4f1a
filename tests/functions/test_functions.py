"""Each record of the library has rows, which give the same bits however much is known of shapes."""

from __future__ import annotations

import re
from typing import Any

import graven
import numpy as np
import pytest
from graven import _engine, _public

from functions.rows import ROWS, SHAPES, outcome


def test_the_records_are_whole() -> None:
    assert _engine.library_errors() == []


def test_each_record_has_a_row() -> None:
    called = {name for row in ROWS for name in re.findall(r"\btf\.([\w.]+)\(", row)}
    names: dict[str, set[str]] = {}
    for public, first in _engine.library_names().items():
        if not public.rpartition(".")[2].startswith("_"):  # what methods call is tested by them
            names.setdefault(first, set()).add(public)
    assert [first for first, public in names.items() if not called & public] == []


@pytest.mark.parametrize("name", sorted(set(_engine.library_names().values())))
def test_a_docstring_tells_of_each_parameter(name: str) -> None:
    function = _public.function(name)
    record = function._record
    documented = re.findall(r"^  (\w+): \S", function.__doc__, re.MULTILINE)
    parameters = [name.removeprefix("*") for name, _ in function._parameters]
    assert [name for name in parameters if name not in documented] == []
    assert record["returns"].endswith(".")
    for _, _, _, _, text in record["parameters"]:
        assert text == "" or text.endswith("."), text


def bits(result: Any) -> Any:
    if isinstance(result, list):
        return [bits(part) for part in result]
    if isinstance(result, np.ndarray | np.generic):
        array = np.array(result, order="C")
        if array.dtype.kind in "fcV":  # which NaN it is, is not said (docs/numerics.md)
            parts = np.atleast_1d(array).view(array.real.dtype)
            parts[parts != parts] = np.nan
        return array.dtype, array.shape, array.tobytes() if array.dtype != object else str(array)
    return result


@pytest.mark.parametrize("row", ROWS)
@pytest.mark.parametrize("shapes", SHAPES)
def test_a_traced_call_gives_the_bits_of_an_eager_one(row: str, shapes: str, graphs: str) -> None:
    eager, traced = outcome(graven, row), outcome(graven, row, SHAPES[shapes])
    if isinstance(eager, str):
        assert isinstance(traced, str)
        return
    # A call that cannot do without a size or a rank is refused: which ones, TensorFlow decides
    # (tests/peers).
    if isinstance(traced, str) and shapes != "known":
        return
    assert bits(traced) == bits(eager)
