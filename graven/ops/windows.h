#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "graven/base/status.h"
#include "graven/ir/infer_context.h"
#include "graven/tensor/tensor.h"

namespace graven::engine {

// Windows that slide over height and width of images, for convolutions and pooling.

enum class PaddingKind : uint8_t { kSame, kValid, kExplicit };

// The attributes of an op, checked. Index 0 is the height, 1 the width.
struct Windows {
  bool channels_second = false;  // images are NCHW
  PaddingKind padding = PaddingKind::kValid;
  std::array<int64_t, 2> strides = {1, 1}, dilations = {1, 1};
  std::array<int64_t, 2> sizes = {1, 1};                           // of pooling windows
  std::array<int64_t, 2> pad_before = {0, 0}, pad_after = {0, 0};  // kExplicit only
  int64_t depth = 1;  // channels that a pooling window spans; then it is no wider or higher than 1
};
struct WindowAttributes {
  std::span<const int64_t> strides;
  std::string_view padding, data_format;
  std::span<const int64_t> explicit_paddings = {};
  bool is_pooling = false;
  std::span<const int64_t> ksize = {};      // of pooling
  std::span<const int64_t> dilations = {};  // of convolutions
};
Result<Windows> checked_windows(const WindowAttributes& attributes);

// Converts image shapes of any format to [batch, height, width, channels], and back.
Shape channels_last(const Shape& image, bool channels_second);
Shape in_format(const Shape& channels_last, bool channels_second);

// The number of windows along axis 0 or 1 of images of size `in`.
Result<Dim> count_windows(InferContext& c, const Windows& windows, int axis, Dim in, Dim size);
// The padding along an axis of known sizes.
struct Pads {
  int64_t before, after;
};
Pads pads_of(const Windows& windows, int axis, int64_t in, int64_t size, int64_t out);

// An NCHW image as NHWC, and NHWC elements written into an NCHW tensor.
Result<Tensor> to_channels_last(const Tensor& image);
void from_channels_last(const Tensor& image, const Tensor& to);

}  // namespace graven::engine
