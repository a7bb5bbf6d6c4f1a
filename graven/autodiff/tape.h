#pragma once
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "graven/base/export.h"
#include "graven/base/status.h"
#include "graven/ir/frame.h"
#include "graven/ir/gradient_context.h"
#include "graven/tensor/tensor.h"

namespace graven::engine {

// Records which ops were applied to watched tensors, and differentiates what it recorded, by
// reverse accumulation (S10). Works on eager and on symbolic tensors alike. Used by one thread.
class GRAVEN_API Tape final : public Listener {
 public:
  explicit Tape(bool persistent, bool watch_accessed_variables = true)
      : persistent_(persistent), watch_accessed_variables_(watch_accessed_variables) {}
  ~Tape() override;

  // Joins and leaves the current frame's listeners.
  void start();
  void stop();
  bool is_recording() const { return recording_in_ != nullptr; }

  // Later ops on the tensor are recorded. Only float and complex dtypes propagate; false, and no
  // effect, for others.
  bool watch(const Tensor& tensor);
  bool is_watched(const Tensor& tensor) const;
  void reset();

  void on_op(const Op& op, AttrsRef attrs, std::span<const Tensor> inputs,
             const Tensors& outputs) override;
  // Watches a trainable variable, unless that was switched off.
  void on_variable(const Tensor& handle) override;
  // The handles of the variables that are watched.
  std::vector<Tensor> watched_variables() const;

  // Records a step whose gradient is not that of an op: custom_gradient, a call of a Function.
  // `backward` gets the gradients of the outputs (none where there are none) and gives those of
  // the inputs, one each.
  using Backward =
      std::function<Result<std::vector<Gradient>>(Builder& builder, std::span<const Gradient> dy)>;
  void record(std::string name, std::span<const Tensor> inputs, std::span<const Tensor> outputs,
              Backward backward);

  // The gradients of the targets, summed, with respect to the sources: one each, none where there
  // is no path (S10.4 to S10.7). output_gradients: one for each target; an empty tensor stands
  // for ones. The ops of the gradient go through `builder`, so outer tapes hear of them. A path
  // through an op without a gradient is an error of kind kLookupError.
  Result<std::vector<Gradient>> gradient(std::span<const Tensor> targets,
                                         std::span<const Tensor> sources,
                                         std::span<const Tensor> output_gradients,
                                         Builder& builder);

 private:
  struct Step;
  bool wants(std::span<const Tensor> inputs) const;
  const bool persistent_, watch_accessed_variables_;
  Frame* recording_in_ = nullptr;
  std::vector<Step> steps_;
  // Watched tensors, and outputs of recorded steps: the step that made each, or -1.
  std::unordered_map<const TensorObject*, int> made_by_;
  std::vector<Tensor> watched_;  // keeps them alive, so that addresses are not reused
};

// One gradient of several for the same tensor: dense ones are added, IndexedSlices concatenated
// unless a dense one is among them (S10.16).
GRAVEN_API Gradient add_gradients(Emitter& emit, std::span<const Gradient> terms);
// IndexedSlices as a tensor of the dense shape.
GRAVEN_API Tensor densify(Emitter& emit, const IndexedSlices& slices);

}  // namespace graven::engine
