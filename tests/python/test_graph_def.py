"""Graphs as data: records of graphs, and nodes made of them."""

from __future__ import annotations

import contextlib
import copy
import random
from collections.abc import Callable
from typing import Any

import graven as tf
import numpy as np
import pytest
from graven import _engine
from graven._graph_def import (
    ArgDef,
    AttrValue,
    Dim,
    DtypeAndShape,
    FunctionDef,
    GraphDef,
    ListValue,
    NameAttrList,
    NodeDef,
    OpDef,
    TensorProto,
    TensorShapeProto,
    VersionDef,
)

FLOAT = {"T": AttrValue(type=1)}
X = NodeDef(
    "x",
    "Placeholder",
    attr={"dtype": AttrValue(type=1), "shape": AttrValue(shape=TensorShapeProto([Dim(-1)]))},
)


def negative() -> GraphDef:
    return GraphDef([copy.deepcopy(X), NodeDef("y", "Neg", ["x"], attr=dict(FLOAT))])


def graph_of(graph_def: Any, **arguments: Any) -> tf.Graph:
    graph = tf.Graph()
    with graph.as_default():
        tf.graph_util.import_graph_def(graph_def, **arguments)
    return graph


def run(graph_def: Any, x: Any, element: str = "y:0") -> Any:
    """The value of a tensor of the GraphDef for a value of its node x."""

    @tf.function(autograph=False)
    def f(x: Any) -> Any:
        return tf.import_graph_def(graph_def, {"x": x}, [element])[0]

    return f(x)


def bits(tensor: Any) -> Any:
    """The bytes of numbers, or a list of strings."""
    array = tensor.numpy()
    return array.tolist() if tensor.dtype == tf.string else array.tobytes()


# --- Programs, each of x and n.


def arithmetic(x: Any, n: Any) -> Any:
    return tf.reduce_sum(x * 2.0 + tf.constant([[1.0], [2.0]]), axis=1), n * 2


def branches(x: Any, n: Any) -> Any:
    y = tf.zeros([])
    if n > 2:
        y = tf.reduce_sum(x)
    return tf.switch_case(n % 3, [lambda: y, lambda: y * 2.0, lambda: -y])


def loop(x: Any, n: Any) -> Any:
    total = tf.zeros_like(x)
    for i in tf.range(n):
        total += x / tf.cast(i + 1, tf.float32)
    return total, tf.shape(total)


def calls(x: Any, n: Any) -> Any:
    inner = tf.function(lambda y: tf.matmul(y, y, transpose_b=True))
    outer = tf.function(lambda y: inner(y) + inner(2.0 * y))
    return outer(x), tf.map_fn(lambda row: tf.reduce_sum(inner([row])), x)


def lists(x: Any, n: Any) -> Any:
    rows = tf.TensorArray(tf.float32, size=n)
    for i in tf.range(n):
        rows = rows.write(i, x[0] * tf.cast(i, tf.float32))
    return rows.stack(), tf.split(x, 2)[1], tf.unstack(x)


def texts(x: Any, n: Any) -> Any:
    return tf.strings.join([["a", b'\xff\n\\"'], tf.strings.as_string(n)])


def constants(x: Any, n: Any) -> Any:
    numbers = [np.nan, -np.inf, -0.0, 1e-42]
    dtypes = [tf.float16, tf.bfloat16, tf.float64, tf.complex64, tf.complex128]
    return [tf.constant(numbers, d) for d in dtypes], tf.zeros([0, 3]), tf.cast(n, tf.uint8)


def gradients(x: Any, n: Any) -> Any:
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.reduce_sum(tf.sin(x) * tf.nn.softmax(x))
        for _ in tf.range(n):
            y = y * y
    return tape.gradient(y, x)


def effects(x: Any, n: Any) -> Any:
    tf.debugging.Assert(n > 0, [n])
    with tf.name_scope("Deep"), tf.device("/cpu:0"):
        tf.print("n", n, output_stream="file:///dev/null")
        y = x + 1.0
    return y


