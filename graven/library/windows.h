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

// One size per axis, 1 for None. `name` is the parameter's, for messages.
std::vector<int64_t> window_sizes(FunctionContext& c, const Window& window, DataFormat format,
                                  std::string_view what);
std::vector<int64_t> explicit_paddings(const Padding& padding);

// The attributes of an op of convolutions over so many spatial axes.
template <typename Attrs>
Attrs convolution_attrs(FunctionContext& c, const Window& strides, const Padding& padding,
                        const std::string& text, const Window& dilations, int spatial_axes = 2) {
  const DataFormat format = data_format(text, spatial_axes);
  Attrs attrs;
  attrs.strides = window_sizes(c, strides, format, "strides");
  attrs.padding = padding.kind;
  if constexpr (requires { attrs.explicit_paddings; }) {
    attrs.explicit_paddings = explicit_paddings(padding);
  }
  attrs.data_format = text;
  attrs.dilations = window_sizes(c, dilations, format, "dilations");
  return attrs;
}

// Applies f to x with all axes but the last `inner_rank` merged into one, and splits that axis of
// the result again. Calls f directly if there is one such axis, or the rank of x is unknown.
Tensor with_one_batch_axis(FunctionContext& c, const Tensor& x, int inner_rank,
                           FunctionRef<Tensor(const Tensor& x, std::string_view name)> f);

}  // namespace graven::engine
