#pragma once
#include <span>

#include "graven/base/export.h"
#include "graven/ir/body.h"
#include "graven/tensor/tensor.h"

namespace graven::engine {

// True if the Program of a body may run on tensors of these shapes: it is planned for what the
// body's placeholders say.
GRAVEN_API bool accepts_shapes(const Body& body, std::span<const Tensor> inputs);

// Runs a body on as many tensors as it has inputs, of the right dtypes but any shapes: by its
// Program if that accepts them, else node by node with the shapes as they are, so that an op may
// refuse them. So a narrower shape that a call gave an argument is no check. Outputs
// are as Program::run gives them.
GRAVEN_API Status run_body(const Ref<Body>& body, std::span<const Tensor> inputs, Tensors& outputs,
                           bool may_hand_out_inputs = false);

// --- Internals, shared with the executor.

// The Status of a node that failed, with the node as its payload (an ExecutionError) unless it has
// one.
Status failed_at(const Node& node, const Status& status);
Status failed_at(const std::string& node, const Ref<Location>& location, const Status& status);

}  // namespace graven::engine
