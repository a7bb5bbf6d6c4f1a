#pragma once
#include <Python.h>

#include "graven/ir/graph.h"

namespace graven::python {

// The Python view of a graph (tf's FuncGraph), one object for each live graph, so that identity
// holds.
PyObject* wrap(const engine::Ref<engine::Graph>& graph);
// The Operation of a node, likewise.
PyObject* wrap_operation(const engine::Ref<engine::Graph>& graph, engine::Node* node);
// The node of an Operation object; null for another object.
engine::Node* node_of(PyObject* operation);

// The Python value of an attribute: bytes for strings, tf.DType for types.
PyObject* wrap_attribute(const engine::AttrValue& value);

}  // namespace graven::python
