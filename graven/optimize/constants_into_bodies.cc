#include "graven/optimize/constants_into_bodies.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "graven/ir/body.h"
#include "graven/ir/same_input.h"
#include "graven/ir/static_shape.h"
#include "graven/ir/structural_ops.h"
#include "graven/optimize/remake_node.h"
#include "graven/optimize/rewriter.h"

namespace graven::engine {
namespace {

bool is_constant(const Rewriter& rewriter, OutputRef value) {
  return &value.node->op() == kConst.op && !rewriter.is_input(value.node) &&
         value.node->control_inputs().empty();
}

// True if input i of each body may have this shape.
bool all_take(const NodeBodies& bodies, size_t i, const Shape& shape) {
  return std::ranges::all_of(bodies.all, [&](const NodeBody& one) {
    return is_subshape(shape, static_shape(one.body->graph()->inputs()[i]->output(0).shape));
  });
}

// Makes these nodes of a graph, once its inputs, constants. The sizes that they named are numbers
// now.
void make_constants(Graph& graph, const std::vector<std::pair<Node*, Tensor>>& values) {
  Rewriter rewriter(graph);
  for (Node* node : rewriter.nodes()) {
    rewriter.visit(node);
    const auto at = std::ranges::find(values, node, &std::pair<Node*, Tensor>::first);
    if (at == values.end()) continue;
    rewriter.equate(node->output(0).shape, at->second.shape());
    graph.make_constant(node, at->second);
    rewriter.set_changed();
  }
  rewriter.finish();
}

void pass_constants(Rewriter& rewriter, Node* node, const NodeBodies& bodies) {
  const bool is_loop = bodies.run == BodyRun::kWhile;
  const auto first = static_cast<size_t>(bodies.all[0].inputs.first);
  const auto count = static_cast<size_t>(bodies.all[0].inputs.count);
  std::vector<bool> is_kept;
  for (size_t i = 0; i < count; ++i) {
    const OutputRef given = node->inputs()[first + i];
    const int output = static_cast<int>(i);
    const bool is_changed = is_loop && (node->output(output).is_promised ||
                                        !returns_input(*bodies.all[1].body->graph(), output));
    is_kept.push_back(is_changed || !is_constant(rewriter, given) ||
                      !all_take(bodies, i, given.node->output(0).shape));
  }
  if (std::ranges::all_of(is_kept, [](bool kept) { return kept; })) return;
  NodeParts parts = parts_of(*node, bodies);
  std::vector<std::vector<std::pair<Node*, Tensor>>> constants(parts.graphs.size());
  for (size_t g = 0; g < parts.graphs.size(); ++g) {
    for (size_t i = 0; i < count; ++i) {
      if (is_kept[i]) continue;
      constants[g].emplace_back(parts.graphs[g]->inputs()[i],
                                parts.inputs[i].node->attrs().as<ConstAttrs>().value);
    }
  }
  if (is_loop) {
    std::vector<OutputRef> outputs;
    for (size_t i = 0; i < count; ++i) {
      const int output = static_cast<int>(i);
      parts.output_of[i] = is_kept[i] ? static_cast<int>(outputs.size()) : -1;
      if (is_kept[i]) {
        outputs.push_back(parts.graphs[1]->outputs()[i]);
      } else {
        rewriter.replace({node, output}, parts.inputs[i]);
      }
    }
    parts.graphs[1]->set_outputs(std::move(outputs));
  }
  keep_inputs(parts, is_kept);
  for (size_t g = 0; g < parts.graphs.size(); ++g) make_constants(*parts.graphs[g], constants[g]);
  remake_node(rewriter, node, bodies, std::move(parts));
}

}  // namespace

bool constants_into_bodies(Graph& graph) {
  Rewriter rewriter(graph);
  for (Node* node : rewriter.nodes()) {
    rewriter.visit(node);
    const NodeBodies bodies = bodies_of(*node);
    if (bodies.empty() || !has_common_inputs(bodies)) continue;
    pass_constants(rewriter, node, bodies);
  }
  return rewriter.finish();
}

}  // namespace graven::engine
