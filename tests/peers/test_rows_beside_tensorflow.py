"""Ragged tensors, and rows of composite tensors, in both systems: map_fn, loops, concat and stack.

Each call is made eagerly and in a tf.function; results and classes of errors are compared.
"""

# tf is either system here, and so are its decorators and classes.
# mypy: disable-error-code="untyped-decorator,misc,name-defined"

import os
from collections.abc import Callable, Iterable
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import graven
import numpy as np
import pytest
import tensorflow
from both_systems import class_of


def classes(tf: Any) -> dict[str, Any]:
    class Pair(tf.experimental.BatchableExtensionType):
        a: tf.Tensor
        b: tf.Tensor
        k: float = 1.0

    class WithRows(tf.experimental.BatchableExtensionType):
        a: tf.Tensor
        rows: tf.RaggedTensor

    class Plain(tf.experimental.ExtensionType):
        a: tf.Tensor
        n: int = 1

    return {"Pair": Pair, "WithRows": WithRows, "Plain": Plain}


def names(tf: Any) -> dict[str, Any]:
    """What calls may use."""
    pair = classes(tf)["Pair"]
    made = {
        "tf": tf,
        "np": np,
        "R": tf.RaggedTensor,
        "Spec": tf.RaggedTensorSpec,
        "T": tf.TensorSpec,
        "O": tf.experimental.Optional,
        "r": tf.ragged.constant([[1], [2, 3], []]),
        "r1": tf.ragged.constant([[1, 2], [3, 4, 5]]),
        "r2": tf.ragged.constant([[6], [7, 8, 9]]),
        "dense": tf.constant([[1, 2, 3], [4, 5, 6]]),
        "n": tf.ragged.constant([[[1], [2, 3]], [], [[4]]]),
        "n1": tf.ragged.constant([[[1, 2], [3]], [[4, 5, 6]]]),
        "n2": tf.ragged.constant([[[7]], [[8], [9, 10]]]),
        "deep": tf.ragged.constant([[[[1], [2, 3]], []], [], [[[4, 5, 6]]]]),
        "cube": tf.reshape(tf.range(8), [2, 2, 2]),
        "uniform": tf.RaggedTensor.from_row_splits(tf.reshape(tf.range(6), [3, 2]), [0, 1, 3]),
        "narrow": tf.RaggedTensor.from_row_splits([1, 2], tf.constant([0, 1, 2])),
        "counts": tf.constant([1, 0, 2]),
        "none": tf.constant([], tf.int32),
        "two": tf.constant([1.0, 2.0]),
        "pair": pair(tf.constant([1.0, 2.0]), tf.constant([[1.0, 2.0], [3.0, 4.0]]), 2.0),
        **classes(tf),
    }
    return {**made, "Pair": pair}


