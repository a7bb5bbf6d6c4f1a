#include "graven/optimize/trim_bodies.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "graven/ir/body.h"
#include "graven/ir/same_input.h"
#include "graven/optimize/remake_node.h"
#include "graven/optimize/rewriter.h"

namespace graven::engine {
namespace {

bool all(const std::vector<bool>& flags) {
  return std::ranges::all_of(flags, [](bool flag) { return flag; });
}

// True if any flag of `more` was added.
bool merge(std::vector<bool>& flags, const std::vector<bool>& more) {
  bool has_grown = false;
  for (size_t i = 0; i < flags.size(); ++i) {
    if (more[i] && !flags[i]) flags[i] = has_grown = true;
  }
  return has_grown;
}

// Numbers the outputs that are kept; removes the others from a body.
void keep_outputs(NodeParts& parts, Graph& body, const std::vector<bool>& is_kept) {
  std::vector<OutputRef> outputs;
  int next = 0;
  for (size_t i = 0; i < is_kept.size(); ++i) {
    parts.output_of[i] = is_kept[i] ? next++ : -1;
    if (is_kept[i]) outputs.push_back(body.outputs()[i]);
  }
  body.set_outputs(std::move(outputs));
}

void trim_branches(Rewriter& rewriter, Node* node, const NodeBodies& bodies,
                   const std::vector<bool>& is_used) {
  std::vector<bool> is_needed(static_cast<size_t>(bodies.all[0].inputs.count), false);
  for (const NodeBody& one : bodies.all) {
    merge(is_needed, needed_inputs(*one.body->graph(), is_used));
  }
  for (const NodeBody& one : bodies.all) {
    keep_sources_of_sizes(*one.body->graph(), is_used, is_needed);
  }
  if (all(is_used) && all(is_needed)) return;
  NodeParts parts = parts_of(*node, bodies);
  for (const Ref<Graph>& graph : parts.graphs) keep_outputs(parts, *graph, is_used);
  keep_inputs(parts, is_needed);
  remake_node(rewriter, node, bodies, std::move(parts));
}

// The variables that the condition, an effect or an output of the node needs, and what these need
// from the iteration before.
std::vector<bool> needed_variables(const NodeBodies& bodies, std::vector<bool> is_needed) {
  const Graph &condition = *bodies.all[0].body->graph(), &body = *bodies.all[1].body->graph();
  merge(is_needed, needed_inputs(condition, {true}));
  for (;;) {
    while (merge(is_needed, needed_inputs(body, is_needed))) continue;
    std::vector<bool> with_sources = is_needed;
    keep_sources_of_sizes(condition, {true}, with_sources);
    keep_sources_of_sizes(body, is_needed, with_sources);
    if (!merge(is_needed, with_sources)) return is_needed;
  }
}

void trim_loop(Rewriter& rewriter, Node* node, const NodeBodies& bodies,
               std::vector<bool> is_used) {
  const Graph& body = *bodies.all[1].body->graph();
  for (size_t i = 0; i < is_used.size(); ++i) {
    const int output = static_cast<int>(i);
    if (!is_used[i] || node->output(output).is_promised || !returns_input(body, output)) continue;
    rewriter.replace({node, output}, node->inputs()[i]);
    is_used[i] = false;
  }
  const std::vector<bool> is_needed = needed_variables(bodies, std::move(is_used));
  if (all(is_needed)) return;
  NodeParts parts = parts_of(*node, bodies);
  keep_outputs(parts, *parts.graphs[1], is_needed);
  keep_inputs(parts, is_needed);
  remake_node(rewriter, node, bodies, std::move(parts));
}

}  // namespace

bool trim_bodies(Graph& graph) {
  const UsedOutputs used(graph);
  Rewriter rewriter(graph);
  for (Node* node : rewriter.nodes()) {
    rewriter.visit(node);
    const NodeBodies bodies = bodies_of(*node);
    if (bodies.empty() || !has_common_inputs(bodies)) continue;
    std::vector<bool> is_used;
    for (int i = 0; i < node->num_outputs(); ++i) is_used.push_back(used.is_used(*node, i));
    if (bodies.run == BodyRun::kWhile) {
      trim_loop(rewriter, node, bodies, std::move(is_used));
    } else {
      trim_branches(rewriter, node, bodies, is_used);
    }
  }
  return rewriter.finish();
}

}  // namespace graven::engine
