#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "graven/library/function_context.h"
#include "graven/library/parameters.h"
#include "graven/tensor/tensor.h"

namespace graven::engine {

// Helpers of the checks of values and of shapes.

inline constexpr std::string_view kAssertMessageDoc =
    "What stands in front of the error's message; None means nothing.";
inline constexpr std::string_view kAssertSummarizeDoc =
    "How many elements the message shows; None means 3, -1 all.";

// "x:0" for a tensor of a graph, the given text for an eager one.
std::string name_in_graph(const Tensor& x, std::string_view eager);
// "shape=(2,) dtype=int32", or the name in a graph.
std::string name_or_kind(const Tensor& x);
// The message with a separator behind it, or nothing for an empty message.
std::string assert_prefix(const std::optional<std::string>& message);

// Adds an op that fails at run time unless the condition holds.
void assert_later(FunctionContext& c, const Tensor& condition, std::span<const Tensor> data,
                  std::optional<int64_t> summarize, std::string_view name = "Assert");
// A text among the data.
Tensor text_constant(FunctionContext& c, std::string text);

}  // namespace graven::engine
