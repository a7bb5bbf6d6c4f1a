#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "graven/base/ref.h"
#include "graven/base/status.h"
#include "graven/ir/body.h"
#include "graven/kernels/scalar_loop.h"
#include "graven/tensor/tensor.h"

namespace graven::engine {

// The part of a loop over tensors that is a loop over scalars: its condition, and the variables
// whose next values follow from scalars alone, such as a counter. It runs by instructions, in place
// of a Program and of steps of the body. Constant once made.
class LoopCounters {
 public:
  // None if the condition is no expression of scalars, or traps. changed: the variables that the
  // body does not just return.
  static std::optional<LoopCounters> create(const Body& condition, const Body& body,
                                            std::span<const int> changed);

  // The variables that it computes, and the body that leaves them as they are.
  const std::vector<int>& variables() const { return variables_; }
  const Ref<Body>& rest() const { return rest_; }

  // One run of the loop, whose variables are the scalars that the bodies say.
  class Run {
   public:
    Run(const LoopCounters& counters, std::span<const Tensor> values);
    // Whether there is one more iteration, which `values` are for.
    bool begin_iteration(std::span<const Tensor> values);
    // After the iteration: gives the variables their next values, those that the rest reads. After
    // the last one, all.
    Status end_iteration(std::span<Tensor> values) { return write(values, /*all=*/false); }
    Status finish(std::span<Tensor> values) { return write(values, /*all=*/true); }

   private:
    Status write(std::span<Tensor> values, bool all);
    const LoopCounters& counters_;
    InlineVector<ScalarLoop::Cell, 32> cells_;
  };

  // Without the rest, which the step runs.
  int64_t bytes() const;

 private:
  LoopCounters(ScalarLoop loop, Ref<Body> rest) : loop_(std::move(loop)), rest_(std::move(rest)) {}
  ScalarLoop loop_;
  Ref<Body> rest_;
  std::vector<int> variables_;
  std::vector<bool> is_read_;  // for each of them: the rest of the body reads it
  std::vector<int> others_;    // scalars that the rest of the body changes
};

}  // namespace graven::engine
