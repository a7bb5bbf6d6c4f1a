#include "graven/autodiff/differentiate.h"

#include <unordered_map>
#include <unordered_set>

#include "graven/autodiff/add_gradients.h"
#include "graven/autodiff/gradient_runner.h"
#include "graven/ir/structural_ops.h"

namespace graven::engine {
namespace {

using Ids = std::unordered_set<uint64_t>;

// When values are computed at once, this many gradients of one tensor wait to be added.
constexpr size_t kMaxWaiting = 8;

// Drops the steps that lie on no path from a source to a target, and gives the tensors that lie
// behind a source.
Ids keep_paths(std::vector<TapeStepRef>& steps, std::span<const Target> targets,
               std::span<const uint64_t> sources) {
  Ids reached(sources.begin(), sources.end());
  for (TapeStepRef& step : steps) {
    bool is_reached = std::any_of(
        step->inputs.begin(), step->inputs.end(),
        [&](const StepTensor& x) { return propagates(x.dtype) && reached.contains(x.id); });
    if (!is_reached) {
      step.reset();
      continue;
    }
    for (const StepTensor& y : step->outputs) {
      if (y.id != 0) reached.insert(y.id);
    }
  }
  Ids needed;
  for (const Target& target : targets) needed.insert(target.tensor.get()->id());
  for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
    if (!*step) continue;
    bool is_needed = std::any_of((*step)->outputs.begin(), (*step)->outputs.end(),
                                 [&](const StepTensor& y) { return needed.contains(y.id); });
    if (!is_needed) {
      step->reset();
      continue;
    }
    for (const StepTensor& x : (*step)->inputs) {
      if (x.id != 0) needed.insert(x.id);
    }
  }
  return reached;
}

// The gradients found so far.
class Gradients {
 public:
  explicit Gradients(Builder& builder, std::span<const uint64_t> sources)
      : builder_(builder), emit_(builder), sources_(sources.begin(), sources.end()) {}

  void add(uint64_t id, Gradient term) {
    if (term.is_none()) return;
    std::vector<Gradient>& terms = waiting_[id];
    terms.push_back(std::move(term));
    if (!builder_.graph() && terms.size() >= kMaxWaiting) terms = {add_gradients(emit_, terms)};
  }
  // The sum for a tensor; all steps that use it were run.
  Gradient take(uint64_t id) {
    auto at = waiting_.find(id);
    if (at == waiting_.end()) return {};
    Gradient sum = add_gradients(emit_, at->second);
    waiting_.erase(at);
    if (sources_.contains(id)) of_source_[id] = sum;
    return sum;
  }
  Gradient of_source(uint64_t id) {
    if (!of_source_.contains(id)) take(id);
    auto at = of_source_.find(id);
    return at == of_source_.end() ? Gradient() : at->second;
  }
  Emitter& emit() { return emit_; }

 private:
  Builder& builder_;
  Emitter emit_;
  Ids sources_;
  std::unordered_map<uint64_t, std::vector<Gradient>> waiting_;
  std::unordered_map<uint64_t, Gradient> of_source_;
};

}  // namespace

Result<std::vector<Gradient>> differentiate(std::vector<TapeStepRef> steps,
                                            std::span<const Target> targets,
                                            std::span<const uint64_t> sources, Builder& builder,
                                            Status* missing) {
  Ids reached = keep_paths(steps, targets, sources);
  Gradients gradients(builder, sources);
  Ids integer_targets;
  for (const Target& target : targets) {
    uint64_t id = target.tensor.get()->id();
    if (!reached.contains(id)) continue;
    if (!propagates(target.tensor.dtype())) {
      integer_targets.insert(id);
    } else if (!target.dy.is_none()) {
      gradients.add(id, target.dy);
    } else if (target.tensor.dtype() != DType::kResource) {
      gradients.add(id, {gradients.emit()(kOnesLike, {target.tensor}), {}});
    }
  }
  for (auto at = steps.rbegin(); at != steps.rend(); ++at) {
    if (!*at) continue;
    TapeStepRef step = std::move(*at);
    std::vector<Gradient> dy;
    bool any = false;
    for (const StepTensor& y : step->outputs) {
      dy.push_back(gradients.take(y.id));
      any |= !dy.back().is_none();
      // An op without a gradient is an error for an integer target too, but only eagerly.
      if (integer_targets.contains(y.id) && step->op && !step->backward &&
          !step->op->record().gradient && !builder.graph()) {
        return no_gradient_error(*step);
      }
    }
    RETURN_IF_ERROR(gradients.emit().status());
    if (!any) continue;
    std::vector<bool> wants;
    for (const StepTensor& x : step->inputs) {
      wants.push_back(propagates(x.dtype) && reached.contains(x.id));
    }
    auto dx = run_gradient(*step, dy, wants, builder);
    if (!dx.ok() && missing && dx.status().kind() == ErrorKind::kLookupError) {
      if (missing->ok()) *missing = dx.status();
      continue;
    }
    RETURN_IF_ERROR(dx.status());
    for (size_t i = 0; i < dx->size(); ++i) {
      if (wants[i]) gradients.add(step->inputs[i].id, std::move((*dx)[i]));
    }
  }
  std::vector<Gradient> result;
  for (uint64_t source : sources) result.push_back(gradients.of_source(source));
  RETURN_IF_ERROR(gradients.emit().status());
  return result;
}

}  // namespace graven::engine
