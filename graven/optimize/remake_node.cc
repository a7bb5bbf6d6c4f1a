#include "graven/optimize/remake_node.h"

#include <algorithm>
#include <memory>
#include <unordered_set>
#include <utility>

#include "graven/ir/body.h"
#include "graven/ir/structural_ops.h"
#include "graven/optimize/remove_dead_nodes.h"

namespace graven::engine {
namespace {

// The symbols of Dims of a graph.
class SymbolsOf {
 public:
  explicit SymbolsOf(const Graph& graph) : graph_(graph) {}
  void add(const Shape& shape) {
    for (Dim dim : shape.dims()) add(dim);
  }
  void add(const OutputType& type) {
    if (type.shape.has_rank()) add(type.shape);
    if (type.sizes) {
      for (Dim size : *type.sizes) add(size);
    }
    if (!type.handle_data) return;
    for (const HeldType& held : type.handle_data->components) {
      if (held.shape.has_rank()) add(held.shape);
    }
  }
  bool contains(int64_t symbol) const { return found_.contains(symbol); }

 private:
  void add(Dim dim) {
    if (dim.is_number() || dim.is_unknown()) return;
    scratch_.substitute(graph_.symbols(), dim, [&](int64_t symbol) {
      found_.insert(symbol);
      return Dim(1);
    });
  }
  const Graph& graph_;
  SymbolTable scratch_;
  std::unordered_set<int64_t> found_;
};

std::vector<OutputRef> selected(std::span<const OutputRef> all, const std::vector<bool>& chosen) {
  std::vector<OutputRef> some;
  for (size_t i = 0; i < all.size(); ++i) {
    if (chosen[i]) some.push_back(all[i]);
  }
  return some;
}

}  // namespace

OutputType copy_of(const OutputType& type) {
  OutputType copy{type.dtype, type.shape, type.is_promised, nullptr, nullptr};
  if (type.sizes) copy.sizes = std::make_unique<SymbolicValue>(*type.sizes);
  if (type.handle_data) copy.handle_data = std::make_unique<HandleData>(*type.handle_data);
  return copy;
}

bool has_common_inputs(const NodeBodies& bodies) {
  if (bodies.run != BodyRun::kOneOf && bodies.run != BodyRun::kWhile) return false;
  return std::ranges::all_of(bodies.all, [&](const NodeBody& one) {
    const Op::Range &inputs = one.inputs, &first = bodies.all[0].inputs;
    return one.body && inputs.first == first.first && inputs.count == first.count;
  });
}

NodeParts parts_of(const Node& node, const NodeBodies& bodies) {
  NodeParts parts;
  for (const NodeBody& one : bodies.all) parts.graphs.push_back(one.body->graph()->clone());
  const Op::Range inputs = bodies.all[0].inputs;
  const auto all =
      node.inputs().subspan(static_cast<size_t>(inputs.first), static_cast<size_t>(inputs.count));
  parts.inputs.assign(all.begin(), all.end());
  for (int i = 0; i < node.num_outputs(); ++i) parts.output_of.push_back(i);
  return parts;
}

void keep_inputs(NodeParts& parts, const std::vector<bool>& is_kept) {
  parts.inputs = selected(parts.inputs, is_kept);
  for (const Ref<Graph>& graph : parts.graphs) {
    std::vector<Node*> inputs;
    for (size_t i = 0; i < is_kept.size(); ++i) {
      if (is_kept[i]) inputs.push_back(graph->inputs()[i]);
    }
    graph->set_inputs(std::move(inputs));
    remove_dead_nodes(*graph);
  }
}

Node* remake_node(Rewriter& rewriter, Node* node, const NodeBodies& bodies, NodeParts parts,
                  std::vector<OutputType> more) {
  std::vector<Ref<Body>> made;
  for (size_t i = 0; i < parts.graphs.size(); ++i) {
    made.push_back(Body::create(bodies.all[i].body->name(), parts.graphs[i]));
  }
  const Attrs attrs = with_bodies(node->op(), node->attrs(), made);
  // What chooses a body comes before what the bodies take.
  const auto before = node->inputs().first(static_cast<size_t>(bodies.all[0].inputs.first));
  std::vector<OutputRef> inputs(before.begin(), before.end());
  inputs.insert(inputs.end(), parts.inputs.begin(), parts.inputs.end());
  std::vector<OutputType> outputs;
  for (int i = 0; i < node->num_outputs(); ++i) {
    if (parts.output_of[static_cast<size_t>(i)] >= 0) outputs.push_back(copy_of(node->output(i)));
  }
  for (OutputType& type : more) outputs.push_back(std::move(type));
  Graph& graph = rewriter.graph();
  const auto controls = node->control_inputs();
  Node* remade = graph.add({.op = &op_for_bodies(node->op(), made),
                            .attrs = attrs,
                            .name = graph.unique_name(node->name()),
                            .inputs = inputs,
                            .outputs = std::move(outputs),
                            .control_inputs = {controls.begin(), controls.end()},
                            .device = node->device(),
                            .location = node->location()});
  for (const auto& [name, value] : node->extra_attributes()) {
    graph.set_attribute(remade, name, value);
  }
  for (int i = 0; i < node->num_outputs(); ++i) {
    const int now = parts.output_of[static_cast<size_t>(i)];
    const OutputRef old{node, i};
    const bool is_replaced = !(rewriter.now(old) == old);
    if (now >= 0 && !is_replaced) rewriter.replace(old, {remade, now});
  }
  rewriter.replace_control(node, {remade});
  rewriter.remove(node);
  rewriter.place(remade);
  return remade;
}

UsedOutputs::UsedOutputs(const Graph& graph) : of_(static_cast<size_t>(graph.id_bound())) {
  auto use = [&](OutputRef value) {
    std::vector<bool>& used = of_[static_cast<size_t>(value.node->id())];
    used.resize(static_cast<size_t>(value.node->num_outputs()));
    used[static_cast<size_t>(value.index)] = true;
  };
  for (const Node* node : graph.nodes()) {
    for (OutputRef input : node->inputs()) use(input);
  }
  for (OutputRef output : graph.outputs()) use(output);
}

bool UsedOutputs::is_used(const Node& node, int output) const {
  const std::vector<bool>& used = of_[static_cast<size_t>(node.id())];
  return !used.empty() && used[static_cast<size_t>(output)];
}

std::vector<bool> needed_inputs(const Graph& graph, const std::vector<bool>& outputs) {
  const std::vector<bool> is_live = live_nodes(graph, selected(graph.outputs(), outputs));
  std::vector<bool> needed;
  for (const Node* input : graph.inputs()) {
    needed.push_back(is_live[static_cast<size_t>(input->id())]);
  }
  return needed;
}

void keep_sources_of_sizes(const Graph& graph, const std::vector<bool>& outputs,
                           std::vector<bool>& is_kept) {
  const std::vector<bool> is_live = live_nodes(graph, selected(graph.outputs(), outputs));
  const SymbolTable& symbols = graph.symbols();
  // The symbols that an input names alone, not in a term.
  auto symbols_of_input = [&](size_t i) {
    std::vector<int64_t> found;
    const Shape& shape = graph.inputs()[i]->output(0).shape;
    for (Dim dim : shape.has_rank() ? shape.dims() : std::span<const Dim>()) {
      if (const int64_t symbol = symbols.as_symbol(dim); symbol >= 0) found.push_back(symbol);
    }
    return found;
  };
  std::unordered_set<int64_t> has_source;
  auto keep = [&](size_t i) {
    for (int64_t symbol : symbols_of_input(i)) has_source.insert(symbol);
  };
  for (size_t i = 0; i < is_kept.size(); ++i) {
    if (is_kept[i]) keep(i);
  }
  SymbolsOf named(graph);
  for (const Node* node : graph.nodes()) {
    if (!is_live[static_cast<size_t>(node->id())]) continue;
    for (int o = 0; o < node->num_outputs(); ++o) named.add(node->output(o));
  }
  for (size_t i = 0; i < is_kept.size(); ++i) {
    if (is_kept[i]) continue;
    const auto own = symbols_of_input(i);
    is_kept[i] = std::ranges::any_of(own, [&](int64_t symbol) {
      return named.contains(symbol) && !has_source.contains(symbol);
    });
    if (is_kept[i]) keep(i);
  }
}

}  // namespace graven::engine
