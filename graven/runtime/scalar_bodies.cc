#include "graven/runtime/scalar_bodies.h"

#include <algorithm>
#include <cstring>
#include <deque>
#include <unordered_map>
#include <utility>

#include "graven/expr/fuse.h"
#include "graven/ir/bodies.h"
#include "graven/ir/body.h"
#include "graven/ir/recorded_body.h"
#include "graven/ir/same_input.h"
#include "graven/ir/structural_ops.h"

namespace graven::engine {
namespace {

using Source = FusionMember::Source;
using Sources = std::vector<std::optional<Source>>;

// Longer expressions gain nothing from running instruction by instruction, and the branches of
// longer ones would cost more than a choice.
constexpr size_t kMaxMembers = 64;
// A longer chain is given up on the way to its first node: the stack holds a level for each node.
// Nodes that become no members, such as Identity, count too.
constexpr int kMaxDepth = 4 * kMaxMembers;

bool is_scalar(const OutputType& type) {
  return type.shape.has_rank() && type.shape.rank() == 0 && !type.is_promised &&
         is_plain(type.dtype) && computing_type(type.dtype) == type.dtype;
}

// b if a holds, else c.
Expression selection(DType dtype) {
  Expression select;
  const uint16_t inputs[] = {select.add_input(DType::kBool), select.add_input(dtype),
                             select.add_input(dtype)};
  const uint16_t a = select.add_node({Instruction::kInput, DType::kBool, inputs[0]});
  const uint16_t b = select.add_node({Instruction::kInput, dtype, inputs[1]});
  const uint16_t c = select.add_node({Instruction::kInput, dtype, inputs[2]});
  select.add_output({dtype, select.add_node({Instruction::kSelect, dtype, a, b, c})});
  return select;
}

class Flattener {
 public:
  explicit Flattener(const Graph& graph) {
    for (const Node* input : graph.inputs()) {
      // One that is no scalar is not read.
      const OutputType& type = input->output(0);
      inputs_.push_back(is_scalar(type) ? type.dtype : DType::kBool);
    }
  }

  std::optional<ScalarBody> flatten(const Graph& graph, std::span<const int> outputs) {
    if (!graph.control_outputs().empty()) return std::nullopt;
    Scope scope{graph, {}, {}, /*may_trap=*/true};
    for (size_t i = 0; i < graph.inputs().size(); ++i) {
      const bool is_usable = is_scalar(graph.inputs()[i]->output(0));
      scope.inputs.push_back(is_usable ? std::optional(Source{-1, static_cast<int>(i)})
                                       : std::nullopt);
    }
    std::vector<Source> results;
    for (int output : outputs) {
      const auto source = source_of(graph.outputs()[static_cast<size_t>(output)], scope);
      if (!source) return std::nullopt;
      results.push_back(*source);
    }
    Expression fused = fuse_expressions(inputs_, members_, results, known_);
    for (const Trap& trap : fused.traps()) {
      if (!may_trap_[trap.member]) return std::nullopt;
    }
    return ScalarBody{std::move(fused), nodes_};
  }

 private:
  // A graph that is looked at, and where its values are.
  struct Scope {
    const Graph& graph;
    Sources inputs;
    std::unordered_map<const Node*, Sources> found = {};
    bool may_trap;
  };

  std::optional<Source> source_of(OutputRef value, Scope& scope) {
    const auto at = std::ranges::find(scope.graph.inputs(), value.node);
    if (at != scope.graph.inputs().end()) {
      return scope.inputs[static_cast<size_t>(at - scope.graph.inputs().begin())];
    }
    auto found = scope.found.find(value.node);
    if (found == scope.found.end()) {
      if (depth_ == kMaxDepth) return std::nullopt;
      ++depth_;
      found = scope.found.emplace(value.node, sources_of(*value.node, scope)).first;
      --depth_;
    }
    const auto index = static_cast<size_t>(value.index);
    return index < found->second.size() ? found->second[index] : std::nullopt;
  }

