#pragma once
#include <optional>
#include <string_view>

#include "graven/library/function_context.h"
#include "graven/ops/sizes.h"

namespace graven::engine {

// The size that an integer scalar gives, a parameter of this name. None after an error: it is no
// integer, no scalar, or does not fit into int32.
std::optional<Size> one_size(FunctionContext& c, const Tensor& number, std::string_view name);

}  // namespace graven::engine
