#include "graven/optimize/copy_operands.h"

#include <algorithm>
#include <queue>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "graven/ir/infer_context.h"
#include "graven/ir/recorded_body.h"
#include "graven/ir/structural_ops.h"
#include "graven/optimize/rewriter.h"

namespace graven::engine {
namespace {

// The highest cost of computing an element again (Expression::cost), compared with storing and
// loading it, and the highest number of operands as large as it to be read again.
constexpr double kMaxCost = 12;
constexpr int kMaxOperands = 3;
// Longer chains are left as they are.
constexpr size_t kMaxNodes = 64;

class OperandCopier {
 public:
  explicit OperandCopier(Graph& graph) : graph_(graph), rewriter_(graph) {
    position_.resize(static_cast<size_t>(graph.id_bound()), -1);
    users_.resize(position_.size());
    int position = 0;
    for (Node* node : rewriter_.nodes()) {
      position_[id_of(node)] = position++;
      for (OutputRef input : node->inputs()) users_of(input.node).push_back(node);
      for (Node* before : node->control_inputs()) is_waited_for_.insert(before);
    }
    for (OutputRef output : graph.outputs()) is_waited_for_.insert(output.node);
    for (Node* node : graph.control_outputs()) is_waited_for_.insert(node);
  }

  Result<bool> run() {
    for (Node* node : rewriter_.nodes()) {
      if (!rewriter_.is_input(node) && reduces_no_rows(*node)) {
        RETURN_IF_ERROR(copy_operand(node));
      }
      rewriter_.visit(node);
    }
    return rewriter_.finish();
  }

 private:
  static size_t id_of(const Node* node) { return static_cast<size_t>(node->id()); }
  std::vector<Node*>& users_of(const Node* node) { return users_[id_of(node)]; }

  static OpBody::Kind kind_of(const Node& node) {
    if (node.inputs().empty()) return OpBody::Kind::kNone;
    const OutputRef last = node.inputs().back();
    return node.op().record().body.kind_for(last.node->output(last.index).dtype, node.attrs());
  }

  // A reduction of other axes than the last ones: by rows it would share a kernel with its readers.
  bool reduces_no_rows(const Node& node) {
    if (kind_of(node) != OpBody::Kind::kReduction || node.inputs().size() != 2) return false;
    const OutputRef x = node.inputs()[0];
    const Node* axes = node.inputs()[1].node;
    const Shape& shape = x.node->output(x.index).shape;
    if (!is_definite(shape) || &axes->op() != kConst.op || rewriter_.is_input(axes)) return false;
    auto reduced = normalized_axes(axes->attrs().as<ConstAttrs>().value, shape.rank());
    if (!reduced.ok() || reduced->empty()) return false;
    const int first = *std::ranges::min_element(*reduced);
    return first == 0 || static_cast<int>(reduced->size()) != shape.rank() - first;
  }

  // The body of a node that may run once more; null if it may not.
  Result<Ref<const RecordedBody>> body_of(const Node& node, const Shape& shape) {
    const bool may_be = !rewriter_.is_input(&node) && node.num_outputs() == 1 &&
                        kind_of(node) == OpBody::Kind::kElementwise && is_pure(node) &&
                        !node.output(0).is_promised && node.control_inputs().empty() &&
                        surely_equal(node.output(0).shape, shape);
    if (!may_be) return Ref<const RecordedBody>();
    InlineVector<DType, 4> dtypes;
    for (OutputRef input : node.inputs()) dtypes.push_back(input.node->output(input.index).dtype);
    ASSIGN_OR_RETURN(auto body,
                     RecordedBody::get(node.op(), node.attrs(), dtypes, node.output(0).dtype));
    // A body that may refuse a value must run once only.
    return body->expression()->traps().empty() ? body : Ref<const RecordedBody>();
  }

  // Whether all that read the node could do so in one kernel.
  bool is_fusable(const Node* node) {
    return !is_waited_for_.contains(node) &&
           std::ranges::all_of(users_of(node), [&](const Node* user) {
             const OpBody::Kind kind = kind_of(*user);
             return kind == OpBody::Kind::kElementwise || kind == OpBody::Kind::kReduction;
           });
  }

  // Whether one of these comes after the reduction.
  bool is_any_behind(const std::vector<const Node*>& nodes, const Node* reduction) {
    int end = 0;  // behind which none of them stands
    for (const Node* node : nodes) end = std::max(end, position_[id_of(node)]);
    reached_from_.resize(users_.size(), -1);
    std::vector<const Node*> todo = {reduction};
    while (!todo.empty()) {
      const Node* next = todo.back();
      todo.pop_back();
      for (const Node* user : users_of(next)) {
        int& reached_from = reached_from_[id_of(user)];
        if (reached_from == reduction->id() || position_[id_of(user)] > end) continue;
        if (std::ranges::find(nodes, user) != nodes.end()) return true;
        reached_from = reduction->id();
        todo.push_back(user);
      }
    }
    return false;
  }

