#include "graven/autodiff/tangent_rule.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "graven/autodiff/add_gradients.h"
#include "graven/autodiff/gradient_runner.h"
#include "graven/autodiff/op_memory.h"
#include "graven/autodiff/step.h"
#include "graven/autodiff/tape.h"
#include "graven/base/hash.h"
#include "graven/base/heap_bytes.h"
#include "graven/ir/emitter.h"
#include "graven/ir/frame.h"
#include "graven/ir/graph.h"
#include "graven/ir/infer_context.h"
#include "graven/ir/parts_builder.h"
#include "graven/ir/static_shape.h"
#include "graven/ir/structural_ops.h"

namespace graven::engine {
namespace {

// Inputs whose values inference needs (axes, shapes) are part of a rule up to this size.
constexpr size_t kMaxKnownBytes = 128;

bool any(std::span<const Tensor> tensors) {
  return std::ranges::any_of(tensors, [](const Tensor& tensor) { return bool(tensor); });
}

bool propagates_to_any(std::span<const Tensor> outputs) {
  return std::ranges::any_of(outputs, [](const Tensor& y) { return may_have_gradient(y.dtype()); });
}

// Ops on slots: inputs of the op, then its outputs, then the tangents of its inputs, then the
// constants and what the steps compute.
struct Rule {
  struct Step {
    const Op* op;
    Attrs attrs;
    InlineVector<int, 4> inputs;
    int num_outputs;
  };
  std::vector<Tensor> constants;
  std::vector<Step> steps;
  std::vector<int> results;   // a slot for each output of the op; -1: it has no tangent
  bool is_op_itself = false;  // the rule is the op, applied to the tangents

  int64_t bytes() const {
    int64_t total = heap_bytes(constants) + heap_bytes(steps) + heap_bytes(results);
    for (const Step& step : steps) {
      total += heap_bytes(step.inputs) +
               bytes_of_block(std::max<size_t>(AttrsRef(step.attrs).type().size, 1));
    }
    return total;
  }
};
using RuleRef = std::shared_ptr<const Rule>;

// --- Making a rule.

// One application of an op: what its rule is made for.
struct Application {
  const Op& op;
  AttrsRef attrs;
  std::span<const Tensor> inputs, outputs, tangents;
};

// The value of input i if the rule may depend on it.
Tensor known_value(const Application& of, size_t i) {
  const std::vector<int>& needed = of.op.record().values_for_inference;
  const auto count = static_cast<int>(of.inputs.size());
  const auto is_this = [&](int number) {
    return static_cast<size_t>(number < 0 ? number + count : number) == i;
  };
  if (std::ranges::none_of(needed, is_this)) return {};
  Tensor value = of.inputs[i];
  if (value.is_symbolic()) {
    const Node& node = symbolic(value).node();
    if (&node.op() != kConst.op || node.graph().is_input(&node)) return {};
    value = node.attrs().as<ConstAttrs>().value;
  }
  const bool is_small = is_plain(value.dtype()) && value.bytes() <= kMaxKnownBytes;
  return is_small && !propagates(value.dtype()) ? value : Tensor();
}

class RuleMaker {
 public:
  explicit RuleMaker(const Application& of)
      : of_(of), graph_(make_ref<Graph>("tangents")), builder_(graph_) {}

  Result<RuleRef> make() {
    Frame frame(&builder_);
    frame.locations = nullptr;
    add_inputs();
    Tape tape(/*persistent=*/false, /*watch_accessed_variables=*/false);
    tape.start();
    std::vector<Tensor> dy;  // of the outputs that may have a gradient
    std::vector<Gradient> dy_of_outputs(y_.size());
    for (size_t j = 0; j < y_.size(); ++j) {
      if (!may_have_gradient(y_[j].dtype())) continue;
      dy_of_outputs[j].dense = dy.emplace_back(builder_.add_placeholder_like(of_.outputs[j], "dy"));
      // Where the formula still reads it, any value does, as it is linear: that of the output.
      slot_of_[key_of(dy.back())] = static_cast<int>(x_.size() + j);
      tape.watch(dy.back());
    }
    RecordingBuilder recording(builder_);
    const TapeStepRef step = make_step(of_.op, of_.attrs, x_, y_);
    std::vector<bool> wants;
    for (const Tensor& tangent : of_.tangents) wants.push_back(bool(tangent));
    ASSIGN_OR_RETURN(const auto dx, run_gradient(*step, dy_of_outputs, wants, recording));
    std::vector<Tensor> targets, seeds;
    Emitter emit(recording);
    for (size_t i = 0; i < dx.size(); ++i) {
      if (!wants[i] || dx[i].is_none()) continue;
      if (dx[i].is_slices() && takes_one()) {
        rule_->is_op_itself = true;
        return RuleRef(std::move(rule_));
      }
      targets.push_back(densify(emit, dx[i]));
      seeds.push_back(t_[i]);
    }
    RETURN_IF_ERROR(emit.status());
    ASSIGN_OR_RETURN(const auto found, tape.gradient(targets, dy, seeds, builder_));
    Emitter plain(builder_);
    std::vector<Tensor> results;
    for (const Gradient& gradient : found) results.push_back(densify(plain, gradient));
    RETURN_IF_ERROR(plain.status());
    return finish(results);
  }

