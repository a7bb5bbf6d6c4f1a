#include "graven/ir/verify.h"

#include <cctype>
#include <unordered_set>
#include <utility>
#include <vector>

#include "graven/base/strings.h"
#include "graven/ir/bodies.h"
#include "graven/ir/fusion.h"
#include "graven/ir/structural_ops.h"

namespace graven::engine {
namespace {

template <typename... Args>
Status broken(const Node& node, const Args&... args) {
  return internal_error("Node '", node.name(), "' (", node.op().name(), "): ", args...);
}

Status verify_shape(const Graph& graph, const Node& node, const Shape& shape) {
  for (Dim dim : shape.dims()) {
    if (!graph.symbols().contains(dim)) {
      return broken(node, "a dimension is a term of another graph");
    }
  }
  return {};
}

Status verify_types(const Node& node) {
  const Graph& graph = node.graph();
  for (int i = 0; i < node.num_outputs(); ++i) {
    const OutputType& type = node.output(i);
    RETURN_IF_ERROR(verify_shape(graph, node, type.shape));
    if (type.handle_data) {
      if (type.dtype != DType::kResource && type.dtype != DType::kVariant) {
        return broken(node, "output ", i, " has handle data, but is ", dtype_name(type.dtype));
      }
      for (const HeldType& held : type.handle_data->components) {
        RETURN_IF_ERROR(verify_shape(graph, node, held.shape));
      }
    }
    if (!type.sizes) continue;
    if (!kIndexTypes.contains(type.dtype) || !type.shape.has_rank() || type.shape.rank() > 2) {
      return broken(node, "output ", i, " holds sizes, but is ", dtype_name(type.dtype),
                    type.shape.to_message());
    }
    auto count = type.shape.checked_num_elements();
    if (count && *count != static_cast<int64_t>(type.sizes->size())) {
      return broken(node, "output ", i, " has ", *count, " elements, but ", type.sizes->size(),
                    " sizes are known");
    }
    for (Dim size : *type.sizes) {
      if (!graph.symbols().contains(size)) {
        return broken(node, "a size is a term of another graph");
      }
    }
  }
  return {};
}

Status verify_constant(const Node& node) {
  const Tensor& value = node.attrs().as<ConstAttrs>().value;
  const OutputType& type = node.output(0);
  if (!value || value.is_symbolic()) return broken(node, "a constant has no value");
  if (value.dtype() != type.dtype || !(value.shape() == type.shape)) {
    return broken(node, "the value is ", dtype_name(value.dtype()), value.shape().to_message(),
                  ", the output ", dtype_name(type.dtype), type.shape.to_message());
  }
  return {};
}

// Whether a shape in a Fusion fits the graph's type: each symbol stands for one Dim. Then the
// Fusion's reads lie within the operand.
bool fits_declared(const Shape& declared, const Shape& type, std::vector<Dim>& symbols) {
  if (!type.has_rank() || type.rank() != declared.rank()) return false;
  for (int i = 0; i < type.rank(); ++i) {
    if (declared[i].is_number()) {
      if (!(declared[i] == type[i])) return false;
      continue;
    }
    Dim& symbol = symbols[static_cast<size_t>(declared[i].term_index())];
    if (symbol.is_unknown()) symbol = type[i];
    if (!(symbol == type[i])) return false;
  }
  return true;
}

Status verify_fusion(const Node& node) {
  const Ref<const Fusion>& fusion = node.attrs().as<FusionAttrs>().fusion;
  if (!fusion) return broken(node, "it has no fusion");
  bool fits = node.inputs().size() == fusion->inputs().size() &&
              node.num_outputs() == static_cast<int>(fusion->outputs().size());
  std::vector<Dim> symbols(static_cast<size_t>(fusion->num_symbols()));
  for (size_t i = 0; fits && i < node.inputs().size(); ++i) {
    const OutputRef input = node.inputs()[i];
    const OutputType& type = input.node->output(input.index);
    fits = type.dtype == fusion->inputs()[i].dtype &&
           fits_declared(fusion->inputs()[i].shape, type.shape, symbols);
  }
  for (int i = 0; fits && i < node.num_outputs(); ++i) {
    fits = node.output(i).dtype == fusion->members()[fusion->outputs()[i]].dtype;
  }
  return fits ? Status() : broken(node, "its inputs and outputs are not those of its fusion");
}

}  // namespace

Status verify_node(const Node& node) {
  const Op& op = node.op();
  if (!(node.attrs().type() == op.attrs_type())) {
    return broken(node, "the attributes are those of another op");
  }
  for (const auto& [name, value] : node.extra_attributes()) {
    if (has_value(node.attrs().get(name))) {
      return broken(node, "attribute '", name, "' of the op is set a second time");
    }
  }
  InlineVector<DType, 4> inputs;
  for (OutputRef input : node.inputs()) {
    if (!input.node || input.index < 0 || input.index >= input.node->num_outputs()) {
      return broken(node, "an input is an output that does not exist");
    }
    inputs.push_back(input.node->output(input.index).dtype);
  }
  TypeBindings types;
  Status bound = op.bind_types(std::span<const DType>(inputs.data(), inputs.size()), node.attrs(),
                               /*eager=*/false, types);
  if (!bound.ok()) return broken(node, bound.message());
  InlineVector<DType, 4> outputs;
  op.output_dtypes(types, node.attrs(), static_cast<int>(inputs.size()), outputs);
  if (static_cast<int>(outputs.size()) != node.num_outputs()) {
    return broken(node, "the op has ", outputs.size(), " outputs, the node ", node.num_outputs());
  }
  for (int i = 0; i < node.num_outputs(); ++i) {
    DType has = node.output(i).dtype;
    // A type parameter that no input binds is whatever the output is.
    if (has == DType::kInvalid || (outputs[i] != DType::kInvalid && outputs[i] != has)) {
      return broken(node, "output ", i, " is ", dtype_name(has), ", the op's is ",
                    dtype_name(outputs[i]));
    }
  }
  RETURN_IF_ERROR(verify_types(node));
  if (&op == kConst.op) RETURN_IF_ERROR(verify_constant(node));
  if (&op == kFusion.op) RETURN_IF_ERROR(verify_fusion(node));
  return verify_bodies(node);
}

Status verify_graph(const Graph& graph) {
  std::vector<char> seen(graph.id_bound(), 0);
  std::vector<const Node*> waited_for_by(graph.id_bound(), nullptr);
  std::unordered_set<std::string> names;
  auto is_seen = [&](const Node* node) { return &node->graph() == &graph && seen[node->id()]; };
  for (const Node* node : graph.nodes()) {
    if (&node->graph() != &graph) return broken(*node, "it belongs to another graph");
    if (seen[node->id()]) return broken(*node, "it stands twice in the order");
    for (OutputRef input : node->inputs()) {
      if (!input.node || !is_seen(input.node)) {
        return broken(*node, "an input does not come before it");
      }
    }
    for (const Node* before : node->control_inputs()) {
      if (!before || !is_seen(before)) {
        return broken(*node, "a control input does not come before it");
      }
      if (std::exchange(waited_for_by[before->id()], node) == node) {
        return broken(*node, "the control input '", before->name(), "' stands twice");
      }
    }
    RETURN_IF_ERROR(verify_node(*node));
    std::string name = node->name();
    if (name.empty()) return broken(*node, "it has no name");
    if (graph.find(name) != node) return broken(*node, "another node is found by its name");
    for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    if (!names.insert(std::move(name)).second) {
      return broken(*node, "another node has this name");
    }
    seen[node->id()] = 1;
  }
  std::vector<char> is_input(graph.id_bound(), 0);
  for (const Node* input : graph.inputs()) {
    if (!is_seen(input)) return internal_error("An input of the graph is none of its nodes");
    if (std::exchange(is_input[input->id()], 1)) return broken(*input, "it is an input twice");
    if (!input->inputs().empty() || !input->control_inputs().empty() || input->num_outputs() != 1) {
      return broken(*input, "an input of the graph has inputs, or not one output");
    }
  }
  for (OutputRef output : graph.outputs()) {
    if (!output.node || !is_seen(output.node)) {
      return internal_error("An output of the graph belongs to none of its nodes");
    }
    if (output.index < 0 || output.index >= output.node->num_outputs()) {
      return broken(*output.node, "the graph returns output ", output.index,
                    ", which does not exist");
    }
  }
  for (const Node* node : graph.control_outputs()) {
    if (!node || !is_seen(node)) {
      return internal_error("A control output of the graph is none of its nodes");
    }
  }
  return {};
}

}  // namespace graven::engine
