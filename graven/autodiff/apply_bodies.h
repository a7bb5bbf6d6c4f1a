#pragma once
#include <cstdint>
#include <span>
#include <string_view>

#include "graven/base/export.h"
#include "graven/base/status.h"
#include "graven/ir/attributes.h"
#include "graven/ir/builder.h"
#include "graven/ir/op.h"
#include "graven/tensor/tensor.h"

namespace graven::engine {

// Applies an op that runs bodies. If the builder records (RecordingBuilder) and a tape of the
// current frame wants the step, the op runs forward halves (extended_node.h), and the tapes are
// told of one step with a gradient of its own; for an accumulator it runs bodies that compute
// tangents too (tangent_body.h). Inner listeners come first, as in apply_call. recompute: see
// ir/recompute.h.
GRAVEN_API Result<Tensors> apply_bodies(Builder& builder, const Op& op,
                                        std::span<const Tensor> inputs, AttrsRef attrs,
                                        std::string_view name = {}, int64_t recompute = 0);

}  // namespace graven::engine
