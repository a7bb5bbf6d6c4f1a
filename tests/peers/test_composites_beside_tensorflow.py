"""Short programs over composite tensors and their types: ragged ones, and users' own.

Each gives the same in both systems.
"""

# tf is either system here, and so are its decorators.
# mypy: disable-error-code="untyped-decorator,misc"

import functools
import os
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Union

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import graven
import numpy as np
import pytest
import tensorflow
from both_systems import attempt, plain, says

Program = Callable[[Any], Any]
PROGRAMS: list[Program] = []


def program(f: Program) -> Program:
    """Lists a program, which is given tf and returns what the systems are to agree on."""
    PROGRAMS.append(f)
    return f


RAGGED: list[Any] = [
    [[1, 2], [3]],
    [[1] * 40, [2] * 3],
    [[i] * (i % 7) for i in range(50)],
    [list(range(2000)), [1]],
    [[[1.5], [2.25, 3.0]], [[4.0]], []],
    [[0.1, 1e10], [float("nan")]],
    [["a", "bc"], [], ["d"]],
    [[True, False], []],
    [[]],
    [[[]], []],
]


@program
def ragged_tensors_are_printed_in_lines(tf: Any) -> Any:
    values = tf.RaggedTensor.from_row_splits(tf.ones([3, 2]), [0, 2, 3])
    return [str(values), repr(values), *(repr(tf.ragged.constant(rows)) for rows in RAGGED)]


def parts_of(ragged: Any) -> Any:
    return [ragged.flat_values, *ragged.nested_row_splits, ragged.shape, ragged.uniform_row_length]


# Calls of RaggedTensor's factories; np32 is an array of int32.
FACTORIES = """
from_row_splits([1, 2, 3], [0, 1, 3])
from_row_splits([1, 2, 3], np32([0, 3]))
from_row_splits([1, 2, 3], [1, 3])
from_row_splits([1, 2, 3], [0, 2, 1, 3])
from_row_splits([1, 2, 3], [0, 2])
from_row_splits([1, 2, 3], [])
from_row_splits([1, 2, 3], [[0, 3]])
from_row_splits([1, 2, 3], [0.0, 3.0])
from_row_lengths([1, 2, 3], [1, 0, 2])
from_row_lengths([1, 2, 3], np32([3]))
from_row_lengths([1, 2, 3], [2, -1, 2])
from_row_lengths([1, 2, 3], [1, 1])
from_row_lengths([], [])
from_nested_row_lengths([1, 2, 3, 4], [[1, 1], [2, 2]])
from_nested_row_lengths([1, 2, 3, 4], [4])
from_nested_row_splits([1, 2, 3, 4], [[0, 1, 2], [0, 2, 4]])
from_nested_row_splits([1, 2, 3, 4], tf.constant([0, 4]))
from_value_rowids([1, 2, 3], [0, 0, 2])
from_value_rowids([1, 2, 3], [0, 0, 2], nrows=5)
from_value_rowids([1, 2, 3], [0, 0, 2], nrows=2)
from_value_rowids([1, 2, 3], [0, 0, 2], nrows=-2)
from_value_rowids([1, 2, 3], [0, 2, 1])
from_value_rowids([1, 2, 3], [-1, 0, 1])
from_value_rowids([1, 2, 3], [0, 2])
from_value_rowids([], [])
from_uniform_row_length([1, 2, 3, 4], 2)
from_uniform_row_length([1, 2, 3, 4], tf.constant(2))
from_uniform_row_length([1, 2, 3, 4], 3)
from_uniform_row_length([1, 2, 3, 4], 0)
from_uniform_row_length([1, 2, 3, 4], -1)
from_uniform_row_length([1, 2, 3, 4], 2, nrows=5)
from_uniform_row_length([], 0, nrows=3)
from_tensor([[1, 2], [3, 4]])
from_tensor([[1, 2, 0], [3, 0, 0], [0, 0, 0]], padding=0)
from_tensor([[[1, 2], [0, 0]], [[0, 0], [0, 0]]], padding=[0, 0])
from_tensor([[1, 2, 0], [3, 0, 0]], lengths=[1, 2])
from_tensor([[1, 2, 0], [3, 0, 0]], lengths=[-1, 7])
from_tensor([[1, 2, 0], [3, 0, 0]], lengths=[1, 2], padding=0)
from_tensor([[[1, 2], [3, 0]], [[4, 0], [0, 0]]], lengths=([2, 1], [1, 2, 1]))
from_tensor([[[1, 2], [3, 0]], [[4, 0], [0, 0]]], ragged_rank=2)
from_tensor([[[1, 2], [3, 0]], [[4, 0], [0, 0]]], padding=0, ragged_rank=2)
from_tensor([[1, 2]], row_splits_dtype=tf.int32)
from_tensor([1])
from_sparse(tf.SparseTensor([[0, 0], [0, 1], [2, 0]], [1, 2, 3], [4, 2]))
from_sparse(tf.SparseTensor([[0, 0], [2, 1]], [1, 2], [4, 2]))
from_sparse([1])
"""


