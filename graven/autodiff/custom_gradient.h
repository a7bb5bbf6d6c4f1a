#pragma once
#include <memory>
#include <span>

#include "graven/base/export.h"
#include "graven/base/ref.h"
#include "graven/base/status.h"
#include "graven/ir/builder.h"
#include "graven/ir/custom_gradient.h"
#include "graven/ir/frame.h"
#include "graven/ir/graph.h"
#include "graven/ir/graph_builder.h"
#include "graven/tensor/tensor.h"

namespace graven::engine {

// Attaches the user's gradient to the results of a user's function on the inputs. The function was
// run before, with tapes stopped or not. Returns new tensors, equal to `outputs`, whose only way
// back to the inputs is the gradient. Handles of variables may be among the inputs. For a listener
// that wants none of the inputs, eager results are those of the function without a gradient of its
// own, as in TensorFlow. To a forward accumulator they are those too, unless it did not hear of the
// function's ops (was_heard), or no tangent goes through them: it takes the gradient then.
//
// In a graph a node IdentityN of outputs and inputs carries the gradient, so that it also holds
// when the graph is differentiated as a whole, by gradient_pair; the listeners of the current
// frame are told of one step, if the builder records.
GRAVEN_API Result<Tensors> apply_custom_gradient(Builder& builder, std::span<const Tensor> inputs,
                                                 std::span<const Tensor> outputs,
                                                 const Ref<CustomGradient>& gradient,
                                                 bool was_heard = true);

// How many of the outputs of such a node are the results.
size_t num_custom_results(const Node& node);

// The gradient of such a node.
BackwardRef backward_of_custom_node(const Node& node, std::span<const Tensor> outputs);

// Notes that a tensor of the graph that is built, a copy of another one, stands for a tensor of
// that other graph which such a gradient has used: so copies of this copy know it, too. Returns the
// node.
Result<Node*> note_stand_in(GraphBuilder& builder, const Tensor& original, const Tensor& tensor);

}  // namespace graven::engine
