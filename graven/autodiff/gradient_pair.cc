#include "graven/autodiff/gradient_pair.h"

#include <algorithm>
#include <map>
#include <optional>
#include <unordered_map>

#include "graven/autodiff/add_gradients.h"
#include "graven/autodiff/backward_builder.h"
#include "graven/autodiff/call_gradient.h"
#include "graven/autodiff/differentiate.h"
#include "graven/autodiff/forward_accumulator.h"
#include "graven/autodiff/forward_graph.h"
#include "graven/autodiff/gradient_runner.h"
#include "graven/autodiff/listeners.h"
#include "graven/autodiff/recorded_step.h"
#include "graven/autodiff/step.h"
#include "graven/autodiff/tangent_body.h"
#include "graven/base/claim.h"
#include "graven/base/heap_bytes.h"
#include "graven/base/mutex.h"
#include "graven/base/stack.h"
#include "graven/base/strings.h"
#include "graven/ir/bodies.h"
#include "graven/ir/frame.h"
#include "graven/ir/numerics_checks.h"
#include "graven/ir/order_effects.h"
#include "graven/ir/structural_ops.h"

namespace graven::engine {
namespace {

// On an input of a backward half: the output of the forward half that ties the two.
constexpr char kTie[] = "_tie";

}  // namespace

std::string plain_function_name(std::string_view name) {
  for (std::string_view prefix : {"__inference_", "__forward_", "__backward_"}) {
    if (!name.starts_with(prefix)) continue;
    name.remove_prefix(prefix.size());
    size_t last = name.rfind('_');
    if (last != std::string_view::npos && last > 0) name = name.substr(0, last);
    break;
  }
  return std::string(name);
}

// The state that both pairs share, the body's and its forward half's.
class GradientPair::State : public RefCounted {
 public:
  // Goes through all states of the making: it is closed then.
  static Result<Ref<State>> create(const Body& body, PairOf of) {
    std::string name = plain_function_name(body.name());
    ASSIGN_OR_RETURN(ForwardGraph copied,
                     ForwardGraph::create(body, str_cat("__forward_", name, "_", next_uid())));
    Ref<State> state(new State(std::move(name), std::move(copied), of));
    RETURN_IF_ERROR(state->find_side_outputs());
    state->close();
    return state;
  }

  Result<const BackwardHalf*> backward(std::vector<bool> has_gradient) {
    has_gradient.resize(forward_.outputs().size(), false);
    const BackwardHalf* half = find(has_gradient);
    if (!half) {
      // The gradients of the user's that build runs may ask for halves of this very pair.
      ASSIGN_OR_RETURN(Claim claim, Claim::take(this));
      half = find(has_gradient);
      if (!half) {
        ASSIGN_OR_RETURN(auto made, half_for(has_gradient));
        half = add(std::move(has_gradient), std::move(made));
      }
    }
    RETURN_IF_ERROR(half->missing);
    return half;
  }

  const ForwardGraph& forward() const { return forward_; }

  std::span<const OutputUse> output_uses() const { return output_uses_; }

  bool is_connected(int input) const { return !is_none(of_originals_->gradients[input]); }

  // The bytes of the backward halves, and of the objects that they are made from.
  int64_t bytes() {
    ByteCount count;
    int64_t total = bytes_of_object<State>() + heap_bytes(name_) + heap_bytes(output_uses_) +
                    forward_.bytes_without_graph();
    auto add = [&](const BackwardHalf& half) {
      if (!count.is_first(&half)) return;
      total += bytes_of_shared<BackwardHalf>() + heap_bytes(half.outputs) +
               heap_bytes(half.side_values) + heap_bytes(half.gradients) + half.body->bytes();
    };
    add(*all_);
    add(*of_originals_);
    MutexLock lock(mutex_);
    total += heap_bytes(halves_);
    for (const auto& [key, half] : halves_) {
      total += heap_bytes(key);
      add(*half);
    }
    return total;
  }

 private:
  State(std::string name, ForwardGraph forward, PairOf of)
      : name_(std::move(name)), of_(of), forward_(std::move(forward)) {}

  Status find_side_outputs() {
    size_t before;
    do {
      before = forward_.outputs().size();
      std::vector<bool> has_gradient;
      for (const Tensor& output : forward_.outputs()) {
        has_gradient.push_back(may_have_gradient(output.dtype()));
      }
      ASSIGN_OR_RETURN(all_, build(has_gradient));
      // The first round differentiates the body's own outputs.
      if (!of_originals_) of_originals_ = all_;
    } while (forward_.outputs().size() != before);
    return {};
  }