@program
def ragged_tensors_are_made_of_lengths_row_numbers_and_tensors(tf: Any) -> Any:
    names = {"tf": tf, "np32": functools.partial(np.array, dtype=np.int32)}
    calls = [f"tf.RaggedTensor.{call}" for call in FACTORIES.strip().splitlines()]
    return [attempt(lambda call=call: parts_of(eval(call, names))) for call in calls]


@program
def ragged_tensors_made_in_a_function_are_checked_when_it_runs(tf: Any) -> Any:
    f = tf.function(tf.RaggedTensor.from_row_lengths)
    values = tf.constant([1, 2, 3, 4])
    made = f(values, tf.constant([1, 3]))
    rows = [made.row_starts(), made.row_limits(), made.value_rowids(), *made.nested_row_lengths()]
    unknown = tf.function(
        tf.RaggedTensor.from_row_splits, input_signature=[tf.TensorSpec(None)] * 2
    )
    again = tf.function(
        lambda v, s: tf.RaggedTensor.from_row_splits(v, s).row_lengths(),
        input_signature=[tf.TensorSpec(None, tf.int32)] * 2,
    )
    return [
        parts_of(made),
        rows,
        attempt(lambda: f(values, tf.constant([1, 1]))),
        attempt(lambda: unknown(values, values)),
        again(values, tf.constant([0, 1, 4])),
    ]


def point_classes(tf: Any) -> Any:
    class Point(tf.__internal__.CompositeTensor):
        def __init__(self, x: Any, y: Any, tag: str) -> None:
            self.x, self.y, self.tag = x, y, tag

        @property
        def _type_spec(self) -> Any:
            return PointSpec(self.x.shape, self.x.dtype, self.tag)

    class PointSpec(tf.TypeSpec):
        value_type = Point

        def __init__(self, shape: Any, dtype: Any, tag: str) -> None:
            self.shape, self.dtype, self.tag = tf.TensorShape(shape), tf.as_dtype(dtype), tag

        def _serialize(self) -> Any:
            return (self.shape, self.dtype, self.tag)

        @property
        def _component_specs(self) -> Any:
            part = tf.TensorSpec(self.shape, self.dtype)
            return {"x": part, "y": [part]}

        def _to_components(self, value: Any) -> Any:
            return {"x": value.x, "y": [value.y]}

        def _from_components(self, components: Any) -> Any:
            return Point(components["x"], components["y"][0], self.tag)

    return Point, PointSpec


@program
def a_users_type_spec_has_subtypes_where_shapes_are_open(tf: Any) -> Any:
    point, spec_class = point_classes(tf)
    p = point(tf.constant([1.0, 2.0]), tf.constant([3.0, 4.0]), "a")
    spec, wide = p._type_spec, spec_class([None], tf.float32, "a")
    others = [spec_class([2], tf.float32, "b"), spec_class([3], tf.float32, "a")]
    return [
        repr(spec),
        [spec == spec_class([2], tf.float32, "a"), spec == others[0]],
        [spec.is_subtype_of(wide), wide.is_subtype_of(spec), wide.is_compatible_with(p)],
        [repr(spec.most_specific_common_supertype([other])) for other in (wide, *others)],
        [[s.shape, s.dtype] for s in spec.flatten()],
        spec.to_tensors(p),
        spec.from_tensors(iter(spec.to_tensors(p))).tag,
        tf.type_spec_from_value(p) == spec,
        tf.is_tensor(p),
        [isinstance(s, tf.TypeSpec) for s in (tf.TensorSpec([1]), tf.SparseTensorSpec([2]))],
        says("abstract class TypeSpec", lambda: tf.TypeSpec()),
    ]


