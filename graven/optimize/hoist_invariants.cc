#include "graven/optimize/hoist_invariants.h"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "graven/base/strings.h"
#include "graven/ir/body.h"
#include "graven/ir/cost.h"
#include "graven/ir/infer_context.h"
#include "graven/ir/movement.h"
#include "graven/ir/recorded_body.h"
#include "graven/ir/same_input.h"
#include "graven/ir/structural_ops.h"
#include "graven/optimize/fold_constants.h"
#include "graven/optimize/remake_node.h"
#include "graven/optimize/remove_dead_nodes.h"
#include "graven/optimize/rewriter.h"

namespace graven::engine {
namespace {

// In nanoseconds: a loop that runs no iteration may do this much more for each node.
constexpr double kCheap = 10'000;

const OutputType& type_of(OutputRef value) { return value.node->output(value.index); }

bool traps_nothing(const Node& node) {
  InlineVector<DType, 4> dtypes;
  for (OutputRef input : node.inputs()) dtypes.push_back(type_of(input).dtype);
  const bool is_reduction = node.op().record().body.kind() == OpBody::Kind::kReduction;
  const std::span<const DType> all(dtypes.data(), dtypes.size());
  auto body = RecordedBody::get(node.op(), node.attrs(), is_reduction ? all.first(1) : all,
                                node.output(0).dtype);
  if (!body.ok()) return false;
  if ((*body)->rows()) return false;
  return (*body)->per_element().traps().empty();
}

bool moves_to_known_places(const Node& node, Graph& graph) {
  for (int i = 0; i < node.num_outputs(); ++i) {
    const auto movement = movement_of(node, i, graph);
    if (!movement) return false;
    for (const Movement::Piece& piece : movement->pieces) {
      if (!piece.offsets.empty()) return false;
    }
  }
  return node.num_outputs() > 0;
}

bool has_known_shapes(const Node& node) {
  auto is_known = [](const OutputType& type) {
    return type.shape.is_fully_known() && !type.is_promised && is_plain(type.dtype);
  };
  for (int i = 0; i < node.num_outputs(); ++i) {
    if (!is_known(node.output(i))) return false;
  }
  const auto inputs = node.inputs();
  if (!std::ranges::all_of(inputs, [&](OutputRef input) { return is_known(type_of(input)); })) {
    return false;
  }
  return std::ranges::all_of(node.op().record().values_for_inference, [&](int i) {
    const size_t input = i < 0 ? inputs.size() - static_cast<size_t>(-i) : static_cast<size_t>(i);
    return &inputs[input].node->op() == kConst.op;
  });
}

// True if the shapes of the inputs are some that the op takes, and make those of the outputs. Sizes
// that are known since the node was made may be refused where it runs.
bool shapes_follow(const Node& node, Graph& graph) {
  if (!node.op().record().infer) return true;
  Ref<Graph> owner(&graph);
  InlineVector<Tensor, 4> inputs;
  for (OutputRef input : node.inputs()) inputs.push_back(symbolic_tensor(owner, input));
  TypeBindings types;
  if (!node.op().bind_types(inputs, node.attrs(), /*eager=*/false, types).ok()) return false;
  InferContext context(node.op(), node.attrs(), inputs, types, node.num_outputs(),
                       &graph.symbols());
  if (!infer_outputs(context).ok()) return false;
  for (int i = 0; i < node.num_outputs(); ++i) {
    if (!(context.shapes()[static_cast<size_t>(i)] == node.output(i).shape)) return false;
  }
  return true;
}

bool cannot_fail(const Node& node, Graph& graph) {
  const OpRecord& record = node.op().record();
  if (!is_pure(node) || record.keeps_state || !has_known_shapes(node)) return false;
  if (!shapes_follow(node, graph)) return false;
  const DType last = node.inputs().empty() ? DType::kInvalid : type_of(node.inputs().back()).dtype;
  switch (record.body.kind_for(last, node.attrs())) {
    case OpBody::Kind::kElementwise:
    case OpBody::Kind::kReduction:
      return traps_nothing(node);
    case OpBody::Kind::kKernel:
      return record.panels || moves_to_known_places(node, graph);
    default:
      return false;
  }
}

bool is_larger_than_operands(const Node& node) {
  double operands = 0, results = 0;
  for (OutputRef input : node.inputs()) operands += guessed_elements(type_of(input).shape);
  for (int i = 0; i < node.num_outputs(); ++i) results += guessed_elements(node.output(i).shape);
  return results > operands;
}

double cost_of(const Node& node) {
  InlineVector<const Shape*, 4> inputs;
  InlineVector<Shape, 2> outputs;
  for (OutputRef input : node.inputs()) inputs.push_back(&type_of(input).shape);
  for (int i = 0; i < node.num_outputs(); ++i) outputs.push_back(node.output(i).shape);
  return estimated_cost(node.op(), {node.attrs(), inputs, outputs});
}

// True if the condition holds on the constants that the loop enters with, whatever the other inputs
// are.
bool surely_enters(const Graph& condition, const Node& loop, const Rewriter& rewriter,
                   Builder& evaluate) {
  Ref<Graph> graph = condition.clone();
  const std::vector<Node*> inputs(graph->inputs().begin(), graph->inputs().end());
  std::vector<Node*> unknown;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Node& given = *loop.inputs()[i].node;
    if (&given.op() == kConst.op && !rewriter.is_input(&given)) {
      graph->make_constant(inputs[i], given.attrs().as<ConstAttrs>().value);
    } else {
      unknown.push_back(inputs[i]);
    }
  }
  graph->set_inputs(std::move(unknown));
  fold_constants(*graph, evaluate);
  const Node& holds = *graph->outputs()[0].node;
  if (&holds.op() != kConst.op || graph->is_input(&holds)) return false;
  const Tensor& value = holds.attrs().as<ConstAttrs>().value;
  return value.dtype() == DType::kBool && value.rank() == 0 && value.item<bool>();
}

class Hoister {
 public:
  Hoister(Rewriter& rewriter, Builder& evaluate, Node* loop, const NodeBodies& bodies)
      : rewriter_(rewriter),
        evaluate_(evaluate),
        loop_(loop),
        bodies_(bodies),
        is_changed_(loop->inputs().size()) {
    const Graph& body = *bodies.all[1].body->graph();
    for (size_t i = 0; i < is_changed_.size(); ++i) {
      is_changed_[i] = !returns_input(body, static_cast<int>(i));
    }
  }

