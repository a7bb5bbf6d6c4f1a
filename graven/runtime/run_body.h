#pragma once
#include <span>

#include "graven/base/export.h"
#include "graven/ir/body.h"
#include "graven/tensor/tensor.h"

namespace graven::engine {

// True if the Program of a body may run on tensors of these shapes: it is planned for the shapes of
// the body's placeholders.
GRAVEN_API bool accepts_shapes(const Body& body, std::span<const Tensor> inputs);

// Runs a body on as many tensors as it has inputs, of the right dtypes but any shapes. Uses its
// Program if that accepts them. Otherwise runs node by node with the shapes as they are, and an op
// may refuse them: a narrower shape that the trace saw is not checked. Outputs are those of
// Program::run.
GRAVEN_API Status run_body(const Ref<Body>& body, std::span<const Tensor> inputs, Tensors& outputs,
                           bool may_hand_out_inputs = false);

// --- Internals, shared with the executor.

// The Status of a node that failed, with the node as its payload (an ExecutionError) unless it has
// a payload.
Status failed_at(const Node& node, const Status& status);
Status failed_at(const std::string& node, const Ref<Location>& location, const Status& status);

}  // namespace graven::engine
