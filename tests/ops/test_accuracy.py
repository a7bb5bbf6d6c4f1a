"""The errors of numeric functions of elements are within what their docstrings state."""

import re
import zlib
from dataclasses import dataclass
from typing import Any

import graven as tf
import numpy as np
import pytest
from numpy.typing import NDArray

from ops.sample import FLOATS, Sample, all_rows

Array = NDArray[Any]
Real = np.longdouble
MOST = 20.0  # most arguments lie within, where functions are called
INTERVAL_TEXT = r"\w+ in \[[^\]]+\]"
STATED = re.compile(
    r"Accuracy: (?:exact(?: for real numbers)?"
    r"|correctly rounded, within (?P<both>\S+) ULP in float32 and float64"
    r"|within (?P<float32>\S+) ULP in float32 and (?P<float64>\S+) ULP in float64)"
    rf"(?:, for (?P<range>{INTERVAL_TEXT}(?: and {INTERVAL_TEXT})*))?\."
)
INTERVAL = re.compile(r"(\w+) in \[([^,]+), ([^\]]+)\]")
# Public functions of elements without a bound in ULP, and why.
WITHOUT_BOUND = {
    "FloorDiv": "has steps: a quotient that rounds to a whole number takes the next",
    "TruncateDiv": "has steps: a quotient that rounds to a whole number takes the next",
    "NextAfter": "gives a neighbour of a number, which rows of samples compare bit for bit",
    "ClipByValue": "gives one of its inputs, which rows of samples compare bit for bit",
    "AddN": "adds many numbers, of which the last may cancel the others",
    "Cast": "rounds to the dtype asked for: samples/casts.py has its halves and its limits",
}


@dataclass(frozen=True)
class Accuracy:
    """The largest errors in ULP, and the intervals of inputs for which they hold."""

    float32: float
    float64: float
    intervals: dict[str, tuple[float, float]]

    def bound(self, dtype: str) -> float:
        return self.float32 if dtype == "float32" else self.float64


def docstring_of(op: str) -> str:
    """On one line, as lines are broken anywhere."""
    return " ".join(str(getattr(tf.raw_ops, op).__doc__).split())


def stated(op: str) -> Accuracy | None:
    """What the docstring of an op says."""
    found = STATED.search(docstring_of(op))
    if found is None:
        return None
    both = found["both"] or "0"
    intervals = {
        name: (float(low), float(high))
        for name, low, high in INTERVAL.findall(found["range"] or "")
    }
    return Accuracy(float(found["float32"] or both), float(found["float64"] or both), intervals)


def rows() -> dict[str, Sample]:
    """For each op a row of its floats, whose reference computes in long double too."""
    found: dict[str, Sample] = {}
    for row in all_rows()[0]:
        is_function = row.is_elementwise and row.broadcasts and row.reference is not None
        if is_function and "float64" in row.dtypes and not row.attrs:
            found.setdefault(row.op, row)
    return found


ROWS = rows()
BOUNDS = {op: accuracy for op in sorted(ROWS) if (accuracy := stated(op)) is not None}
# Beyond their ranges some functions go on, and only their errors grow.
GOES_ON = {"Digamma", "Zeta", "Polygamma", "Igamma", "Igammac"}
GOES_ON |= {"BesselJ0", "BesselJ1", "BesselY0", "BesselY1"}
WITH_RANGE = [op for op, known in BOUNDS.items() if known.intervals and op not in GOES_ON]


def test_every_public_function_of_floats_states_its_largest_error() -> None:
    silent = set()
    for op in ROWS.keys() - BOUNDS.keys() - WITHOUT_BOUND.keys():
        record = getattr(tf.raw_ops, op)._record
        gives_floats = any(output.endswith(": T") for output in record["outputs"])
        if record["python"] and gives_floats and set(FLOATS) & set(dict(record["types"])["T"]):
            silent.add(op)
    assert silent == set()
    assert WITHOUT_BOUND.keys() & BOUNDS.keys() == set()


