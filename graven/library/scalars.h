#pragma once
#include <optional>
#include <string_view>

#include "graven/library/function_context.h"
#include "graven/ops/sizes.h"

namespace graven::engine {

// The size in an integer scalar; `name` is the parameter's, for messages. None after an error: the
// value is no integer, no scalar, or does not fit into int32.
std::optional<Size> one_size(FunctionContext& c, const Tensor& number, std::string_view name);

}  // namespace graven::engine
