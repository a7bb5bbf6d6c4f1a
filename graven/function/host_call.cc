#include "graven/function/host_call.h"

#include <utility>

#include "graven/autodiff/add_gradients.h"
#include "graven/base/claim.h"
#include "graven/base/denormals.h"
#include "graven/ir/emitter.h"
#include "graven/ir/frame.h"
#include "graven/runtime/eager_builder.h"

namespace graven::engine {
namespace {

// Eager, without anything of the frames below.
class OwnFrame {
 public:
  OwnFrame() {
    frame_.name_scope.clear();
    frame_.device.clear();
  }

 private:
  Frame frame_{nullptr};
  KeepDenormals denormals_;
};

class Recording {
 public:
  Recording(Tape* tape, std::span<const Tensor> watched) : tape_(tape) {
    if (!tape_) return;
    tape_->start();
    for (const Tensor& tensor : watched) tape_->watch(tensor);
  }
  ~Recording() {
    if (tape_) tape_->stop();
  }
  Recording(const Recording&) = delete;

 private:
  Tape* const tape_;
};

// Objects of their own: a tensor that comes twice has two gradients.
std::vector<Tensor> own_handles(std::span<const Tensor> tensors) {
  std::vector<Tensor> own;
  for (const Tensor& tensor : tensors) own.push_back(tensor.with_shape(tensor.shape()));
  return own;
}

std::vector<Tensor> differentiable(std::span<const Tensor> tensors) {
  std::vector<Tensor> kept;
  for (const Tensor& tensor : tensors) {
    if (kDifferentiableTypes.contains(tensor.dtype())) kept.push_back(tensor);
  }
  return kept;
}

// A call, or a gradient of one: then the tape has not recorded it, as few gradients are
// differentiated again. For its own gradients it is computed once more, while the tape records.
class Record final : public HostRecord {
 public:
  // A call.
  Record(std::shared_ptr<Tape> tape, std::vector<Tensor> inputs, std::vector<Tensor> outputs)
      : tape_(std::move(tape)), inputs_(std::move(inputs)), outputs_(std::move(outputs)) {}
  // The gradient of another record.
  Record(Record& of, std::vector<Tensor> dy)
      : tape_(of.tape_), inputs_(of.inputs_), of_(&of), dy_(std::move(dy)), is_recorded_(false) {
    inputs_.insert(inputs_.end(), dy_.begin(), dy_.end());
  }

  size_t num_inputs() const override { return inputs_.size(); }
  Ref<Variant> clone() const override {
    if (of_) return make_ref<Record>(*of_, dy_);
    return make_ref<Record>(tape_, inputs_, outputs_);
  }

  Result<HostResults> gradient(std::span<const Tensor> dy) override {
    // Tapes are used by one thread at a time.
    ASSIGN_OR_RETURN(const Claim claim, Claim::take(tape_.get()));
    if (!claim.is_given()) {
      return Status(
          Code::kFailedPrecondition,
          "gradients of functions of the program must not need each other, or themselves");
    }
    const OwnFrame frame;
    std::vector<Tensor> own_dy = own_handles(dy);
    if (!is_recorded_) {
      const Recording recording(tape_.get(), inputs_);
      RETURN_IF_ERROR(compute());
    }
    HostResults results;
    ASSIGN_OR_RETURN(results.outputs, differentiate(outputs_, inputs_, own_dy));
    results.record = make_ref<Record>(*this, std::move(own_dy));
    return results;
  }

 private:
  // Makes the outputs, while the tape records.
  Status compute() {
    if (is_recorded_) return {};
    RETURN_IF_ERROR(of_->compute());
    ASSIGN_OR_RETURN(outputs_, differentiate(of_->outputs_, of_->inputs_, dy_));
    is_recorded_ = true;
    return {};
  }

  // Empty tensors where there is no path. Outputs to which there was none are empty.
  Result<std::vector<Tensor>> differentiate(std::span<const Tensor> outputs,
                                            std::span<const Tensor> inputs,
                                            std::span<const Tensor> dy) const {
    if (dy.size() != outputs.size()) {
      return invalid_argument("there are ", dy.size(), " gradients for ", outputs.size(),
                              " outputs");
    }
    std::vector<Tensor> targets, seeds;
    for (size_t i = 0; i < outputs.size(); ++i) {
      if (!outputs[i]) continue;
      targets.push_back(outputs[i]);
      seeds.push_back(dy[i]);
    }
    Builder& builder = current_builder();
    ASSIGN_OR_RETURN(auto gradients,
                     tape_->gradient(targets, inputs, seeds, builder, /*keep=*/true));
    Emitter emit(builder);
    std::vector<Tensor> dx;
    for (const Gradient& gradient : gradients) dx.push_back(densify(emit, gradient));
    RETURN_IF_ERROR(emit.status());
    return dx;
  }

  const std::shared_ptr<Tape> tape_;
  std::vector<Tensor> inputs_, outputs_;
  const Ref<Record> of_;  // null for a call
  const std::vector<Tensor> dy_;
  bool is_recorded_ = true;  // outputs_ are there, and recorded
};

}  // namespace

Result<HostResults> call_host_function(
    std::span<const Tensor> inputs, std::shared_ptr<Tape> tape,
    FunctionRef<Result<std::vector<Tensor>>(std::span<const Tensor>)> f) {
  const OwnFrame frame;
  const std::vector<Tensor> own = own_handles(inputs);
  std::vector<Tensor> watched = differentiable(own);
  if (watched.empty()) tape = nullptr;
  HostResults results;
  {
    const Recording recording(tape.get(), watched);
    ASSIGN_OR_RETURN(results.outputs, f(own));
  }
  if (!tape) return results;
  results.record =
      make_ref<Record>(std::move(tape), std::move(watched), differentiable(results.outputs));
  return results;
}

}  // namespace graven::engine
