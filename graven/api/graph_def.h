#pragma once
#include <map>
#include <source_location>
#include <string>
#include <vector>

#include "graven/api/concrete_function.h"
#include "graven/api/tensor.h"
#include "graven/base/export.h"
#include "graven/ir/graph_def.h"

namespace graven {

// A graph as data, with the fields of TensorFlow's GraphDef: nodes by name, and the functions that
// they call. A program may read it, change it, keep it, and make nodes of it again.
using engine::FunctionDef;
using engine::GraphDef;
using engine::NodeDef;

// The nodes of a trace, and the functions that they call. With add_shapes each node has the shapes
// of its outputs as the attribute "_output_shapes".
GRAVEN_API GraphDef as_graph_def(const ConcreteFunction& function, bool add_shapes = false);

struct ImportGraphDefOptions {
  // Tensors in the place of tensors of the GraphDef, by their names in it: "x" or "x:0", "y:1"; for
  // "^x" the node of the tensor is waited for in place of x.
  std::map<std::string, Tensor> input_map = {};
  // The tensors to return, by their names in the GraphDef: "y:0".
  std::vector<std::string> return_elements = {};
  // Before the names of the nodes, made unique; nothing if it is empty.
  std::string name = "import";
};
// Adds the nodes of a GraphDef to the function that is being traced, as tf.graph_util's function of
// this name does, and returns tensors of them. Nodes are checked against the ops that are known
// here, and their shapes follow from the inputs that they get; tapes record them.
//
// ValueError: the GraphDef does not hold together; the message names the node. NotFound: an op is
// not known here. RuntimeError: no function is being traced.
GRAVEN_API std::vector<Tensor> import_graph_def(
    const GraphDef& graph_def, const ImportGraphDefOptions& options = {},
    std::source_location location = std::source_location::current());

}  // namespace graven
