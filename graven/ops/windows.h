#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "graven/base/status.h"
#include "graven/ir/infer_context.h"
#include "graven/tensor/tensor.h"

namespace graven::engine {

// Windows that slide over height and width of images, or depth, height and width of volumes, for
// convolutions and pooling. Images stands for both.

enum class PaddingKind : uint8_t { kSame, kValid, kExplicit };

// The attributes of an op, checked. Lists have a number for each spatial axis, the width last.
struct Windows {
  int axes = 2;                  // that are spatial; 3 for volumes
  bool channels_second = false;  // images are NCHW, volumes NCDHW
  PaddingKind padding = PaddingKind::kValid;
  std::array<int64_t, 3> strides = {1, 1, 1}, dilations = {1, 1, 1};
  std::array<int64_t, 3> sizes = {1, 1, 1};                // of pooling windows
  std::array<int64_t, 3> pad_before = {}, pad_after = {};  // kExplicit only
  int64_t depth = 1;  // channels that a pooling window spans; then it has one pixel
};
struct WindowAttributes {
  std::span<const int64_t> strides;
  std::string_view padding, data_format;
  std::span<const int64_t> explicit_paddings = {};
  bool is_pooling = false;
  std::span<const int64_t> ksize = {};      // of pooling
  std::span<const int64_t> dilations = {};  // of convolutions
  int axes = 2;
};
Result<Windows> checked_windows(const WindowAttributes& attributes);

// Converts image shapes of any format to [batch, height, width, channels], or with a depth before
// the height, and back.
Shape channels_last(const Shape& image, bool channels_second);
Shape in_format(const Shape& channels_last, bool channels_second);
// A shape of unknown sizes.
Shape unknown_sizes(int rank);

// The number of windows along a spatial axis of images of size `in`.
Result<Dim> count_windows(InferContext& c, const Windows& windows, int axis, Dim in, Dim size);
// The padding along an axis of known sizes.
struct Pads {
  int64_t before, after;
};
Pads pads_of(const Windows& windows, int axis, int64_t in, int64_t size, int64_t out);

// An image whose channels are second as one whose channels are last, and the elements of such a
// one written into a tensor whose channels are second.
Result<Tensor> to_channels_last(const Tensor& image);
void from_channels_last(const Tensor& image, const Tensor& to);

}  // namespace graven::engine
