#pragma once
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "graven/base/export.h"
#include "graven/base/ref.h"
#include "graven/base/status.h"
#include "graven/ir/body.h"
#include "graven/ir/gradient_context.h"

namespace graven::engine {

// The two halves of a differentiated Body, built once (S6.19).
//
// forward: inputs of the body -> its outputs, then side outputs (intermediate tensors that the
// backward half needs). backward: the gradients of the outputs that have one (in order, see
// gradient_of_output), then the side values -> gradients of the inputs that have one.
//
// The set of side outputs is closed under differentiating again (S6.20): the gradient of a
// forward call with respect to its side outputs needs nothing that is not a side output.
class GRAVEN_API GradientPair : public RefCounted {
 public:
  struct Half {
    Ref<Body> body;
    // backward only: for each input of the body, which output holds its gradient, or -1; and for
    // IndexedSlices which outputs hold values, indices and dense shape.
    struct InputGradient {
      int dense = -1, values = -1, indices = -1, dense_shape = -1;
    };
    std::vector<InputGradient> gradients;
    std::vector<bool> output_has_gradient;  // which outputs of forward bring a gradient
  };

  const Ref<Body>& forward() const { return forward_; }
  int num_outputs() const { return num_outputs_; }  // of the original body
  // The backward half for gradients of just these outputs (side outputs included: second order).
  Result<const Half*> backward(const std::vector<bool>& has_gradient);
  int64_t bytes() const;

 private:
  friend Result<Ref<GradientPair>> gradient_pair(const Ref<Body>& body);
  Ref<Body> original_, forward_;
  int num_outputs_ = 0;
  std::mutex mutex_;
  std::map<std::vector<bool>, std::unique_ptr<Half>> backward_;  // GUARDED_BY(mutex_)
};

// The pair of a body, kept in its slot.
GRAVEN_API Result<Ref<GradientPair>> gradient_pair(const Ref<Body>& body);

// Applies a call of the body through the builder and, for tapes of the current frame that watch
// one of the inputs, calls the forward half and records the call on them, so that its gradient
// calls the backward half. The original body is called when no tape watches.
GRAVEN_API Result<Tensors> apply_call(Builder& builder, const Ref<Body>& body,
                                      std::span<const Tensor> inputs, std::string_view name = {});

}  // namespace graven::engine