PROGRAMS: list[Callable[[Any, Any], Any]] = [
    arithmetic,
    branches,
    loop,
    calls,
    lists,
    texts,
    constants,
    gradients,
    effects,
]
MATRIX, MORE = (
    tf.constant([[1.0, 2.0], [3.0, 0.5]]),
    tf.constant([[0.1, 0.2, 0.7], [3.0, 1.0, 1.0]]),
)


def traced(program: Callable[..., Any]) -> Any:
    specs = tf.TensorSpec([2, None], tf.float32, "x"), tf.TensorSpec([], tf.int32, "n")
    return tf.function(program).get_concrete_function(*specs)


@pytest.mark.parametrize("program", PROGRAMS)
def test_nodes_that_were_data_compute_the_same(program: Callable[..., Any]) -> None:
    concrete = traced(program)
    graph_def = concrete.graph.as_graph_def()
    names = [t.name for t in concrete.outputs]

    @tf.function(autograph=False)
    def imported(x: Any, n: Any) -> Any:
        return tf.import_graph_def(graph_def, {"x": x, "n": n}, names)

    for x, n in [(MATRIX, 1), (MORE, 4)]:
        expected = tf.nest.flatten(concrete(x, tf.constant(n)))
        for made, wanted in zip(imported(x, tf.constant(n)), expected, strict=True):
            assert made.dtype == wanted.dtype and made.shape == wanted.shape
            assert bits(made) == bits(wanted)


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("add_shapes", [False, True])
def test_nodes_that_were_data_are_the_same_data(
    program: Callable[..., Any], add_shapes: bool
) -> None:
    graph_def = traced(program).graph.as_graph_def(add_shapes=add_shapes)
    again = graph_of(graph_def, name="").as_graph_def(add_shapes=add_shapes)
    assert str(again) == str(graph_def)
    assert again == graph_def and again != GraphDef()
    # A second copy calls the same functions.
    twice = graph_of(GraphDef(again.node, again.library, again.versions))
    with pytest.raises(KeyError):
        twice.get_operation_by_name("x")
    assert len(twice.as_graph_def().library.function) == len(graph_def.library.function)


def test_variables_are_fed_by_their_handles() -> None:
    v = tf.Variable([1.0, 2.0])

    @tf.function
    def f(x: Any) -> Any:
        v.assign_add(x)
        return v * 2.0

    concrete = f.get_concrete_function(tf.TensorSpec([2]))
    graph_def, other = concrete.graph.as_graph_def(), tf.Variable([5.0, 6.0])
    handle = concrete.inputs[1].op.name

    @tf.function
    def g(x: Any) -> Any:
        fed = {"x": x, handle: other.handle}
        return tf.import_graph_def(graph_def, fed, [concrete.outputs[0].name])[0]

    assert g(tf.ones([2])).numpy().tolist() == [12.0, 14.0]
    assert (v.numpy().tolist(), other.numpy().tolist()) == ([1.0, 2.0], [6.0, 7.0])
    assert g.get_concrete_function(tf.ones([2])).structured_outputs.shape == [2]


def test_effects_keep_the_order_of_the_program() -> None:
    v = tf.Variable(1.0)
    assign = tf.function(lambda: v.assign(v * 3.0)).get_concrete_function()
    graph_def, handle = assign.graph.as_graph_def(), assign.inputs[0].op.name

    @tf.function
    def f() -> Any:
        v.assign_add(1.0)
        tf.import_graph_def(graph_def, {handle: v.handle})
        return v.read_value() + 0.5

    assert f().numpy() == 6.5


