#pragma once
#include <nanobind/nanobind.h>

#include <string>

#include "graven/ir/graph.h"
#include "graven/ir/graph_def.h"

namespace graven::python {

// Records of python/graven/_graph_def.py, which have the fields of TensorFlow's messages.
nanobind::object graph_def_record(const engine::GraphDef& graph_def);
nanobind::object node_def_record(const engine::NodeDef& node);
nanobind::object function_def_record(const engine::FunctionDef& function);

}  // namespace graven::python
