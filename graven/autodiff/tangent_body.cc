// Bodies and nodes with tangents. Tangents are added to a copy of a body's graph, node by node;
// what no output needs is removed again. The variables of a loop that have a tangent are found in
// rounds: a variable that gets one in the body has one from the start, zeros perhaps.
#include "graven/autodiff/tangent_body.h"

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "graven/autodiff/call_gradient.h"
#include "graven/autodiff/custom_gradient.h"
#include "graven/autodiff/expand_composites.h"
#include "graven/autodiff/gradient_pair.h"
#include "graven/autodiff/step.h"
#include "graven/autodiff/tangent_rule.h"
#include "graven/base/claim.h"
#include "graven/base/heap_bytes.h"
#include "graven/base/stack.h"
#include "graven/base/strings.h"
#include "graven/ir/bodies.h"
#include "graven/ir/emitter.h"
#include "graven/ir/frame.h"
#include "graven/ir/graph_builder.h"
#include "graven/ir/numerics_checks.h"
#include "graven/ir/structural_ops.h"

namespace graven::engine {
namespace {

bool any(const std::vector<bool>& flags) { return std::ranges::find(flags, true) != flags.end(); }

// Adds nodes to a copy of a graph. A gradient of the user's may use tensors of the original, and
// those that it captured: what stands for them in the copy is taken.
class CopyBuilder final : public GraphBuilder {
 public:
  explicit CopyBuilder(Ref<Graph> original) : CopyBuilder(std::move(original), {}) {}

  // Notes that another node computes what a node of the copy did.
  void replace(OutputRef before, OutputRef now) {
    const auto key = [](OutputRef output) { return std::pair(output.node, output.index); };
    replaced_.emplace(key(before), now);
  }

  // The nodes of the copy that stand for tensors of the original which such a gradient has used.
  std::span<const Node* const> stand_ins() const { return stand_ins_; }

  Result<Tensor> capture(const Tensor& external, std::string_view) override {
    if (external.is_symbolic() && symbolic(external).graph() == graph_ref()) return external;
    if (external.is_symbolic() && symbolic(external).graph() == original_) {
      const OutputRef output = symbolic(external).output();
      const OutputRef copy{copies_[static_cast<size_t>(output.node->id())], output.index};
      const auto at = replaced_.find({copy.node, copy.index});
      const Tensor made = symbolic_tensor(graph_ref(), at == replaced_.end() ? copy : at->second);
      ASSIGN_OR_RETURN(Node* const node, note_stand_in(*this, external, made));
      stand_ins_.push_back(node);
      return made;
    }
    const uint64_t id = external.get()->known_id();
    if (Node* node = id == 0 ? nullptr : graph()->capture_of(id)) {
      return symbolic_tensor(graph_ref(), {node, 0});
    }
    if (!external.is_symbolic()) return add_constant(external);
    return Status(
        Code::kInvalidArgument,
        str_cat("Tensor(\"", symbolic(external).node().name(), "\") of '",
                symbolic(external).graph()->name(),
                "' is out of scope and cannot be used here: the gradient of a function in '",
                original_->name(), "' may use tensors of that, and those that it ",
                "captured. See docs/errors/out-of-scope.md"),
        ErrorKind::kInaccessibleTensorError);
  }

 private:
  CopyBuilder(Ref<Graph> original, std::vector<Node*> copies)
      : GraphBuilder(original->clone(&copies)),
        original_(std::move(original)),
        copies_(std::move(copies)) {}

  const Ref<Graph> original_;
  const std::vector<Node*> copies_;  // by id
  std::map<std::pair<const Node*, int>, OutputRef> replaced_;
  std::vector<const Node*> stand_ins_;
};

// --- One body.

class Maker {
 public:
  Maker(const Body& body, const std::vector<bool>& takes, const std::vector<bool>& at_least)
      : body_(body),
        at_least_(at_least),
        builder_(body.graph()),
        graph_(builder_.graph_ref()),
        made_(std::make_unique<TangentBody>()) {
    made_->takes = takes;
  }

  Result<std::unique_ptr<TangentBody>> make() {
    std::string name = str_cat("__tangent_", plain_function_name(body_.name()), "_", next_uid());
    graph_->set_name(name);
    RETURN_IF_ERROR(expand_composites(
        graph_, [this](OutputRef node, OutputRef part) { builder_.replace(node, part); }));
    const std::vector<Node*> nodes(graph_->nodes().begin(), graph_->nodes().end());
    const int first_new = graph_->id_bound();
    Frame frame(&builder_);
    frame.locations = nullptr;
    const std::vector<Node*> inputs(graph_->inputs().begin(), graph_->inputs().end());
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (!made_->takes[i]) continue;
      const Tensor primal = tensor({inputs[i], 0});
      known_[inputs[i]] = {{add_tangent_input(graph_, primal, inputs[i]->name() + "_tangent")}, {}};
    }
    for (Node* node : nodes) {
      if (graph_->is_input(node)) continue;
      frame.device = node->device();
      RETURN_IF_ERROR(add_tangents_of(node));
    }
    frame.device.clear();
    RETURN_IF_ERROR(add_outputs());
    remove_unused(first_new);
    graph_->sort();
    add_numerics_checks(*graph_, numerics_checks_of(*graph_), graph_->inputs().size(), first_new);
    made_->body = Body::create(std::move(name), graph_);
    return std::move(made_);
  }

