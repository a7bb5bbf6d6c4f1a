#include "graven/autodiff/forward_accumulator.h"

#include <algorithm>
#include <typeinfo>
#include <utility>

#include "graven/autodiff/step.h"
#include "graven/autodiff/tangent_rule.h"
#include "graven/ir/checking_builder.h"
#include "graven/ir/emitter.h"
#include "graven/ir/graph_builder.h"
#include "graven/ir/structural_ops.h"

namespace graven::engine {
namespace {

// Tangents of tensors that are gone are dropped when there are this many more, or this many bytes,
// and twice as many as after the last time.
constexpr size_t kMinToDrop = 64;
constexpr int64_t kMinBytesToDrop = 1 << 20;

// The current frame's builder, which tells the listeners that are left.
class CurrentBuilder {
 public:
  explicit CurrentBuilder(Builder& eager)
      : plain_(Frame::current().is_graph()  ? *Frame::current().graph_builder()
               : CheckingBuilder::current() ? *CheckingBuilder::current()
                                            : eager),
        recording_(plain_) {}
  Builder& get() {
    if (Frame::current().listeners.empty()) return plain_;
    return recording_;
  }

 private:
  Builder& plain_;
  RecordingBuilder recording_;
};

}  // namespace

ForwardAccumulator* accumulator_of(Listener* listener) {
  return typeid(*listener) == typeid(ForwardAccumulator)
             ? static_cast<ForwardAccumulator*>(listener)
             : nullptr;
}

void ForwardAccumulator::start() {
  stop();
  recording_in_ = &Frame::current();
  place_.join(this);
}

void ForwardAccumulator::stop() {
  if (!recording_in_) return;
  ListenerPlace::leave(*recording_in_, this);
  recording_in_ = nullptr;
}

Result<bool> ForwardAccumulator::watch(const Tensor& primal, const Tensor& tangent) {
  if (!propagates(primal.dtype()) || primal.dtype() == DType::kVariant) return false;
  Known known;
  known.tangent = tangent;
  if (const Known* earlier = find(primal)) {
    const Tensor terms[] = {earlier->tangent, tangent};
    CurrentBuilder builder(eager_);
    ASSIGN_OR_RETURN(const Tensors sum, builder.get().apply(*kAddN.op, terms, AttrsRef()));
    known.tangent = sum[0];
  }
  known.primal = primal;
  known_.insert_or_assign(primal.get()->id(), std::move(known));
  return true;
}

const ForwardAccumulator::Known* ForwardAccumulator::find(const Tensor& tensor) const {
  const uint64_t id = tensor.get()->known_id();
  if (id == 0) return nullptr;
  const auto at = known_.find(id);
  return at == known_.end() ? nullptr : &at->second;
}

Result<Tensor> ForwardAccumulator::tangent(const Tensor& primal) const {
  const Known* known = find(primal);
  if (!known) return Tensor();
  RETURN_IF_ERROR(known->status);
  return known->tangent;
}

void ForwardAccumulator::forget(const Status& told) {
  if (told.kind() != ErrorKind::kUserException) return;
  const Status text(Code::kFailedPrecondition,
                    str_cat("The tangent could not be computed, for an error that was raised when "
                            "it was asked for before: ",
                            told.message()));
  for (auto& [id, known] : known_) {
    if (!known.status.ok() && known.status.payload() == told.payload()) known.status = text;
  }
}

bool ForwardAccumulator::wants(std::span<const Tensor> inputs) const {
  return std::ranges::any_of(inputs, [this](const Tensor& input) { return find(input); });
}

Result<Tensors> ForwardAccumulator::tangents_of(std::span<const Tensor> tensors) const {
  Tensors tangents;
  tangents.reserve(tensors.size());
  for (const Tensor& tensor : tensors) {
    ASSIGN_OR_RETURN(Tensor found, tangent(tensor));
    tangents.push_back(std::move(found));
  }
  return tangents;
}

void ForwardAccumulator::note(std::span<const Tensor> inputs, std::span<const Tensor> outputs,
                              const Result<Tensors>& tangents, std::span<const Status> failed) {
  for (size_t i = 0; i < outputs.size(); ++i) {
    const Tensor& output = outputs[i];
    // An input that is handed out was not made here.
    if (!may_have_gradient(output.dtype()) || std::ranges::find(inputs, output) != inputs.end()) {
      continue;
    }
    Known known;
    if (!tangents.ok()) {
      known.status = tangents.status();
    } else if (!failed.empty() && !failed[i].ok()) {
      known.status = failed[i];
    } else if ((*tangents)[i]) {
      known.tangent = (*tangents)[i];
    } else {
      continue;
    }
    if (to_hold_ && !known.status.ok()) known.status = to_hold_(known.status);
    add(output, std::move(known));
  }
}

void ForwardAccumulator::add(const Tensor& primal, Known known) {
  if (!primal.is_symbolic()) known.primal = primal;
  const Tensor& tangent = known.tangent;
  if (tangent && !tangent.is_symbolic()) {
    bytes_since_drop_ += static_cast<int64_t>(primal.bytes() + tangent.bytes());
  }
  known_.insert_or_assign(primal.get()->id(), std::move(known));
  const bool are_many = known_.size() > 2 * num_after_drop_ + kMinToDrop;
  if (are_many || bytes_since_drop_ > bytes_after_drop_ + kMinBytesToDrop) drop_unreachable();
}

void ForwardAccumulator::drop_unreachable() {
  bytes_since_drop_ = bytes_after_drop_ = 0;
  std::erase_if(known_, [&](const auto& entry) {
    const auto& [primal, tangent, status] = entry.second;
    if (!primal || primal.is_symbolic()) return false;
    if (primal.object()->is_unique()) return true;
    bytes_after_drop_ += static_cast<int64_t>(primal.bytes());
    if (tangent && !tangent.is_symbolic()) {
      bytes_after_drop_ += static_cast<int64_t>(tangent.bytes());
    }
    return false;
  });
  num_after_drop_ = known_.size();
}

void ForwardAccumulator::on_op(const Op& op, AttrsRef attrs, std::span<const Tensor> inputs,
                               const Tensors& outputs) {
  if (op.record().gradient == not_differentiable || outputs.empty() || !wants(inputs)) return;
  Result<Tensors> tangents = tangents_of(inputs);
  if (tangents.ok()) {
    const OuterListeners outer(this);
    CurrentBuilder builder(eager_);
    tangents = push_tangents(op, attrs, inputs, outputs, *tangents, builder.get());
  }
  note(inputs, outputs, tangents);
}

void ForwardAccumulator::on_step(std::span<const Tensor> inputs, std::span<const Tensor> outputs,
                                 const BackwardRef& backward) {
  if (outputs.empty() || !wants(inputs)) return;
  Result<Tensors> tangents = tangents_of(inputs);
  if (tangents.ok()) {
    const OuterListeners outer(this);
    CurrentBuilder builder(eager_);
    tangents = push_tangents(*backward, inputs, outputs, *tangents, builder.get());
  }
  note(inputs, outputs, tangents);
}

}  // namespace graven::engine
