"""Calls of ops with sizes that nobody means: negative, beyond any memory, at the ends of int64.

A program of its own, because what is tested is that it survives: it prints each call before it is
made, and what was wrong with it afterwards. test_extreme_sizes.py runs it.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import graven as tf
import numpy as np
from graven import _engine

from ops.sample import all_rows, int32, int64, plain

EXTREMES = (-(2**63), -(2**31), -2, 2**30, 2**31 - 1, 2**32, 2**40, 2**62, 2**63 - 1)
# A size that is refused costs nothing; one that is not is not to eat the machine.
MEMORY_LIMIT = 1 << 28
REFUSALS = (
    tf.errors.InvalidArgumentError,
    tf.errors.OutOfRangeError,
    tf.errors.ResourceExhaustedError,
    tf.errors.UnimplementedError,
    ValueError,  # what inference finds while a function is traced
)
INDEX_DTYPES = ("int32", "int64")
OPS = _engine.op_names()


@dataclass(frozen=True)
class VariableOf:
    """An input that is the handle of a variable of this value."""

    value: Any

    @property
    def shape(self) -> Any:
        """The shape of the value."""
        return np.shape(self.value)


@dataclass(frozen=True)
class ListOf:
    """An input that is a list of the rows of this tensor."""

    rows: Any

    @property
    def shape(self) -> Any:
        """The shape of the tensor."""
        return np.shape(self.rows)


@dataclass(frozen=True)
class Call:
    """An op, its inputs as arrays (a list of them for a list argument), and its attributes."""

    op: str
    inputs: tuple[Any, ...]
    attrs: dict[str, Any]
    what: str = ""  # which of them is extreme

    def __str__(self) -> str:
        return f"{self.op}: {self.what}"


def _stateful(op: str, *bounds: Any, **attrs: Any) -> Call:
    return Call(op, (STATE, np.array(1, np.int64), int32([2, 3]), *bounds), attrs)


def _scatter(op: str) -> Call:
    if op.startswith("ResourceScatterNd"):
        return Call(op, (VARIABLE, int32([[0], [1]]), X), {})
    return Call(op, (VARIABLE, int32([0, 1]), X), {})


def _random(op: str, **attrs: Any) -> Call:
    return Call(op, (int32([2, 3]),), attrs)


def _on_list(op: str, *inputs: Any, **attrs: Any) -> Call:
    return Call(f"TensorList{op}", (LIST, *inputs), attrs)


def _stateless(op: str, *bounds: Any, version: int = 2, **attrs: Any) -> Call:
    start = (
        (np.array([3], np.uint64), np.array([1, 2], np.uint64), np.array(1, np.int32))
        if version == 2
        else (int32([1, 2]),)
    )
    return Call(op, (int32([2, 3]), *start, *bounds), attrs)


X = np.arange(6, dtype=np.float32).reshape(2, 3)
LIST = ListOf(X)
VARIABLE, STATE = VariableOf(X), VariableOf(int64([1, 2, 3]))
LOW, HIGH = np.array(0, np.int32), np.array(9, np.int32)
ALPHA = np.array(0.5, np.float32)
ONE = np.array(1, np.int64)

# Calls of ops that take sizes and have no row in samples/, or none of inputs alone.
MORE_CALLS = [
    Call("ConcatV2", ([X, X], np.array(0, np.int32)), {}),
    Call("UnsortedSegmentSum", (X, int32([0, 1]), np.array(2, np.int32)), {}),
    Call("EnsureShape", (X,), {"shape": [2, 3]}),
    Call("BroadcastGradientArgs", (int32([2, 1]), int32([2, 3])), {}),
    _random("RandomUniform", dtype=tf.float32),
    _random("RandomStandardNormal", dtype=tf.float32),
    _random("TruncatedNormal", dtype=tf.float32),
    Call("RandomUniformInt", (int32([2, 3]), LOW, HIGH), {}),
    Call("RandomGamma", (int32([2, 3]), ALPHA), {"seed": 1, "seed2": 2}),
    Call("RandomPoissonV2", (int32([2, 3]), ALPHA), {"seed": 1, "seed2": 2, "dtype": tf.int32}),
    _random("NonDeterministicInts", dtype=tf.int64),
    Call("InvertPermutation", (int32([1, 0]),), {}),
    Call("RandomShuffle", (X,), {"seed": 1, "seed2": 2}),
    Call("Multinomial", (X, np.array(2, np.int32)), {"seed": 1, "seed2": 2}),
    Call("Assert", (np.array(True), [X]), {"summarize": 3}),
    Call("StringFormat", ([X],), {"template": "%s", "summarize": 3}),
    Call("StatelessRandomGetKeyCounter", (int32([1, 2]),), {}),
    Call("StatelessRandomGetKeyCounterAlg", (int32([1, 2]),), {}),
    _stateful("StatefulUniform", dtype=tf.float32),
    _stateful("StatefulStandardNormalV2", dtype=tf.float32),
    _stateful("StatefulTruncatedNormal", dtype=tf.float32),
    _stateful("StatefulUniformFullInt", dtype=tf.int64),
    _stateful("StatefulUniformInt", LOW, HIGH),
    _stateful("StatefulRandomBinomial", ALPHA, ALPHA, dtype=tf.int32),
    Call("RngSkip", (STATE, ONE, ONE), {}),
    Call("RngReadAndSkip", (STATE, np.array(1, np.int32), np.array(1, np.uint64)), {}),
    Call("ResourceGather", (VARIABLE, int32([0, 1])), {"dtype": tf.float32, "batch_dims": 0}),
    Call("ResourceGatherNd", (VARIABLE, int32([[0, 1]])), {"dtype": tf.float32}),
    *(
        _scatter(f"ResourceScatter{kind}")
        for kind in ("Add", "Sub", "Mul", "Div", "Min", "Max", "Update")
    ),
    *(_scatter(f"ResourceScatterNd{kind}") for kind in ("Add", "Sub", "Min", "Max", "Update")),
    *(
        _stateless(op + suffix, version=version, dtype=tf.float32)
        for op in ("StatelessRandomUniform", "StatelessRandomNormal", "StatelessTruncatedNormal")
        for suffix, version in (("", 1), ("V2", 2))
    ),
    Call("EmptyTensorList", (int32([3]), LOW), {"element_dtype": tf.float32}),
    Call("TensorListReserve", (int32([3]), HIGH), {"element_dtype": tf.float32}),
    Call("TensorListFromTensor", (X, int32([3])), {}),
    Call("TensorListScatterV2", (X, int32([1, 0]), int32([3]), HIGH), {}),
    Call("TensorListSplit", (X, int32([1, 3]), int64([1, 1])), {}),
    _on_list("PopBack", int32([3]), element_dtype=tf.float32),
    _on_list("GetItem", LOW, int32([3]), element_dtype=tf.float32),
    _on_list("SetItem", LOW, X[0], resize_if_index_out_of_bounds=True),
    _on_list("Resize", HIGH),
    _on_list("Stack", int32([3]), element_dtype=tf.float32, num_elements=2),
    _on_list("Gather", int32([1, 0]), int32([3]), element_dtype=tf.float32),
    _on_list("ScatterIntoExistingList", X, int32([1, 0])),
    _on_list("ConcatV2", int32([3]), int64([1, 1]), element_dtype=tf.float32),
    _stateless("StatelessRandomUniformInt", LOW, HIGH, version=1),
    _stateless("StatelessRandomUniformIntV2", LOW, HIGH),
    _stateless("StatelessRandomUniformFullInt", version=1, dtype=tf.int32),
    _stateless("StatelessRandomUniformFullIntV2", dtype=tf.int32),
]


def _is_given(value: Any) -> bool:
    """Whether a row says the dtype of an input: sizes, axes, indices."""
    return isinstance(value, np.ndarray | np.generic) and value.dtype.name in INDEX_DTYPES


def extreme_calls() -> Iterator[Call]:
    """The good calls, each with one of its sizes replaced."""
    seen = set()
    for row in all_rows()[0]:
        if row.setup is not plain:
            continue  # MORE_CALLS has the ops on variables.
        given = [_is_given(value) for value in row.inputs]
        case = next(row.cases())
        call = Call(row.op, tuple(case.arrays()), case.attrs)
        for extreme in _extreme_variants(call, given):
            if str(extreme) not in seen:
                seen.add(str(extreme))
                yield extreme
    for call in MORE_CALLS:
        yield from _extreme_variants(call, [_is_given(value) for value in call.inputs])


def _record(op: str) -> dict[str, Any]:
    function = _engine.raw_op(op)
    assert function is not None
    return function._record


def _kinds_of_inputs(op: str) -> list[str]:
    """The type of each input as the record says it: "int32", "Tidx", "N * T"."""
    return [text.partition(":")[2].strip() for text in _record(op)["inputs"]]


def _index_dtypes(op: str, kind: str) -> list[str]:
    """Which of INDEX_DTYPES an input of this type may have."""
    types = dict(_record(op)["types"])
    return [dtype for dtype in INDEX_DTYPES if dtype in types.get(kind, [kind])]


def _extreme_variants(call: Call, given: list[bool]) -> Iterator[Call]:
    kinds = _kinds_of_inputs(call.op)
    for i, value in enumerate(call.inputs):
        if not given[i] or value.size == 0:
            continue
        for dtype in _index_dtypes(call.op, kinds[i]):
            # Integers of one type attribute change together.
            inputs = [
                x.astype(dtype) if given[j] and kinds[j] == kinds[i] else x
                for j, x in enumerate(call.inputs)
            ]
            for at in sorted({0, value.size - 1}) + ([None] if value.size > 1 else []):
                for extreme in EXTREMES:
                    if not np.iinfo(dtype).min <= extreme <= np.iinfo(dtype).max:
                        continue
                    inputs[i] = value.astype(dtype)
                    inputs[i].flat[slice(None) if at is None else at] = extreme
                    what = (
                        f"input {i} = {inputs[i].tolist()} {dtype} {_sizes(call.inputs)} "
                        f"{call.attrs}"
                    )
                    yield replace(call, inputs=tuple(inputs), what=what)
    for name, value in call.attrs.items():
        for changed in _extreme_attributes(value):
            attrs = {**call.attrs, name: changed}
            yield replace(call, attrs=attrs, what=f"{_sizes(call.inputs)} {attrs}")


def _sizes(inputs: tuple[Any, ...]) -> str:
    return ",".join(str(list(np.shape(x))) if not isinstance(x, list) else "list" for x in inputs)


def _extreme_attributes(value: Any) -> Iterator[Any]:
    def is_number(number: Any) -> bool:
        return isinstance(number, int) and not isinstance(number, bool)

    if is_number(value):
        yield from EXTREMES
    elif isinstance(value, (list, tuple)) and all(map(is_number, value)):
        for i in range(len(value)):
            for extreme in EXTREMES:
                yield [*value[:i], extreme, *value[i + 1 :]]
        for extreme in EXTREMES:
            yield [extreme] * len(value)


def _tensor(value: Any) -> Any:
    if isinstance(value, VariableOf):
        return tf.Variable(value.value).handle
    if isinstance(value, ListOf):
        return tf.raw_ops.TensorListFromTensor(tensor=value.rows, element_shape=-1)
    return [tf.constant(x) for x in value] if isinstance(value, list) else tf.constant(value)


def _apply(call: Call, inputs: list[Any]) -> Any:
    result = getattr(tf.raw_ops, call.op)(*inputs, **call.attrs)
    if isinstance(result, _engine.Operation):  # without outputs
        return None
    return result


def _eagerly(call: Call) -> Any:
    return _apply(call, [_tensor(value) for value in call.inputs])


def _with_constants(call: Call) -> Any:
    is_handle = [isinstance(x, VariableOf | ListOf) for x in call.inputs]
    handles = {i: _tensor(x) for i, x in enumerate(call.inputs) if is_handle[i]}

    @tf.function
    def function() -> Any:
        inputs = [handles[i] if i in handles else _tensor(x) for i, x in enumerate(call.inputs)]
        return _apply(call, inputs)

    return function()


def _with_arguments(call: Call) -> Any:
    function = tf.function(lambda *inputs: _apply(call, list(inputs)))
    return function(*map(_tensor, call.inputs))


WAYS: dict[str, Callable[[Call], Any]] = {
    "eager": _eagerly,
    "traced with constants": _with_constants,
    "traced with arguments": _with_arguments,
}


def outcome(way: Callable[[Call], Any], call: Call) -> tuple[str, str]:
    """("shapes", shapes), ("refused", message), or ("wrong", what happened)."""
    try:
        result = way(call)
    except REFUSALS as error:
        text = str(error)
        # A composite may leave the word to an op that it is made of.
        is_named = any(f"[{op}] " in text for op in OPS)
        return "refused" if is_named else "wrong", f"{type(error).__name__}: {text}"
    except Exception as error:
        return "wrong", f"{type(error).__name__}: {error}"
    parts = result if isinstance(result, (list, tuple)) else [] if result is None else [result]
    return "shapes", str([list(part.shape) for part in parts])


def faults(call: Call) -> list[str]:
    """What is wrong with what happens: a refusal that does not name the op, ways that differ."""
    outcomes = {name: outcome(way, call) for name, way in WAYS.items()}
    wrong = [f"{name}: {text}" for name, (kind, text) in outcomes.items() if kind == "wrong"]
    kinds = {(kind, text if kind == "shapes" else "") for kind, text in outcomes.values()}
    return wrong or ([f"not the same each way: {outcomes}"] if len(kinds) > 1 else [])


def main() -> None:
    """Makes the calls from a given one on."""
    tf.config.set_memory_limit(MEMORY_LIMIT)
    for i, call in enumerate(list(extreme_calls())):
        if i < int(sys.argv[1]):
            continue
        print(json.dumps([i, call.op, str(call)]), flush=True)
        for fault in faults(call):
            print(json.dumps(fault), flush=True)
    print(json.dumps("done"), flush=True)


if __name__ == "__main__":
    main()
