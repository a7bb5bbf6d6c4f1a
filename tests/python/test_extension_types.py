"""tf.experimental.ExtensionType: fields, specs, functions, loops, copies."""

import copy
import functools
import inspect
import pickle
import typing
from collections.abc import Mapping
from typing import Any, Optional, Union

import graven as tf
import numpy as np
import pytest

Extension = tf.experimental.ExtensionType


class Masked(Extension):
    values: tf.Tensor
    mask: tf.Tensor

    def total(self) -> Any:
        return tf.reduce_sum(tf.where(self.mask, self.values, 0))

    @tf.function
    def scaled(self, by: Any) -> Any:
        return Masked(self.values * by, self.mask)


class Options(Extension):
    count: int
    rate: float = 2.5
    name: str = "x"
    flag: bool = False
    sizes: tuple[int, ...] = ()
    parts: Mapping[str, tf.Tensor] = {}
    maybe: Optional[tf.Tensor] = None  # noqa: UP045
    either: Union[tf.Tensor, str, None] = None  # noqa: UP007
    dtype: tf.DType = tf.float32
    shape: tf.TensorShape = tf.TensorShape([2, None])
    pair: tuple[int, str] = (1, "q")
    raw: bytes | None = b"b"


class Tree(Extension):
    value: tf.Tensor
    children: "tuple[Tree, ...]" = ()


class Nested(Extension):
    inner: Masked
    rows: tf.RaggedTensor


class Checked(Extension):
    x: tf.Tensor
    y: tf.Tensor

    def __validate__(self) -> None:
        self.x.shape.assert_is_compatible_with(self.y.shape)


class Counted(Extension):
    x: tf.Tensor
    size: int

    def __init__(self, x: Any) -> None:
        self.x = x
        self.size = len(x)


class CountedTwice(Counted):
    factor: int = 2

    def __init__(self, x: Any) -> None:
        super().__init__(x)
        self.factor = 3


class Child(Masked):
    extra: int = 3


def masked() -> Masked:
    return Masked([1.0, 2.0], [True, False])


