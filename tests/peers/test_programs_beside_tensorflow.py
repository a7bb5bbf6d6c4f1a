"""Short programs over what is no op: the same results in both systems, or classes of errors."""

# tf is either system here, and so are its decorators.
# ruff: noqa: SIM300 (which operand stands on the left is what is tested)
# mypy: disable-error-code="untyped-decorator,misc"

import collections
import copy
import functools
import os
import re
import types
from collections.abc import Callable
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import graven
import numpy as np
import pytest
import tensorflow
from both_systems import attempt, plain

Program = Callable[[Any], Any]
PROGRAMS: list[Program] = []


def program(f: Program) -> Program:
    """Lists a program, which is given tf and returns what the systems are to agree on."""
    PROGRAMS.append(f)
    return f


# --- NumPy arrays on the left of variables


ARRAY = np.array([3.0, 4.0], np.float32)
WITH_AN_ARRAY: list[Callable[[Any], Any]] = [
    lambda v: np.float32(2) * v,
    lambda v: ARRAY + v,
    lambda v: ARRAY - v,
    lambda v: ARRAY / v,
    lambda v: ARRAY // v,
    lambda v: ARRAY**v,
    lambda v: ARRAY % v,
    lambda v: np.eye(2, dtype=np.float32) @ (v + np.zeros([2, 1], np.float32)),
    lambda v: ARRAY < v,
    lambda v: ARRAY >= v,
    lambda v: ARRAY == v,
    lambda v: ARRAY != v,
]


@program
def an_array_on_the_left_of_a_variable_gives_a_tensor(tf: Any) -> Any:
    v = tf.Variable([1.0, 2.0])
    return [f(v) for f in WITH_AN_ARRAY]


@program
def an_array_on_the_left_of_a_variable_can_be_traced(tf: Any) -> Any:
    v = tf.Variable([1.0, 2.0])
    return [tf.function(functools.partial(f, v), autograph=False)() for f in WITH_AN_ARRAY]


@program
def an_array_on_the_left_of_a_variable_is_differentiated(tf: Any) -> Any:
    v = tf.Variable([1.0, 2.0])
    with tf.GradientTape(persistent=True) as tape:
        results = [f(v) for f in WITH_AN_ARRAY[:4]]
    return [tape.gradient(result, v) for result in results]


# --- tf.custom_gradient


def scaled(tf: Any) -> Any:
    class Scaled:
        factor = 3.0

        @tf.custom_gradient
        def square(self, x: Any) -> Any:
            return x * x, lambda dy: dy * self.factor

    return Scaled()


def differentiated(tf: Any, f: Callable[[Any], Any]) -> Any:
    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    return y, tape.gradient(y, x)


@program
def a_method_has_a_custom_gradient(tf: Any) -> Any:
    return differentiated(tf, scaled(tf).square)


@program
def a_traced_method_has_a_custom_gradient(tf: Any) -> Any:
    return differentiated(tf, tf.function(scaled(tf).square))


