#pragma once
#include <span>
#include <vector>

#include "graven/base/export.h"
#include "graven/base/ref.h"
#include "graven/base/status.h"
#include "graven/ir/gradient_context.h"

namespace graven::engine {

// The door to a gradient that the user's own function computes: custom_gradient leaves it on a
// node, and on tapes. Called on the thread that asks for the gradient, with no lock held but the
// claim of the body that is being differentiated, inside the frame to which the builder adds; it
// may be called any number of times.
//
// A node owns its gradient, and a symbolic tensor its graph. So a gradient that uses tensors of the
// trace must not own them, or the graph never dies: the owner of the Function keeps the captures of
// the user's function (Python in its slot), and drops them with the Function.
class GRAVEN_API CustomGradient : public RefCounted {
 public:
  // dy: the gradients of the outputs, dense, zeros where there is none. inputs: their values, if
  // it reads_inputs, else nothing. Returns the gradients of the inputs, one each.
  virtual Result<std::vector<Gradient>> gradient(Builder& builder, std::span<const Tensor> inputs,
                                                 std::span<const Tensor> dy) const = 0;
  // True if it needs the values of the inputs, which are kept for it then.
  virtual bool reads_inputs() const { return false; }
  // True if another gradient, on the node of the same place in an equal graph, computes the same.
  virtual bool is_same(const CustomGradient& other) const { return this == &other; }
};

}  // namespace graven::engine