  // The nodes that the reduction would compute itself, the last first; none if it is better to read
  // the stored operand.
  Result<std::vector<Node*>> own_nodes(Node* reduction) {
    const OutputRef x = reduction->inputs()[0];
    const Shape& shape = x.node->output(x.index).shape;
    auto earlier = [&](Node* a, Node* b) { return position_[id_of(a)] < position_[id_of(b)]; };
    std::priority_queue<Node*, std::vector<Node*>, decltype(earlier)> todo(earlier);
    std::unordered_set<const Node*> seen = {x.node}, alone = {reduction};
    todo.push(x.node);
    std::vector<Node*> own;
    std::vector<const Node*> others;  // that need the same
    double cost = 0;
    int operands = 0;
    while (!todo.empty()) {
      Node* node = todo.top();
      todo.pop();
      ASSIGN_OR_RETURN(auto body, body_of(*node, shape));
      if (!body) {
        operands += surely_equal(node->output(0).shape, shape);
        if (operands > kMaxOperands) return std::vector<Node*>();
        continue;
      }
      // Copies that read what others share a kernel with would share it too.
      if (!is_fusable(node)) return std::vector<Node*>();
      own.push_back(node);
      const auto& users = users_of(node);
      if (std::ranges::all_of(users, [&](Node* user) { return alone.contains(user); })) {
        alone.insert(node);
      } else {
        cost += body->expression()->cost();
        others.insert(others.end(), users.begin(), users.end());
      }
      if (cost > kMaxCost || own.size() > kMaxNodes) return std::vector<Node*>();
      for (OutputRef input : node->inputs()) {
        if (seen.insert(input.node).second) todo.push(input.node);
      }
    }
    // Some of them must wait for the reduction: else all share a kernel.
    if (others.empty() || !is_any_behind(others, reduction)) own.clear();
    return own;
  }

  Status copy_operand(Node* reduction) {
    ASSIGN_OR_RETURN(const std::vector<Node*> own, own_nodes(reduction));
    if (own.empty()) return {};
    std::unordered_map<const Node*, Node*> copy_of;
    for (size_t i = own.size(); i-- > 0;) {
      const Node* node = own[i];
      std::vector<OutputRef> inputs(node->inputs().begin(), node->inputs().end());
      for (OutputRef& input : inputs) {
        if (auto copy = copy_of.find(input.node); copy != copy_of.end()) {
          input.node = copy->second;
        }
      }
      const OutputType& type = node->output(0);
      std::vector<OutputType> outputs(1);
      outputs[0].dtype = type.dtype;
      outputs[0].shape = type.shape;
      Node* copy = graph_.add({.op = &node->op(),
                               .attrs = node->attrs(),
                               .name = graph_.unique_name(node->name()),
                               .inputs = inputs,
                               .outputs = std::move(outputs),
                               .device = node->device(),
                               .location = node->location()});
      rewriter_.place(copy);
      users_.resize(static_cast<size_t>(graph_.id_bound()));
      position_.resize(users_.size(), position_[id_of(node)]);
      for (OutputRef input : inputs) users_of(input.node).push_back(copy);
      copy_of[node] = copy;
    }
    graph_.set_input_of(reduction, 0, {copy_of.at(own[0]), 0});
    users_of(copy_of.at(own[0])).push_back(reduction);
    // Originals that only the reduction needed have no users now, and are removed.
    for (Node* node : own) {
      auto& users = users_of(node);
      std::erase_if(users,
                    [&](const Node* user) { return user == reduction || gone_.contains(user); });
      if (!users.empty()) continue;
      gone_.insert(node);
      for (OutputRef input : node->inputs()) std::erase(users_of(input.node), node);
      rewriter_.remove(node);
    }
    rewriter_.set_changed();
    return {};
  }

  Graph& graph_;
  Rewriter rewriter_;
  std::vector<int> position_;                      // by id; of a copy, that of the original
  std::vector<std::vector<Node*>> users_;          // by id
  std::unordered_set<const Node*> is_waited_for_;  // returned, or by a control input
  std::vector<int> reached_from_;  // by id: the reduction from which it was reached last
  std::unordered_set<const Node*> gone_;
};

}  // namespace

Result<bool> copy_operands(Graph& graph) { return OperandCopier(graph).run(); }

}  // namespace graven::engine
