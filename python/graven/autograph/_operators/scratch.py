"""Graphs that are made to look at what code does, and dropped."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from graven import _engine
from graven._concrete_function import Options

T = TypeVar("T")

_OPTIONS = Options(
    input_signature=None, autograph=False, jit_compile=None, reduce_retracing=False, attributes={}
)


def in_scratch_graph(run: Callable[[], T]) -> T:
    """Runs code whose ops go into a graph of their own, which is dropped.

    Tensors from outside are captured, as in a function. What the code returns is good for looks at
    dtypes and shapes only.

    Args:
      run: The code.
    """
    results: list[T] = []

    def body(*args: Any) -> None:
        del args
        results.append(run())

    function = _engine.Function(body, "scratch", [], False, True, False, None, False)
    function._options = _OPTIONS
    function._call_traced = body  # type: ignore[method-assign]  # nothing is converted, no status
    function._resolve((), {})
    return results[-1]