  void run() {
    find(0);
    find(1);
    if (hoisted_.empty()) return;
    NodeParts parts = parts_of(*loop_, bodies_);
    std::vector<OutputType> more;
    // The values in the graph around the loop come first, as all graphs take all of them.
    for (Hoisted& one : hoisted_) {
      one.outer = place_outside(*one.node);
      if (!one.is_read) continue;
      for (int i = 0; i < one.node->num_outputs(); ++i) {
        parts.inputs.push_back({one.outer, i});
        more.push_back(copy_of(one.outer->output(i)));
      }
    }
    for (size_t g = 0; g < parts.graphs.size(); ++g) replace_in(*parts.graphs[g], g);
    remake_node(rewriter_, loop_, bodies_, std::move(parts), std::move(more));
  }

 private:
  // A node of a body that moves out of the loop.
  struct Hoisted {
    size_t graph;
    const Node* node;
    bool is_read = false;  // by what stays in the loop
    Node* outer = nullptr;
  };

  // Finds what moves out of a graph of the loop.
  void find(size_t number) {
    Graph& graph = *bodies_.all[number].body->graph();
    std::vector<bool> is_invariant(static_cast<size_t>(graph.id_bound()), false);
    for (size_t i = 0; i < graph.inputs().size(); ++i) {
      is_invariant[static_cast<size_t>(graph.inputs()[i]->id())] = !is_changed_[i];
    }
    const size_t first = hoisted_.size();
    std::unordered_map<const Node*, size_t> number_of;
    auto read = [&](OutputRef value) {
      if (auto at = number_of.find(value.node); at != number_of.end()) {
        hoisted_[at->second].is_read = true;
      }
    };
    for (Node* node : graph.nodes()) {
      if (is_invariant[static_cast<size_t>(node->id())]) continue;  // an input
      const bool is_constant = &node->op() == kConst.op && node->control_inputs().empty();
      const bool is_hoisted =
          !is_constant && !graph.is_input(node) && moves_out(*node, graph, is_invariant, number);
      is_invariant[static_cast<size_t>(node->id())] = is_hoisted || is_constant;
      if (is_hoisted) {
        number_of[node] = hoisted_.size();
        hoisted_.push_back({number, node});
        continue;
      }
      for (OutputRef input : node->inputs()) read(input);
    }
    for (OutputRef output : graph.outputs()) read(output);
    // What nothing reads is dead, and stays where it is until it is removed.
    while (hoisted_.size() > first && !hoisted_.back().is_read) hoisted_.pop_back();
  }

  bool moves_out(const Node& node, Graph& graph, const std::vector<bool>& is_invariant,
                 size_t number) {
    if (!node.control_inputs().empty() || node.inputs().empty()) return false;
    bool has_variable = false;
    for (OutputRef input : node.inputs()) {
      if (!is_invariant[static_cast<size_t>(input.node->id())]) return false;
      has_variable |= &input.node->op() != kConst.op || graph.is_input(input.node);
    }
    if (!has_variable || !cannot_fail(node, graph) || is_larger_than_operands(node)) return false;
    // A condition runs at least once.
    return number == 0 || cost_of(node) <= kCheap || enters();
  }