 private:
  static std::pair<const Node*, int> key_of(OutputRef output) {
    return {output.node, output.index};
  }
  static std::pair<const Node*, int> key_of(const Tensor& tensor) {
    return key_of(symbolic(tensor).output());
  }
  struct Hash {
    size_t operator()(const std::pair<const Node*, int>& key) const {
      return hash_combine(static_cast<uint64_t>(key.first->id()),
                          static_cast<uint64_t>(key.second));
    }
  };

  // True if the op has no inputs that may have tangents but one, a plain tensor.
  bool takes_one() const {
    const auto may_have_one = [](const Tensor& x) { return propagates(x.dtype()); };
    const auto at = std::ranges::find_if(of_.inputs, may_have_one);
    return std::ranges::count_if(of_.inputs, may_have_one) == 1 && is_plain(at->dtype()) &&
           of_.op.record().effects == pure_effects;
  }

  void add_inputs() {
    const size_t count = of_.inputs.size();
    const auto add = [&](const Tensor& like, std::string_view name, size_t slot) {
      Tensor made = builder_.add_placeholder_like(like, name);
      slot_of_[key_of(made)] = static_cast<int>(slot);
      return made;
    };
    for (size_t i = 0; i < count; ++i) {
      const Tensor known = known_value(of_, i);
      x_.push_back(known ? builder_.add_constant(known) : add(of_.inputs[i], "x", i));
    }
    for (size_t j = 0; j < of_.outputs.size(); ++j) {
      y_.push_back(add(of_.outputs[j], "y", count + j));
    }
    for (size_t i = 0; i < count; ++i) {
      t_.emplace_back();
      if (!of_.tangents[i]) continue;
      t_[i] = add_tangent_input(graph_, x_[i], "t");
      slot_of_[key_of(t_[i])] = static_cast<int>(count + of_.outputs.size() + i);
    }
  }

  // Keeps what the results need.
  Result<RuleRef> finish(std::span<const Tensor> results) {
    std::unordered_set<const Node*> needed;
    std::vector<const Node*> pending;
    for (const Tensor& result : results) {
      if (result) pending.push_back(&symbolic(result).node());
    }
    while (!pending.empty()) {
      const Node* node = pending.back();
      pending.pop_back();
      if (!needed.insert(node).second) continue;
      for (OutputRef input : node->inputs()) pending.push_back(input.node);
    }
    auto slot = static_cast<int>(2 * x_.size() + y_.size());
    std::vector<const Node*> steps;
    for (const Node* node : graph_->nodes()) {
      if (!needed.contains(node) || slot_of_.contains({node, 0})) continue;
      if (&node->op() != kConst.op) {
        steps.push_back(node);
        continue;
      }
      rule_->constants.push_back(node->attrs().as<ConstAttrs>().value);
      slot_of_[{node, 0}] = slot++;
    }
    for (const Node* node : steps) {
      Rule::Step step{&node->op(), Attrs(node->attrs()), {}, node->num_outputs()};
      for (OutputRef input : node->inputs()) step.inputs.push_back(slot_of_.at(key_of(input)));
      for (int i = 0; i < node->num_outputs(); ++i) slot_of_[{node, i}] = slot++;
      rule_->steps.push_back(std::move(step));
    }
    size_t next = 0;
    for (const Tensor& output : of_.outputs) {
      const bool has_one = may_have_gradient(output.dtype()) && results[next];
      rule_->results.push_back(has_one ? slot_of_.at(key_of(results[next])) : -1);
      next += may_have_gradient(output.dtype());
    }
    return RuleRef(std::move(rule_));
  }

