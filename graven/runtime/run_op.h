#pragma once
#include <span>

#include "graven/base/export.h"
#include "graven/base/status.h"
#include "graven/ir/attributes.h"
#include "graven/ir/op.h"
#include "graven/tensor/tensor.h"

namespace graven::engine {

// One application of an op on values: what an eager call and a step of a Program share.
//
// reusable: bit i says that input i has no other use, so that its elements may be overwritten
// (if its handle, which `inputs` then gives up, owns them). state: see KernelContext.
GRAVEN_API Status run_op(const Op& op, AttrsRef attrs, std::span<Tensor> inputs, uint64_t reusable,
                         Ref<RefCounted>* state, Tensors& outputs);

}  // namespace graven::engine