 private:
  // Of the outputs of a node: a status in place of the tangents if they cannot be computed.
  struct Known {
    Tensors tangents;
    Status status;
  };

  Tensor tensor(OutputRef output) const { return symbolic_tensor(graph_, output); }

  // The tangents of the inputs of a node. Of a user's function with a gradient of its own only the
  // arguments count, as it alone says what comes of them.
  Known tangents_of_inputs(const Node& node) const {
    Known found;
    const size_t num_not_counted = node.custom_gradient() ? num_custom_results(node) : 0;
    for (OutputRef input : node.inputs()) {
      if (found.tangents.size() < num_not_counted) {
        found.tangents.emplace_back();
        continue;
      }
      const auto at = known_.find(input.node);
      const bool has_any = at != known_.end() && propagates(input.node->output(input.index).dtype);
      if (has_any && !at->second.status.ok()) found.status = at->second.status;
      const bool has_one = has_any && at->second.status.ok();
      found.tangents.push_back(has_one ? at->second.tangents[static_cast<size_t>(input.index)]
                                       : Tensor());
    }
    return found;
  }

  Status add_tangents_of(Node* node) {
    if (node->op().record().gradient == not_differentiable || node->num_outputs() == 0) return {};
    Known given = tangents_of_inputs(*node);
    const auto is_there = [](const Tensor& tangent) { return bool(tangent); };
    if (!given.status.ok()) {
      known_[node].status = given.status;
      return {};
    }
    if (std::ranges::none_of(given.tangents, is_there)) return {};
    std::vector<Tensor> inputs, outputs;
    for (OutputRef input : node->inputs()) inputs.push_back(tensor(input));
    if (const NodeBodies bodies = bodies_of(*node); !bodies.empty()) {
      if (bodies.run == BodyRun::kAsTheOpLikes) return {};
      return extend(node, inputs, given.tangents);
    }
    for (int i = 0; i < node->num_outputs(); ++i) outputs.push_back(tensor({node, i}));
    auto tangents =
        node->custom_gradient()
            ? tangents_of_custom(*node, inputs, outputs, given.tangents)
            : push_tangents(node->op(), node->attrs(), inputs, outputs, given.tangents, builder_);
    if (tangents.ok()) {
      known_[node].tangents = std::move(*tangents);
    } else if (tangents.status().kind() == ErrorKind::kLookupError) {
      known_[node].status = tangents.status();
    } else {
      return tangents.status();
    }
    return {};
  }

  // The gradient that a user has written is a linear function; its transpose gives the tangents.
  Result<Tensors> tangents_of_custom(const Node& node, std::span<const Tensor> inputs,
                                     std::span<const Tensor> outputs, const Tensors& given) {
    const size_t num_results = num_custom_results(node);
    ASSIGN_OR_RETURN(Tensors tangents,
                     push_tangents(*backward_of_custom_node(node, outputs), inputs,
                                   outputs.first(num_results), given, builder_));
    for (size_t i = num_results; i < given.size(); ++i) tangents.push_back(given[i]);
    return tangents;
  }

  // Makes the node run bodies with tangents.
  Status extend(Node* node, std::span<const Tensor> inputs, const Tensors& tangents) {
    std::vector<bool> has_tangent;
    for (const Tensor& tangent : tangents) has_tangent.push_back(bool(tangent));
    ASSIGN_OR_RETURN(TangentNode made,
                     tangent_node(node->op(), node->attrs(), std::move(has_tangent)));
    const int num_own = node->num_outputs();
    if (any(made.gives)) {
      ASSIGN_OR_RETURN(const auto all, with_tangents(inputs, tangents, made.takes, builder_));
      ASSIGN_OR_RETURN(auto types, builder_.output_types(*made.op, all, made.attrs, node->name()));
      types.erase(types.begin(), types.begin() + num_own);
      std::vector<OutputRef> refs;
      for (const Tensor& input : all) refs.push_back(symbolic(input).output());
      graph_->replace_op(node, *made.op, made.attrs, std::move(refs), std::move(types));
    }
    Known& known = known_[node];
    int next = num_own;
    for (int i = 0; i < num_own; ++i) {
      const auto number = static_cast<size_t>(i);
      known.tangents.push_back(made.gives[number] ? tensor({node, next++}) : Tensor());
      if (!made.failed.empty() && !made.failed[number].ok()) known.status = made.failed[number];
    }
    return {};
  }