def test_gradients_flow_through_nodes_that_were_data() -> None:
    graph_def = negative()
    graph_def.node.append(NodeDef("z", "Square", ["y"], attr=dict(FLOAT)))

    @tf.function
    def inside(x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            (z,) = tf.import_graph_def(graph_def, {"x": x}, ["z:0"])
        return tape.gradient(z, x)

    x = tf.constant([3.0])
    assert inside(x).numpy().tolist() == [6.0]
    with tf.GradientTape() as tape:
        tape.watch(x)
        z = run(graph_def, x, "z:0")
    assert tape.gradient(z, x).numpy().tolist() == [6.0]


def test_a_gradient_that_only_the_maker_has_is_a_lookup_error() -> None:
    @tf.custom_gradient
    def clipped(x: Any) -> Any:
        return tf.identity(x), lambda dy: tf.clip_by_value(dy, -1.0, 1.0)

    concrete = tf.function(lambda x: 5.0 * clipped(x)).get_concrete_function(
        tf.TensorSpec([], name="x")
    )
    graph_def, name = concrete.graph.as_graph_def(), concrete.outputs[0].name

    @tf.function
    def inside(x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            (y,) = tf.import_graph_def(graph_def, {"x": x}, [name])
        return tape.gradient(y, x)

    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = run(graph_def, x, name)
    assert y.numpy() == 10.0
    ways: list[Callable[[], Any]] = [lambda: inside(x), lambda: tape.gradient(y, x)]
    for differentiate in ways:
        with pytest.raises(LookupError, match="No gradient defined for operation 'import/"):
            differentiate()


def test_sizes_that_a_trace_leaves_open_stay_open() -> None:
    @tf.function(autograph=False, reduce_retracing=True)
    def f(x: Any) -> Any:
        return tf.import_graph_def(negative(), {"x": x}, ["y:0"])[0]

    for size in range(1, 6):
        assert f(tf.ones([size])).numpy().tolist() == [-1.0] * size
    assert f.experimental_get_tracing_count() == 2


@pytest.mark.parametrize("program", [arithmetic, branches, loop, calls, lists])
def test_nodes_that_were_data_serve_all_sizes(program: Callable[..., Any]) -> None:
    concrete = traced(program)
    graph_def, names = concrete.graph.as_graph_def(), [t.name for t in concrete.outputs]

    @tf.function(reduce_retracing=True)
    def f(x: Any, n: Any) -> Any:
        with tf.name_scope("around"):
            if n > 1:
                made = tf.import_graph_def(graph_def, {"x": x, "n": n}, names)
            else:
                made = tf.import_graph_def(graph_def, {"x": -x, "n": n}, names)
        return made

    for size in range(1, 5):
        for n in (1, 4):
            x = tf.random.stateless_uniform([2, size], [size, n])
            expected = concrete(x if n > 1 else -x, tf.constant(n))
            made = f(x, tf.constant(n))
            assert list(map(bits, made)) == list(map(bits, tf.nest.flatten(expected)))


# --- Records.


def test_a_record_prints_as_the_text_form_of_a_message() -> None:
    graph_def = negative()
    graph_def.node[1].attr["_note"] = AttrValue(s=b'a "b"\xff\n')
    graph_def.versions = VersionDef(7)
    assert str(graph_def) == "\n".join(
        [
            "node {",
            '  name: "x"',
            '  op: "Placeholder"',
            "  attr {",
            '    key: "dtype"',
            "    value {",
            "      type: DT_FLOAT",
            "    }",
            "  }",
            "  attr {",
            '    key: "shape"',
            "    value {",
            "      shape {",
            "        dim {",
            "          size: -1",
            "        }",
            "      }",
            "    }",
            "  }",
            "}",
            "node {",
            '  name: "y"',
            '  op: "Neg"',
            '  input: "x"',
            "  attr {",
            '    key: "T"',
            "    value {",
            "      type: DT_FLOAT",
            "    }",
            "  }",
            "  attr {",
            '    key: "_note"',
            "    value {",
            '      s: "a \\"b\\"\\377\\012"',
            "    }",
            "  }",
            "}",
            "versions {",
            "  producer: 7",
            "}",
            "",
        ]
    )


def test_an_attribute_has_one_value() -> None:
    value = AttrValue(i=3)
    assert (value.i, value.s, value.list.i, value.WhichOneof("value")) == (3, b"", [], "i")
    value.b = False
    assert (value.i, value.WhichOneof("value"), value.HasField("b")) == (0, "b", True)
    assert AttrValue().WhichOneof("value") is None
    assert AttrValue(i=0) != AttrValue(b=False) and copy.deepcopy(value) == value
    with pytest.raises(TypeError, match="an AttrValue has one value, not i, b"):
        AttrValue(i=1, b=True)
    with pytest.raises(AttributeError, match="has no field 'j'"):
        value.j = 1
    with pytest.raises(AttributeError, match="has no field 'j'"):
        _ = value.j
    with pytest.raises(ValueError, match="has no field 'j'"):
        value.HasField("j")
    with pytest.raises(ValueError, match="no group of fields 'other'"):
        value.WhichOneof("other")


def test_a_node_says_what_it_is() -> None:
    @tf.function
    def f(x: Any) -> Any:
        return tf.cond(x > 0.0, lambda: x, lambda: -x)

    graph = f.get_concrete_function(tf.TensorSpec([])).graph
    (node,) = (op.node_def for op in graph.get_operations() if "If" in op.type)
    assert isinstance(node, NodeDef)
    assert node.attr["then_branch"].func.name.startswith("cond_true")
    assert node.attr["Tcond"].type == tf.bool
    names = [f.signature.name for f in graph.as_graph_def().library.function]
    assert {node.attr[b].func.name for b in ("then_branch", "else_branch")} == set(names)


def test_a_graph_that_was_changed_as_data_is_another_graph() -> None:
    graph_def = negative()
    graph_def.node[1].op = "Square"
    graph_def.node.append(NodeDef("z", "AddV2", ["x", "y"], attr=dict(FLOAT)))
    assert run(graph_def, tf.constant([2.0, 3.0]), "z:0").numpy().tolist() == [6.0, 12.0]


def test_numbers_of_a_constant_may_stand_one_by_one() -> None:
    def constant(dtype: Any, **numbers: Any) -> Any:
        tensor = TensorProto(int(dtype.as_datatype_enum), TensorShapeProto([Dim(3)]), **numbers)
        attr = {"dtype": AttrValue(type=tensor.dtype), "value": AttrValue(tensor=tensor)}
        graph_def = GraphDef([NodeDef("y", "Const", attr=attr)])
        f = tf.function(lambda: tf.import_graph_def(graph_def, return_elements=["y:0"])[0])
        return f().numpy().tolist()

    assert constant(tf.float32, float_val=[1.0, 2.0, 3.0]) == [1.0, 2.0, 3.0]
    assert constant(tf.float32, float_val=[1.0, 2.0]) == [1.0, 2.0, 2.0]
    assert constant(tf.float64, double_val=[0.5]) == [0.5] * 3
    assert constant(tf.int8, int_val=[-1, 2]) == [-1, 2, 2]
    assert constant(tf.int32) == [0, 0, 0]
    assert constant(tf.uint64, uint64_val=[2**64 - 1]) == [2**64 - 1] * 3
    assert constant(tf.bool, bool_val=[True, False]) == [True, False, False]
    assert constant(tf.string, string_val=[b"a", b""]) == [b"a", b"", b""]
    assert constant(tf.string) == [b""] * 3
    assert constant(tf.float16, half_val=[0x3C00]) == [1.0] * 3
    assert constant(tf.complex64, scomplex_val=[1.0, 2.0]) == [1 + 2j] * 3
    with pytest.raises(ValueError, match=r"'value' of node 'y' must have 3 elements, got 4"):
        constant(tf.float32, float_val=[1.0] * 4)
    with pytest.raises(ValueError, match=r"must have 12 bytes, for 3 elements of float32, got 4"):
        constant(tf.float32, tensor_content=b"abcd")
    with pytest.raises(ValueError, match=r"must be of numbers or strings, got dtype resource"):
        constant(tf.resource)


# --- Refusals.


def test_names_are_unique_whatever_their_case_and_end() -> None:
    graph = graph_of(GraphDef([NodeDef(name, "NoOp") for name in ("a", "A", "a/", "b//")]))
    names = [operation.name for operation in graph.get_operations()]
    assert names == ["import/a", "import/A_1", "import/a_2", "import/b"]


def test_no_graph_to_import_into_is_a_runtime_error() -> None:
    with pytest.raises(RuntimeError, match=r"none is being built: call it in a tf\.function, or"):
        tf.import_graph_def(negative())


def test_the_names_to_return_are_a_list() -> None:
    @tf.function
    def f(names: Any) -> Any:
        return tf.import_graph_def(negative(), {"x": 1.0}, return_elements=names)

    for names in ("y:0", b"y:0", ["y:0", 3]):
        with pytest.raises(TypeError, match=r"`return_elements` must be a list of strings\. Obta"):
            f(names)
    assert len(f(("y:0",))) == 1


def test_a_placeholder_that_nothing_feeds_is_an_error_of_the_run() -> None:
    @tf.function
    def f() -> Any:
        return tf.import_graph_def(negative(), return_elements=["y:0"])[0]

    with pytest.raises(tf.errors.InvalidArgumentError) as caught:
        f()
    phrase = "You must feed a value for placeholder tensor with dtype float and shape [?]"
    assert phrase in str(caught.value) and "import/x" in str(caught.value)


def one_function(*nodes: NodeDef, **fields: Any) -> GraphDef:
    """A GraphDef that calls a function f from a to o."""
    signature = OpDef("f", [ArgDef("a", 1)], [ArgDef("o", 1)])
    given = {"signature": signature, "node_def": list(nodes), "ret": {"o": "n:y:0"}, **fields}
    graph_def = GraphDef([copy.deepcopy(X), NodeDef("y", "f", ["x"])])
    graph_def.library.function.append(FunctionDef(**given))
    return graph_def


def changed(**fields: Any) -> GraphDef:
    """The negative, with fields of node y changed."""
    graph_def = negative()
    for name, value in fields.items():
        setattr(graph_def.node[1], name, value)
    return graph_def


INNER = NodeDef("n", "Neg", ["a"], attr=dict(FLOAT))
CALL = {
    "f": AttrValue(func=NameAttrList("f")),
    "Tin": AttrValue(list=ListValue(type=[1])),
    "Tout": AttrValue(list=ListValue(type=[1])),
}


def calling(op: str, attr: dict[str, AttrValue], inputs: list[str]) -> GraphDef:
    graph_def = one_function(INNER)
    graph_def.node[1] = NodeDef("y", op, inputs, attr=attr)
    return graph_def


BRANCHES = {
    "Tcond": AttrValue(type=1),
    "Tin": CALL["Tin"],
    "Tout": CALL["Tout"],
    "then_branch": CALL["f"],
    "else_branch": CALL["f"],
}
# What is wrong, and what the message says.
WRONG: dict[str, tuple[Any, type[Exception], str]] = {
    "a function that calls itself": (
        one_function(NodeDef("n", "f", ["a"])),
        ValueError,
        "Node 'n': the function 'f' calls itself, which a graph cannot hold here",
    ),
    "two functions of one name": (
        GraphDef(library=one_function().library.__class__(one_function().library.function * 2)),
        ValueError,
        "Cannot add function 'f' because there is another function of this name",
    ),
    "a function that is not there": (
        calling("PartitionedCall", {**CALL, "f": AttrValue(func=NameAttrList("g"))}, ["x"]),
        ValueError,
        "the function 'g' is not in the GraphDef's library",
    ),
    "an input that no function has": (
        one_function(NodeDef("n", "Neg", ["b"], attr=dict(FLOAT))),
        ValueError,
        "Node 'n': Unknown input node 'b', in function 'f'",
    ),
    "a result of another dtype": (
        one_function(INNER, signature=OpDef("f", [ArgDef("a", 1)], [ArgDef("o", 3)])),
        ValueError,
        "Return o -> n:y:0 is float, but must be int32, in function 'f'",
    ),
    "a control result that is not there": (
        one_function(INNER, control_ret={"c": "m"}),
        ValueError,
        "Control return c -> m is not found, in function 'f'",
    ),
    "an argument twice": (
        one_function(INNER, signature=OpDef("f", [ArgDef("a", 1)] * 2, [ArgDef("o", 1)])),
        ValueError,
        "The argument 'a' stands twice, in function 'f'",
    ),
    "a template of a function": (
        one_function(INNER, signature=OpDef("f", [ArgDef("a", 0)], [ArgDef("o", 1)])),
        ValueError,
        "the type of the argument 'a' of function 'f' must be the number of a dtype known here",
    ),
    "a call with another number of inputs": (
        calling(
            "PartitionedCall", {**CALL, "Tin": AttrValue(list=ListValue(type=[1, 1]))}, ["x", "x"]
        ),
        ValueError,
        "the body 'f' has 1 inputs and 1 outputs, the node has 2 and 1 for it",
    ),
    "a call with another number of outputs": (
        calling("PartitionedCall", {**CALL, "Tout": AttrValue(list=ListValue())}, ["x"]),
        ValueError,
        "the body 'f' has 1 inputs and 1 outputs, the node has 1 and 0 for it",
    ),
    "a branch of another dtype": (
        calling("If", {**BRANCHES, "Tout": AttrValue(list=ListValue(type=[3]))}, ["x", "x"]),
        ValueError,
        "output 0 has another dtype in the body 'f'",
    ),
    "no branches": (
        calling(
            "Case",
            {"Tin": CALL["Tin"], "Tout": CALL["Tout"], "branches": AttrValue(list=ListValue())},
            ["i", "x"],
        ),
        ValueError,
        "Unknown input node 'i'",
    ),
    "a name that is no text": (
        changed(name=3),
        TypeError,
        "the name of a node must be of type str, got one of int",
    ),
    "an input that is no text": (
        changed(input=[3]),
        TypeError,
        "an input of node 'y' must be of type str",
    ),
    "inputs that are no list": (
        changed(input=None),
        TypeError,
        "the input of node 'y' must be a list, got one of NoneType",
    ),
    "a list of truths": (
        changed(attr={**FLOAT, "_b": AttrValue(list=ListValue(b=[True]))}),
        ValueError,
        "the attribute '_b' of node 'y' is a list of 'b', which no op here has",
    ),
    "a number of a dtype that is not known": (
        changed(attr={"T": AttrValue(type=999)}),
        ValueError,
        "the attribute 'T' of node 'y' must be the number of a dtype known here, got 999",
    ),
    "a number beyond 64 bits": (
        changed(attr={**FLOAT, "_i": AttrValue(i=2**63)}),
        ValueError,
        "must fit in 64 bits",
    ),
    "a size below -1": (
        changed(attr={**FLOAT, "_s": AttrValue(shape=TensorShapeProto([Dim(-2)]))}),
        ValueError,
        "must have sizes of at least 0, or -1 for unknown, got [-2]",
    ),
    "a later format": (
        GraphDef(versions=VersionDef(1, 10**6)),
        ValueError,
        "GraphDef min consumer version 1000000 above current version",
    ),
    "an attribute that stands for a template": (
        changed(attr={"T": AttrValue(placeholder="T")}),
        ValueError,
        "only templates of nodes have",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_graph_def_that_is_wrong_names_what_must_hold(name: str) -> None:
    graph_def, kind, phrase = WRONG[name]
    with tf.Graph().as_default(), pytest.raises(kind) as caught:
        tf.import_graph_def(graph_def)
    assert phrase in str(caught.value)
    assert not isinstance(caught.value, tf.errors.InternalError)


def test_arguments_that_nothing_follows_are_refused() -> None:
    with tf.Graph().as_default():
        for argument in ("op_dict", "producer_op_list"):
            refused: dict[str, Any] = {argument: []}
            with pytest.raises(NotImplementedError, match=f"does not support {argument}="):
                tf.import_graph_def(negative(), **refused)
    with pytest.raises(NotImplementedError, match="does not support from_version"):
        tf.Graph().as_graph_def(from_version=1)  # type: ignore[arg-type]


def test_functions_within_functions_may_be_deep_but_not_too_deep() -> None:
    graph_def = GraphDef([copy.deepcopy(X), NodeDef("y", "f0", ["x"])])
    for i in range(30000):
        function = copy.copy(one_function().library.function[0])
        function.signature = OpDef(f"f{i}", [ArgDef("a", 1)], [ArgDef("o", 1)])
        function.node_def, function.ret = [NodeDef("n", f"f{i + 1}", ["a"])], {"o": "n:output:0"}
        graph_def.library.function.append(function)
    graph_def.library.function[-1].node_def = [INNER]
    graph_def.library.function[-1].ret = {"o": "n:y:0"}
    with tf.Graph().as_default(), pytest.raises(RecursionError, match="Functions are nested too"):
        tf.import_graph_def(graph_def)
    graph_def.library.function[500].node_def = [INNER]
    graph_def.library.function[500].ret = {"o": "n:y:0"}
    assert graph_of(graph_def).get_operation_by_name("import/y").outputs[0].dtype == tf.float32


def odd(draw: random.Random, like: Any) -> Any:
    """A value that some field may have, or none should; mostly of the type of another value."""
    kinds: list[Callable[[], Any]] = [
        lambda: draw.choice(
            ["", "x", "y", "x:1", "^x", "n:y:0", "a", "Neg", "Nonsense", "\0", ":", "^"]
        ),
        lambda: draw.choice([0, 1, 3, 7, -1, 2**40, 20, 9, 10, 21]),
        lambda: AttrValue(**{draw.choice("ifbs"): draw.choice([0, 1.5, True, b"", "q"])}),
        lambda: AttrValue(type=draw.randrange(30)),
        lambda: AttrValue(shape=TensorShapeProto([Dim(draw.choice([-1, 0, 2**62]))] * 3)),
        lambda: AttrValue(list=ListValue(type=[1] * draw.randrange(3), i=[4] * draw.randrange(2))),
        lambda: AttrValue(list=ListValue(func=[NameAttrList("f")] * draw.randrange(3))),
        lambda: AttrValue(func=NameAttrList(draw.choice(["f", "g", ""]))),
        lambda: AttrValue(),
        lambda: DtypeAndShape(draw.randrange(30), TensorShapeProto(unknown_rank=True)),
        lambda: None,
    ]
    made = draw.choice(kinds)()
    while type(made) is not type(like) and draw.random() < 0.95:
        made = draw.choice(kinds)()
    return made


def put(record: Any, key: Any, value: Any) -> None:
    if isinstance(record, list | dict):
        record[key] = value
    else:
        setattr(record, key, value)


def spoil(record: Any, draw: random.Random) -> None:
    """Changes something deep within a record."""
    while True:
        if isinstance(record, list):
            if not record or draw.random() < 0.3:
                if draw.random() < 0.5:
                    record.clear()
                else:
                    record.append(odd(draw, record[-1] if record else None))
                return
            key: Any = draw.randrange(len(record))
            if draw.random() < 0.3:
                record.insert(draw.randrange(len(record)), record.pop(key))
                return
            inner = record[key]
        elif isinstance(record, dict):
            if not record or draw.random() < 0.3:
                key = draw.choice(["T", "f", "N", "Tin", "o", "shape", "_output_shapes"])
                record[key] = odd(draw, AttrValue())
                return
            key = draw.choice(list(record))
            if draw.random() < 0.3:
                del record[key]
                return
            inner = record[key]
        else:
            key = draw.choice(list(vars(record)) or ["i"])
            inner = getattr(record, key)
        is_last = not isinstance(inner, list | dict) and not hasattr(inner, "_text_lines")
        if is_last or draw.random() < 0.1:
            put(record, key, odd(draw, inner))
            return
        record = inner


@pytest.mark.parametrize("seed", range(4))
def test_spoiled_graph_defs_are_refused_or_make_graphs(seed: int) -> None:
    draw = random.Random(seed)
    whole = [traced(program).graph.as_graph_def() for program in (branches, loop, calls, lists)]
    whole += [one_function(INNER), calling("If", BRANCHES, ["x", "x"])]
    for _ in range(400):
        graph_def = copy.deepcopy(draw.choice(whole))
        for _ in range(draw.randrange(1, 4)):
            spoil(graph_def, draw)
        graph = tf.Graph()
        with graph.as_default():
            with contextlib.suppress(ValueError, TypeError, tf.errors.NotFoundError):
                tf.import_graph_def(graph_def)
        again = tf.Graph()
        with again.as_default():
            tf.import_graph_def(graph.as_graph_def(), name="")
        assert str(again.as_graph_def()) == str(graph.as_graph_def())


def test_data_is_a_form_that_says_all_that_runs() -> None:
    """Each graph goes through data before it runs, and once more to see that nothing is lost."""
    _engine.set_round_trip("data")
    try:
        for program in PROGRAMS:
            fresh = traced(program)
            for made, wanted in zip(
                tf.nest.flatten(fresh(MATRIX, tf.constant(3))),
                tf.nest.flatten(program(MATRIX, tf.constant(3))),
                strict=True,
            ):
                assert bits(made) == bits(wanted)
    finally:
        _engine.set_round_trip("")