@program
def functions_take_and_give_values_of_a_users_type(tf: Any) -> Any:
    point, spec_class = point_classes(tf)
    traces = []

    @tf.function
    def f(p: Any) -> Any:
        traces.append(p.tag)
        return point(p.x + p.y, p.y * 2.0, p.tag + "!")

    one, v = tf.constant([1.0, 2.0]), tf.Variable([1.0, 2.0])
    made = f(point(one, one, "a"))
    with tf.GradientTape() as tape:
        made = f(point(v * 2.0, one, "a"))
        loss = tf.reduce_sum(made.x)
    f(point(one, one, "b"))
    g = tf.function(lambda p: p.x * 2.0, input_signature=[spec_class([None], tf.float32, "a")])
    results = [g(point(one, one, "a")), g(point(one[:1], one[:1], "a"))]
    return [made.x, made.y, made.tag, traces, tape.gradient(loss, v), results]


@program
def composite_tensors_are_printed_by_their_parts(tf: Any) -> Any:
    file = Path(tempfile.mkdtemp()) / "printed"
    sparse = tf.SparseTensor([[i, 0] for i in range(8)], list(range(8)), [8, 2])
    rows = tf.ragged.constant([[1], [2, 3], [], list(range(10)), [4], [5], [6], [7]])
    nested = tf.ragged.constant([[[1], [2, 3]], []])
    for value in (sparse, ["a", sparse], rows, {"k": rows}, nested):
        tf.print(value, output_stream=f"file://{file}")
    tf.print("x", rows, sep="|", summarize=1, output_stream=f"file://{file}")
    tf.print(rows, summarize=-1, output_stream=f"file://{file}")

    @tf.function
    def traced() -> None:
        tf.print(sparse, output_stream=f"file://{file}")

    traced()
    # TensorFlow puts sparse tensors in quotes.
    return file.read_text().replace("'SparseTensor", "SparseTensor").replace(")'", ")")


def extension_types(tf: Any) -> tuple[Any, Any]:
    class Masked(tf.experimental.ExtensionType):
        values: tf.Tensor
        mask: tf.Tensor

        def total(self) -> Any:
            return tf.reduce_sum(tf.where(self.mask, self.values, 0))

    class Options(tf.experimental.ExtensionType):
        inner: Masked
        count: int
        rate: float = 2.5
        sizes: tuple[int, ...] = ()
        parts: Mapping[str, tf.Tensor] = {}
        either: Union[tf.Tensor, str, None] = None  # noqa: UP007
        dtype: tf.DType = tf.float32
        pair: tuple[int, str] = (1, "q")

    return Masked, Options


@program
def fields_of_extension_types_are_converted(tf: Any) -> Any:
    masked, options = extension_types(tf)
    m = masked([1.0, 2.0], [True, False])
    o = options(m, 1, sizes=[1, 2], parts={"a": 1, "b": [2.0]}, either="s", dtype="int32")
    return [
        [repr(m), repr(o), repr(m._type_spec), repr(o._type_spec)],
        [o.sizes, o.either, o.dtype, o.parts["b"], list(o.parts)],
        says("count: expected 'int', got 'str'", lambda: options(m, "x")),
        says("rate: expected 'float', got 'int'", lambda: options(m, 1, rate=3)),
        says("inner: expected 'Masked', got 'int'", lambda: options(3, 1)),
        says("sizes[1]: expected 'int', got 'str'", lambda: options(m, 1, sizes=[1, "2"])),
        says("parts[<key>]: expected 'str', got 'int'", lambda: options(m, 1, parts={1: 1})),
        says("pair[1]: expected 'str', got 'int'", lambda: options(m, 1, pair=(1, 2))),
        says("values: expected a Tensor, got 'object'", lambda: masked(object(), [True])),
        says("missing a required argument: 'mask'", lambda: masked([1.0])),
        says("too many positional arguments", lambda: masked([1.0], [True], 1)),
        says("Cannot mutate attribute `values`", lambda: setattr(m, "values", 1)),
        says("unhashable type: 'Masked'", lambda: hash(m)),
        says("values: expected a TensorSpec, got 'int'", lambda: masked.Spec(1, 2)),
        [m == masked([1.0, 2.0], [True, False]), m != m, m == masked([1.0], [True]), m == 3],
        [tf.is_tensor(m), tf.nest.flatten(o, expand_composites=True)],
        [[s.shape, s.dtype] for s in tf.nest.flatten(o._type_spec, expand_composites=True)],
    ]