def test_fields_are_converted_and_printed() -> None:
    m = masked()
    assert isinstance(m.values, tf.Tensor) and m.mask.dtype == tf.bool
    assert repr(m) == (
        "Masked(values=<tf.Tensor: shape=(2,), dtype=float32, numpy=array([1., 2.], "
        "dtype=float32)>, mask=<tf.Tensor: shape=(2,), dtype=bool, numpy=array([ True, False])>)"
    )
    options: Any = Options(
        1, sizes=[1, 2], parts={"x": 1.5}, maybe=[1.0], either="s", dtype="int32"
    )
    assert options.sizes == (1, 2) and options.dtype is tf.int32
    assert float(options.parts["x"]) == 1.5 and not hasattr(options.parts, "__setitem__")
    assert options.maybe.shape == [1]
    assert options.either.dtype == tf.string  # the first of the union that takes it
    assert Options(1, shape=[2, 3]).shape == [2, 3]
    assert repr(Options(3)) == (
        "Options(count=3, rate=2.5, name='x', flag=False, sizes=(), parts=ImmutableDict({}), "
        "maybe=None, either=None, dtype=tf.float32, shape=TensorShape([2, None]), "
        "pair=(1, 'q'), raw=b'b')"
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"count": "x"}, "count: expected 'int', got 'str'"),
        ({"count": 1.5}, "count: expected 'int', got 'float'"),
        ({"count": tf.constant(1)}, "count: expected 'int', got 'EagerTensor'"),
        ({"count": 1, "rate": 3}, "rate: expected 'float', got 'int'"),
        ({"count": 1, "flag": 1}, "flag: expected 'bool', got 'int'"),
        ({"count": 1, "sizes": [1, "2"]}, r"sizes\[1\]: expected 'int', got 'str'"),
        ({"count": 1, "sizes": 3}, "sizes: expected a tuple, got 'int'"),
        ({"count": 1, "parts": {1: 1.0}}, r"parts\[<key>\]: expected 'str', got 'int'"),
        ({"count": 1, "parts": {"a": object()}}, r"parts\['a'\]: expected a Tensor, got 'object'"),
        ({"count": 1, "either": object()}, "either: expected .*Tensor.*, got 'object'"),
        ({"count": 1, "pair": (1,)}, "pair: expected a tuple of length 2, got 1 items"),
        ({"count": 1, "pair": (1, 2)}, r"pair\[1\]: expected 'str', got 'int'"),
        ({"count": 1, "raw": "x"}, "raw: expected .*bytes.*, got 'str'"),
        ({"count": 1, "dtype": "none"}, "dtype: expected 'DType', got 'str'"),
        ({"count": 1, "shape": "x"}, "shape: expected 'TensorShape', got 'str'"),
        ({}, "missing a required argument: 'count'"),
        ({"count": 1, "other": 1}, "got an unexpected keyword argument 'other'"),
    ],
)
def test_values_that_do_not_fit_a_field(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(TypeError, match=message):
        Options(**arguments)


def test_other_values_that_do_not_fit() -> None:
    with pytest.raises(TypeError, match="values: expected a Tensor, got 'object'"):
        Masked(object(), [True])
    with pytest.raises(TypeError, match="inner: expected 'Masked', got 'int'"):
        Nested(3, tf.ragged.constant([[1]]))
    with pytest.raises(TypeError, match="values: expected a Tensor, got 'RaggedTensor'"):
        Masked(tf.ragged.constant([[1]]), [True])
    with pytest.raises(ValueError, match=r"\(1,\) and \(2,\) are incompatible"):
        Checked([1.0], [1.0, 2.0])


@pytest.mark.parametrize("name", ["values", "other"])
def test_values_do_not_change(name: str) -> None:
    m = masked()
    with pytest.raises(AttributeError, match=f"Cannot mutate attribute `{name}`"):
        setattr(m, name, 1)
    with pytest.raises(AttributeError, match=f"Cannot mutate attribute `{name}`"):
        delattr(m, name)
    with pytest.raises(AttributeError, match="outside the custom constructor of ExtensionTypeSpec"):
        m._type_spec.values = 1
    with pytest.raises(TypeError, match="unhashable type: 'Masked'"):
        hash(m)


def test_a_constructor_of_the_users_sets_the_fields() -> None:
    counted = Counted([1.0, 2.0])
    assert counted.size == 2 and isinstance(counted.x, tf.Tensor)
    twice = CountedTwice([1.0])
    assert (twice.size, twice.factor) == (1, 3) and isinstance(twice.x, tf.Tensor)

    class Forgets(Extension):
        x: tf.Tensor
        n: int

        def __init__(self, x: Any) -> None:
            self.x = x

    class SetsMore(Extension):
        x: tf.Tensor

        def __init__(self, x: Any) -> None:
            self.x = x
            self.more = 1

    with pytest.raises(ValueError, match=r"Missing required fields: \{'n'\}"):
        Forgets(1.0)
    with pytest.raises(AttributeError, match="Cannot mutate attribute `more`"):
        SetsMore(1.0)


def test_signatures() -> None:
    assert list(inspect.signature(Options).parameters)[:3] == ["count", "rate", "name"]
    assert list(inspect.signature(Counted).parameters) == ["x"]

    class Mixed(Extension):
        x: int = 1
        y: int

    with pytest.raises(TypeError, match="too many positional arguments"):
        Mixed(1, 2)
    assert (Mixed(y=2).x, Mixed(3, y=2).y) == (1, 2)
    child = Child([1.0], [True])
    assert isinstance(child, Masked) and child.extra == 3 and float(child.total()) == 1.0
    with pytest.raises(AssertionError, match="base class"):
        Extension()


def _declare(annotation: Any, **body: Any) -> Any:
    return type("Bad", (Extension,), {"__annotations__": {"x": annotation}, **body})


@pytest.mark.parametrize(
    ("annotation", "message"),
    [
        (list, "In field 'x': Unsupported type annotation 'list'"),
        (Any, "In field 'x': Unsupported type annotation"),
        (list[int], r"In field 'x': Unsupported type annotation list\[int\]"),
        (tf.TensorSpec([]), "In field 'x': Unsupported type annotation TensorSpec"),
        (tf.Variable, "In field 'x': Unsupported type annotation 'Variable'"),
    ],
)
def test_annotations_that_mean_nothing(annotation: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        _declare(annotation)


def test_declarations_that_are_wrong() -> None:
    with pytest.raises(TypeError, match="default value for x: expected 'int', got 'str'"):
        _declare(int, x="q")
    for name in ("Spec", "self", "_type_spec"):
        with pytest.raises(ValueError, match=f"Field '{name}' is reserved"):
            type("Bad", (Extension,), {"__annotations__": {name: int}})
    with pytest.raises(ValueError, match=r"Bad\.Spec must be a nested class, not 3"):
        _declare(int, Spec=3)
    later = _declare("NotDefinedAnywhere")
    with pytest.raises(TypeError, match="x: the annotation 'NotDefinedAnywhere'"):
        later(1)


def test_classes_name_themselves() -> None:
    tree = Tree(1.0, (Tree(2.0), Tree(3.0, [Tree(4.0)])))
    leaves = tf.nest.flatten(tree, expand_composites=True)
    assert [float(leaf) for leaf in leaves] == [1.0, 2.0, 3.0, 4.0]
    with pytest.raises(TypeError, match=r"children\[0\]: expected 'Tree', got 'Masked'"):
        Tree(1.0, (masked(),))
    depth = tf.function(lambda tree: tree.children[1].children[0].value + tree.value)
    assert float(depth(tree)) == 5.0


def test_equality_is_a_tensor() -> None:
    m = masked()
    assert bool(m == masked()) and isinstance(m == masked(), tf.Tensor)
    assert not bool(m != masked())
    assert not bool(m == Masked([1.0, 3.0], [True, False]))
    for other in (Masked([1.0], [True]), Masked([1, 2], [True, False]), 3, Child([1.0], [True])):
        assert (m == other) is False and (m != other) is True
    assert bool(Options(1) == Options(1)) and (Options(1) == Options(2)) is False
    same = tf.function(lambda a, b: a == b)
    assert bool(same(m, masked()))
    vector = tf.TensorSpec([None])
    spec = Checked.Spec(vector, vector)
    open_sizes = tf.function(lambda a, b: a == b, input_signature=[spec, spec])
    one, two = Checked([1.0], [1.0]), Checked([1.0, 1.0], [1.0, 1.0])
    assert not bool(open_sizes(one, two)) and bool(open_sizes(two, two))


def test_specs() -> None:
    spec: Any = masked()._type_spec
    assert repr(spec) == (
        "Masked.Spec(values=TensorSpec(shape=(2,), dtype=tf.float32, name=None), "
        "mask=TensorSpec(shape=(2,), dtype=tf.bool, name=None))"
    )
    made = Masked.Spec(tf.TensorSpec([2]), mask=tf.TensorSpec([2], tf.bool))
    assert made == spec and hash(made) == hash(spec)
    assert issubclass(Masked.Spec, tf.experimental.ExtensionTypeSpec)
    assert spec.value_type is Masked
    assert tf.type_spec_from_value(masked()) == spec
    wide = Masked.Spec(tf.TensorSpec([None]), tf.TensorSpec([None], tf.bool))
    assert wide.is_compatible_with(masked()) and spec.is_subtype_of(wide)
    assert not wide.is_subtype_of(spec) and spec.values == tf.TensorSpec([2])
    with pytest.raises(TypeError, match="values: expected a TensorSpec, got 'int'"):
        Masked.Spec(3, 4)
    with pytest.raises(TypeError, match="inner: expected the spec of a 'Masked', got 'TensorSpec'"):
        Nested.Spec(tf.TensorSpec([]), tf.RaggedTensorSpec([None, None]))
    with pytest.raises(TypeError, match="missing a required argument: 'mask'"):
        Masked.Spec(tf.TensorSpec([2]))
    assert Child.Spec is not Masked.Spec and not issubclass(Child.Spec, Masked.Spec)
    assert repr(Options(1)._type_spec).startswith("Options.Spec(count=1, rate=2.5, name='x'")
    assert repr(Options(1, parts={"a": 1})._type_spec.parts["a"]).startswith("TensorSpec")


def test_a_spec_of_the_users() -> None:
    class Tagged(Extension):
        x: tf.Tensor
        tag: str

        class Spec:
            def __init__(self, x: Any, tag: str = "usual") -> None:
                self.x = x
                self.tag = tag

            @property
            def shape(self) -> Any:
                return self.x.shape

    spec: Any = Tagged.Spec(tf.TensorSpec([2]))
    assert spec.shape == [2] and spec.tag == "usual"
    made = Tagged([1.0], "t")._type_spec
    assert (made.tag, made.shape) == ("t", [1])
    assert "Tagged.Spec(x=TensorSpec(shape=(1,)" in repr(made)
    with pytest.raises(TypeError, match="x: expected a TensorSpec"):
        Tagged.Spec(3)


# Constants that Python finds equal are not the same: True would be computed with as 1.
@pytest.mark.parametrize(("a", "b"), [(1, True), (0.0, -0.0), ((1,), (True,))])
def test_equal_constants_of_other_kinds_have_traces_of_their_own(a: Any, b: Any) -> None:
    kind = {int: int, float: float, tuple: tuple[int, ...]}[type(a)]
    klass = _declare(kind)
    seen = []

    @tf.function
    def f(value: Any) -> Any:
        seen.append(value.x)
        return 1.0

    for value in (a, b, a, b):
        f(klass(value))
    assert [repr(x) for x in seen] == [repr(a), repr(b)]


def test_nans_share_a_trace() -> None:
    klass = _declare(float)
    f = tf.function(lambda value: value.x)
    f(klass(float("nan")))
    f(klass(float("nan")))
    assert f.experimental_get_tracing_count() == 1


def test_arguments_results_and_captures_of_functions() -> None:
    m = masked()
    assert float(tf.function(lambda a: a.total())(m)) == 1.0
    assert float(tf.function(lambda: m.total())()) == 1.0
    double = tf.function(lambda a: {"r": [Masked(a.values * 2.0, a.mask), a]})
    result = double(m)["r"]
    assert isinstance(result[0], Masked) and result[0].values.numpy().tolist() == [2.0, 4.0]
    spec = Masked.Spec(tf.TensorSpec([None]), tf.TensorSpec([None], tf.bool))
    total = tf.function(lambda a: a.total(), input_signature=[spec])
    assert [float(total(v)) for v in (m, Masked([1.0] * 3, [True] * 3))] == [1.0, 3.0]
    assert total.experimental_get_tracing_count() == 1
    with pytest.raises(TypeError, match="Can not cast"):
        total(Masked([[1.0]], [[True]]))
    concrete = double.get_concrete_function(spec)
    assert concrete.structured_outputs["r"][0].values.shape == [None]
    nested = tf.function(lambda n: n.inner.total() + tf.reduce_sum(n.rows.flat_values))
    assert float(nested(Nested(m, tf.ragged.constant([[1.0], [2.0, 3.0]])))) == 7.0


def test_methods_that_are_functions_take_the_value_as_an_argument() -> None:
    results = [masked().scaled(k).values.numpy().tolist() for k in (2.0, 2.0)]
    assert results == [[2.0, 4.0], [2.0, 4.0]]
    assert Masked.scaled.experimental_get_tracing_count() == 1
    kept = masked().scaled
    assert kept(2.0).values.numpy().tolist() == [2.0, 4.0]


def test_loops_and_branches() -> None:
    @tf.function
    def grown(m: Masked, n: Any) -> Any:
        i = 0
        while i < n:
            if i % 2 == 0:
                m = Masked(m.values + 1.0, m.mask)
            else:
                m = Masked(m.values * 10.0, tf.logical_not(m.mask))
            i += 1
        return m

    result = grown(masked(), tf.constant(3))
    assert result.values.numpy().tolist() == [21.0, 31.0]
    assert result.mask.numpy().tolist() == [False, True]
    m = masked()
    chosen = tf.function(
        lambda n: tf.cond(n > 0, lambda: m, lambda: Masked(m.values * 0.0, m.mask))
    )
    assert chosen(tf.constant(-1)).values.numpy().tolist() == [0.0, 0.0]


def test_gradients_and_maps() -> None:
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.function(lambda m: m.total())(Masked(x * 3.0, [True, False]))
    assert tape.gradient(y, x).numpy().tolist() == [3.0, 0.0]

    class Rows(tf.experimental.BatchableExtensionType):
        values: tf.Tensor
        scale: float = 2.0

    rows = Rows([[1.0, 2.0], [3.0, 4.0]])

    def total(row: Rows) -> Any:
        return tf.reduce_sum(row.values) * row.scale

    totals = tf.map_fn(total, rows, fn_output_signature=tf.float32)
    assert totals.numpy().tolist() == [6.0, 14.0]
    assert tf.vectorized_map(total, rows).numpy().tolist() == [6.0, 14.0]


@pytest.mark.parametrize("wrap", [lambda f: f, tf.function], ids=["eager", "traced"])
def test_map_fn_gives_values_of_a_spec(wrap: Any) -> None:
    spec = Masked.Spec(tf.TensorSpec([2]), tf.TensorSpec([], tf.bool))
    made = wrap(
        lambda x: tf.map_fn(lambda e: Masked([e, e], e > 1.0), x, fn_output_signature=spec)
    )(tf.constant([1.0, 2.0]))
    assert isinstance(made, Masked)
    assert made.values.numpy().tolist() == [[1.0, 1.0], [2.0, 2.0]]
    assert made.mask.numpy().tolist() == [False, True]
    assert made._type_spec.values.shape == [2, 2]
    none = wrap(
        lambda x: tf.map_fn(lambda e: Masked([e, e], e > 1.0), x, fn_output_signature=spec)
    )(tf.constant([], tf.float32))
    assert isinstance(none, Masked) and none.values.shape == [0, 2]
    with pytest.raises(ValueError, match=r"Expected `fn` to return a:\n +Masked.Spec"):
        wrap(lambda x: tf.map_fn(lambda e: e, x, fn_output_signature=spec))(tf.ones([2]))


def test_a_loop_takes_a_spec_as_the_invariant_of_a_value() -> None:
    open_spec = Masked.Spec(tf.TensorSpec([None]), tf.TensorSpec([2], tf.bool))
    grow = functools.partial(
        tf.while_loop,
        lambda i, m: i < 2,
        lambda i, m: (i + 1, Masked(tf.concat([m.values, m.values], 0), m.mask)),
        (0, masked()),
    )

    def grown(invariant: Any) -> Any:
        invariants = (tf.TensorShape([]), invariant)
        return tf.function(lambda: grow(shape_invariants=invariants)[1].values)()

    assert grown(open_spec).numpy().tolist() == [1.0, 2.0] * 4
    for wrong in (
        tf.TensorShape([None]),
        Masked.Spec(tf.TensorSpec([None, None]), tf.TensorSpec([2], tf.bool)),
        tf.TensorSpec([None]),
    ):
        with pytest.raises(TypeError, match="shape_invariants holds"):
            grown(wrong)

    @tf.function
    def staged(n: Any) -> Any:
        m, i = masked(), tf.constant(0)
        while i < n:
            tf.autograph.experimental.set_loop_options(shape_invariants=[(m, open_spec)])
            m = Masked(tf.concat([m.values, m.values], 0), m.mask)
            i += 1
        return m.values

    assert staged(tf.constant(2)).numpy().tolist() == [1.0, 2.0] * 4


def test_a_tensor_spec_equals_no_other_object() -> None:
    spec = tf.TensorSpec([2])
    assert None not in [spec] and spec != 3 and spec not in [None, "x"]


def test_nest_takes_them_apart_when_asked() -> None:
    m = masked()
    assert tf.nest.flatten([m]) == [m] or tf.nest.flatten([m])[0] is m
    leaves = tf.nest.flatten({"a": m}, expand_composites=True)
    assert [leaf.numpy().tolist() for leaf in leaves] == [[1.0, 2.0], [True, False]]
    same = tf.nest.map_structure(lambda t: t[:1], m, expand_composites=True)
    assert isinstance(same, Masked) and same.values.shape == [1]
    spec = m._type_spec
    assert tf.nest.flatten(spec, expand_composites=True) == [spec.values, spec.mask]
    packed = tf.nest.pack_sequence_as(spec, leaves, expand_composites=True)
    assert isinstance(packed, Masked) and packed.values is leaves[0]
    tf.nest.assert_same_structure(m, Masked([1.0], [True]), expand_composites=True)
    for other, kind in ((Masked([1], [True]), ValueError), (3, ValueError), ([1, 2], TypeError)):
        with pytest.raises(kind, match="same nested structure"):
            tf.nest.assert_same_structure(m, other, expand_composites=True)
    rows = tf.ragged.constant([[1], [2, 3]])
    flat = tf.nest.flatten(rows, expand_composites=True)
    assert [t.numpy().tolist() for t in flat] == [[1, 2, 3], [0, 1, 3]]
    with pytest.raises(ValueError, match="had 2 atoms, but flat_sequence had 1"):
        tf.nest.pack_sequence_as(rows, flat[:1], expand_composites=True)


def _pickled(value: Any) -> Any:
    return pickle.loads(pickle.dumps(value))


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, _pickled])
def test_copies(copied: Any) -> None:
    for value in (masked(), Options(1, parts={"a": [1.0]}), Tree(1.0, (Tree(2.0),))):
        other = copied(value)
        assert type(other) is type(value) and bool(other == value)
        assert copied(value._type_spec) == value._type_spec
    assert np.array_equal(copied(masked()).values.numpy(), [1.0, 2.0])