  void close() {
    forward_.freeze();
    output_uses_.resize(forward_.outputs().size());
    for (const BackwardHalf* half : {of_originals_.get(), all_.get()}) {
      for (int output : half->side_values) output_uses_[output].is_side_value = true;
    }
    for (size_t i = 0; i < output_uses_.size(); ++i) {
      const Tensor& output = forward_.outputs()[i];
      if (output.dtype() != DType::kResource) continue;
      auto at = std::find(forward_.inputs().begin(), forward_.inputs().end(), output);
      if (at == forward_.inputs().end()) continue;
      output_uses_[i].input_of_handle = static_cast<int>(at - forward_.inputs().begin());
    }
  }

  const BackwardHalf* find(const std::vector<bool>& has_gradient) {
    MutexLock lock(mutex_);
    auto at = halves_.find(has_gradient);
    return at == halves_.end() ? nullptr : at->second.get();
  }

  // The half to use from now on: this one, or one that was added meanwhile.
  const BackwardHalf* add(std::vector<bool> has_gradient,
                          std::shared_ptr<const BackwardHalf> half) {
    MutexLock lock(mutex_);
    return halves_.try_emplace(std::move(has_gradient), std::move(half)).first->second.get();
  }

  // A kept half if it fits, else a new one.
  Result<std::shared_ptr<const BackwardHalf>> half_for(const std::vector<bool>& has_gradient) {
    if (covers(*of_originals_, has_gradient, /*exactly=*/true)) return of_originals_;
    auto made = build(has_gradient);
    if (made.ok() || made.status().code() != Code::kOutOfRange) return made;
    // It needs more outputs than forward has, so zeros are fed to a kept half.
    return covers(*of_originals_, has_gradient, false) ? of_originals_ : all_;
  }

  static bool covers(const BackwardHalf& half, const std::vector<bool>& has_gradient,
                     bool exactly) {
    std::vector<bool> takes(has_gradient.size(), false);
    for (int output : half.outputs) takes[output] = true;
    if (exactly) return takes == has_gradient;
    for (size_t i = 0; i < takes.size(); ++i) {
      if (has_gradient[i] && !takes[i]) return false;
    }
    return true;
  }

  static bool is_none(const InputGradient& gradient) {
    return gradient.dense < 0 && gradient.values < 0;
  }

  // In TensorFlow, every output of the forward function that a backward function takes, constants
  // too, has a path back to all inputs, because the backward function runs with zeros for the
  // outputs that have no gradient. So gradients of gradients are zero, not None, to any order,
  // where the body is linear. Ours copies constants, takes inputs from the caller, and runs for the
  // outputs that have a gradient. So a half also takes an output of the forward half that it does
  // not use, and that has a zero gradient here: where it uses numbers alone, a zero that the
  // forward half makes for this; where it is one of gradients of gradients, for side outputs, any
  // number that the half of the body's own outputs takes.
  void tie(BackwardBuilder& builder, BackwardHalf& half, bool is_of_sides) {
    const bool any = !std::all_of(half.gradients.begin(), half.gradients.end(), is_none);
    int number = -1;
    if (of_ != PairOf::kBranch && any && builder.needs_tie()) number = forward_.tie_number();
    if (number < 0 && is_of_sides) number = number_of_originals();
    if (number < 0) return;
    Tensor input = builder.take(number, "tie");
    builder.graph()->set_attribute(&symbolic(input).node(), kTie, true);
  }
  // A floating output of the forward half that the half of the originals takes; -1 if none.
  int number_of_originals() const {
    for (int number : of_originals_->side_values) {
      const DType dtype = forward_.outputs()[number].dtype();
      if (kDifferentiableTypes.contains(dtype)) return number;
    }
    return -1;
  }
  // True if outputs other than the body's own have a gradient.
  bool is_of_sides(const std::vector<int>& outputs) const {
    if (!of_originals_) return false;
    const std::vector<int>& own = of_originals_->outputs;
    return std::ranges::any_of(
        outputs, [&](int number) { return std::ranges::find(own, number) == own.end(); });
  }
  // True if an input that the body's own outputs depend on has no gradient in this half.
  bool lacks_gradients(const BackwardHalf& half) const {
    for (size_t i = 0; i < half.gradients.size(); ++i) {
      if (is_none(half.gradients[i]) && !is_none(of_originals_->gradients[i])) return true;
    }
    return false;
  }
  static bool is_tie(const Tensor& input) {
    return has_value(symbolic(input).node().attribute(kTie));
  }

