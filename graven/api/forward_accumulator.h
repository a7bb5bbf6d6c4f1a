#pragma once
#include <memory>
#include <source_location>
#include <vector>

#include "graven/api/tape.h"
#include "graven/api/tensor.h"
#include "graven/base/export.h"

namespace graven {

// Computes Jacobian-vector products beside the values (tf.autodiff.ForwardAccumulator), from its
// making until stop() or its end:
//
//   graven::ForwardAccumulator accumulator(x, v);
//   graven::GradientTape tape;
//   tape.watch(x);
//   graven::Tensor y = reduce_sum(pow(x, 3.0));
//   graven::Tensor product = accumulator.jvp(tape.gradient(y, x));  // of the Hessian and v
//
// A variable stands for its value. Tangents are seen by the tapes and accumulators around this one,
// not by those inside of it. Used by the thread that made it.
class GRAVEN_API ForwardAccumulator {
 public:
  // The tangent says how the primal changes, in its dtype and shape; a ValueError else. A primal
  // that is not floating or complex is left out.
  ForwardAccumulator(const Source& primal, const Tensor& tangent,
                     std::source_location location = std::source_location::current());
  // One tangent for each primal, no primal twice.
  ForwardAccumulator(const Sources& primals, const std::vector<Tensor>& tangents,
                     std::source_location location = std::source_location::current());
  ~ForwardAccumulator();
  ForwardAccumulator(const ForwardAccumulator&) = delete;

  // Ends the recording; resume() goes on. A ValueError if it has ended, or goes on, already.
  void stop(std::source_location location = std::source_location::current());
  void resume(std::source_location location = std::source_location::current());

  // The product of the target's Jacobian with respect to the primals and the tangents, in the dtype
  // and shape of the target. None, or zeros, where no primal leads to the target. A LookupError if
  // an op on the way has no gradient.
  Tensor jvp(const Source& target,
             UnconnectedGradients unconnected_gradients = UnconnectedGradients::kNone,
             std::source_location location = std::source_location::current()) const;
  std::vector<Tensor> jvp(const Sources& targets,
                          UnconnectedGradients unconnected_gradients = UnconnectedGradients::kNone,
                          std::source_location location = std::source_location::current()) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace graven
