"""Graphs as data: both systems import the same GraphDefs, and each what the other one made."""

# tf is either system here, and so are its decorators.
# mypy: disable-error-code="untyped-decorator,misc"

import os
from collections.abc import Callable
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import graven
import numpy as np
import pytest
import tensorflow
from both_systems import class_of, plain
from google.protobuf import text_format
from tensorflow.python.eager.context import context

SYSTEMS = (graven, tensorflow)


def message(text: str) -> Any:
    """The GraphDef of TensorFlow's that a text says."""
    return text_format.Parse(text, tensorflow.compat.v1.GraphDef())


def attr(name: str, value: str) -> str:
    return f'attr {{ key: "{name}" value {{ {value} }} }}'


def node(name: str, op: str, inputs: str = "", attributes: str = "", device: str = "") -> str:
    """A node in text form; the inputs are separated by spaces."""
    named = " ".join(f'input: "{text}"' for text in inputs.split())
    return f'node {{ name: "{name}" op: "{op}" {named} {attributes} device: "{device}" }}'


FLOAT, INT, STRING = (attr("T", f"type: DT_{name}") for name in ("FLOAT", "INT32", "STRING"))


def placeholder(name: str = "x", dtype: str = "FLOAT", dims: str = "dim { size: -1 }") -> str:
    shape = attr("shape", f"shape {{ {dims} }}")
    return node(name, "Placeholder", "", attr("dtype", f"type: DT_{dtype}") + shape)


def const(name: str, tensor: str, dtype: str = "FLOAT") -> str:
    value = attr("value", f"tensor {{ dtype: DT_{dtype} {tensor} }}")
    return node(name, "Const", "", attr("dtype", f"type: DT_{dtype}") + value)


def shapes(text: str) -> str:
    return attr("_output_shapes", f"list {{ {text} }}")


X = placeholder()
NEGATIVE = X + node("y", "Neg", "x", FLOAT)


def function(nodes: str, result: str = "n:y:0", name: str = "f", argument: str = "") -> str:
    """A library of one function of a float vector."""
    body = nodes.replace("node {", "node_def {")
    return f"""
        function {{
          signature {{
            name: "{name}"
            input_arg {{ name: "a" type: DT_FLOAT {argument} }}
            output_arg {{ name: "o" type: DT_FLOAT }}
          }}
          {body}
          ret {{ key: "o" value: "{result}" }}
        }}"""


def library(*functions: str) -> str:
    return f"library {{ {' '.join(functions)} }}"


F = function(node("n", "Neg", "a", FLOAT))
FLOATS = attr("Tin", "list { type: DT_FLOAT }") + attr("Tout", "list { type: DT_FLOAT }")


def call(of: str = "f") -> str:
    return X + node("y", "PartitionedCall", "x", attr("f", f'func {{ name: "{of}" }}') + FLOATS)


def dump(tf: Any, graph: Any, result: Any) -> list[Any]:
    operations = [
        [
            [op.name, op.type, op.device, [str(x.shape) for x in op.outputs]],
            [[x.name for x in op.inputs], sorted(c.name for c in op.control_inputs)],
        ]
        for op in graph.get_operations()
    ]
    return [operations, result and [getattr(element, "name", element) for element in result]]


def outcome(tf: Any, text: str, arguments: dict[str, Any]) -> Any:
    """The graph after an import, or the class of an error and its message."""
    graph = tf.Graph()
    arguments = dict(arguments)
    make_map = arguments.pop("make_map", None)
    with graph.as_default():
        if make_map:
            arguments["input_map"] = make_map(tf)
        try:
            result = tf.graph_util.import_graph_def(message(text), **arguments)
        except Exception as error:
            return error
    return dump(tf, graph, result)


def maps(key: str, value: Any) -> dict[str, Any]:
    """An input map with a tensor, and the result."""
    return {"make_map": lambda tf: {key: tf.constant(value)}, "return_elements": ["y:0"]}


