"""Runs rows of the table in Graven, in a mode."""

from collections.abc import Callable
from typing import Any

import graven as tf
from numpy.typing import NDArray

from ops.sample import Application, Case, Sample, Setup, Wrong, as_arrays, as_tensors


def op_of(row: Sample | Wrong, attrs: dict[str, Any]) -> Callable[..., Any]:
    """The op of a row as a function of its inputs."""
    op = getattr(tf.raw_ops, row.op)
    return lambda *inputs, **others: op(*inputs, **{**attrs, **others})


def in_mode(mode: str, call: Callable[..., Any]) -> Callable[..., Any]:
    """A function as a mode runs it."""
    if mode == "graph":
        traced: Callable[..., Any] = tf.function(call)
        return traced
    if mode == "eager":
        return call
    raise ValueError(f"ops do not run in the mode {mode!r} yet")


def prepare(setup: Setup, op: Callable[..., Any], inputs: list[Any]) -> Application:
    """The application of an op to tensors."""
    return setup(tf, op, inputs)


def run(mode: str, case: Case, inputs: list[Any] | None = None) -> list[NDArray[Any]]:
    """The outputs of all calls of a row and what they left behind.

    Args:
      mode: "eager" or "graph".
      case: The row in a dtype.
      inputs: Tensors in place of the row's.
    """
    if inputs is None:
        inputs = as_tensors(tf, case.arrays())
    application = prepare(case.sample.setup, op_of(case.sample, case.attrs), inputs)
    call = in_mode(mode, application.call)
    results = []
    for _ in range(case.sample.calls):
        results += as_arrays(call(*application.arguments))
    return results + as_arrays(application.after())
