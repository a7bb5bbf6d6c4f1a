#pragma once
#include <span>

#include "graven/base/export.h"
#include "graven/ir/op.h"
#include "graven/tensor/shape.h"

namespace graven::engine {

// Estimates of time, in nanoseconds on one core: good for a decision such as whether other threads
// may run meanwhile, not for more. Sizes that are not known yet are guessed.

GRAVEN_API double guessed_size(Dim dim);
// The number of elements.
GRAVEN_API double guessed_elements(const Shape& shape);
// The product of the sizes from axis `first` on; a negative `first` counts from the end.
GRAVEN_API double guessed_elements(const Shape& shape, int first);

// The argument of an op's `cost`: one application. The shapes outlive it.
class CostContext {
 public:
  CostContext(AttrsRef attrs, std::span<const Shape* const> inputs, std::span<const Shape> outputs)
      : attrs_(attrs), inputs_(inputs), outputs_(outputs) {}

  template <typename A>
  const A& attrs() const {
    return attrs_.as<A>();
  }
  const Shape& input(size_t i) const { return *inputs_[i]; }
  const Shape& output(size_t i) const { return outputs_[i]; }
  // Of all inputs and outputs.
  GRAVEN_API double elements() const;
  GRAVEN_API double output_elements() const;

 private:
  AttrsRef attrs_;
  std::span<const Shape* const> inputs_;
  std::span<const Shape> outputs_;
};

// Of ops that read of their inputs no more than they give: slices, and elements of lists.
GRAVEN_API double cost_of_outputs(const CostContext& context);

// The cost that the op's record gives. Without one, the time is proportional to the number of
// elements read and written.
GRAVEN_API double estimated_cost(const Op& op, const CostContext& context);

}  // namespace graven::engine
