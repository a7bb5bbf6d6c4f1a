"""Graphs and Operations as objects: what they share with the trace, and look-up by name."""

from __future__ import annotations

import gc
import traceback
import weakref
from typing import Any

import graven as tf
import pytest


def traced() -> tuple[Any, tf.Variable, Any]:
    """A trace that captures a variable and a tensor; both of these."""
    v, c = tf.Variable([1.0, 2.0]), tf.constant([3.0] * 200)

    @tf.function
    def f(x: Any, *, y: Any) -> Any:
        return {"sum": x * v + y, "tail": c[:1]}

    spec = tf.TensorSpec([2], name="x")
    return f.get_concrete_function(spec, y=tf.TensorSpec([], name="y")), v, c


def test_a_graph_knows_what_its_trace_knows() -> None:
    concrete, v, c = traced()
    graph = concrete.graph
    assert [pair[1].name for pair in graph.captures] == [t.name for t in concrete.inputs[2:]]
    assert [t.dtype for t in graph.external_captures] == [tf.resource, tf.float32]
    assert graph.external_captures[1] is c
    assert [t.op.type for t in graph.internal_captures] == ["Placeholder"] * 2
    assert graph.variables == (v,) and graph.trainable_variables == (v,)
    assert graph.structured_outputs["sum"].graph is graph
    assert graph.structured_input_signature == concrete.structured_input_signature
    assert graph.output_types == [tf.float32] * 2
    assert [list(shape) for shape in graph.output_shapes] == [[2], [1]]


def test_captures_are_there_while_a_function_is_traced() -> None:
    outside = tf.constant([1.0] * 200)
    seen: list[Any] = []

    @tf.function(autograph=False)
    def f(x: Any) -> Any:
        y = x + outside
        graph = y.graph
        seen.extend(graph.captures)
        with pytest.raises(RuntimeError, match=r"FuncGraph\.variables is known when the function"):
            _ = graph.variables
        return y

    f(outside[:1])
    ((external, internal),) = seen
    assert external is outside and internal.op.type == "Placeholder"


def test_a_graph_dies_with_its_function() -> None:
    concrete, _, _ = traced()
    gone = weakref.ref(concrete.graph)
    del concrete
    gc.collect()
    assert gone() is None


def test_the_version_grows_with_each_node() -> None:
    graph = tf.Graph()
    assert graph.version == 0
    with graph.as_default():
        tf.constant(1.0) + 2.0
    assert graph.version == len(graph.get_operations()) == 3


def test_elements_are_found_by_object_and_by_name() -> None:
    graph = tf.Graph()
    with graph.as_default():
        x = tf.constant(1.0, name="x")
    for element in (x, x.op):
        assert graph.as_graph_element(element) is element
    assert graph.as_graph_element("x") is x.op
    assert graph.as_graph_element("x:0").op is x.op
    wrong: list[tuple[Any, dict[str, bool], type[Exception], str]] = [
        ("y", {}, KeyError, "'y' refers to an Operation not in the graph"),
        ("y:0", {}, KeyError, "The operation, 'y', does not exist in the graph."),
        ("x:9", {}, KeyError, "The operation, 'x', exists but only has 1 outputs."),
        ("x", {"allow_operation": False}, ValueError, "'x' refers to an Operation, not a Tensor"),
        ("x:0", {"allow_tensor": False}, ValueError, "'x:0' appears to refer to a Tensor"),
        (x, {"allow_tensor": False}, TypeError, "into a Operation"),
        (x.op, {"allow_operation": False}, TypeError, "into a Tensor"),
        (3, {}, TypeError, "Can not convert a int into a Tensor or Operation"),
        (tf.constant(1), {}, ValueError, "is not an element of this graph"),
        ("x", {"allow_tensor": False, "allow_operation": False}, ValueError, "both be False"),
    ]
    for obj, allowed, kind, phrase in wrong:
        with pytest.raises(kind) as caught:
            graph.as_graph_element(obj, **allowed)
        assert phrase in str(caught.value)


def test_an_operation_says_where_it_was_made() -> None:
    def inner(x: Any) -> Any:
        return x + 1.0

    concrete = tf.function(inner).get_concrete_function(tf.TensorSpec([2]))
    operation = concrete.graph.get_operation_by_name("add")
    assert isinstance(operation.traceback, traceback.StackSummary)
    last = operation.traceback[-1]
    assert (last.name, last.line) == ("inner", "return x + 1.0")
    (value,) = operation.values()
    assert value.name == "add:0" and isinstance(operation.values(), tuple)
    assert operation.colocation_groups() == [b"loc:@add"]
