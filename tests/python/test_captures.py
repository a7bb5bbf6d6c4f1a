"""Values of Python's that a trace read: each kind of change is noticed, and costs one trace.

The tables of tests/python/captures have a program for each way by which a value can be read. It
defines `f`, and `change()`, after which `f(ONE)` must give another result; `back()`, where there is
one, undoes the change. It starts with k = 2 where f(1.0) is 2.0, and changes to 5 where it is 5.0,
unless it has other numbers as EXPECTED.
"""

from __future__ import annotations

import gc
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import graven as tf
import pytest
from graven import _engine
from python.captures import attributes, items, objects, places
from python.captures.as_module import run_as_module

HEADER = """
import os
import graven as tf
class Box:
    def __init__(self, **values):
        self.__dict__.update(values)
class Slots:
    __slots__ = ("k",)
    def __init__(self, k): self.k = k
ONE = tf.constant(1.0)
FUNCTION = tf.function(stale="retrace")
"""

CASES = places.CASES | attributes.CASES | items.CASES | objects.CASES


@pytest.fixture(params=[True, False], ids=["tags", "identities"])
def _tags(request: pytest.FixtureRequest) -> Iterator[None]:
    before = _engine.has_version_tags()
    _engine.use_version_tags(request.param)
    yield
    _engine.use_version_tags(before)


@pytest.fixture(autouse=True)
def _no_garbage_goes() -> Iterator[None]:
    """Traces are counted of the Functions that live."""
    gc.disable()
    yield
    gc.enable()


def _run(source: str, folder: Path, stale: str = "retrace") -> Any:
    text = HEADER + textwrap.dedent(source)
    return run_as_module(text.replace('stale="retrace"', f'stale="{stale}"'), folder)


def _traces() -> int:
    return sum(row.traces for row in tf.config.trace_cache_info().functions)


@pytest.mark.usefixtures("_tags")
@pytest.mark.parametrize("name", CASES)
def test_a_changed_value_is_noticed(name: str, tmp_path: Path) -> None:
    program = _run(CASES[name], tmp_path)
    before, after = getattr(program, "EXPECTED", (2.0, 5.0))
    one = tf.constant(1.0)
    assert program.f(one) == before
    traces = _traces()
    assert program.f(one) == before
    assert _traces() == traces
    program.change()
    assert program.f(one) == after
    traces = _traces()
    assert program.f(one) == after
    assert _traces() == traces
    if hasattr(program, "back"):
        program.back()
        assert program.f(one) == before
        assert _traces() == traces, "a value that comes back finds its trace"


@pytest.mark.parametrize("name", CASES)
def test_ignore_notices_nothing(name: str, tmp_path: Path) -> None:
    program = _run(CASES[name], tmp_path, stale="ignore")
    one = tf.constant(1.0)
    before = program.f(one)
    program.change()
    assert program.f(one) == before
