#pragma once
#include <cstdint>
#include <span>

#include "graven/base/export.h"
#include "graven/base/status.h"
#include "graven/ir/attributes.h"
#include "graven/ir/builder.h"
#include "graven/ir/frame.h"
#include "graven/ir/op.h"
#include "graven/tensor/tensor.h"

namespace graven::engine {

// The tangents of the outputs of an op that was applied to these inputs, one each, from those of
// the inputs: empty where there is none. Ops go through the builder. The tangent of a handle is
// that of its variable's value, that of a list of tensors a list. An op without a gradient is an
// error of kind kLookupError.
//
// No op says what its tangents are: they follow from its gradient. That is a linear function of the
// gradients of the outputs, dx = J^T dy, so the gradient of <dx, t> with respect to dy is J t. The
// gradient is built on placeholders and differentiated there; of the two sweeps only what the
// result needs is kept, which is no more than a formula for J t itself. It is remembered as a short
// list of ops for each op, attributes, dtypes and shapes. An op that only moves elements is its own
// tangent.
Result<Tensors> push_tangents(const Op& op, AttrsRef attrs, std::span<const Tensor> inputs,
                              std::span<const Tensor> outputs, std::span<const Tensor> tangents,
                              Builder& builder);

// The same for a step as a whole, whose derivative is known. Both sweeps run.
Result<Tensors> push_tangents(const Backward& backward, std::span<const Tensor> inputs,
                              std::span<const Tensor> outputs, std::span<const Tensor> tangents,
                              Builder& builder);

// The bytes that are remembered, for the whole process.
GRAVEN_API int64_t bytes_of_tangent_rules();

// A new input of the graph like a tensor of it: for a tangent of the tensor. Of a handle it is like
// the value of the variable.
Tensor add_tangent_input(const Ref<Graph>& graph, const Tensor& like, std::string_view name);

}  // namespace graven::engine
