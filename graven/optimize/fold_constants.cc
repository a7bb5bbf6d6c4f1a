#include "graven/optimize/fold_constants.h"

#include <algorithm>
#include <unordered_set>
#include <vector>

#include "graven/base/strings.h"
#include "graven/ir/structural_ops.h"
#include "graven/optimize/rewriter.h"

namespace graven::engine {
namespace {

bool is_constant(const Rewriter& rewriter, const Node& node) {
  return &node.op() == kConst.op && !rewriter.is_input(&node);
}

// Ones and zeros of more elements are quicker made than kept.
constexpr int64_t kMaxLike = 64;

// Fills of more bytes are quicker made than kept.
constexpr int64_t kMaxFill = 1 << 20;

// Whether the node reads the shape of its input alone, which is known.
bool needs_no_elements(const Node& node) {
  if (&node.op() != kOnesLike.op && &node.op() != kZerosLike.op) return false;
  const OutputType& type = node.output(0);
  const auto count = type.shape.checked_num_elements();
  return is_plain(type.dtype) && count && *count <= kMaxLike;
}

// The bytes of the constants among the inputs.
int64_t constant_bytes(const Rewriter& rewriter, const Node& node) {
  int64_t bytes = 0;
  for (OutputRef input : node.inputs()) {
    if (!is_constant(rewriter, *input.node)) continue;
    bytes += static_cast<int64_t>(input.node->attrs().as<ConstAttrs>().value.bytes());
  }
  return bytes;
}

// The constants that a walk makes, and how many values and results still need each. A chain of
// large ones holds the last of them only.
class Folded {
 public:
  Folded(const Rewriter& rewriter, Graph& graph, int64_t max_bytes)
      : graph_(graph), max_bytes_(max_bytes) {
    for (Node* node : rewriter.nodes()) {
      for (OutputRef input : node->inputs()) ++needs(*input.node);
    }
    for (OutputRef output : graph.outputs()) ++needs(*output.node);
  }

  // Makes the node a constant. Its inputs lose their values if these are large and have no other
  // user.
  void fold(Node* node, Tensor value) {
    std::vector<OutputRef> inputs(node->inputs().begin(), node->inputs().end());
    graph_.make_constant(node, std::move(value));
    made_.insert(node);
    for (OutputRef input : inputs) {
      if (--needs(*input.node) != 0 || !made_.contains(input.node)) continue;
      if (static_cast<int64_t>(input.node->attrs().as<ConstAttrs>().value.bytes()) > max_bytes_) {
        graph_.make_constant(input.node, Tensor::scalar(0));
      }
    }
  }

 private:
  int64_t& needs(const Node& node) {
    const auto id = static_cast<size_t>(node.id());
    if (id >= needs_.size()) needs_.resize(id + 1);
    return needs_[id];
  }

  Graph& graph_;
  const int64_t max_bytes_;
  std::vector<int64_t> needs_;  // by id
  std::unordered_set<const Node*> made_;
};

bool may_fold(const Rewriter& rewriter, const Node& node, int64_t max_bytes) {
  // Ops without a body are known to the executor alone: placeholders, calls, control flow.
  if (&node.op() == kConst.op || node.op().record().body.kind() == OpBody::Kind::kNone ||
      node.num_outputs() == 0 || !node.control_inputs().empty() || rewriter.is_input(&node)) {
    return false;
  }
  for (OutputRef input : node.inputs()) {
    if (!is_constant(rewriter, *input.node) && !needs_no_elements(node)) return false;
  }
  for (int i = 0; i < node.num_outputs(); ++i) {
    const OutputType& type = node.output(i);
    if (!is_plain(type.dtype) && type.dtype != DType::kString) return false;
    auto count = type.shape.checked_num_elements();
    if (count && *count > max_bytes / static_cast<int64_t>(dtype_size(type.dtype))) return false;
  }
  return is_pure(node);
}

// A stand-in for an input whose elements are not read.
Tensor of_any_elements(const OutputType& type) {
  auto made = Tensor::allocate(type.dtype, type.shape);
  return made.ok() ? *made : Tensor();
}

}  // namespace

bool fold_constants(Graph& graph, Builder& evaluate, int64_t max_bytes) {
  Rewriter rewriter(graph);
  Folded folded(rewriter, graph, max_bytes);
  for (Node* node : rewriter.nodes()) {
    rewriter.visit(node);
    // A result no larger than its inputs is computed once, not in each call.
    const int64_t most = &node->op() == kFill.op ? std::min(max_bytes, kMaxFill) : max_bytes;
    const int64_t limit = std::max(most, constant_bytes(rewriter, *node));
    if (!may_fold(rewriter, *node, limit)) continue;
    Tensors inputs;
    for (OutputRef input : node->inputs()) {
      inputs.push_back(is_constant(rewriter, *input.node)
                           ? input.node->attrs().as<ConstAttrs>().value
                           : of_any_elements(node->output(0)));
    }
    if (!std::ranges::all_of(inputs, [](const Tensor& input) { return bool(input); })) continue;
    auto outputs = evaluate.apply(node->op(), {inputs.data(), inputs.size()}, node->attrs());
    if (!outputs.ok() || static_cast<int>(outputs->size()) != node->num_outputs()) continue;
    bool fits = true;
    for (int i = 0; i < node->num_outputs(); ++i) {
      const Tensor& value = (*outputs)[i];
      fits &= value && !value.is_symbolic() && value.dtype() == node->output(i).dtype &&
              static_cast<int64_t>(value.bytes()) <= limit;
    }
    if (!fits) continue;
    if (node->num_outputs() == 1) {
      rewriter.equate(node->output(0).shape, (*outputs)[0].shape());
      folded.fold(node, std::move((*outputs)[0]));
      rewriter.set_changed();
      continue;
    }
    for (int i = 0; i < node->num_outputs(); ++i) {
      rewriter.replace({node, i}, {rewriter.place_constant(*node, (*outputs)[i]), 0});
    }
    rewriter.replace_control(node, {});
    rewriter.remove(node);
  }
  return rewriter.finish();
}

}  // namespace graven::engine
