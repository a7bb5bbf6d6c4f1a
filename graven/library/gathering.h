#pragma once
#include <cstdint>
#include <string_view>

#include "graven/library/function_context.h"

namespace graven::engine {

// The slices of x at indices along an axis.
Tensor gathered(FunctionContext& c, const Tensor& x, const Tensor& indices, int64_t axis,
                std::string_view name = {});

// The slices of x where a mask holds. The mask has a known rank and the shape of x's axes from
// `axis` on.
Tensor masked(FunctionContext& c, const Tensor& x, const Tensor& mask, const Tensor& axis,
              std::string_view name = {});

}  // namespace graven::engine