  Status add_outputs() {
    std::vector<OutputRef> outputs(graph_->outputs().begin(), graph_->outputs().end());
    const size_t count = outputs.size();
    Emitter emit(builder_);
    for (size_t i = 0; i < count; ++i) {
      const Tensor output = tensor(outputs[i]);
      Tensor tangent;
      const auto at = known_.find(outputs[i].node);
      if (at != known_.end() && propagates(output.dtype())) {
        if (!at->second.status.ok()) {
          made_->failed.resize(count);
          made_->failed[i] = at->second.status;
        } else {
          tangent = at->second.tangents[static_cast<size_t>(outputs[i].index)];
        }
      }
      if (!at_least_.empty() && at_least_[i]) {
        if (!tangent) tangent = zeros_like_gradient_of(emit, output);
        if (tangent) tangent = with_shape_of(emit, tangent, output);
      }
      RETURN_IF_ERROR(emit.status());
      made_->gives.push_back(bool(tangent));
      if (tangent) outputs.push_back(symbolic(tangent).output());
    }
    graph_->set_outputs(std::move(outputs));
    return {};
  }

  // A tangent of which no less is known than of its primal: a loop's variable keeps its shape.
  static Tensor with_shape_of(Emitter& emit, const Tensor& tangent, const Tensor& primal) {
    const bool is_plain_one = is_plain(tangent.dtype()) && is_plain(primal.dtype());
    if (!is_plain_one || tangent.shape() == primal.shape() || !primal.shape().has_rank()) {
      return tangent;
    }
    return emit(kReshape, {tangent, emit(kShape, {primal}, {DType::kInt32})});
  }

  // Removes nodes that were added and that nothing needs.
  void remove_unused(int first_new) {
    std::unordered_set<const Node*> needed;
    std::vector<const Node*> pending(builder_.stand_ins().begin(), builder_.stand_ins().end());
    for (OutputRef output : graph_->outputs()) pending.push_back(output.node);
    for (const Node* node : graph_->nodes()) {
      if (node->id() < first_new || graph_->is_input(node)) pending.push_back(node);
    }
    while (!pending.empty()) {
      const Node* node = pending.back();
      pending.pop_back();
      if (!needed.insert(node).second) continue;
      for (OutputRef input : node->inputs()) pending.push_back(input.node);
      for (const Node* before : node->control_inputs()) pending.push_back(before);
    }
    std::vector<Node*> unused;
    for (Node* node : graph_->nodes()) {
      if (!needed.contains(node)) unused.push_back(node);
    }
    graph_->remove(unused);
  }

  const Body& body_;
  const std::vector<bool>& at_least_;
  CopyBuilder builder_;
  const Ref<Graph> graph_;
  std::unordered_map<const Node*, Known> known_;
  std::unique_ptr<TangentBody> made_;
};

// --- Nodes.

std::vector<bool> part(const std::vector<bool>& flags, Op::Range range) {
  const auto first = flags.begin() + range.first;
  return {first, first + range.count};
}

Result<TangentNode> tangent_call(const Op& op, AttrsRef attrs, std::vector<bool> has_tangent) {
  const NodeBodies bodies = bodies_of(op, attrs);
  ASSIGN_OR_RETURN(const TangentBody* made, tangent_body(bodies.all[0].body, has_tangent));
  TangentNode node(op, with_bodies(op, attrs, {&made->body, 1}));
  node.takes = std::move(has_tangent);
  node.gives = made->gives;
  node.failed = made->failed;
  return node;
}

// The outputs that have a tangent in some branch have one in all.
Result<TangentNode> tangent_branches(const Op& op, AttrsRef attrs, std::vector<bool> has_tangent) {
  const NodeBodies bodies = bodies_of(op, attrs);
  has_tangent[0] = false;  // of what chooses
  std::vector<bool> gives(static_cast<size_t>(bodies.all[0].outputs.count));
  std::vector<Status> failed;
  for (const NodeBody& one : bodies.all) {
    ASSIGN_OR_RETURN(const TangentBody* made,
                     tangent_body(one.body, part(has_tangent, one.inputs)));
    for (size_t i = 0; i < gives.size(); ++i) {
      if (made->gives[i]) gives[i] = true;
      if (made->failed.empty() || made->failed[i].ok()) continue;
      failed.resize(gives.size());
      failed[i] = made->failed[i];
    }
  }
  std::vector<Ref<Body>> with;
  for (const NodeBody& one : bodies.all) {
    ASSIGN_OR_RETURN(const TangentBody* made,
                     tangent_body(one.body, part(has_tangent, one.inputs), gives));
    with.push_back(made->body);
  }
  TangentNode node(op_for_bodies(op, with), with_bodies(op, attrs, with));
  node.takes = std::move(has_tangent);
  node.gives = std::move(gives);
  node.failed = std::move(failed);
  return node;
}

Result<TangentNode> tangent_loop(const Op& op, AttrsRef attrs, std::vector<bool> has_tangent) {
  const NodeBodies bodies = bodies_of(op, attrs);
  const Ref<Body>& body = bodies.all[1].body;
  const TangentBody* made = nullptr;
  for (;;) {
    ASSIGN_OR_RETURN(made, tangent_body(body, has_tangent, has_tangent));
    for (const Status& status : made->failed) RETURN_IF_ERROR(status);
    if (made->gives == has_tangent) break;
    has_tangent = made->gives;
  }
  // The condition takes the tangents and gives none.
  ASSIGN_OR_RETURN(const TangentBody* condition, tangent_body(bodies.all[0].body, has_tangent));
  const Ref<Body> with[] = {condition->body, made->body};
  TangentNode node(op_for_bodies(op, with), with_bodies(op, attrs, with));
  node.takes = node.gives = std::move(has_tangent);
  return node;
}

}  // namespace