  // The half for gradients of these outputs. kOutOfRange: forward is frozen and does not give
  // everything that is needed.
  Result<std::shared_ptr<const BackwardHalf>> build(const std::vector<bool>& has_gradient) {
    auto half = std::make_shared<BackwardHalf>();
    auto graph = make_ref<Graph>(str_cat("__backward_", name_, "_", next_uid()));
    BackwardBuilder builder(graph, forward_);
    builder.gathers_rows = of_ == PairOf::kLoop;
    Frame frame(&builder);
    std::vector<Target> targets;
    for (size_t i = 0; i < has_gradient.size(); ++i) {
      if (!has_gradient[i]) continue;
      half->outputs.push_back(static_cast<int>(i));
      const Tensor& output = forward_.outputs()[i];
      Tensor dy = builder.add_placeholder_like(output, str_cat("gradients_", i));
      targets.push_back({output, {dy, {}}});
    }
    std::vector<uint64_t> sources;
    for (const Tensor& input : forward_.inputs()) sources.push_back(input.get()->id());
    auto made = differentiate(forward_.steps(), targets, sources, builder, &half->missing);
    if (builder.needs_more()) return Status(Code::kOutOfRange, "");
    if (!made.ok()) return made.status();
    std::vector<OutputRef> outputs;
    Status status;
    auto add_output = [&](const Tensor& tensor) {
      if (!tensor) return -1;
      auto inner = builder.capture(tensor, "gradient");
      if (!inner.ok()) {
        status = inner.status();
        return -1;
      }
      outputs.push_back(symbolic(*inner).output());
      return static_cast<int>(outputs.size()) - 1;
    };
    for (size_t i = 0; i < made->size(); ++i) {
      Gradient& gradient = (*made)[i];
      if (is_tie(forward_.inputs()[i])) {
        Emitter emit(builder);
        gradient.dense = zeros_like(emit, StepTensor(forward_.inputs()[i]));
        RETURN_IF_ERROR(emit.status());
      }
      InputGradient& where = half->gradients.emplace_back();
      where.dense = add_output(gradient.dense);
      where.values = add_output(gradient.slices.values);
      where.indices = add_output(gradient.slices.indices);
      where.dense_shape = add_output(gradient.slices.dense_shape);
    }
    if (builder.needs_more()) return Status(Code::kOutOfRange, "");
    RETURN_IF_ERROR(status);
    const bool is_second = is_of_sides(half->outputs);
    tie(builder, *half, is_second);
    if (is_second && number_of_originals() >= 0 && lacks_gradients(*half)) {
      half->zero = add_output(builder.add_constant(Tensor::scalar(0.0f)));
    }
    graph->set_outputs(std::move(outputs));
    add_numerics_checks(*graph, numerics_checks_of(*forward_.graph()), graph->inputs().size());
    order_effects(*graph);
    half->side_values = builder.side_values();
    half->body = Body::create(graph->name(), graph);
    half->body->charge_to(this);
    return std::shared_ptr<const BackwardHalf>(std::move(half));
  }