GRAPHS: dict[str, tuple[str, dict[str, Any]]] = {
    "nodes": (NEGATIVE, {}),
    "no prefix": (NEGATIVE, {"name": ""}),
    "an exact prefix": (NEGATIVE, {"name": "pre/"}),
    "nodes and tensors returned": (NEGATIVE, {"return_elements": ["y", "y:0", "x"]}),
    "one name returned": (NEGATIVE, {"return_elements": "x"}),
    "nodes in another order": (node("y", "Neg", "x", FLOAT) + X, {}),
    "several ready": (
        node("z", "AddV2", "b a", FLOAT)
        + node("b", "Neg", "x", FLOAT)
        + X
        + node("a", "Abs", "x", FLOAT),
        {},
    ),
    "a control input": (NEGATIVE + node("n", "NoOp", "^y ^x"), {}),
    "a control input twice": (X + node("y", "Neg", "x ^x ^x", FLOAT), {}),
    "a mapped tensor": (NEGATIVE, maps("x:0", [1.0, 2.0])),
    "a mapped tensor by its node": (NEGATIVE, maps("x", [1.0, 2.0])),
    "a mapped tensor of another rank": (NEGATIVE, maps("x", [[1.0, 2.0]])),
    "a mapped value": (NEGATIVE, {"make_map": lambda tf: {"x": [1.0, 2.0]}}),
    "a mapped result": (NEGATIVE, maps("y", [1.0])),
    "a mapped control input": (X + node("y", "Neg", "x ^x", FLOAT), maps("^x", 1.0)),
    "a mapped tensor, not its control input": (
        X + node("y", "Neg", "x ^x", FLOAT),
        maps("x", [2.0]),
    ),
    "defaults": (
        X
        + const("axis", "tensor_shape { } int_val: 0", "INT32")
        + node("y", "Sum", "x axis", FLOAT + attr("Tidx", "type: DT_INT32")),
        {},
    ),
    "attributes that no op has": (X + node("y", "Neg", "x", FLOAT + attr("zz", "i: 3")), {}),
    "attributes of the system": (X + node("y", "Neg", "x", FLOAT + attr("_zz", "i: 3")), {}),
    "a promised shape": (
        X + node("y", "Neg", "x", FLOAT + shapes("shape { dim { size: 4 } }")),
        {},
    ),
    "a placeholder without shape": (
        node("x", "Placeholder", "", attr("dtype", "type: DT_FLOAT")),
        {},
    ),
    "devices": (node("a", "NoOp", device="/device:CPU:0") + node("b", "NoOp", device="/cpu:0"), {}),
    "a list": (X + node("y", "AddN", "x x", FLOAT + attr("N", "i: 2")), {}),
    "a call": (call() + library(F), {}),
    "a call by name": (X + node("y", "f", "x") + library(F), {}),
    "a name with all characters": (node("a.b-c/d>e", "NoOp"), {}),
}


@pytest.mark.parametrize("name", GRAPHS)
def test_a_graph_def_becomes_the_same_nodes(name: str) -> None:
    text, arguments = GRAPHS[name]
    ours, theirs = (outcome(tf, text, arguments) for tf in SYSTEMS)
    assert not isinstance(theirs, Exception)
    # A call by the name of the function is a call like others here.
    expected = repr(theirs).replace("'import/y', 'f'", "'import/y', 'PartitionedCall'")
    assert repr(ours).replace("'<unknown>'", "'(None,)'") == expected.replace(
        "'<unknown>'", "'(None,)'"
    )


