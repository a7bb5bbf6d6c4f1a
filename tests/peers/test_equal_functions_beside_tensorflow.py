"""Functions as arguments, which share traces in Graven or do not, give what TensorFlow gives.

It traces for each function that was not there before.
"""

import logging
import math
import os
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import pytest
import tensorflow
from python.captures import equal_functions
from python.captures.as_module import run_as_module

IMPORTS = """
import collections, functools, itertools, operator, sys
import numpy as np
import {} as tf
"""
PROGRAMS = {
    **{name: textwrap.dedent(source) for name, (_, source) in equal_functions.SHARED.items()},
    **equal_functions.programs_apart(),
}
# TensorFlow does not look again at what a function that was there before has captured.
STALE = {
    "a function that is also a global",
    "a function whose cell is set",
    "a function whose defaults and code are set",
}
# TensorFlow keeps one tensor for both zeros outside of Functions.
ZEROS = {"zeros of both signs"}


@pytest.fixture(autouse=True)
def _pi_stays() -> Iterator[None]:
    tensorflow.get_logger().setLevel(logging.ERROR)
    pi = math.pi
    yield
    math.pi = pi  # type: ignore[misc]


def _results(system: str, source: str, folder: Path) -> list[Any]:
    program = run_as_module(IMPORTS.format(system) + equal_functions.HEADER + source, folder)
    shares = {"share_equal_functions": True} if system == "graven" else {}
    f = program.tf.function(program.body, **shares)
    results: list[Any] = []
    for args in program.steps():
        try:
            results.append(float(f(program.x, *args)))
        except Exception as error:
            results.append(type(error).__name__)
    return results


@pytest.mark.parametrize("name", sorted(PROGRAMS.keys() - STALE - ZEROS))
def test_results_are_tensorflows(name: str, tmp_path: Path) -> None:
    ours = _results("graven", PROGRAMS[name], tmp_path)
    math.pi = 3.141592653589793  # type: ignore[misc]
    assert ours == _results("tensorflow", PROGRAMS[name], tmp_path)