def test_they_are_no_tensors() -> None:
    assert not tf.is_tensor(masked())
    with pytest.raises((TypeError, ValueError), match="Masked"):
        tf.convert_to_tensor(masked())


class Features(Extension):
    parts: Mapping[str, tf.Tensor]


# Specs of mappings do not know an order, so the parts have one of their own.
def test_the_order_of_a_mapping_makes_no_difference() -> None:
    one, other = Features({"a": 1.0, "b": 2.0}), Features({"b": 2.0, "a": 1.0})
    f = tf.function(lambda v: v.parts["a"] * 10.0 + v.parts["b"])
    assert [float(f(v)) for v in (one, other)] == [12.0, 12.0]
    assert f.experimental_get_tracing_count() == 1 and bool(one == other)
    spec = one._type_spec
    signed = tf.function(lambda v: v.parts["a"] - v.parts["b"], input_signature=[spec])
    assert float(signed(other)) == -1.0

    @tf.function
    def swapped(v: Features, n: Any) -> Any:
        for _ in tf.range(n):
            v = Features({"b": v.parts["b"], "a": v.parts["a"] + 1.0})
        return v

    result = swapped(one, tf.constant(3))
    assert (float(result.parts["a"]), float(result.parts["b"])) == (4.0, 2.0)
    added = tf.nest.map_structure(lambda x, y: x + y, one, other, expand_composites=True)
    assert (float(added.parts["a"]), float(added.parts["b"])) == (2.0, 4.0)
    flat = tf.nest.flatten(other, expand_composites=True)
    assert [float(x) for x in flat] == [1.0, 2.0]


