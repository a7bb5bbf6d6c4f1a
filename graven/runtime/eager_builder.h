#pragma once
#include <cstdint>

#include "graven/base/export.h"
#include "graven/ir/builder.h"

namespace graven::engine {

// The Builder that computes at once: types and shapes from the record, then the op's body by the
// kernels. Calls run their Body's Program; an output that is an input is that very tensor. Outputs
// never alias inputs that could change. kInvalidArgument errors begin with "[Op] ", dtype errors
// are worded as TensorFlow's eager ones. Any thread may use it.
GRAVEN_API Builder& eager_builder();

// The builder for ops applied now on this thread: that of the current frame's graph, or the eager
// one. If the frame has tapes, it is wrapped so that they record the ops.
GRAVEN_API Builder& current_builder();

// The same, with `current_builder().apply`: the front door of front ends.
GRAVEN_API Result<Tensors> apply(const Op& op, std::span<const Tensor> inputs, AttrsRef attrs,
                                 std::string_view name = {});

// How many ops with effects were run at once on this thread, in an init_scope say, while a graph
// with open sizes was traced (CallSizes): such a trace must not be repeated.
GRAVEN_API int64_t num_eager_effects();
GRAVEN_API void note_eager_effect();

}  // namespace graven::engine
