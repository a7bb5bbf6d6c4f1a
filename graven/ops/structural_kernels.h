#pragma once
#include "graven/base/status.h"

namespace graven::engine {
class KernelContext;

// Bodies of structural ops that no expression can say.
Status fill_kernel(KernelContext& c);
Status concat_kernel(KernelContext& c);
Status broadcast_to_kernel(KernelContext& c);
Status broadcast_gradient_args_kernel(KernelContext& c);
// Rows with a negative id are dropped; an id beyond the last segment is an error.
Status unsorted_segment_sum_kernel(KernelContext& c);

}  // namespace graven::engine