  // Where the outputs of a node are; none of a node that is not of the kinds.
  Sources sources_of(const Node& node, Scope& scope) {
    for (int i = 0; i < node.num_outputs(); ++i) {
      if (!is_scalar(node.output(i))) return {};
    }
    if (!node.control_inputs().empty() || node.num_outputs() == 0) return {};
    if (&node.op() == kConst.op) return {constant(node.attrs().as<ConstAttrs>().value)};
    if (const int same = same_input(node); same >= 0) {
      return {source_of(node.inputs()[static_cast<size_t>(same)], scope)};
    }
    if (const NodeBodies bodies = bodies_of(node); !bodies.empty()) {
      return sources_of_bodies(node, bodies, scope);
    }
    return {member(node, scope)};
  }

  Source constant(const Tensor& value) {
    uint64_t bits = 0;
    std::memcpy(&bits, value.raw_data(), dtype_size(value.dtype()));
    known_.push_back({static_cast<int>(inputs_.size()), bits});
    inputs_.push_back(value.dtype());
    return {-1, static_cast<int>(inputs_.size()) - 1};
  }

  std::optional<Source> member(const Node& node, Scope& scope) {
    const Op& op = node.op();
    if (op.is_stateful_ever() || node.inputs().empty() || node.num_outputs() != 1) return {};
    InlineVector<DType, 4> dtypes;
    std::vector<Source> sources;
    for (OutputRef input : node.inputs()) {
      const auto source = source_of(input, scope);
      if (!source) return std::nullopt;
      sources.push_back(*source);
      dtypes.push_back(input.node->output(input.index).dtype);
    }
    if (op.record().body.kind_for(dtypes.back(), node.attrs()) != OpBody::Kind::kElementwise) {
      return std::nullopt;
    }
    auto body = RecordedBody::get(op, node.attrs(), dtypes, node.output(0).dtype);
    if (!body.ok() || !(*body)->expression()) return std::nullopt;
    bodies_.push_back(*body);
    return add(*(*body)->expression(), std::move(sources), &node, scope.may_trap);
  }

  std::optional<Source> add(const Expression& expression, std::vector<Source> sources,
                            const Node* node, bool may_trap) {
    if (members_.size() >= kMaxMembers) return std::nullopt;
    members_.push_back({&expression, std::move(sources), static_cast<int>(members_.size())});
    nodes_.push_back(node);
    may_trap_.push_back(may_trap);
    return Source{static_cast<int>(members_.size()) - 1, 0};
  }

  Sources sources_of_bodies(const Node& node, const NodeBodies& bodies, Scope& scope) {
    const bool is_choice = bodies.run == BodyRun::kOneOf && !bodies.is_list;
    if (bodies.run != BodyRun::kOnce && !is_choice) return {};
    std::vector<Sources> results;
    for (const NodeBody& one : bodies.all) {
      const Graph& graph = *one.body->graph();
      if (!graph.control_outputs().empty() || one.body->effects().stateful) return {};
      Scope inner{graph, {}, {}, scope.may_trap && !is_choice};
      for (int i = 0; i < one.inputs.count; ++i) {
        const int from = one.inputs.first + i;
        inner.inputs.push_back(source_of(node.inputs()[static_cast<size_t>(from)], scope));
      }
      Sources& of_body = results.emplace_back();
      for (OutputRef output : graph.outputs()) of_body.push_back(source_of(output, inner));
    }
    if (!is_choice) return results[0];
    const auto choice = source_of(node.inputs()[0], scope);
    if (!choice || node.inputs()[0].node->output(node.inputs()[0].index).dtype != DType::kBool) {
      return {};
    }
    Sources chosen;
    for (size_t i = 0; i < results[0].size(); ++i) {
      const auto &otherwise = results[0][i], &then = results[1][i];
      if (!then || !otherwise) {
        chosen.push_back(std::nullopt);
        continue;
      }
      selections_.push_back(selection(node.output(static_cast<int>(i)).dtype));
      chosen.push_back(add(selections_.back(), {*choice, *then, *otherwise}, &node, true));
    }
    return chosen;
  }

  int depth_ = 0;              // of nodes whose sources are looked for
  std::vector<DType> inputs_;  // those of the graph, then constants
  std::vector<KnownInput> known_;
  std::vector<FusionMember> members_;
  std::vector<const Node*> nodes_;
  std::vector<bool> may_trap_;  // by member
  std::vector<Ref<const RecordedBody>> bodies_;
  std::deque<Expression> selections_;
};

}  // namespace

std::optional<ScalarBody> scalar_body(const Graph& graph, std::span<const int> outputs) {
  return Flattener(graph).flatten(graph, outputs);
}

}  // namespace graven::engine