  const Application& of_;
  const Ref<Graph> graph_;
  PartsBuilder builder_;
  std::vector<Tensor> x_, y_, t_;
  std::unordered_map<std::pair<const Node*, int>, int, Hash> slot_of_;
  std::shared_ptr<Rule> rule_ = std::make_shared<Rule>();
};

// --- Remembering it.

struct TensorType {
  DType dtype;
  Shape shape;
  bool has_tangent;
  friend bool operator==(const TensorType&, const TensorType&) = default;
};

// What a rule depends on beside the op and its attributes.
struct RuleKey {
  std::vector<TensorType> types;  // of inputs, then of outputs
  std::string values;             // the bytes of known ones
  friend bool operator==(const RuleKey&, const RuleKey&) = default;
};

OpMemory<RuleKey, RuleRef>& memory() {
  static auto* memory = new OpMemory<RuleKey, RuleRef>();
  return *memory;
}

// Sizes of a graph are no key: they mean something in that graph only. Neither is what an object
// holds.
bool can_be_remembered(const Application& of) {
  if (holds_objects(of.attrs)) return false;
  const auto is_plain_and_known = [](const Tensor& tensor) {
    return (is_plain(tensor.dtype()) || tensor.dtype() == DType::kString) &&
           tensor.shape().is_fully_known();
  };
  return std::ranges::all_of(of.inputs, is_plain_and_known) &&
         std::ranges::all_of(of.outputs, is_plain_and_known);
}

Result<RuleRef> rule_of(const Application& of) {
  if (!can_be_remembered(of)) return RuleMaker(of).make();
  RuleKey key;
  key.types.reserve(of.inputs.size() + of.outputs.size());
  uint64_t hash = hash_combine(of.attrs.hash(), static_cast<uint64_t>(of.op.index()));
  const auto add = [&](const Tensor& tensor, bool has_tangent) {
    key.types.push_back({tensor.dtype(), tensor.shape(), has_tangent});
    hash = hash_combine(hash, static_cast<uint64_t>(tensor.dtype()) * 2 + has_tangent);
    for (Dim dim : tensor.shape().dims()) {
      hash = hash_combine(hash, static_cast<uint64_t>(dim.number()));
    }
  };
  for (size_t i = 0; i < of.inputs.size(); ++i) {
    add(of.inputs[i], bool(of.tangents[i]));
    const Tensor known = known_value(of, i);
    key.values.push_back(known ? '\1' : '\0');
    if (known) key.values.append(static_cast<const char*>(known.raw_data()), known.bytes());
  }
  for (const Tensor& output : of.outputs) add(output, false);
  hash = hash_combine(hash, std::hash<std::string>()(key.values));
  if (auto known = memory().find(hash, of.op, of.attrs, key)) return std::move(*known);
  ASSIGN_OR_RETURN(RuleRef rule, RuleMaker(of).make());
  memory().add(hash, of.op, of.attrs, std::move(key), rule);
  return rule;
}

// --- Applying it.

Result<Tensors> apply_rule(const Rule& rule, const Application& of, Builder& builder) {
  std::vector<Tensor> slots(of.inputs.begin(), of.inputs.end());
  slots.insert(slots.end(), of.outputs.begin(), of.outputs.end());
  slots.insert(slots.end(), of.tangents.begin(), of.tangents.end());
  Emitter emit(builder);
  for (const Tensor& constant : rule.constants) slots.push_back(emit.constant(constant));
  InlineVector<Tensor, 4> inputs;
  for (const Rule::Step& step : rule.steps) {
    inputs.clear();
    for (int slot : step.inputs) inputs.push_back(slots[static_cast<size_t>(slot)]);
    ASSIGN_OR_RETURN(Tensors made, builder.apply(*step.op, inputs, step.attrs));
    for (Tensor& output : made) slots.push_back(std::move(output));
  }
  Tensors results;
  for (int slot : rule.results) {
    results.push_back(slot < 0 ? Tensor() : slots[static_cast<size_t>(slot)]);
  }
  return results;
}

// The op, applied to the tangents in place of what they are tangents of.
Result<Tensors> apply_to_tangents(const Application& of, Builder& builder) {
  Emitter emit(builder);
  std::vector<Tensor> inputs;
  for (size_t i = 0; i < of.inputs.size(); ++i) {
    const Tensor& x = of.inputs[i];
    if (!propagates(x.dtype())) {
      inputs.push_back(x);
    } else {
      inputs.push_back(of.tangents[i] ? of.tangents[i] : zeros_like(emit, StepTensor(x)));
    }
  }
  RETURN_IF_ERROR(emit.status());
  ASSIGN_OR_RETURN(Tensors made, builder.apply(of.op, inputs, of.attrs));
  for (Tensor& output : made) {
    if (!may_have_gradient(output.dtype())) output = Tensor();
  }
  return made;
}

bool only_moves(const Op& op) { return op.record().reads != nullptr; }

}  // namespace

Tensor add_tangent_input(const Ref<Graph>& graph, const Tensor& like, std::string_view name) {
  const OutputRef source = symbolic(like).output();
  const OutputType& type = source.node->output(source.index);
  std::vector<OutputType> outputs(1);
  OutputType& made = outputs[0];
  made.dtype = type.dtype;
  made.shape = type.shape;
  if (type.dtype == DType::kResource) {
    const HeldType value = type.handle_data ? type.handle_data->value() : HeldType();
    made.dtype = value.dtype;
    made.shape = value.shape;
  } else if (type.handle_data) {
    made.handle_data = std::make_unique<HandleData>(*type.handle_data);
  }
  const std::string node_name = graph->unique_name(name);
  Node* node = graph->add({.op = kPlaceholder.op,
                           .attrs = PlaceholderAttrs{made.dtype, static_shape(made.shape)},
                           .name = node_name,
                           .inputs = {},
                           .outputs = std::move(outputs)});
  graph->add_input(node);
  return symbolic_tensor(graph, {node, 0});
}

Result<Tensors> push_tangents(const Op& op, AttrsRef attrs, std::span<const Tensor> inputs,
                              std::span<const Tensor> outputs, std::span<const Tensor> tangents,
                              Builder& builder) {
  const GradientFunction gradient = op.record().gradient;
  if (gradient == not_differentiable || !any(tangents) || !propagates_to_any(outputs)) {
    return Tensors(outputs.size());
  }
  if (hands_through(op)) return Tensors(tangents.first(outputs.size()));
  const Application of{op, attrs, inputs, outputs, tangents};
  if (only_moves(op)) return apply_to_tangents(of, builder);
  if (!gradient) return no_gradient_error(*make_step(op, attrs, inputs, outputs));
  ASSIGN_OR_RETURN(const RuleRef rule, rule_of(of));
  return rule->is_op_itself ? apply_to_tangents(of, builder) : apply_rule(*rule, of, builder);
}

Result<Tensors> push_tangents(const Backward& backward, std::span<const Tensor> inputs,
                              std::span<const Tensor> outputs, std::span<const Tensor> tangents,
                              Builder& builder) {
  Tape tape(/*persistent=*/false, /*watch_accessed_variables=*/false);
  tape.start();
  Builder& plain = builder.unrecorded();
  RecordingBuilder recording(plain);
  Emitter emit(recording);
  std::vector<Tensor> dy;
  std::vector<Gradient> dy_of_outputs(outputs.size());
  for (size_t j = 0; j < outputs.size(); ++j) {
    if (!may_have_gradient(outputs[j].dtype())) continue;
    // A user's gradient need not be linear, as one that clips is not: like TensorFlow, it is taken
    // where all gradients are 1.
    const bool is_number = kDifferentiableTypes.contains(outputs[j].dtype());
    dy_of_outputs[j].dense = dy.emplace_back(is_number ? emit(kOnesLike, {outputs[j]})
                                                       : zeros_like(emit, StepTensor(outputs[j])));
    RETURN_IF_ERROR(emit.status());
    tape.watch(dy.back());
  }
  ASSIGN_OR_RETURN(const auto dx, backward(recording, dy_of_outputs));
  std::vector<Tensor> targets, seeds;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!tangents[i] || dx[i].is_none()) continue;
    targets.push_back(densify(emit, dx[i]));
    seeds.push_back(tangents[i]);
  }
  RETURN_IF_ERROR(emit.status());
  tape.stop();
  ASSIGN_OR_RETURN(const auto found, tape.gradient(targets, dy, seeds, builder));
  Emitter outer(builder);
  Tensors results(outputs.size());
  size_t next = 0;
  for (size_t j = 0; j < outputs.size(); ++j) {
    if (may_have_gradient(outputs[j].dtype())) results[j] = densify(outer, found[next++]);
  }
  RETURN_IF_ERROR(outer.status());
  return results;
}

int64_t bytes_of_tangent_rules() {
  return memory().bytes([](const RuleKey& key, const RuleRef& rule) {
    return heap_bytes(key.types) + heap_bytes(key.values) + bytes_of_shared<Rule>() + rule->bytes();
  });
}

}  // namespace graven::engine