  bool enters() {
    if (!enters_) {
      enters_ = surely_enters(*bodies_.all[0].body->graph(), *loop_, rewriter_, evaluate_);
    }
    return *enters_;
  }

  // The value around the loop of one that does not change within it.
  OutputRef outside(OutputRef value, size_t number) {
    const Graph& graph = *bodies_.all[number].body->graph();
    const auto at = std::ranges::find(graph.inputs(), value.node);
    if (at != graph.inputs().end()) {
      return loop_->inputs()[static_cast<size_t>(at - graph.inputs().begin())];
    }
    for (const Hoisted& one : hoisted_) {
      if (one.node == value.node) return {one.outer, value.index};
    }
    return {rewriter_.place_constant(*loop_, value.node->attrs().as<ConstAttrs>().value), 0};
  }

  Node* place_outside(const Node& node) {
    const size_t number = std::ranges::find(hoisted_, &node, &Hoisted::node)->graph;
    std::vector<OutputRef> inputs;
    for (OutputRef input : node.inputs()) inputs.push_back(outside(input, number));
    std::vector<OutputType> outputs;
    for (int i = 0; i < node.num_outputs(); ++i) {
      const OutputType& type = node.output(i);
      outputs.push_back({type.dtype, type.shape, false, nullptr, nullptr});
    }
    Graph& graph = rewriter_.graph();
    Node* made = graph.add({.op = &node.op(),
                            .attrs = node.attrs(),
                            .name = graph.unique_name(str_cat(loop_->name(), "/", node.name())),
                            .inputs = inputs,
                            .outputs = std::move(outputs),
                            .device = node.device().empty() ? loop_->device() : node.device(),
                            .location = node.location()});
    for (const auto& [name, value] : node.extra_attributes()) {
      graph.set_attribute(made, name, value);
    }
    rewriter_.place(made);
    return made;
  }

  // Gives a copy of a graph of the loop an input for each value that moved out of any, in place of
  // the value if it moved out of this one.
  void replace_in(Graph& graph, size_t number) {
    const Graph& before = *bodies_.all[number].body->graph();
    std::vector<Node*> inputs(graph.inputs().begin(), graph.inputs().end());
    std::vector<OutputRef> outputs(graph.outputs().begin(), graph.outputs().end());
    std::vector<std::pair<OutputRef, OutputRef>> replaced;
    std::vector<Node*> added;
    for (const Hoisted& one : hoisted_) {
      if (!one.is_read) continue;
      for (int i = 0; i < one.node->num_outputs(); ++i) {
        const OutputType& type = one.node->output(i);
        std::vector<OutputType> types;
        types.push_back({type.dtype, type.shape, false, nullptr, nullptr});
        Node* input = graph.add({.op = kPlaceholder.op,
                                 .attrs = PlaceholderAttrs{type.dtype, type.shape},
                                 .name = graph.unique_name(one.node->name()),
                                 .inputs = {},
                                 .outputs = std::move(types)});
        inputs.push_back(input);
        added.push_back(input);
        if (number == 1) outputs.push_back({input, 0});
        if (one.graph != number) continue;
        const auto at = std::ranges::find(before.nodes(), one.node);
        replaced.push_back(
            {{graph.nodes()[static_cast<size_t>(at - before.nodes().begin())], i}, {input, 0}});
      }
    }
    for (auto& [old, by] : replaced) {
      graph.replace_uses(old, by);
      std::ranges::replace(outputs, old, by);
    }
    graph.set_inputs(std::move(inputs));
    graph.set_outputs(std::move(outputs));
    // Inputs come before what reads them.
    std::vector<Node*> order = added;
    for (Node* node : graph.nodes()) {
      if (std::ranges::find(added, node) == added.end()) order.push_back(node);
    }
    graph.set_order(std::move(order));
    remove_dead_nodes(graph);
  }

  Rewriter& rewriter_;
  Builder& evaluate_;
  Node* const loop_;
  const NodeBodies& bodies_;
  std::vector<bool> is_changed_;  // for each variable: the body does not just return it
  std::vector<Hoisted> hoisted_;  // in an order in which inputs come first
  std::optional<bool> enters_;
};

}  // namespace

bool hoist_invariants(Graph& graph, Builder& evaluate) {
  Rewriter rewriter(graph);
  for (Node* node : rewriter.nodes()) {
    rewriter.visit(node);
    const NodeBodies bodies = bodies_of(*node);
    if (bodies.empty() || bodies.run != BodyRun::kWhile || !has_common_inputs(bodies)) continue;
    Hoister(rewriter, evaluate, node, bodies).run();
  }
  return rewriter.finish();
}

}  // namespace graven::engine