@program
def a_method_of_a_module_has_a_custom_gradient_for_its_variable(tf: Any) -> Any:
    class Model(tf.Module):
        def __init__(self) -> None:
            super().__init__()
            self.w = tf.Variable(4.0)

        @tf.custom_gradient
        def scale(self, x: Any) -> Any:
            return x * self.w, lambda dy, variables=None: (dy * 3.0, [dy * 5.0])

        @tf.function
        def call(self, x: Any) -> Any:
            return self.scale(x)

    model, x = Model(), tf.constant(2.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        results = [model.scale(x), model.call(x)]
    return results, [tape.gradient(y, [x, model.w]) for y in results]


@program
def a_function_with_a_custom_gradient_sees_text_as_it_was_given(tf: Any) -> Any:
    seen = []

    @tf.custom_gradient
    def power(x: Any, mode: Any) -> Any:
        seen.append(mode)
        return (x * x if mode == "square" else x), lambda dy: (dy * 7.0, None)

    return differentiated(tf, lambda x: power(x, "square")), seen


@program
def an_argument_that_is_no_tensor_needs_a_gradient_too(tf: Any) -> Any:
    @tf.custom_gradient
    def power(x: Any, mode: Any) -> Any:
        return x * x, lambda dy: dy * 7.0

    return differentiated(tf, lambda x: power(x, "square"))


# --- Operators on bools


def test_each_operator_on_bools_does_what_it_does_in_tensorflow() -> None:
    def results(tf: Any) -> list[Any]:
        a, b = tf.constant([True, False, True]), tf.constant([True, True, False])
        v = tf.Variable([True, False, True])
        operands = [(a, b), (v, b), (b, v), (a, True), (True, a), (ARRAY > 3, a[:2])]
        return [attempt(functools.partial(f, x, y)) for f in OPERATORS for x, y in operands]

    assert results(graven) == results(tensorflow)


OPERATORS: list[Callable[[Any, Any], Any]] = [
    lambda x, y: x * y,
    lambda x, y: x + y,
    lambda x, y: x - y,
    lambda x, y: x // y,
    lambda x, y: x % y,
    lambda x, y: x**y,
    lambda x, y: x < y,
    lambda x, y: x == y,
]


@program
def a_product_of_bools_is_traced_as_casts_and_a_product(tf: Any) -> Any:
    a = tf.constant([True, False])
    traced = tf.function(lambda x, y: x * y, autograph=False).get_concrete_function(a, a)
    return [(op.name, op.type) for op in traced.graph.get_operations()][2:-1], traced(a, a)


# --- tf.saturate_cast

FLOATS = ["float16", "bfloat16", "float32", "float64"]
INTEGERS = [f"{sign}int{bits}" for bits in (8, 16, 32, 64) for sign in ("", "u")]
NUMBERS = [*FLOATS, *INTEGERS, "complex64", "complex128"]
VALUES = [0.0, 1.5, -1.5, 300.0, -300.0, 7e4, -7e4, 1e10, -1e10, 2e19, 1e30, -1e30]
BEYOND = [float("inf"), -float("inf"), 65519.0, 3.39e38]


# TensorFlow has no kernel that clips unsigned integers, and limits of int64 overflow there.
@pytest.mark.parametrize("source", [d for d in NUMBERS if d not in ("uint32", "uint64", "int64")])
def test_a_saturating_cast_gives_what_it_gives_in_tensorflow(source: str) -> None:
    def results(tf: Any) -> list[Any]:
        if "float" in source:
            x = tf.cast(tf.constant(VALUES + BEYOND, tf.float64), source)
        elif source.startswith("complex"):
            x = tf.constant([complex(a, b) for a, b in zip(VALUES, VALUES[::-1], strict=True)])
            x = tf.cast(x, source)
        else:
            limits = np.iinfo(source)
            x = tf.constant(np.array([0, 1, 100, limits.min, limits.max, limits.max - 1], source))
        return [
            plain(tf.cast(tf.saturate_cast(x, wanted), exact(wanted)))
            for wanted in NUMBERS
            if wanted not in ("int64", "uint64") or "int" in source  # overflow there
        ]

    def exact(wanted: str) -> str:
        return "float64" if "float" in wanted else wanted

    assert results(graven) == results(tensorflow)


def test_a_saturating_cast_to_64_bits_stays_below_the_limit() -> None:
    x = graven.constant([1e30, -1e30])
    assert graven.saturate_cast(x, graven.int64).numpy().tolist() == [2**63 - 2**39, -(2**63)]
    assert graven.saturate_cast(x, graven.uint64).numpy().tolist() == [2**64 - 2**40, 0]


@program
def a_saturating_cast_takes_no_bools(tf: Any) -> Any:
    to, of = tf.constant([3]), tf.constant([True])
    return [
        attempt(lambda: tf.saturate_cast(to, tf.bool)),
        attempt(lambda: tf.saturate_cast(of, tf.int32)),
    ]


# --- Attributes of tensors


@program
def a_tensor_keeps_what_is_set_on_it(tf: Any) -> Any:
    x = tf.constant([1.0, 2.0])
    x.foo = 1
    x._keras_mask = x + 1.0
    x.__dict__["bar"] = 2
    kept = x.foo, x._keras_mask, x.bar
    del x.foo
    return kept, hasattr(x, "foo"), isinstance(vars(x), dict)


@program
def a_symbolic_tensor_keeps_what_is_set_on_it(tf: Any) -> Any:
    @tf.function
    def f(x: Any) -> Any:
        x._keras_mask = tf.ones([2])
        return x._keras_mask * 2.0

    return f(tf.constant([1.0, 2.0]))


@program
def the_properties_of_a_tensor_cannot_be_set(tf: Any) -> Any:
    x = tf.constant([1.0, 2.0])
    return [
        attempt(functools.partial(setattr, x, name, 1))
        for name in ("dtype", "shape", "name", "op", "device", "graph", "numpy", "assign")
    ]


@program
def copies_of_a_tensor_keep_what_is_set_on_it(tf: Any) -> Any:
    x = tf.constant([1.0, 2.0])
    x.foo = 1
    return hasattr(copy.copy(x), "foo"), hasattr(copy.deepcopy(x), "foo")


# --- tf.nn.dropout


@program
def dropout_of_nothing_draws_a_seed(tf: Any) -> Any:
    results = []
    for rate, seed in ((0, None), (0.0, None), (0.0, 1), (0.5, None)):
        tf.random.set_seed(3)
        tf.nn.dropout(tf.ones([2]), rate, seed=seed)
        results.append(tf.random.uniform([2]))
    return results


# --- Gradients of one's own


@program
def a_custom_gradient_of_keywords_and_structures(tf: Any) -> Any:
    @tf.custom_gradient
    def scaled(x: Any, w: Any = None) -> Any:
        return x * w, lambda dy: dy * 10

    @tf.custom_gradient
    def added(pair: Any) -> Any:
        return pair[0] + pair[1], lambda dy: ([dy * 2, dy * 3],)

    x, w = tf.constant(2.0), tf.Variable(3.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y, z = scaled(x, w=w), added([x, x])
    return [tape.gradient(y, x), tape.gradient(z, x)]


@program
def a_custom_gradient_keeps_the_name_of_a_method_and_wraps_another(tf: Any) -> Any:
    class Layer:
        @tf.custom_gradient
        def double(self, x: Any) -> Any:
            return x * 2, lambda dy: dy * 5

    layer, x = Layer(), tf.constant(1.0)
    doubled = tf.custom_gradient(tf.custom_gradient(lambda x: (x, lambda dy: dy * 7)))
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = layer.double(x)
    return [layer.double.__name__, tape.gradient(y, x), attempt(lambda: doubled(x))]


# --- Copies of modules


def holder(tf: Any) -> Any:
    class Layer(tf.Module):
        def __init__(self) -> None:
            super().__init__()
            self.w = tf.Variable(2.0)

    class Net(tf.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layers = [Layer(), Layer()]
            self.config = {"units": 3, "more": [1, 2]}

    return Net()


@program
def copies_of_a_module_hold_what_it_holds(tf: Any) -> Any:
    net = holder(tf)
    deep, shallow = copy.deepcopy(net), copy.copy(net.layers)
    again = copy.deepcopy(deep)
    again.layers[0].w.assign(7.0)
    again.config["units"] = 4
    mapping = copy.copy(net.config)
    mapping["new"] = 1
    return [
        len(deep.layers), len(again.layers), len(again.variables), len(shallow),
        net.layers[0].w.read_value(), deep.layers[0].w.read_value(), net.config["units"],
        "new" in net.config, shallow[0] is net.layers[0], again.config["more"] == [1, 2],
    ]  # fmt: skip


# --- Tapes


@program
def jacobians_of_batches_of_unknown_size(tf: Any) -> Any:
    def jacobian(x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.stack([x[:, 0] * x[:, 1], tf.sin(x[:, 0])], 1)
        return tape.batch_jacobian(y, x)

    f = tf.function(jacobian, autograph=False, input_signature=[tf.TensorSpec([None, 2])])
    return [f(tf.constant([[1.0, 2.0], [3.0, 4.0]])), f(tf.constant([[0.0, 2.0]]))]


@program
def shapes_are_known_through_inner_functions(tf: Any) -> Any:
    """They were lost where an inner function takes tensors of any rank."""

    @tf.function(input_signature=[tf.TensorSpec(None)], autograph=False)
    def rows(x: Any) -> Any:
        return tf.reshape(x, [-1, 3])

    @tf.function(input_signature=[tf.TensorSpec([], tf.int32)] * 2, autograph=False)
    def ones(height: Any, width: Any) -> Any:
        return tf.ones(tf.stack([height, width]))

    seen: list[Any] = []

    @tf.function(input_signature=[tf.TensorSpec([None, 6])], autograph=False)
    def outer(x: Any) -> Any:
        results = [rows(tf.zeros([10, 10, 3])), ones(2, 3), rows(x)]
        seen.extend(result.shape.as_list() for result in results)
        return [tf.shape(result) for result in results]

    return outer(tf.zeros([4, 6])), seen


@program
def zeros_of_a_variable_of_any_size(tf: Any) -> Any:
    v, w = tf.Variable([1.0], shape=[None]), tf.Variable(2.0)
    with tf.GradientTape() as tape:
        y = w * 2.0
    return tape.gradient(y, v, unconnected_gradients="zero")


@program
def a_tape_that_was_never_entered(tf: Any) -> Any:
    v = tf.Variable(2.0)
    return attempt(lambda: tf.GradientTape().gradient(v * v, v))


@program
def what_is_near_is_near_in_a_function(tf: Any) -> Any:
    x = tf.constant([1.0, 1.0])

    def check(y: Any) -> Any:
        tf.debugging.assert_near(x, 1.0)
        tf.debugging.assert_near(x, x, atol=0.1)
        tf.debugging.assert_near(x, 1.05, rtol=y, atol=0.0)
        return x

    f = tf.function(check, autograph=False)
    return [attempt(lambda: f(tf.constant(0.1))), attempt(lambda: f(tf.constant(0.001)))]


@program
def floats_out_of_range(tf: Any) -> Any:
    return [
        attempt(lambda: tf.constant(1e300)),
        attempt(lambda: tf.constant([1.0, -1e300])),
        attempt(lambda: tf.constant([float("inf"), 3e38])),
        attempt(lambda: tf.constant([1, 1e39])),
        attempt(lambda: tf.constant(1e39, tf.float32)),
        attempt(lambda: tf.constant([1.0, 1e39], tf.float32)),
        attempt(lambda: tf.constant(1e300, tf.float64)),
        attempt(lambda: tf.function(lambda: tf.constant(1e300))()),
    ]


# --- Rows of gradients


@program
def rows_stay_rows(tf: Any) -> Any:
    rows = tf.IndexedSlices(tf.constant([[3.0, 4.0], [-9.0, 1.0]]), tf.constant([1, 1]),
                            tf.constant([4, 2]))  # fmt: skip
    return [
        attempt(lambda: tf.cast(rows, tf.float64)),
        attempt(lambda: tf.identity(rows)),
        attempt(lambda: tf.math.scalar_mul(2.0, rows)),
        attempt(lambda: tf.clip_by_value(rows, -1.0, 3.5)),
        attempt(lambda: tf.clip_by_norm(rows, 1.0)),
        attempt(lambda: tf.clip_by_global_norm([rows], 1.0)),
        attempt(lambda: tf.negative(rows)),
        attempt(lambda: tf.stop_gradient(rows)),
        attempt(lambda: -rows),
    ]


# --- First values of variables that depend on an argument, inside another Function


def starts_from_its_argument(tf: Any, count: int = 1) -> tuple[Any, list[Any]]:
    """A Function whose first trace makes variables of the argument, and these."""
    made: list[Any] = []

    @tf.function
    def inner(x: Any) -> Any:
        if not made:
            made.extend([tf.Variable(x * (i + 2.0)) for i in range(count)])
            return tf.add_n([v.read_value() for v in made]) + x
        return tf.add_n([v.read_value() for v in made]) * x

    return inner, made


@program
def a_first_value_may_depend_on_an_argument_in_a_nested_function(tf: Any) -> Any:
    inner, _ = starts_from_its_argument(tf, count=2)
    twice = tf.function(lambda x: (inner(x), inner(x + 1.0)))
    outer = tf.function(lambda x: twice(x)[1] * 2.0)
    x = tf.constant(1.0)
    return [outer(x), outer(x), twice(x), inner(x)]


@program
def the_first_call_may_come_in_an_iteration_or_a_branch(tf: Any) -> Any:
    inner, _ = starts_from_its_argument(tf)
    other, _ = starts_from_its_argument(tf)

    @tf.function
    def loop(x: Any) -> Any:
        total = tf.constant(0.0)
        for _ in tf.range(3):
            total += inner(x)
        return total

    @tf.function
    def branch(x: Any) -> Any:
        if x > 0.0:
            return other(x)
        return x

    two = tf.constant(2.0)
    return [loop(two), loop(two), branch(-two), branch(two), branch(two + 1.0), other(two)]


@program
def gradients_go_through_the_first_call_and_later_ones(tf: Any) -> Any:
    inner, made = starts_from_its_argument(tf)

    @tf.function
    def f(x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = inner(x)
        return [y, *tape.gradient(y, [x, *made])]

    three = tf.constant(3.0)
    return [f(three), f(three)]


@program
def the_first_call_may_be_that_of_a_concrete_function(tf: Any) -> Any:
    inner, _ = starts_from_its_argument(tf)
    outer = tf.function(lambda x: inner(x) + 1.0)
    concrete = outer.get_concrete_function(tf.TensorSpec([]))
    return [concrete(tf.constant(2.0)), concrete(tf.constant(3.0)), inner(tf.constant(3.0))]


@program
def the_result_of_a_first_call_may_have_another_shape(tf: Any) -> Any:
    made: list[Any] = []

    @tf.function
    def inner(x: Any) -> Any:
        if not made:
            made.append(tf.Variable(x * 2.0))
            return x[:1]
        return x + made[0]

    outer = tf.function(lambda x: inner(x))
    x = tf.constant([1.0, 2.0])
    return [outer(x), outer(x), outer.get_concrete_function(x).output_shapes]


# --- Sizes of random tensors that are no sizes


DRAWS: list[Callable[[Any, Any], Any]] = [
    lambda tf, shape: tf.random.uniform(shape),
    lambda tf, shape: tf.random.uniform(shape, maxval=5, dtype=tf.int32),
    lambda tf, shape: tf.random.normal(shape),
    lambda tf, shape: tf.random.truncated_normal(shape),
    lambda tf, shape: tf.random.stateless_uniform(shape, [1, 2]),
    lambda tf, shape: tf.random.gamma(shape, 1.0),
]


@program
def a_size_of_minus_one_is_an_error_of_the_run(tf: Any) -> Any:
    def unused(draw: Callable[[Any, Any], Any]) -> str:
        shapes = []

        def f() -> Any:
            shapes.append(draw(tf, [2, -1]).shape)

        attempt(tf.function(f, autograph=False).get_concrete_function)
        return str(shapes)

    return [
        [
            attempt(functools.partial(draw, tf, [-1])),
            attempt(tf.function(functools.partial(draw, tf, [-1]), autograph=False)),
            attempt(tf.function(functools.partial(draw, tf, [-2]), autograph=False)),
            unused(draw),
        ]
        for draw in DRAWS
    ]


# --- What concrete functions tell


def _concrete_functions(tf: Any) -> list[Any]:
    spec, v = tf.TensorSpec, tf.Variable([1.0, 2.0])
    wide = tf.function(lambda x, k=3, *a, flag=True, **kw: (x, {"x": x + 1.0}))
    given = tf.function(
        lambda a, b: v[0] + a, input_signature=[spec([None], name="q"), {"k": spec([])}]
    )
    composites = {
        "sparse": tf.SparseTensorSpec([3]),
        "ragged": tf.RaggedTensorSpec([2, None]),
        "rows": tf.IndexedSlicesSpec([None, 2], dense_shape_dtype=tf.int32),
    }
    return [
        wide.get_concrete_function(spec([])),
        wide.get_concrete_function(spec(None, tf.int32, name="first"), 4, spec([2]), b=spec([])),
        given.get_concrete_function(),
        tf.function(lambda x: None).get_concrete_function(spec([], tf.string)),
        tf.function(lambda: [tf.constant(1), None]).get_concrete_function(),
        tf.function(lambda d: d).get_concrete_function(composites),
        tf.function(lambda x: x[::-1]).get_concrete_function([spec([]), spec([1])]),
    ]


def _told(concrete: Any) -> list[Any]:
    type_ = concrete.function_type
    texts = [
        str(type_), repr(type_), concrete.pretty_printed_signature(), str(concrete),
        concrete.pretty_printed_signature(verbose=False), repr(concrete).partition(" at 0x")[0],
        str(concrete.structured_input_signature), str(concrete.output_shapes),
        str(concrete.output_dtypes), str([repr(p) for p in type_.parameters.values()]),
        str([str(p) for p in type_.parameters.values()]),
    ]  # fmt: skip
    # Keys of captures are numbers of objects.
    return [re.sub(r"\b\d{9,}\b", "KEY", text) for text in texts]


@program
def concrete_functions_tell_their_types(tf: Any) -> Any:
    return [_told(concrete) for concrete in _concrete_functions(tf)]


@program
def functions_tell_their_types(tf: Any) -> Any:
    f = tf.function(lambda x, k=3, *a, flag=True, **kw: x)
    g = tf.function(lambda x, y=2: x, input_signature=[tf.TensorSpec([None])])
    return [[str(h.function_type), repr(h.function_type)] for h in (f, g)]


@program
def specs_of_composites_print_their_shapes(tf: Any) -> Any:
    return [
        repr(tf.IndexedSlicesSpec([None, 2])),
        repr(tf.SparseTensorSpec([2])),
        repr(tf.RaggedTensorSpec([2, None])),
        str(tf.function(lambda r: str(r)).python_function(tf.ragged.constant([[1], [2, 3]]))),
    ]


# --- Structures


class Split:
    """Takes itself apart."""

    def __init__(self, a: Any, b: Any) -> None:
        self.a, self.b = a, b

    def __tf_flatten__(self) -> Any:
        return (self.b,), (self.a,)

    @classmethod
    def __tf_unflatten__(cls, metadata: Any, components: Any) -> Any:
        return cls(components[0], metadata[0])

    def __repr__(self) -> str:
        return f"Split({self.a}, {self.b})"


class Row(list[int]):
    """A list of a class of its own."""


STRUCTURES: list[Any] = [
    collections.deque([1, [2, 3]]),
    collections.UserList([1, 2]),
    Row([1, 2]),
    range(3),
    {"b": 2, "a": 1}.values(),
    {"b": 2, "a": 1}.keys(),
    Split([1, 2], 3),
    "text",
    b"text",
    {1, 2},
    np.array([1, 2]),
    collections.OrderedDict(b=1, a=(2, 3)),
    collections.defaultdict(list, {"b": 1, "a": 2}),
    types.MappingProxyType({"b": 1, "a": 2}),
    collections.Counter("abb"),
    iter([1, 2]),
]


@pytest.mark.parametrize("structure", STRUCTURES, ids=lambda s: type(s).__name__)
def test_nest_knows_the_structures_that_tensorflow_knows(structure: Any) -> None:
    def results(nest: Any) -> list[Any]:
        mapped = attempt(lambda: nest.map_structure(lambda leaf: f"<{leaf}>", structure))
        return [nest.is_nested(structure), str(nest.flatten(structure)), type(mapped), str(mapped)]

    assert results(graven.nest) == results(tensorflow.nest)


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_a_program_does_what_it_does_in_tensorflow(f: Program) -> None:
    expected = attempt(functools.partial(f, tensorflow))
    assert attempt(functools.partial(f, graven)) == expected
