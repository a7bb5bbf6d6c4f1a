#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "graven/autodiff/add_gradients.h"
#include "graven/autodiff/id_set.h"
#include "graven/autodiff/listeners.h"
#include "graven/base/export.h"
#include "graven/base/status.h"
#include "graven/ir/frame.h"
#include "graven/ir/gradient_context.h"
#include "graven/tensor/tensor.h"

namespace graven::engine {

struct TapeStep;

// Records the ops that are applied to watched tensors, and differentiates them by reverse
// accumulation. Works on eager and on symbolic tensors alike. Used by one thread.
//
// It keeps the values that gradients ask for, and only dtype and shape of other tensors.
class GRAVEN_API Tape : public Listener {
 public:
  explicit Tape(bool persistent, bool watch_accessed_variables = true)
      : persistent_(persistent), watch_accessed_variables_(watch_accessed_variables) {}
  ~Tape() override;
  Tape(const Tape&) = delete;
  Tape& operator=(const Tape&) = delete;

  // Joins and leaves the current frame's listeners (ListenerPlace). The end of a frame stops its
  // tapes.
  void start();
  void stop();
  bool is_recording() const { return recording_in_ != nullptr; }
  bool is_persistent() const { return persistent_; }
  const ListenerPlace& place() const { return place_; }

  // Records later ops on the tensor. Only float and complex dtypes propagate, and handles, whose
  // gradient is that of the variable's value; returns false, without effect, for others.
  bool watch(const Tensor& tensor);
  // True of watched tensors, and of outputs of recorded steps.
  bool is_watched(const Tensor& tensor) const;
  // The handles of the watched variables, in the order in which they were watched.
  const std::vector<Tensor>& watched_variables() const { return variables_; }
  // Forgets all steps and watched tensors.
  void reset();

  // Records a step whose gradient is not that of an op: custom_gradient, a call of a Function.
  // `backward` takes the gradients of the outputs (none where there are none) and returns those of
  // the inputs, one each.
  void record(std::string_view name, std::span<const Tensor> inputs,
              std::span<const Tensor> outputs, BackwardFunction backward);

  // The gradients of the targets, summed, with respect to the sources: one each, none where there
  // is no path. output_gradients: empty, or one for each target; an empty tensor stands for ones.
  // The ops of the gradient go through `builder`, so outer tapes record them, and so does this one
  // if it is persistent and still recording. Without `keep` this tape stops, and forgets its steps
  // as it goes. A path through an op without a gradient is an error of kind kLookupError.
  Result<std::vector<Gradient>> gradient(std::span<const Tensor> targets,
                                         std::span<const Tensor> sources,
                                         std::span<const Tensor> output_gradients, Builder& builder,
                                         bool keep);
  // The same; keeps the steps if the tape is persistent.
  Result<std::vector<Gradient>> gradient(std::span<const Tensor> targets,
                                         std::span<const Tensor> sources,
                                         std::span<const Tensor> output_gradients,
                                         Builder& builder) {
    return gradient(targets, sources, output_gradients, builder, persistent_);
  }

  // Bytes of eager values that the recorded steps keep; values that are kept twice count twice.
  int64_t kept_bytes() const;

  void on_op(const Op& op, AttrsRef attrs, std::span<const Tensor> inputs,
             const Tensors& outputs) override;
  void on_step(std::span<const Tensor> inputs, std::span<const Tensor> outputs,
               const BackwardRef& backward) override;
  // Watches a trainable variable, unless watching variables was switched off.
  void on_variable(const Tensor& handle) override;
  bool wants(std::span<const Tensor> inputs) const override;
  bool wants_higher_orders() const override { return persistent_; }
  void on_frame_end() override { recording_in_ = nullptr; }

 private:
  // A recorded step, or a Backward of a whole with its tensors. The latter becomes a TapeStep when
  // the tape is asked for gradients, because most calls under a tape never need one.
  struct Recorded {
    std::shared_ptr<const TapeStep> step;
    BackwardRef backward;
    size_t first_end = 0;  // of the whole, whose outputs' ends follow those of its inputs
    uint32_t num_inputs = 0, num_outputs = 0;
  };
  // A tensor that a step took or made: its id, or 0 if no gradient goes through.
  struct End {
    uint64_t id;
    DType dtype;
  };
  static constexpr size_t kFirstCapacity = 16;  // of steps: enough for a short tape
  void make_steps();
  const bool persistent_, watch_accessed_variables_;
  Frame* recording_in_ = nullptr;
  ListenerPlace place_;
  std::vector<Recorded> recorded_;
  std::vector<End> ends_;  // of records that are no TapeSteps yet
  IdSet watched_;
  std::vector<Tensor> variables_;  // the handles among them
};

}  // namespace graven::engine