ADD = (
    X
    + const("z", "tensor_shape { dim { size: 2 } } float_val: 1")
    + const("w", "tensor_shape { dim { size: 3 } } float_val: 1")
)
# A GraphDef, arguments, and what both messages hold.
WRONG: dict[str, tuple[str, dict[str, Any], str]] = {
    "no such node returned": (NEGATIVE, {"return_elements": ["z"]}, "'z' not found in graph def"),
    "no such output returned": (
        NEGATIVE,
        {"return_elements": ["y:3"]},
        "Invalid return output 3 of node 'y', which has 1 output(s)",
    ),
    "no number": (NEGATIVE, {"return_elements": ["y:a"]}, "Cannot convert 'y:a' to a tensor name."),
    "no names returned": (
        X,
        {"return_elements": [1]},
        "`return_elements` must be a list of strings",
    ),
    "a key that no input has": (NEGATIVE, maps("z", [1.0]), "not found in graph_def: [z:0]"),
    "a key that no output has": (NEGATIVE, maps("x:1", [1.0]), "not found in graph_def: [x:1]"),
    "a mapped tensor of another dtype": (
        NEGATIVE,
        maps("x", [1, 2]),
        "Input 0 of node import/y was passed int32 from Const:0 incompatible with expected float.",
    ),
    "a mapped value without a name": (
        NEGATIVE,
        {"make_map": lambda tf: {"x": [1.0]}, "name": ""},
        "requires a non-empty `name`",
    ),
    "no map": (X, {"input_map": 3}, "Argument `input_map` must be a dictionary."),
    "keys that are no names": (X, {"input_map": {3: 1.0}}, "must be strings. Obtained keys: [3]"),
    "an unknown op": (node("y", "Nonsense"), {}, "Op type not registered 'Nonsense'"),
    "too few inputs": (
        node("y", "Neg", "", FLOAT),
        {},
        "expected inputs 'float' do not match 0 inputs specified",
    ),
    "too many inputs": (
        X + node("y", "Neg", "x x", FLOAT),
        {},
        "expected inputs 'float' do not match 2 inputs specified",
    ),
    "an unknown input": (node("y", "Neg", "q", FLOAT), {}, "Node 'y': Unknown input node 'q'"),
    "an unknown control input": (
        X + node("y", "Neg", "x ^q", FLOAT),
        {},
        "Node 'y': Unknown input node '^q'",
    ),
    "an output that is not there": (
        X + node("y", "Neg", "x:1", FLOAT),
        {},
        "Node 'y': Connecting to invalid output 1 of source node x which has 1 outputs",
    ),
    "an input after a control input": (
        X + node("y", "Neg", "^x x", FLOAT),
        {},
        "Node 'y': Control dependencies must come after regular dependencies",
    ),
    "an input that is no name": (
        X + node("y", "Neg", "x:a", FLOAT),
        {},
        "Unknown input node 'x:a'",
    ),
    "an input of another dtype": (
        X + node("y", "Neg", "x", INT),
        {},
        "Input 0 of node import/y was passed float from import/x:0 incompatible with expected",
    ),
    "a dtype that the op has not": (
        placeholder(dtype="STRING") + node("y", "Neg", "x", STRING),
        {},
        "Value for attr 'T' of string is not in the list of allowed values",
    ),
    "no dtype": (X + node("y", "Neg", "x"), {}, "NodeDef missing attr 'T' from Op<name=Neg"),
    "no attribute": (node("y", "Placeholder"), {}, "NodeDef missing attr 'dtype' from Op<name=Pla"),
    "no count": (
        X + node("y", "AddN", "x", FLOAT),
        {},
        "NodeDef missing attr 'N' from Op<name=AddN",
    ),
    "another count": (
        X + node("y", "AddN", "x", FLOAT + attr("N", "i: 2")),
        {},
        "NodeDef expected",
    ),
    "an attribute of another kind": (
        X + node("y", "Neg", "x", attr("T", "i: 3")),
        {},
        "AttrValue had value with type 'int' when 'type' expected",
    ),
    "a cycle": (
        node("a", "Neg", "b", FLOAT) + node("b", "Neg", "a", FLOAT),
        {},
        "2 nodes in a cycle",
    ),
    "a circle of one": (node("a", "Neg", "a", FLOAT), {}, "1 nodes in a cycle"),
    "a name twice": (X + X, {}, "Node 'x' is not unique"),
    "a name with a space": (node("a b", "NoOp"), {}, "Node 'a b': Node name contains invalid"),
    "no name": (node("", "NoOp"), {}, "Node '': Node name contains invalid characters"),
    "a prefix that no scope has": (X, {"name": "a b"}, "'a b' is not a valid root scope name"),
    "no device": (node("b", "NoOp", device="junk"), {}, "Unknown attribute 'junk'"),
    "shapes that do not fit": (ADD + node("q", "Add", "z w", FLOAT), {}, "import/q"),
    "a promised shape of another rank": (
        X + node("y", "Neg", "x", FLOAT + shapes("shape { dim { size: 4 } dim { size: 4 } }")),
        {},
        "Node 'import/y' has an _output_shapes attribute inconsistent with the GraphDef for output",
    ),
    "too few promised shapes": (
        X + node("y", "Neg", "x", FLOAT + shapes("")),
        {},
        "Node 'import/y' has 1 outputs but the _output_shapes attribute specifies shapes for 0",
    ),
    "a result of no node": (
        call() + library(function("", "n:y:0")),
        {},
        "Return o -> n:y:0 is not",
    ),
    "a result of no output": (
        call() + library(F.replace('value: "n:y:0"', 'value: "n:z:0"')),
        {},
        "Return o -> n:z:0 is not found",
    ),
    "no result": (
        call() + library(F.replace('ret { key: "o" value: "n:y:0" }', "")),
        {},
        "Return o missing",
    ),
    "a later format": (
        X + "versions { min_consumer: 5000 }",
        {},
        "GraphDef min consumer version 5000",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_graph_def_that_is_wrong_is_refused_alike(name: str) -> None:
    text, arguments, phrase = WRONG[name]
    for error in [outcome(tf, text, arguments) for tf in SYSTEMS]:
        assert isinstance(error, Exception) and phrase in str(error)
    ours, theirs = (outcome(tf, text, arguments) for tf in SYSTEMS)
    assert class_of(ours) == class_of(theirs)


def test_nodes_stand_in_the_scopes_of_the_caller() -> None:
    def names(tf: Any) -> Any:
        graph = tf.Graph()
        with graph.as_default():
            c = tf.constant(1.0, name="c")
            with tf.control_dependencies([c]), tf.name_scope("s"), tf.device("/device:GPU:0"):
                text = X + node("y", "Neg", "x", FLOAT, "/job:localhost")
                tf.graph_util.import_graph_def(message(text))
                tf.graph_util.import_graph_def(message(X))
        return dump(tf, graph, None)

    assert names(graven) == names(tensorflow)


def test_what_is_no_graph_def_is_a_type_error() -> None:
    for tf in SYSTEMS:
        with tf.Graph().as_default(), pytest.raises(TypeError, match="must be a GraphDef proto"):
            tf.graph_util.import_graph_def(3)


# --- Programs that one system traces and both run.


def arithmetic(tf: Any, x: Any, n: Any) -> Any:
    y = tf.reduce_sum(x * 2.0 + tf.constant([[1.0], [2.0]]), axis=1)
    return tf.split(y, 2)[1], tf.cast(n, tf.float32) + tf.reduce_mean(x), tf.strings.as_string(n)


def branches(tf: Any, x: Any, n: Any) -> Any:
    y = tf.zeros([])
    if n > 2:
        y = tf.reduce_sum(x)
    return tf.switch_case(n % 3, [lambda: y, lambda: y * 2.0, lambda: -y])


def loop(tf: Any, x: Any, n: Any) -> Any:
    total = tf.zeros_like(x)
    for i in tf.range(n):
        total += x / tf.cast(i + 1, tf.float32)
        if tf.reduce_sum(total) > 10.0:
            break
    return total, tf.shape(total)


def list_in_loop(tf: Any, x: Any, n: Any) -> Any:
    rows = tf.TensorArray(tf.float32, size=n)
    for i in tf.range(n):
        rows = rows.write(i, x[0] * tf.cast(i, tf.float32))
    return rows.stack()


def nested_calls(tf: Any, x: Any, n: Any) -> Any:
    inner = tf.function(lambda y: tf.matmul(y, y, transpose_b=True))
    outer = tf.function(lambda y: inner(y) + inner(2.0 * y))
    return outer(x), tf.map_fn(lambda row: tf.reduce_sum(inner([row])), x)


def networks(tf: Any, x: Any, n: Any) -> Any:
    image = tf.reshape(tf.tile(x, [2, 2]), [1, 4, 4, 1])
    filters = tf.reshape(tf.range(8.0), [2, 2, 1, 2])
    y = tf.nn.conv2d(image, filters, strides=[1, 2, 2, 1], padding="SAME")
    y = tf.nn.bias_add(tf.nn.relu(y), [0.5, -0.5])
    return tf.nn.softmax(y), tf.nn.max_pool2d(y, 2, 2, "VALID"), tf.einsum("bhwc->c", y)


def numbers_of_all_kinds(tf: Any, x: Any, n: Any) -> Any:
    dtypes = [tf.float16, tf.bfloat16, tf.float64, tf.int8, tf.uint8, tf.int16, tf.int64, tf.uint64]
    parts = [tf.cast(n, d) + tf.constant([1, 2, 2], d) for d in dtypes]
    texts = tf.strings.join([["a", "\xff"], tf.strings.as_string(n)])
    return [*parts, tf.complex(x, x) * tf.constant(1 + 2j, tf.complex64), texts, n > [1, 3]]


def gradients(tf: Any, x: Any, n: Any) -> Any:
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.reduce_sum(tf.sin(x) * tf.nn.sigmoid(x @ tf.transpose(x)))
    return tape.gradient(y, x)


PROGRAMS: list[Callable[[Any, Any, Any], Any]] = [
    arithmetic,
    branches,
    loop,
    list_in_loop,
    nested_calls,
    networks,
    numbers_of_all_kinds,
    gradients,
]
CALLS = [(np.array([[1.0, 2.0], [3.0, 0.5]], np.float32), n) for n in (1, 4)]


def traced(tf: Any, program: Any) -> Any:
    """A concrete function of a program; its shape and the size of its columns are open."""
    return tf.function(lambda x, n: program(tf, x, n)).get_concrete_function(
        tf.TensorSpec([2, 2], tf.float32, "x"), tf.TensorSpec([], tf.int32, "n")
    )


def imported(tf: Any, graph_def: Any, outputs: list[str]) -> Any:
    """The flat results of a GraphDef's nodes x and n, as a Function."""

    @tf.function(autograph=False)
    def run(x: Any, n: Any) -> Any:
        return tf.graph_util.import_graph_def(
            graph_def, input_map={"x:0": x, "n": n}, return_elements=outputs
        )

    return run


def close(ours: Any, theirs: Any) -> bool:
    pairs = zip(tensorflow.nest.flatten(ours), tensorflow.nest.flatten(theirs), strict=True)
    return all(
        np.array_equal(np.asarray(a), np.asarray(b))
        if a.dtype.name == "string"
        else np.allclose(np.asarray(a), np.asarray(b), rtol=1e-5, atol=1e-6)
        for a, b in pairs
    )


@pytest.mark.parametrize("program", PROGRAMS)
def test_graphs_of_tensorflow_compute_the_same_here(program: Any) -> None:
    theirs = traced(tensorflow, program)
    run = imported(graven, theirs.graph.as_graph_def(), [t.name for t in theirs.outputs])
    for x, n in CALLS:
        expected = program(tensorflow, tensorflow.constant(x), tensorflow.constant(n))
        assert close(run(graven.constant(x), graven.constant(n)), expected)


@pytest.mark.parametrize("program", PROGRAMS)
def test_graphs_of_ours_compute_the_same_in_tensorflow(program: Any) -> None:
    ours = traced(graven, program)
    graph_def = message(str(ours.graph.as_graph_def()))
    for definition in graph_def.library.function:
        # An import into a tf.function of TensorFlow's runs functions that the program has only.
        context().add_function_def(definition)
    run = imported(tensorflow, graph_def, [t.name for t in ours.outputs])
    for x, n in CALLS:
        expected = ours(graven.constant(x), graven.constant(n))
        assert close(run(tensorflow.constant(x), tensorflow.constant(n)), expected)


@pytest.mark.parametrize("program", PROGRAMS)
def test_shapes_travel_if_they_are_asked_for(program: Any) -> None:
    theirs = traced(tensorflow, program)
    names = [t.name for t in theirs.outputs]
    with graven.Graph().as_default():
        made = graven.import_graph_def(theirs.graph.as_graph_def(add_shapes=True), None, names)
    assert [str(t.shape) for t in made] == [str(t.shape) for t in theirs.outputs]


def test_the_records_of_a_trace_are_those_of_tensorflow() -> None:
    """Everything but the names of functions and what TensorFlow notes for itself."""

    def definitions(tf: Any) -> tuple[Any, Any]:
        @tf.function
        def f(x: Any) -> Any:
            return tf.reduce_sum(tf.split(x, 2)[1], axis=-1, keepdims=True)

        concrete = f.get_concrete_function(tf.TensorSpec([2, None], tf.float32, "x"))
        return concrete.graph.as_graph_def(add_shapes=True), concrete.function_def

    (graph, function), (their_graph, their_function) = map(definitions, SYSTEMS)
    for ours, theirs in (
        (graph.node, their_graph.node),
        (function.node_def, their_function.node_def),
    ):
        for node, other in zip(ours, theirs, strict=True):
            assert (node.name, node.op, list(node.input)) == (
                other.name,
                other.op,
                list(other.input),
            )
            assert set(node.attr) == set(other.attr)
            for name, value in other.attr.items():
                if name != "value":
                    kind = value.WhichOneof("value")
                    assert str(getattr(node.attr[name], kind)) == str(getattr(value, kind))
    for field in ("input_arg", "output_arg", "is_stateful"):
        parts = [getattr(f.signature, field) for f in (function, their_function)]
        ours, theirs = (p if isinstance(p, bool) else list(map(str, p)) for p in parts)
        assert ours == theirs
    assert dict(function.ret) == dict(their_function.ret)
    assert plain(graph.versions.producer) == their_graph.versions.producer
