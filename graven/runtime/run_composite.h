#pragma once
#include <cstdint>
#include <span>

#include "graven/base/export.h"
#include "graven/base/status.h"
#include "graven/ir/attributes.h"
#include "graven/ir/op.h"
#include "graven/tensor/device.h"
#include "graven/tensor/tensor.h"

namespace graven::engine {

// Runs a composite op on values: its parts as one Program, in which they fuse, so that an eager
// call goes over memory as often as a graph does. All inputs are on one device.
//
// A bounded number of Programs is kept: one for each op, attributes, device, dtypes, ranks, and for
// which sizes are 1 and which are equal. So new sizes need no new Program. The first call of a kind
// runs op by op, because it may be the last.
//
// Errors are those of the op, whichever part refused.
Status run_composite(const Op& op, AttrsRef attrs, std::span<const Tensor> inputs,
                     const Device& device, Tensors& outputs);

// The bytes of these Programs.
GRAVEN_API int64_t composite_bytes();

}  // namespace graven::engine