def shown(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return [shown(part) for part in value]
    if isinstance(value, dict):
        return {key: shown(part) for key, part in value.items()}
    for tf in (graven, tensorflow):
        if isinstance(value, tf.RaggedTensor):
            return ["ragged", value.to_list(), str(value.shape), value.row_splits.dtype.name]
        if isinstance(value, tf.SparseTensor):
            return ["sparse", *map(shown, (value.indices, value.values, value.dense_shape))]
        if isinstance(value, tf.IndexedSlices):
            return ["slices", *map(shown, (value.values, value.indices))]
        if isinstance(value, tf.experimental.ExtensionType):
            fields = [getattr(value, name) for name in type(value).__annotations__]
            return [type(value).__name__, *map(shown, fields)]
        if isinstance(value, tf.Tensor):
            return f"{value.dtype.name} {value.numpy().tolist()}"
    return value


def outcome(tf: Any, wrap: Callable[[Any], Any], call: str) -> Any:
    """What a call gives, or the class of what it raises."""
    space = names(tf)
    try:
        return shown(wrap(lambda: eval(call, space))())
    except Exception as error:
        return class_of(error)


def lines(text: str) -> Iterable[Any]:
    return [pytest.param(line, id=line[:60]) for line in text.strip().splitlines()]


MAPS = """
tf.map_fn(tf.range, counts, fn_output_signature=Spec([None], tf.int32))
tf.map_fn(tf.size, r, fn_output_signature=tf.int32)
tf.map_fn(lambda x: x.row_lengths(), n, fn_output_signature=Spec([None], tf.int64))
tf.map_fn(lambda x: x * 2, r)
tf.map_fn(lambda x: x[:1], r)
tf.map_fn(lambda x: x, n)
tf.map_fn(lambda x: x, deep)
tf.map_fn(lambda x: x.values, n)
tf.map_fn(tf.reduce_sum, r)
tf.map_fn(lambda x: tf.cast(x, tf.float32), r)
tf.map_fn(lambda k: R.from_row_splits(tf.range(k), [0, k, k]), counts, fn_output_signature=Spec([None, None], tf.int32))
tf.map_fn(lambda k: R.from_row_splits(tf.range(k), [0, k, k]), counts, fn_output_signature=Spec([2, None], tf.int32))
tf.map_fn(lambda k: R.from_row_splits(tf.range(k), [0, k, k]), counts, fn_output_signature=Spec([3, None], tf.int32))
tf.map_fn(lambda k: R.from_row_splits(tf.range(k), tf.stack([0, k])), counts, fn_output_signature=Spec([None, None], tf.int32, row_splits_dtype=tf.int32))
tf.map_fn(lambda k: R.from_row_splits(tf.range(k), tf.stack([0, k])), counts, fn_output_signature=Spec([None, None], tf.int32))
tf.map_fn(lambda k: tf.ones([k, 2]), counts, fn_output_signature=Spec([None, 2], ragged_rank=0))
tf.map_fn(lambda k: tf.ones([k, 2]), counts, fn_output_signature=Spec(None, ragged_rank=0))
tf.map_fn(lambda k: tf.ones([k, 2]), counts, fn_output_signature=Spec([None, None]))
tf.map_fn(lambda k: r, counts, fn_output_signature=Spec([None], tf.int32))
tf.map_fn(lambda k: k, counts, fn_output_signature=Spec([None], tf.int32))
tf.map_fn(lambda k: k, counts, fn_output_signature=Spec(None, tf.int32, ragged_rank=0))
tf.map_fn(tf.range, counts, fn_output_signature=Spec([None]))
tf.map_fn(tf.range, none, fn_output_signature=Spec([None], tf.int32))
tf.map_fn(lambda k: r, none, fn_output_signature=Spec([None, None], tf.int32))
tf.map_fn(tf.size, tf.ragged.constant([], ragged_rank=1, dtype=tf.int32), fn_output_signature=tf.int32)
tf.map_fn(lambda e: (e[0] + e[1], tf.size(e[0])), (r, tf.constant([10, 20, 30])), fn_output_signature=(Spec([None], tf.int32), tf.int32))
tf.map_fn(lambda e: e[0], (r, tf.constant([10, 20])), fn_output_signature=Spec([None], tf.int32))
tf.map_fn(lambda e: {"b": e["a"]}, {"a": r}, fn_output_signature={"b": Spec([None], tf.int32)})
tf.map_fn(lambda x: x, r, fn_output_signature=T([None], tf.int32))
tf.map_fn(lambda x: x, tf.ragged.constant([["a", "b"], []]))
tf.map_fn(lambda x: x + 1, uniform)
tf.map_fn(lambda x: x + 1, R.from_uniform_row_length(tf.range(6), 2))
tf.map_fn(lambda x: x.values, tf.IndexedSlices(two, counts[:2]), fn_output_signature=tf.float32)
tf.map_fn(lambda x: O.from_value(x), two, fn_output_signature=tf.OptionalSpec(T([])))
tf.map_fn(lambda p: p.a * p.k, pair, fn_output_signature=tf.float32)
tf.map_fn(lambda p: Pair(p.a + 1, p.b * 2, p.k), pair)
tf.map_fn(lambda p: Pair(p.a + 1, p.b * 2, 3.0), pair)
tf.map_fn(lambda x: Pair(x, [x, x], 3.0), two, fn_output_signature=Pair.Spec(T([]), T([2]), 3.0))
tf.map_fn(lambda x: Pair(x, [x, x], 3.0), two, fn_output_signature=Pair.Spec(T([]), T([2]), 4.0))
tf.map_fn(lambda x: Pair(x, [x, x], 3.0), two, fn_output_signature=Pair.Spec(T([]), T([3]), 3.0))
tf.map_fn(lambda x: Pair(x, [x, x], 3.0), two, fn_output_signature=Pair.Spec(T(None), T(None), 3.0))
tf.map_fn(lambda x: x, two, fn_output_signature=Pair.Spec(T([]), T([2]), 3.0))
tf.map_fn(lambda e: {"m": Pair(e[0], [e[0]]), "t": e[1]}, (two, counts[:2]), fn_output_signature={"m": Pair.Spec(T([]), T([1]), 1.0), "t": tf.int32})
tf.map_fn(lambda e: tf.size(e.rows) + tf.cast(e.a, tf.int32), WithRows(tf.constant([1.0, 2.0, 3.0]), r), fn_output_signature=tf.int32)
tf.map_fn(lambda k: WithRows(tf.cast(k, tf.float32), R.from_row_splits(tf.range(k), [0, k])), counts, fn_output_signature=WithRows.Spec(T([]), Spec([None, None], tf.int32)))
tf.foldl(lambda a, x: Plain(a.a + x, 1), two, initializer=Plain(tf.constant(0.0), 1))
tf.vectorized_map(lambda p: p.a * p.b[0], pair)
tf.vectorized_map(lambda p: Pair(p.a + 1, p.b, p.k), pair)
"""  # noqa: E501

ROWS = """
r[0]
r[2]
r[-1]
r[-3]
r[3]
r[tf.constant(1)]
r[tf.constant(-1, tf.int64)]
r[np.int64(1)]
r[1, 0]
r[1, -1]
r[1, 5]
r[1, 1:]
r[[1, 0]]
r[1][tf.newaxis]
n[0]
n[1]
n[0, 1]
n[0, 1, 0]
n[0, 5]
n[-1, -1, -1]
uniform[1]
uniform[1, 0, 1]
deep[0][1]
narrow[1]
R.from_row_splits(r, [0, 2, 3])[0]
R.from_uniform_row_length(tf.range(6), 2)[1]
r["a"]
r[1.0]
r[True]
r[tf.constant([0])]
r[tf.constant(1.0)]
[r == None, r != None, None == r]
hash(r)
{r: 1}
bool(r)
len(r)
+r
r @ r
r << 1
"""

JOINS = """
tf.concat([r1], 0)
tf.concat(r1, 0)
tf.concat((r1, r2), axis=0, name="x")
tf.concat([r1, n1], 0)
tf.concat([r1, [[1, 2]]], 0)
tf.concat([r1, r], 1)
tf.concat([r1, r2], tf.constant(0))
tf.concat([r1, r2], "a")
tf.concat([r1, narrow], 0)
tf.concat([uniform, tf.ones([2, 2, 2], tf.int32)], 0)
tf.concat([uniform, tf.ones([2, 2, 2], tf.int32)], 1)
tf.concat([uniform, uniform], 2)
tf.concat([n1, n1], 2)
tf.concat([tf.ragged.constant([["a"]]), tf.ragged.constant([["b", "c"], []])], 0)
tf.concat([tf.ragged.constant([], ragged_rank=1, dtype=tf.int32), r1], 0)
tf.stack([r1, r2])
tf.stack([r1, r2], axis=1, name="x")
tf.stack([r1, r1], axis=2)
tf.ragged.stack([tf.constant([1, 2]), tf.constant([3])])
tf.ragged.stack([dense, tf.constant([[5], [6], [7]])])
tf.ragged.stack([tf.constant([1, 2]), tf.constant([3, 4])], axis=1)
[tf.size(r1), tf.size(n1, out_type=tf.int64), tf.rank(r1), tf.rank(deep)]
[r1.with_values(r1.values * 2), n1.with_flat_values(tf.range(6) * 2)]
r1.with_values(tf.constant([1, 2]))
r1.with_values(tf.constant(1))
"""

LOOPS = """
tf.while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, tf.concat([x, x], 0)), (0, r1), shape_invariants=(tf.TensorShape([]), {}))[1]
"""  # noqa: E501
INVARIANTS = """
Spec([None, None], tf.int32)
tf.TensorShape([None, None])
tf.TensorShape(None)
None
tf.TensorShape([None])
Spec([None, None], tf.float32)
Spec([None, None, None], tf.int32)
Spec([3, None], tf.int32)
T([None, None], tf.int32)
"""
# Of a variable `x`: its first value, what an iteration makes of it, and its invariant.
VARIABLES = """
r1 | tf.concat([x, x], 1) | None
r1 | x.with_values(x.values + 1) | None
tf.SparseTensor([[0, 0]], [1], [2, 2]) | tf.SparseTensor(tf.concat([x.indices, x.indices + 1], 0), tf.concat([x.values] * 2, 0), x.dense_shape * 2) | tf.TensorShape([None])
tf.SparseTensor([[0, 0]], [1], [2, 2]) | tf.SparseTensor(tf.concat([x.indices, x.indices + 1], 0), tf.concat([x.values] * 2, 0), x.dense_shape * 2) | tf.TensorShape([2])
tf.SparseTensor([[0, 0]], [1], [2, 2]) | tf.SparseTensor(tf.concat([x.indices, x.indices + 1], 0), tf.concat([x.values] * 2, 0), x.dense_shape * 2) | tf.SparseTensorSpec([None, None], tf.int32)
tf.SparseTensor([[0, 0]], [1], [2, 2]) | x | tf.TensorShape([None, None])
tf.IndexedSlices(two, counts[:2]) | tf.IndexedSlices(tf.concat([x.values] * 2, 0), tf.concat([x.indices] * 2, 0)) | tf.TensorShape([None])
Plain([1.0]) | Plain(tf.concat([x.a, x.a], 0)) | Plain.Spec(T([None]), 1)
Plain([1.0]) | Plain(tf.concat([x.a, x.a], 0)) | None
Plain([1.0]) | Plain(tf.concat([x.a, x.a], 0)) | Plain.Spec(T([None, None]), 1)
Plain([1.0]) | Plain(tf.concat([x.a, x.a], 0)) | Plain.Spec(T([1]), 1)
Plain([1.0]) | Plain(tf.concat([x.a, x.a], 0)) | Plain.Spec(T([None]), 2)
Plain([1.0]) | Plain(tf.concat([x.a, x.a], 0)) | tf.TensorShape([None])
Plain([1.0]) | Plain(tf.concat([x.a, x.a], 0)) | Pair.Spec(T([None]), T([None]), 1.0)
O.from_value(tf.constant([1.0])) | O.from_value(tf.concat([x.get_value()] * 2, 0)) | tf.OptionalSpec(T([None]))
O.empty(T([None])) | O.from_value(tf.ones([2])) | None
"""  # noqa: E501


def each_loop() -> list[Any]:
    grow = LOOPS.strip()
    loops = [(f"grow {i}", grow.format(i)) for i in INVARIANTS.strip().splitlines()]
    for variable in VARIABLES.strip().splitlines():
        first, after, invariant = variable.split(" | ")
        invariants = (
            "" if invariant == "None" else f"shape_invariants=(tf.TensorShape([]), {invariant})"
        )
        call = (
            f"[v.get_value() if isinstance(v, O) else v for v in tf.while_loop(lambda i, x: i < 3, "
            f"lambda i, x: (i + 1, {after}), (tf.constant(0), {first}), {invariants})]"
        )
        loops.append((f"{first[:20]} {invariant}", call))
    return [pytest.param(call, id=name) for name, call in loops]


AXES = [
    pytest.param(f"tf.{f}([{parts}], {axis})", id=f"{f} {parts} {axis}")
    for f in ("concat", "stack")
    for parts in ("r1, r2", "r1, dense", "dense, r1", "n1, n2", "n1, cube")
    for axis in (0, 1, 2, -1, -2, -3, 4)
]
# Graven says that row splits differ when it traces, TensorFlow when the graph runs.
KNOWN_EARLIER = {
    f"tf.stack([{parts}], {axis})"
    for parts, axes in (("r1, dense", (2, -1)), ("dense, r1", (2, -1)), ("n1, cube", (-1,)))
    for axis in axes
}
GRADIENTS = """
from_row_splits(v, [0, 1, 3, 3]) | tf.map_fn(lambda x: x * x, r).values
from_row_splits(v, [0, 1, 3, 3]) | tf.map_fn(lambda x: tf.reduce_sum(x * x), r, fn_output_signature=tf.float32) * [1.0, 10.0, 100.0]
from_nested_row_splits(v, [[0, 1, 2, 2], [0, 1, 3]]) | tf.map_fn(lambda x: x.with_values(x.values ** 2), r).flat_values
from_row_splits(v, [0, 1, 3]) | tf.concat([r, r.with_values(r.values * 3)], 1).values * tf.range(6.0)
from_row_splits(v, [0, 1, 3]) | tf.concat([r, r], 0).values * tf.range(6.0)
from_row_splits(v, [0, 1, 3]) | tf.stack([r, r], 1).flat_values * tf.range(6.0)
"""  # noqa: E501
WRAPS = [pytest.param(lambda f: f, id="eager"), pytest.param("traced", id="traced")]


def both(wrap: Any, call: str) -> tuple[Any, Any]:
    return tuple(
        outcome(tf, tf.function if wrap == "traced" else wrap, call) for tf in (graven, tensorflow)
    )


@pytest.mark.parametrize("wrap", WRAPS)
@pytest.mark.parametrize("call", [*lines(MAPS), *lines(ROWS), *lines(JOINS), *AXES, *each_loop()])
def test_a_call_does_what_it_does_in_tensorflow(wrap: Any, call: str) -> None:
    ours, theirs = both(wrap, call)
    if wrap == "traced" and call in KNOWN_EARLIER:
        assert (ours, theirs) == ("ValueError", "InvalidArgumentError")
        return
    assert ours == theirs


@pytest.mark.parametrize(
    "call",
    lines(
        """
list(r)
[x for x in n]
tuple(uniform)
list(zip(r, n))
list(R.from_row_splits([], [0]))
reversed(r)
1.0 in r
"""
    ),
)
def test_rows_are_iterated_outside_of_a_function(call: str) -> None:
    ours, theirs = both(lambda f: f, call)
    assert ours == theirs


@pytest.mark.parametrize("wrap", WRAPS)
@pytest.mark.parametrize("call", lines(GRADIENTS))
def test_gradients_go_through_rows(wrap: Any, call: str) -> None:
    made, result = call.split(" | ")

    def gradient(tf: Any) -> Any:
        def run() -> Any:
            v = tf.constant([1.0, 2.0, 3.0])
            with tf.GradientTape() as tape:
                tape.watch(v)
                r = eval(f"tf.RaggedTensor.{made}", {"tf": tf, "v": v})
                y = tf.reduce_sum(eval(result, {"tf": tf, "r": r}))
            return [y, tf.convert_to_tensor(tape.gradient(y, v))]

        return shown((tf.function if wrap == "traced" else wrap)(run)())

    assert gradient(graven) == gradient(tensorflow)


# set_loop_options of a composite variable; TensorFlow takes no spec of one that has a shape.
OPTIONS = """
r1 | tf.TensorShape([None, None]) | tf.concat([x, x], 0)
Plain([1.0]) | Plain.Spec(T([None]), 1) | Plain(tf.concat([x.a, x.a], 0))
O.from_value(tf.constant([1.0])) | tf.OptionalSpec(T([None])) | O.from_value(tf.concat([x.get_value()] * 2, 0))
"""  # noqa: E501


@pytest.mark.parametrize("case", lines(OPTIONS))
def test_a_python_loop_takes_specs_as_invariants(case: str) -> None:
    first, invariant, after = case.split(" | ")

    def run(tf: Any) -> Any:
        space = names(tf)

        def body(x: Any) -> Any:
            return eval(after, {**space, "x": x})

        @tf.function
        def loop(n: Any) -> Any:
            x, i = eval(first, space), tf.constant(0)
            while i < n:
                tf.autograph.experimental.set_loop_options(
                    shape_invariants=[(x, eval(invariant, space))]
                )
                x = body(x)
                i += 1
            return x

        made = loop(tf.constant(3))
        return shown(made.get_value() if hasattr(made, "get_value") else made)

    assert run(graven) == run(tensorflow)
