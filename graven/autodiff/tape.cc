#include "graven/autodiff/tape.h"

#include <algorithm>
#include <utility>

#include "graven/autodiff/differentiate.h"
#include "graven/autodiff/step.h"
#include "graven/base/strings.h"
#include "graven/ir/op.h"
#include "graven/tensor/resource_as.h"

namespace graven::engine {
namespace {

bool holds(std::span<const Tensor> tensors, const Tensor& tensor) {
  return std::find(tensors.begin(), tensors.end(), tensor) != tensors.end();
}

int64_t bytes_of(const StepTensor& tensor) {
  if (!tensor.tensor || tensor.tensor.is_symbolic()) return 0;
  return static_cast<int64_t>(tensor.tensor.bytes());
}

}  // namespace

Tape::~Tape() { stop(); }

void Tape::start() {
  stop();
  recording_in_ = &Frame::current();
  place_.join(this);
}

void Tape::stop() {
  if (!recording_in_) return;
  ListenerPlace::leave(*recording_in_, this);
  recording_in_ = nullptr;
}

bool Tape::watch(const Tensor& tensor) {
  if (!propagates(tensor.dtype())) return false;
  bool is_new = watched_.insert(tensor.get()->id());
  if (is_new && tensor.dtype() == DType::kResource) variables_.push_back(tensor);
  return true;
}

void Tape::on_variable(const Tensor& handle) {
  if (!watch_accessed_variables_ || handle.is_symbolic()) return;
  const Resource* held = held_resource(handle);
  if (held && held->is_trainable()) watch(handle);
}

bool Tape::is_watched(const Tensor& tensor) const {
  uint64_t id = tensor.get()->known_id();
  return id != 0 && watched_.contains(id);
}

void Tape::reset() {
  recorded_.clear();
  ends_.clear();
  watched_.clear();
  variables_.clear();
}

bool Tape::wants(std::span<const Tensor> inputs) const {
  return std::any_of(inputs.begin(), inputs.end(), [&](const Tensor& input) {
    return propagates(input.dtype()) && is_watched(input);
  });
}

void Tape::on_op(const Op& op, AttrsRef attrs, std::span<const Tensor> inputs,
                 const Tensors& outputs) {
  if (op.record().gradient == not_differentiable || outputs.empty() || !wants(inputs)) return;
  // An op that gives back its very input made nothing.
  for (const Tensor& output : outputs) {
    if (holds(inputs, output)) return;
  }
  TapeStepRef step = make_lean_step(op, attrs, inputs, outputs,
                                    [&](const Tensor& input) { return is_watched(input); });
  recorded_.push_back({std::move(step), nullptr});
  for (const Tensor& output : outputs) watched_.insert(output.get()->id());
}

void Tape::on_step(std::span<const Tensor> inputs, std::span<const Tensor> outputs,
                   const BackwardRef& backward) {
  const size_t first = ends_.size();
  if (recorded_.empty()) {
    recorded_.reserve(kFirstCapacity);
    ends_.reserve(2 * kFirstCapacity);
  }
  bool is_wanted = false;
  for (const Tensor& input : inputs) {
    // An input that is not watched gets no gradient.
    const uint64_t id = is_watched(input) ? input.get()->known_id() : 0;
    is_wanted |= id != 0 && propagates(input.dtype());
    ends_.push_back({id, input.dtype()});
  }
  if (!is_wanted) {
    ends_.erase(ends_.begin() + static_cast<std::ptrdiff_t>(first), ends_.end());
    return;
  }
  recorded_.push_back({nullptr, backward, first, static_cast<uint32_t>(inputs.size()),
                       static_cast<uint32_t>(outputs.size())});
  for (const Tensor& output : outputs) {
    // An input that is handed out was not made by the step: no gradient comes to it from here.
    const bool is_made = !holds(inputs, output);
    ends_.push_back({is_made ? output.get()->id() : 0, output.dtype()});
    if (is_made && propagates(output.dtype())) watched_.insert(output.get()->known_id());
  }
}

void Tape::make_steps() {
  for (Recorded& recorded : recorded_) {
    if (recorded.step) continue;
    auto step = std::make_shared<TapeStep>();
    step->backward = std::move(recorded.backward);
    const End* end = &ends_[recorded.first_end];
    for (size_t i = 0; i < recorded.num_inputs; ++i, ++end) {
      step->inputs.emplace_back(end->id, end->dtype);
    }
    for (size_t i = 0; i < recorded.num_outputs; ++i, ++end) {
      step->outputs.emplace_back(end->id, end->dtype);
    }
    recorded.step = std::move(step);
  }
  ends_.clear();
}

void Tape::record(std::string_view name, std::span<const Tensor> inputs,
                  std::span<const Tensor> outputs, BackwardFunction backward) {
  on_step(inputs, outputs, backward_of(std::string(name), std::move(backward)));
}

Result<std::vector<Gradient>> Tape::gradient(std::span<const Tensor> targets,
                                             std::span<const Tensor> sources,
                                             std::span<const Tensor> output_gradients,
                                             Builder& builder, bool keep) {
  if (!output_gradients.empty() && output_gradients.size() != targets.size()) {
    return value_error("There are ", output_gradients.size(), " output_gradients for ",
                       targets.size(), " targets");
  }
  std::vector<Target> seeded;
  for (size_t i = 0; i < targets.size(); ++i) {
    seeded.push_back({targets[i], {}});
    if (!output_gradients.empty()) seeded.back().dy.dense = output_gradients[i];
  }
  std::vector<uint64_t> source_ids;
  for (const Tensor& source : sources) source_ids.push_back(source.get()->id());
  make_steps();
  std::vector<TapeStepRef> steps;
  for (Recorded& recorded : recorded_) {
    steps.push_back(keep ? recorded.step : std::move(recorded.step));
  }
  if (!keep) {
    stop();
    recorded_.clear();
  }
  return differentiate(std::move(steps), seeded, source_ids, builder);
}

int64_t Tape::kept_bytes() const {
  int64_t total = 0;
  for (const Recorded& recorded : recorded_) {
    if (!recorded.step) continue;
    for (const StepTensor& x : recorded.step->inputs) total += bytes_of(x);
    for (const StepTensor& y : recorded.step->outputs) total += bytes_of(y);
  }
  return total;
}

}  // namespace graven::engine