def test_a_bare_tuple_is_no_annotation() -> None:
    with pytest.raises(TypeError, match="Unsupported type annotation"):
        _declare(typing.Tuple)  # noqa: UP006
    assert _declare(tuple[()])(()).x == ()


class Scaled(Extension):
    x: tf.Tensor
    k: float


class ScaledTwice(Scaled):
    pass


@pytest.mark.parametrize(
    "changed",
    [
        lambda u: Scaled(u.x * u.k, u.k / 2.0),
        lambda u: ScaledTwice(u.x, u.k),
        lambda u: tf.experimental.Optional.from_value(u.x),
    ],
)
def test_a_constant_of_a_loop_variable_does_not_change(changed: Any) -> None:
    @tf.function
    def f(n: Any) -> Any:
        u = Scaled(1.0, 0.5)
        for _ in tf.range(n):
            u = changed(u)
        return u

    with pytest.raises(TypeError, match="must keep all of its type but shapes"):
        f(tf.constant(3))


def test_optionals_of_a_loop_keep_their_structure() -> None:
    optional = tf.experimental.Optional

    @tf.function
    def f(n: Any) -> Any:
        o = optional.from_value({"a": 1.0})
        for _ in tf.range(n):
            o = optional.from_value({"b": 1.0})
        return o

    with pytest.raises(TypeError, match="must keep all of its type but shapes"):
        f(tf.constant(3))


def test_a_tape_watches_the_parts_of_a_value() -> None:
    m = masked()
    with tf.GradientTape() as tape:
        tape.watch(m)
        y = tf.reduce_sum(m.values * [5.0, 3.0])
    assert tape.gradient(y, m.values).numpy().tolist() == [5.0, 3.0]
