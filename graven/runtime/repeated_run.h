#pragma once
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "graven/base/denormals.h"
#include "graven/base/heap_bytes.h"
#include "graven/base/inline_vector.h"
#include "graven/base/status.h"
#include "graven/runtime/planned_body.h"
#include "graven/runtime/step.h"
#include "graven/tensor/tensor.h"

namespace graven::engine {

// A body that a loop runs again and again, and what can be said about all its runs. Constant once
// made.
class RepeatedBody {
 public:
  // changed: which input of the next run each output is.
  RepeatedBody(PlannedBody planned, std::vector<int> changed);
  // The condition of a loop with this body, whose runs change what it is given.
  RepeatedBody(PlannedBody condition, const RepeatedBody& body);
  const PlannedBody& planned() const { return planned_; }
  // The inputs that a run changes, by output.
  const std::vector<int>& changed() const { return changed_; }
  // Without the body.
  int64_t bytes() const {
    return heap_bytes(changed_) + heap_bytes(is_kept_) + heap_bytes(written_);
  }

 private:
  friend class RepeatedRun;
  PlannedBody planned_;
  std::vector<int> changed_;
  // By slot: whether its tensor stays until it is written again or recycled.
  std::vector<uint8_t> is_kept_;
  std::vector<const Step::Output*> written_;  // by output: null if its slot is not kept
  bool may_change_shapes_ = false;            // of the inputs, from one run to the next
};

// The runs of one loop, on the thread that it lives on, which FlushDenormals is set on. Its slots
// stay from run to run: small results are written where the last run wrote them, and handles are
// moved instead of counted. So a step of a small op costs little beside its kernel, and what the
// shapes of the first values decide is not decided again.
class RepeatedRun {
 public:
  // values: the inputs, which stay where they are; may be overwritten as Program::run says. Shapes
  // of those that are not changed by the body stay as they are.
  RepeatedRun(const RepeatedBody& body, std::span<Tensor> values, std::span<const bool> given_up);
  ~RepeatedRun();
  RepeatedRun(const RepeatedRun&) = delete;
  // Runs the body on the values as they are now.
  Status next(Tensors& outputs);
  // Empties a handle, for the next run to write output i into its tensor, if that has no other
  // owner.
  void recycle(size_t i, Tensor& tensor);

 private:
  bool accepts_values();

  const RepeatedBody& body_;
  const Program& program_;
  const std::span<Tensor> values_;
  const std::span<const bool> given_up_;
  InlineVector<Tensor, 16> constants_;
  KernelHandles lent_;
  ProgramRun run_;
  InlineVector<Tensor*, 64> handles_;  // by slot
  bool is_accepted_ = false;           // the last values
};

}  // namespace graven::engine