def arguments(low: float, high: float, dtype: str, count: int, seed: int) -> Array:
    """Numbers of an interval: evenly spread, of all sizes, and its ends."""
    generator = np.random.default_rng(seed)
    even = generator.uniform(max(low, -MOST), min(high, MOST), count)
    sizes = np.exp2(generator.uniform(-30, 30, count)) * generator.choice([-1.0, 1.0], count)
    near = [end + sizes[:50] * 1e-6 for end in (low, high, 0.0, 1.0) if np.isfinite(end)]
    ends = np.array([0.0, 1.0, -1.0, 0.5, low, high])
    x = np.concatenate([even, sizes, *near, ends]).astype(dtype)
    x = x[(x >= low) & (x <= high)]
    return np.asarray(x[np.isfinite(x)])


def error_in_ulp(got: Array, exact: Array) -> Array:
    """Errors in units in the last place of the exact results.

    What would overflow may be infinite or the largest number; what would be denormal may be zero.
    """
    info = np.finfo(got.dtype)
    slack = 4 * float(info.eps)
    largest, smallest = Real(info.max) * (1 - slack), Real(info.tiny) * (1 + slack)
    with np.errstate(all="ignore"):
        exponent = np.floor(np.log2(np.maximum(np.abs(exact), Real(info.tiny))))
        step = np.exp2(exponent - info.nmant)
        error = np.abs(got.astype(Real) - exact) / step
        same = np.isnan(got) & np.isnan(exact)
        same |= (np.abs(exact) > largest) & (got.astype(Real) * np.sign(exact) > largest)
        same |= (np.abs(exact) < smallest) & (np.abs(got) <= smallest)
    return np.asarray(np.where(same, 0, np.where(np.isnan(error), np.inf, error)), np.float64)


def inputs_of(op: str) -> list[str]:
    return [argument.partition(":")[0] for argument in getattr(tf.raw_ops, op)._record["inputs"]]


def results(op: str, inputs: list[Array]) -> tuple[Array, Array]:
    """What the op gives, and what it should give, in long double."""
    reference = ROWS[op].reference
    assert reference is not None
    with np.errstate(all="ignore"):
        exact = np.asarray(reference(*[x.astype(Real) for x in inputs]), Real)
    got = getattr(tf.raw_ops, op)(*[tf.constant(x) for x in inputs]).numpy()
    return np.asarray(got), exact


def drawn(op: str, accuracy: Accuracy, dtype: str) -> list[Array]:
    """Inputs within the intervals, as many of each."""
    slow = ROWS[op].reference.__module__ == "ops.special_functions"  # one number after another
    anything = (-np.inf, np.inf)
    found = []
    for i, name in enumerate(inputs_of(op)):
        low, high = accuracy.intervals.get(name, anything)
        seed = zlib.crc32(f"{op}{i}".encode())
        found.append(arguments(low, high, dtype, 200 if slow else 5000, seed))
        if op == "Polygamma" and i == 0:
            found[0] = np.round(found[0])  # orders are whole
    count = max(len(x) for x in found)
    generator = np.random.default_rng(1)
    return [generator.permutation(np.resize(x, count)) for x in found]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("op", BOUNDS)
def test_an_error_is_within_the_bound_that_is_stated(op: str, dtype: str) -> None:
    accuracy = BOUNDS[op]
    inputs = drawn(op, accuracy, dtype)
    got, exact = results(op, inputs)
    errors = error_in_ulp(got, exact)
    worst = int(np.argmax(errors))
    at = [x[worst] for x in inputs]
    assert errors[worst] <= accuracy.bound(dtype) + 1e-3, (
        f"{errors[worst]} ULP at {at}: {got[worst]}, not {exact[worst]}"
    )


@pytest.mark.parametrize("op", WITH_RANGE)
def test_outside_of_its_range_a_function_is_nan(op: str) -> None:
    accuracy = BOUNDS[op]
    names = inputs_of(op)
    for i, name in enumerate(names):
        if name not in accuracy.intervals:
            continue
        low, high = accuracy.intervals[name]
        beyond = [end + by for end, by in ((low, -0.5), (high, 0.5)) if np.isfinite(end)]
        inputs = [np.full(len(beyond), 0.75) for _ in names]
        inputs[i] = np.array(beyond)
        got, exact = results(op, inputs)
        assert np.array_equal(np.isnan(got), np.isnan(exact)) and np.isnan(got).all()
