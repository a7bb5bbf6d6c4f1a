"""One thread and two give the same bits, on inputs large enough to be cut: those that are timed."""

import inspect
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import graven as tf
import pytest

from ops.sample import as_arrays
from ops.test_ops import assert_same_bits

# The benchmarks are a program of the checkout, not installed.
sys.path.append(str(Path(__file__).resolve().parents[2]))
from benchmarks.op_arguments import make_arguments
from benchmarks.op_calls import DTYPES, OTHER_DTYPES, OpCall, op_calls, resolve

# Enough elements for several pieces, however cheap one is.
MANY = 1 << 18
# Results that are no arrays, and numbers that nothing but the system's entropy decides.
LEFT_OUT = {"VarHandleOp", "NonDeterministicInts"}


def gives_handle(call: OpCall) -> bool:
    outputs: list[str] = resolve(tf, call.function)._record["outputs"]
    return any(output.endswith(": variant") for output in outputs)


OPS = [call for call in op_calls(tf)[0] if call.is_op]
CALLS = [call for call in OPS if call.title not in LEFT_OUT and not gives_handle(call)]


@pytest.fixture(autouse=True)
def threads_are_as_before() -> Iterator[None]:
    before = tf.config.get_num_threads()
    yield
    tf.config.set_num_threads(before)


def dtype_of(call: OpCall) -> str:
    """The first dtype in which a small call works."""
    for dtype in call.dtypes or (*DTYPES, *OTHER_DTYPES):
        try:
            run(call, 16, dtype)
        except (tf.errors.OpError, TypeError, ValueError):
            continue
        return dtype
    raise AssertionError(f"{call.title} takes none of its dtypes")


def run(call: OpCall, n: int, dtype: str) -> list[Any]:
    function = resolve(tf, call.function)
    arguments, kept = make_arguments(tf, call.meanings, n, dtype)
    if "seed2" in inspect.signature(function).parameters:
        arguments |= {"seed": 1, "seed2": 2}
    tf.random.set_seed(3)
    found = as_arrays(function(**arguments))
    del kept
    return found


@pytest.mark.parametrize("call", CALLS, ids=lambda call: call.title)
def test_one_thread_and_two_give_the_same_bits(call: OpCall) -> None:
    dtype = dtype_of(call)
    results = []
    for threads in (1, 2):
        tf.config.set_num_threads(threads)
        results.append(run(call, MANY, dtype))
    assert_same_bits(*results)
