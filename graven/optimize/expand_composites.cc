#include "graven/optimize/expand_composites.h"

#include <vector>

#include "graven/base/strings.h"
#include "graven/ir/emitter.h"
#include "graven/ir/frame.h"
#include "graven/ir/parts_builder.h"
#include "graven/optimize/rewriter.h"

namespace graven::engine {
namespace {

bool is_composite(const Node& node) {
  return node.op().record().body.kind() == OpBody::Kind::kComposite;
}

// Says that all code is where the node was made.
class LocationOf final : public LocationSource {
 public:
  explicit LocationOf(const Node& node) : location_(node.location()) {}
  Ref<Location> current() override { return location_; }

 private:
  Ref<Location> location_;
};

Status expand(Rewriter& rewriter, PartsBuilder& builder, Node* node) {
  rewriter.visit(node);
  if (!is_composite(*node) || rewriter.is_input(node)) return {};
  Frame frame(&builder);
  LocationOf location(*node);
  frame.name_scope = node->name() + "/";
  frame.device = node->device();
  frame.locations = &location;
  builder.control_inputs.assign(node->control_inputs().begin(), node->control_inputs().end());

  Tensors inputs;
  for (OutputRef input : node->inputs()) {
    inputs.push_back(symbolic_tensor(builder.graph_ref(), input));
  }
  size_t num_nodes = rewriter.graph().nodes().size();
  auto outputs =
      expand_composite(builder, node->op(), {inputs.data(), inputs.size()}, node->attrs());
  if (!outputs.ok()) return outputs.status().with_prefix(str_cat("[", node->op().name(), "] "));
  if (outputs->empty()) return {};
  if (static_cast<int>(outputs->size()) != node->num_outputs()) {
    return internal_error("The composite ", node->op().name(), " made ", outputs->size(),
                          " outputs, its record says ", node->num_outputs());
  }
  InlineVector<OutputRef, 4> made;
  for (const Tensor& output : *outputs) {
    ASSIGN_OR_RETURN(Tensor inner, builder.capture(output, "output"));
    made.push_back(symbolic(inner).output());
  }
  std::vector<Node*> parts(rewriter.graph().nodes().begin() + static_cast<int64_t>(num_nodes),
                           rewriter.graph().nodes().end());
  std::vector<Node*> waited_for;
  for (int i = 0; i < node->num_outputs(); ++i) {
    OutputType& type = made[i].node->output(made[i].index);
    // A shape that is known of the node's output, by set_shape for instance, holds for the part
    // too.
    if (auto merged = merge_shapes(node->output(i).shape, type.shape);
        merged.ok() && !rewriter.is_input(made[i].node)) {
      rewriter.equate(type.shape, *merged);
      type.shape = *merged;
    }
    rewriter.replace({node, i}, made[i]);
    waited_for.push_back(made[i].node);
  }
  // Parts that wait for nothing but run for their effect are waited for as well.
  for (Node* part : parts) {
    if (!is_pure(*part)) waited_for.push_back(part);
  }
  rewriter.replace_control(node, std::move(waited_for));
  rewriter.remove(node);
  for (Node* part : parts) RETURN_IF_ERROR(expand(rewriter, builder, part));
  return {};
}

}  // namespace

Result<bool> expand_composites(Graph& graph) {
  bool any = false;
  for (const Node* node : graph.nodes()) any |= is_composite(*node);
  if (!any) return false;
  Rewriter rewriter(graph);
  PartsBuilder builder{Ref<Graph>(&graph)};
  for (Node* node : rewriter.nodes()) RETURN_IF_ERROR(expand(rewriter, builder, node));
  return rewriter.finish();
}

}  // namespace graven::engine
