#include "graven/batching/row_region.h"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "graven/base/strings.h"
#include "graven/ir/frame.h"
#include "graven/ir/graph_builder.h"
#include "graven/ir/order_effects.h"
#include "graven/ir/static_shape.h"
#include "graven/ir/structural_ops.h"

namespace graven::engine {
namespace {

using NodeSet = std::unordered_set<const Node*>;

// A placeholder for a value of the function. Sizes that are equal there are equal here.
Tensor stand_in(GraphBuilder& builder, OutputRef value) {
  const Ref<Graph> graph(&value.node->graph());
  return builder.add_placeholder_like(symbolic_tensor(graph, value), "input");
}

const OutputType& type_of(OutputRef value) { return value.node->output(value.index); }

// The nodes of a region in a graph of their own.
class RegionCopy {
 public:
  RegionCopy(std::span<const Node* const> nodes, std::span<const OutputRef> wanted)
      : nodes_(nodes), wanted_(wanted), builder_(make_ref<Graph>("rows")) {}

  Result<Ref<Body>> make() {
    Frame frame(&builder_);
    for (const Node* node : nodes_) RETURN_IF_ERROR(copy(*node));
    const Ref<Graph>& graph = builder_.graph_ref();
    std::vector<OutputRef> outputs;
    for (OutputRef value : wanted_) {
      outputs.push_back(
          symbolic(tensors_.at(value.node)[static_cast<size_t>(value.index)]).output());
    }
    graph->set_outputs(std::move(outputs));
    order_effects(*graph);
    return Body::create(str_cat("__inference_", graph->name(), "_", next_uid()), graph);
  }
  const std::vector<OutputRef>& inputs() const { return inputs_; }

 private:
  Result<Tensor> copy_of(OutputRef value) {
    Tensors& made = tensors_[value.node];
    made.resize(static_cast<size_t>(value.node->num_outputs()));
    Tensor& tensor = made[static_cast<size_t>(value.index)];
    if (tensor) return tensor;
    // A value from outside. Constants stay ones, so that shapes can be inferred from them.
    if (&value.node->op() == kConst.op && !value.node->graph().is_input(value.node)) {
      tensor = builder_.add_constant(value.node->attrs().as<ConstAttrs>().value);
    } else {
      tensor = stand_in(builder_, value);
      inputs_.push_back(value);
    }
    return tensor;
  }

  Status copy(const Node& node) {
    std::vector<Tensor> inputs;
    for (OutputRef input : node.inputs()) {
      ASSIGN_OR_RETURN(Tensor tensor, copy_of(input));
      inputs.push_back(std::move(tensor));
    }
    builder_.control_inputs.clear();
    for (const Node* before : node.control_inputs()) {
      const auto at = copies_.find(before);  // what is outside has run before
      if (at != copies_.end()) builder_.control_inputs.push_back(at->second);
    }
    ASSIGN_OR_RETURN(Tensors made, builder_.apply(node.op(), inputs, node.attrs(), node.name()));
    builder_.control_inputs.clear();
    Node* copied = builder_.graph()->nodes().back();
    for (const auto& [name, value] : node.extra_attributes()) {
      builder_.graph()->set_attribute(copied, name, value);
    }
    if (node.custom_gradient()) {
      builder_.graph()->set_custom_gradient(copied, node.custom_gradient());
    }
    for (size_t i = 0; i < made.size(); ++i) {
      const OutputType& type = node.output(static_cast<int>(i));
      if (!type.is_promised) continue;
      auto* copy = static_cast<SymbolicTensor*>(made[i].get());
      RETURN_IF_ERROR(copy->set_shape(static_shape(type.shape)));
    }
    copies_[&node] = copied;
    tensors_[&node] = std::move(made);
    return {};
  }

  std::span<const Node* const> nodes_;
  std::span<const OutputRef> wanted_;
  GraphBuilder builder_;
  std::unordered_map<const Node*, Node*> copies_;
  std::unordered_map<const Node*, Tensors> tensors_;
  std::vector<OutputRef> inputs_;
};

}  // namespace

bool may_differ_between_rows(const Graph& graph, const OutputType& type) {
  if (type.dtype == DType::kVariant) return true;
  if (!type.shape.has_rank()) return true;
  const SymbolTable& symbols = graph.symbols();
  std::vector<int64_t> known(static_cast<size_t>(symbols.num_symbols()), -1);
  for (const Node* input : graph.inputs()) {
    const Shape& shape = input->output(0).shape;
    for (int d = 0; d < shape.rank(); ++d) {
      const int64_t symbol = symbols.as_symbol(shape[d]);
      if (symbol >= 0) known[static_cast<size_t>(symbol)] = 1000;
    }
  }
  return std::ranges::any_of(type.shape.dims(), [&](Dim dim) {
    return dim.is_unknown() || (dim.is_term() && symbols.evaluate(dim, known) < 0);
  });
}

std::vector<const Node*> region_of(std::span<const Node* const> waiting,
                                   std::span<const Node* const> seeds) {
  const NodeSet can_join(waiting.begin(), waiting.end());
  NodeSet region(seeds.begin(), seeds.end());
  const auto must_join = [&](const Node* node) {
    return std::ranges::any_of(node->inputs(), [&](OutputRef input) {
      return region.contains(input.node) && may_differ_between_rows(node->graph(), type_of(input));
    });
  };
  for (size_t before = 0; before != region.size();) {
    before = region.size();
    for (const Node* node : waiting) {
      if (must_join(node)) region.insert(node);
    }
    const auto join = [&](const Node* node) {
      if (can_join.contains(node)) region.insert(node);
    };
    for (size_t i = waiting.size(); i-- > 0;) {
      if (!region.contains(waiting[i])) continue;
      for (OutputRef input : waiting[i]->inputs()) join(input.node);
      for (const Node* control : waiting[i]->control_inputs()) join(control);
    }
  }
  std::vector<const Node*> nodes;
  std::ranges::copy_if(waiting, std::back_inserter(nodes),
                       [&](const Node* node) { return region.contains(node); });
  return nodes;
}

Result<RowRegion> make_region(std::span<const Node* const> nodes,
                              std::span<const OutputRef> wanted) {
  RegionCopy copy(nodes, wanted);
  ASSIGN_OR_RETURN(const Ref<Body> body, copy.make());
  RowRegion region{copy.inputs(), {wanted.begin(), wanted.end()}, make_ref<Graph>("row"), nullptr};
  GraphBuilder builder(region.graph);
  Frame frame(&builder);
  std::vector<Tensor> inputs;
  for (OutputRef input : region.inputs) inputs.push_back(stand_in(builder, input));
  const auto& call = call_op(*body);
  RETURN_IF_ERROR(builder.apply(*call.op, inputs, call_attrs(body)).status());
  region.call = region.graph->nodes().back();
  return region;
}

}  // namespace graven::engine