// --- What is made of one body.

const TangentBody* TangentBodies::find(const Key& key) {
  MutexLock lock(mutex_);
  const auto at = bodies_.find(key);
  return at == bodies_.end() ? nullptr : at->second.get();
}

Result<const TangentBody*> TangentBodies::get(const Body& body, const std::vector<bool>& takes,
                                              const std::vector<bool>& at_least) {
  const Key key(takes, at_least);
  if (const TangentBody* found = find(key)) return found;
  RETURN_IF_ERROR(Stack::check("the tangent", body.name()));
  if (holds_itself(body)) {
    return Status(
        Code::kUnimplemented,
        str_cat("The function ", body.name(), " calls itself: there is no tangent of such a call"),
        ErrorKind::kRecursionError);
  }
  ASSIGN_OR_RETURN(Claim claim, Claim::take(this));
  if (const TangentBody* found = find(key)) return found;
  ASSIGN_OR_RETURN(std::unique_ptr<TangentBody> made, Maker(body, takes, at_least).make());
  made->body->charge_to(this);
  MutexLock lock(mutex_);
  return bodies_.try_emplace(key, std::move(made)).first->second.get();
}

int64_t TangentBodies::bytes() {
  MutexLock lock(mutex_);
  int64_t total = bytes_of_object<TangentBodies>() + heap_bytes(bodies_);
  for (const auto& [key, made] : bodies_) {
    total += heap_bytes(key.first) + heap_bytes(key.second) + bytes_of_object<TangentBody>() +
             heap_bytes(made->takes) + heap_bytes(made->gives) + heap_bytes(made->failed) +
             made->body->bytes();
  }
  return total;
}

Result<const TangentBody*> tangent_body(const Ref<Body>& body, const std::vector<bool>& takes,
                                        const std::vector<bool>& at_least) {
  const auto none = []() -> Result<Ref<TangentBodies>> { return make_ref<TangentBodies>(); };
  ASSIGN_OR_RETURN(const auto bodies, body->get_or_make<TangentBodies>(Body::kTangents, none));
  return bodies->get(*body, takes, at_least);
}

Result<TangentNode> tangent_node(const Op& op, AttrsRef attrs, std::vector<bool> has_tangent) {
  switch (op.record().bodies.run) {
    case BodyRun::kOnce:
      return tangent_call(op, attrs, std::move(has_tangent));
    case BodyRun::kOneOf:
      return tangent_branches(op, attrs, std::move(has_tangent));
    case BodyRun::kWhile:
      return tangent_loop(op, attrs, std::move(has_tangent));
    case BodyRun::kAsTheOpLikes:
      break;
  }
  return internal_error("there are no tangents of what ", op.name(), " runs");
}

Result<std::vector<Tensor>> with_tangents(std::span<const Tensor> inputs,
                                          std::span<const Tensor> tangents,
                                          const std::vector<bool>& takes, Builder& builder) {
  std::vector<Tensor> all(inputs.begin(), inputs.end());
  Emitter emit(builder);
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!takes[i]) continue;
    all.push_back(tangents[i] ? tangents[i] : zeros_like_gradient_of(emit, inputs[i]));
  }
  RETURN_IF_ERROR(emit.status());
  return all;
}

Tensors tangents_among(const Tensors& outputs, const std::vector<bool>& gives) {
  Tensors tangents;
  size_t next = gives.size();
  for (const bool has_one : gives) tangents.push_back(has_one ? outputs[next++] : Tensor());
  return tangents;
}

}  // namespace graven::engine
