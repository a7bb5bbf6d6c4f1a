"""Short programs over graphs, Operations and symbolic tensors as objects of Python.

Each gives the same in both systems, as those of test_objects_beside_tensorflow.py.
"""

# tf is either system here, and so are its decorators.
# mypy: disable-error-code="untyped-decorator,misc"

import os
from collections.abc import Callable
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import graven
import pytest
import tensorflow
from both_systems import attempt, plain, says

Program = Callable[[Any], Any]
PROGRAMS: list[Program] = []


def program(f: Program) -> Program:
    """Lists a program, which is given tf and returns what the systems are to agree on."""
    PROGRAMS.append(f)
    return f


@program
def a_graph_that_a_program_builds_takes_nodes(tf: Any) -> Any:
    graph, other, eager = tf.Graph(), tf.Graph(), tf.constant(1.0)
    with graph.as_default() as entered:
        x = tf.constant([1.0, 2.0])
        with tf.name_scope("a"):
            y = tf.reduce_sum(x * 2)
        inside = [tf.executing_eagerly(), tf.inside_function(), y.name, y.shape, y.graph is graph]
        called = tf.function(lambda z: z + 1.0)(x)
        captured = says("Attempting to capture an EagerTensor", lambda: eager + 1.0)
    with other.as_default():
        crossed = says("must be from the same graph as", lambda: tf.constant(2.0) + x)
        with graph.as_default():
            inner = tf.constant(1).graph is graph
        outer = tf.constant(1).graph is other
    function = tf.function(lambda z: z).get_concrete_function(eager)
    return [
        [entered is graph, tf.executing_eagerly(), inside, called.shape, called.op.type],
        [captured, crossed, inner, outer],
        [operation.type for operation in graph.get_operations()],
        [graph.building_function, function.graph.building_function],
        isinstance(function.graph, tf.Graph),
        attempt(lambda: x + 1.0),
        graph.get_operation_by_name("a/mul").type,
        [node.name for node in graph.as_graph_def().node if node.op != "Const"],
        tf.Variable(1.0).initializer,
    ]


@program
def a_graph_knows_what_its_trace_knows(tf: Any) -> Any:
    v, c = tf.Variable([1.0, 2.0]), tf.constant([3.0] * 200)

    @tf.function
    def f(x: Any, y: Any) -> Any:
        return {"sum": x * v + y, "tail": c[:1]}

    concrete = f.get_concrete_function(tf.TensorSpec([2], name="x"), tf.TensorSpec([], name="y"))
    graph = concrete.graph
    return [
        [[external.dtype, internal.op.type] for external, internal in graph.captures],
        [t.dtype for t in graph.external_captures],
        [
            t.name == pair[1].name
            for t, pair in zip(graph.internal_captures, graph.captures, strict=True)
        ],
        [len(graph.variables), graph.variables[0] is v, len(graph.trainable_variables)],
        [graph.output_shapes, graph.output_types],
        {
            key: t.shape == concrete.output_shapes[key]
            for key, t in graph.structured_outputs.items()
        },
        [[s.shape, s.name] for s in graph.structured_input_signature[0]],
    ]


@program
def elements_of_a_graph_are_found_by_object_and_name(tf: Any) -> Any:
    graph = tf.Graph()
    versions = [graph.version]
    with graph.as_default():
        x = tf.constant(1.0, name="x")
        versions.append(graph.version)
    find = graph.as_graph_element
    return [
        versions,
        [find(x) is x, find(x.op) is x.op, find("x") is x.op, find("x:0").name],
        says("'y' refers to an Operation not in the graph", lambda: find("y")),
        says("The operation, 'y', does not exist in the graph.", lambda: find("y:0")),
        says("The operation, 'x', exists but only has 1 outputs.", lambda: find("x:9")),
        says("Can not convert a int into a Tensor or Operation.", lambda: find(3)),
        says("refers to an Operation, not a Tensor", lambda: find("x", allow_operation=False)),
        says("'x:0' appears to refer to a Tensor", lambda: find("x:0", allow_tensor=False)),
        says("into a Operation", lambda: find(x, allow_tensor=False)),
        says("both be False", lambda: find("x", allow_tensor=False, allow_operation=False)),
        says("is not an element of this graph", lambda: find(_other(tf))),
        [[t.name for t in x.op.values()], type(x.op.values()), x.op.colocation_groups()],
        any(frame.name.startswith("elements_of_a_graph") for frame in x.op.traceback),
    ]


def _other(tf: Any) -> Any:
    with tf.Graph().as_default():
        return tf.constant(1.0)


@program
def names_find_tensors_and_operations(tf: Any) -> Any:
    graph = tf.Graph()
    with graph.as_default():
        tf.constant(1.0, name="x")
    tensor, operation = graph.get_tensor_by_name, graph.get_operation_by_name
    return [
        [tensor("x:0").name, operation("x").name],
        says("'x' refers to an Operation, not a Tensor", lambda: tensor("x")),
        says("is not a valid one. Tensor names must be of the form", lambda: tensor("x:zero")),
        says("exists but only has 1 outputs", lambda: tensor("x:3")),
        says("The operation, 'y', does not exist in the graph", lambda: tensor("y:0")),
        says("Tensor names are strings", lambda: tensor(3)),
        says("'x:0' appears to refer to a Tensor", lambda: operation("x:0")),
        says("'y' refers to an Operation not in the graph", lambda: operation("y")),
        says("Operation names are strings", lambda: operation(3)),
    ]


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_a_program_does_what_it_does_in_tensorflow(f: Program) -> None:
    assert plain(f(graven)) == plain(f(tensorflow))