  const std::string name_;
  const PairOf of_;
  // --- Constant once it is closed.
  ForwardGraph forward_;
  std::shared_ptr<const BackwardHalf> of_originals_, all_;  // of the first round, and of the last
  std::vector<OutputUse> output_uses_;
  // --- Halves for other sets of outputs.
  Mutex mutex_;
  std::map<std::vector<bool>, std::shared_ptr<const BackwardHalf>> halves_ GUARDED_BY(mutex_);
};

GradientPair::GradientPair(Ref<State> state, Body* forward, int num_outputs)
    : state_(std::move(state)), forward_(forward), num_outputs_(num_outputs) {}
GradientPair::~GradientPair() = default;

Result<const GradientPair::BackwardHalf*> GradientPair::backward(
    const std::vector<bool>& has_gradient) {
  return state_->backward(has_gradient);
}

bool GradientPair::is_connected(int input) const { return state_->is_connected(input); }

std::span<const GradientPair::OutputUse> GradientPair::output_uses() const {
  return state_->output_uses();
}

int64_t GradientPair::bytes() const {
  // That of the forward half is in its slot, and counted here.
  return 2 * bytes_of_object<GradientPair>() + state_->bytes() + forward_->bytes();
}

Result<Ref<GradientPair>> gradient_pair(const Ref<Body>& body, PairOf of) {
  return body->get_or_make<GradientPair>(Body::kGradientPair, [&]() -> Result<Ref<GradientPair>> {
    RETURN_IF_ERROR(Stack::check("the gradient", body->name()));
    if (holds_itself(*body)) {
      return Status(Code::kUnimplemented,
                    str_cat("The function ", body->name(),
                            " calls itself: there is no gradient of such a call"),
                    ErrorKind::kRecursionError);
    }
    ASSIGN_OR_RETURN(auto state, GradientPair::State::create(*body, of));
    Ref<Graph> forward_graph = state->forward().graph();
    Ref<Body> forward = Body::create(forward_graph->name(), forward_graph);
    forward->charge_to(state.get());
    // The pair of the forward half. It must not own that half, whose slot it is in.
    auto num_forward = static_cast<int>(forward_graph->outputs().size());
    forward->fill(Body::kGradientPair,
                  Ref<GradientPair>(new GradientPair(state, forward.get(), num_forward)));
    auto num_outputs = static_cast<int>(body->graph()->outputs().size());
    Ref<GradientPair> pair(new GradientPair(state, forward.get(), num_outputs));
    pair->owned_forward_ = forward;
    return pair;
  });
}

namespace {

// Applies a call. Tapes identify tensors by their objects, so the first num_own outputs are objects
// of their own, even if they are inputs. A side output that the graph has for an input need not be:
// the gradient with respect to it is that with respect to the input. One that is an input only when
// the graph runs, such as what stop_gradient gives, is an object of its own.
Result<Tensors> apply_unrecorded(Builder& plain, const Ref<Body>& body,
                                 std::span<const Tensor> inputs, std::string_view name,
                                 size_t num_own) {
  Result<Tensors> outputs = plain.call(body, inputs, name);
  if (outputs.ok() && !plain.graph()) {
    const Graph& graph = *body->graph();
    for (size_t i = 0; i < outputs->size(); ++i) {
      Tensor& output = (*outputs)[i];
      if (output.object()->is_unique()) continue;
      const bool is_input = i >= num_own && graph.is_input(graph.outputs()[i].node);
      if (!is_input) output = output.with_shape(output.shape());
    }
  }
  return outputs;
}

// A call, as RecordedStep takes it. Refers to what it was made of.
class CallStep {
 public:
  CallStep(const Ref<Body>& body, std::string_view name, size_t num_own)
      : body_(&body), name_(name), num_own_(num_own) {}

  Result<Tensors> run(Builder& plain, std::span<const Tensor> inputs) const {
    return apply_unrecorded(plain, *body_, inputs, name_, num_own_);
  }
  std::string name() const { return (*body_)->name(); }
  size_t num_outputs(std::span<const Tensor>) const { return (*body_)->graph()->outputs().size(); }

  struct Extended {
    CallStep step() const { return {forward, name, num_own}; }
    BackwardRef backward(std::span<const Tensor> inputs, std::span<const Tensor> outputs) const {
      return backward_of_call(pair, inputs, outputs);
    }
    Ref<GradientPair> pair;
    Ref<Body> forward;
    std::string_view name;
    size_t num_own;
    std::vector<Tensor> more_inputs = {};  // none
  };
  Result<Extended> extended(Builder&) const {
    ASSIGN_OR_RETURN(Ref<GradientPair> pair, gradient_pair(*body_));
    Ref<Body> forward = pair->forward();
    return Extended{std::move(pair), std::move(forward), name_, num_own_};
  }
  struct Pushed : TangentBody {
    CallStep step() const { return {body, name, num_own}; }
    std::string_view name;
    size_t num_own;
  };
  Result<Pushed> with_tangents(const std::vector<bool>& has_tangent) const {
    ASSIGN_OR_RETURN(const TangentBody* made, tangent_body(*body_, has_tangent));
    return Pushed{*made, name_, num_own_};
  }

 private:
  const Ref<Body>* body_;
  std::string_view name_;
  size_t num_own_;
};

}  // namespace

Result<Tensors> apply_call(Builder& builder, const Ref<Body>& body, std::span<const Tensor> inputs,
                           std::string_view name) {
  Builder& plain = builder.unrecorded();
  const Listeners listeners = listeners_of_step(builder, inputs);
  const size_t num_own = body->graph()->outputs().size();
  return RecordedStep<CallStep>(plain).apply({body, name, num_own}, inputs, listeners);
}

}  // namespace graven::engine
