#pragma once
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "graven/base/export.h"
#include "graven/base/ref.h"
#include "graven/base/status.h"
#include "graven/ir/builder.h"
#include "graven/ir/graph.h"
#include "graven/ir/graph_def.h"

namespace graven::engine {

struct ImportOptions {
  // Before the name of each node, behind a "/"; nothing if it is empty. The name scope of the frame
  // does not count.
  std::string prefix = {};
  // Tensors in the place of outputs: "x" or "x:0", "y:1". For "^x" the node of the tensor is
  // waited for in place of x.
  std::map<std::string, Tensor> input_map = {};
  // What to return: "y" for the node, "y:0" for the tensor.
  std::vector<std::string> return_elements = {};
};
// A tensor or a node of the graph.
using ImportedElement = std::variant<Tensor, Node*>;

// Adds the nodes of a GraphDef to the graph of the current frame through a builder that ends there,
// in an order in which inputs come first. Names that exist already get a number. A device is that
// of the node, or the frame's if the node has none; control inputs of the frame come first.
//
// Types are those of the ops' records, given the inputs; each node is checked as TensorFlow does:
// its op exists, its inputs exist and are of the number and the dtypes that its attributes say, all
// attributes are there that have no default and are of the op's kinds, its functions are in the
// library and fit. Attributes that the op has not are kept on the node. Shapes of "_output_shapes"
// must fit, and narrow what is inferred. Placeholders become nodes that nothing feeds.
//
// A ValueError names the node and what must hold; kNotFound is for an op that is not known. Nodes
// that were added before an error stay.
GRAVEN_API Result<std::vector<ImportedElement>> import_graph_def(const GraphDef& graph_def,
                                                                 const ImportOptions& options,
                                                                 Builder& builder);

// The graph of a function: what function_def_of made it of, its arguments under the names that they
// have as arguments. Arguments are placeholders, and the inputs of the graph.
GRAVEN_API Result<Ref<Graph>> graph_of(const FunctionDef& function,
                                       const std::vector<FunctionDef>& library);

}  // namespace graven::engine
