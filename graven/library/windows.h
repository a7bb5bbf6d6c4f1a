#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "graven/base/function_ref.h"
#include "graven/library/function_context.h"

namespace graven::engine {

// Helpers of functions that move windows over images: convolutions and pools.

inline constexpr std::string_view kWindowDoc =
    "A number, one for each spatial axis, or one for each axis in the order of data_format.";
inline constexpr std::string_view kPaddingDoc =
    "\"SAME\", \"VALID\", or [before, after] for each axis in the order of data_format.";

struct DataFormat {
  int spatial_axes = 2;
  int channels_at = 3;
};
// "NC..." has the channels first, others last; the op or the caller checks the text.
DataFormat data_format(std::string_view text, int spatial_axes);

// One size for each axis, of a parameter of this name; None is 1.
std::vector<int64_t> window_sizes(FunctionContext& c, const Window& window, DataFormat format,
                                  std::string_view what);
std::vector<int64_t> explicit_paddings(const Padding& padding);

// f on x with its leading axes made one, so that `inner_rank` axes follow it; the result, under the
// name of the call, has the leading axes again. f itself where x has one, or its rank is not known.
Tensor with_one_batch_axis(FunctionContext& c, const Tensor& x, int inner_rank,
                           FunctionRef<Tensor(const Tensor& x, std::string_view name)> f);

}  // namespace graven::engine
