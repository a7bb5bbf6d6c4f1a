"""Sizes that nobody means are refused in words, eagerly and traced: nothing crashes or hangs."""

import json
import os
import queue
import signal
import subprocess
import sys
import threading
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import pytest
from graven import _engine
from ops.extreme_sizes import extreme_calls

SECONDS_OF_A_CALL = 20

# Ops with integers that are no sizes.
WITHOUT_SIZES = {
    **dict.fromkeys(
        (
            *("Case", "If", "StatelessCase", "StatelessIf", "StatelessWhile", "While"),
            *("PartitionedCall", "StatefulPartitionedCall"),
        ),
        "dtypes of the outputs",
    ),
    "VarHandleOp": "names of devices",
}


def lines_of(process: subprocess.Popen[str]) -> Iterator[Any]:
    """What the process prints; ends when it ends, or when a call takes too long."""
    lines: queue.Queue[str] = queue.Queue()

    def read() -> None:
        assert process.stdout is not None
        for line in process.stdout:
            lines.put(line)
        lines.put("")

    threading.Thread(target=read, daemon=True).start()
    while line := lines.get(timeout=SECONDS_OF_A_CALL):
        yield json.loads(line)


def run_from(first: int, faults: dict[str, list[str]]) -> int | None:
    """Makes calls until one ends the process; returns which, or None at the end of the table."""
    process = subprocess.Popen(
        [sys.executable, "-m", "ops.extreme_sizes", str(first)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    at, op, call = -1, "", ""
    what = ""
    try:
        for line in lines_of(process):
            if line == "done":
                return None
            if isinstance(line, list):
                at, op, call = line
            else:
                faults[op].append(f"{call}: {line}")
        what = f"ends the process: {signal.Signals(-process.wait()).name}"
    except queue.Empty:
        what = "hangs"
    finally:
        process.kill()
        process.wait()
    faults[op].append(f"{call}: {what}")
    return at


@pytest.fixture(scope="module")
def faults() -> dict[str, list[str]]:
    found: dict[str, list[str]] = defaultdict(list)
    last: int | None = -1
    while last is not None:
        last = run_from(last + 1, found)
    return found


OPS = sorted({call.op for call in extreme_calls()})


def takes_integers(op: str) -> bool:
    """Whether an input can be nothing but integers, or an attribute is an integer or a list."""
    function = _engine.raw_op(op)
    assert function is not None
    record = function._record
    types = {name: set(allowed) for name, allowed in record["types"]}
    kinds = [text.partition(":")[2].strip() for text in record["inputs"]]
    integers = {"int8", "uint8", "int16", "int32", "int64"}
    return any(types.get(kind, {kind}) <= integers for kind in kinds) or any(
        isinstance(default, list) or (isinstance(default, int) and not isinstance(default, bool))
        for _, default in function._parameters
    )


def test_every_op_that_takes_sizes_is_called() -> None:
    expected = {op for op in _engine.op_names() if takes_integers(op)} - set(WITHOUT_SIZES)
    assert sorted(expected - set(OPS)) == []


@pytest.mark.parametrize("op", OPS)
def test_an_op_refuses_extreme_sizes_or_computes_them(
    op: str, faults: dict[str, list[str]]
) -> None:
    assert not faults[op], "\n".join(faults[op][:20])