@program
def functions_take_and_give_extension_types(tf: Any) -> Any:
    masked, options = extension_types(tf)
    traces = []

    @tf.function
    def f(o: Any) -> Any:
        traces.append(o.count)
        m = masked(o.inner.values * o.rate, o.inner.mask)
        return options(m, o.count + 1, parts={"total": m.total()})

    @tf.function
    def looped(m: Any, n: Any) -> Any:
        i = 0
        while i < n:
            m = masked(m.values + 1.0, tf.logical_not(m.mask)) if i > 0 else m
            i += 1
        return m

    v = tf.Variable([1.0, 2.0])
    results = []
    for count in (1, 1, 2):
        with tf.GradientTape() as tape:
            made = f(options(masked(v * 2.0, [True, False]), count))
            loss = made.parts["total"]
        results.append([made.inner.values, made.count, loss, tape.gradient(loss, v)])
    grown = looped(masked([1.0, 2.0], [True, False]), tf.constant(3))
    return [results, traces, grown.values, grown.mask]


@program
def an_optional_has_a_value_or_none(tf: Any) -> Any:
    optional = tf.experimental.Optional

    @tf.function
    def halved(x: Any) -> Any:
        half = optional.from_value(x / 2.0) if x[0] > 0.0 else optional.empty(tf.TensorSpec([2]))
        return half.get_value() if half.has_value() else x

    some = optional.from_value({"a": [1.0, 2.0], "b": (1, "x")})
    none = optional.empty(tf.TensorSpec([None]))
    return [
        [halved(tf.constant([2.0, 4.0])), halved(tf.constant([-2.0, 4.0]))],
        [some.has_value(), some.get_value()["a"], some.get_value()["b"], none.has_value()],
        [repr(some.element_spec), repr(none.element_spec), repr(tf.type_spec_from_value(none))],
        says("The given optional does not have a value", none.get_value),
        says("Could not build a", lambda: optional.from_value(object())),
    ]


@program
def identity_goes_to_the_tensors_of_a_composite(tf: Any) -> Any:
    class Named(tf.experimental.ExtensionType):
        x: tf.Tensor
        rows: tf.RaggedTensor
        name: str = "a"

    value = Named(tf.constant([1.0, 2.0]), tf.ragged.constant([[1], [2, 3]]), "b")
    copy = tf.identity(value)
    traced = tf.function(lambda v: tf.identity(v, name="copy"))(value)
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.identity(Named(x * 2.0, value.rows)).x
    slices = tf.identity(tf.IndexedSlices(tf.constant([1.0]), tf.constant([2])))
    return [
        [copy.x, copy.rows.to_list(), copy.name, copy.x is value.x, type(copy) is Named],
        [traced.x, traced.rows.to_list(), traced.name],
        tape.gradient(y, x),
        tf.identity(tf.ragged.constant([[1, 2], [3]])).to_list(),
        tf.identity(tf.SparseTensor([[1]], [5.0], [3])).values,
        tf.identity(tf.experimental.Optional.from_value(3.0)).get_value(),
        [slices.values, slices.indices],
    ]


@program
def a_signature_has_the_constants_of_its_extension_type(tf: Any) -> Any:
    class Scaled(tf.experimental.ExtensionType):
        x: tf.Tensor
        by: int = 3
        name: str = "a"

    class Outer(tf.experimental.ExtensionType):
        x: tf.Tensor
        inner: Scaled
        flag: bool = True

    spec = Scaled.Spec(x=tf.TensorSpec([None]), by=4, name="b")
    f = tf.function(lambda s: s.x * float(s.by), input_signature=[spec])
    outer = Outer.Spec(x=tf.TensorSpec([None]), inner=spec, flag=True)
    g = tf.function(lambda o: o.x + o.inner.x * float(o.inner.by), input_signature=[outer])
    x = tf.constant([1.0, 2.0])
    refused = [
        lambda: f(Scaled(tf.constant([[1.0]]), 4, "b")),
        lambda: f(Scaled(tf.constant([1]), 4, "b")),
        lambda: f(Scaled(tf.constant([[1.0]]), 5, "b")),
        lambda: f(Scaled(tf.constant([1]), 5, "b")),
        lambda: f(x),
        lambda: f(Outer(x, Scaled(x))),
    ]
    return [
        [f(Scaled(x, 4, "b")), f(Scaled(x)), f(Scaled(x, 5, "other")), f(s=Scaled(x))],
        [g(Outer(x, Scaled(x, 4, "b"))), g(Outer(x, Scaled(x), False))],
        f.experimental_get_tracing_count(),
        g.experimental_get_tracing_count(),
        [attempt(call) for call in refused],
    ]


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_a_program_does_what_it_does_in_tensorflow(f: Program) -> None:
    assert plain(f(graven)) == plain(f(tensorflow))
