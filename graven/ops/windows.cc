#include "graven/ops/windows.h"

#include <algorithm>
#include <limits>

#include "graven/ops/elements.h"

namespace graven::engine {
namespace {

// The places of height, width and channels among the four numbers of a list.
struct Places {
  int height, width, channels;
};
constexpr Places kLast = {1, 2, 3}, kSecond = {2, 3, 1};

// Larger numbers mean nothing, and sums of them would overflow.
constexpr int64_t kLargest = std::numeric_limits<int32_t>::max();

Status check_four(std::string_view name, std::span<const int64_t> list) {
  if (list.size() != 4) {
    return invalid_argument("Sliding window ", name, " field must specify 4 dimensions, got ",
                            list.size());
  }
  for (int64_t number : list) {
    if (number > kLargest) return invalid_argument(name, " must fit into int32, got ", number);
  }
  return {};
}

Status check_explicit_paddings(std::span<const int64_t> paddings, const Places& at) {
  if (paddings.size() != 8) {
    return invalid_argument("explicit_paddings attribute must contain 8 values, but got: ",
                            paddings.size());
  }
  for (int64_t padding : paddings) {
    if (padding < 0) {
      return invalid_argument("All elements of explicit_paddings must be nonnegative, but got ",
                              padding);
    }
    if (padding > kLargest) {
      return invalid_argument("explicit_paddings must fit into int32, got ", padding);
    }
  }
  const bool only_spatial = paddings[0] == 0 && paddings[1] == 0 &&
                            paddings[2 * at.channels] == 0 && paddings[2 * at.channels + 1] == 0;
  if (only_spatial) return {};
  return invalid_argument(
      "Nonzero explicit padding in the batch or depth dimensions is not supported");
}

Result<PaddingKind> padding_kind(std::string_view padding) {
  if (padding == "SAME") return PaddingKind::kSame;
  if (padding == "VALID") return PaddingKind::kValid;
  if (padding == "EXPLICIT") return PaddingKind::kExplicit;
  return invalid_argument("padding must be \"SAME\", \"VALID\" or \"EXPLICIT\", got \"", padding,
                          "\"");
}

}  // namespace

Result<Windows> checked_windows(const WindowAttributes& a) {
  Windows w;
  if (a.data_format != "NHWC" && a.data_format != "NCHW") {
    return invalid_argument("data_format must be \"NHWC\" or \"NCHW\", got \"", a.data_format,
                            "\"");
  }
  w.channels_second = a.data_format == "NCHW";
  const Places at = w.channels_second ? kSecond : kLast;
  RETURN_IF_ERROR(check_four("strides", a.strides));
  for (int64_t stride : a.strides) {
    if (stride <= 0) return invalid_argument("Stride must be > 0, but got ", stride);
  }
  ASSIGN_OR_RETURN(w.padding, padding_kind(a.padding));
  if (w.padding == PaddingKind::kExplicit) {
    RETURN_IF_ERROR(check_explicit_paddings(a.explicit_paddings, at));
    w.pad_before = {a.explicit_paddings[2 * at.height], a.explicit_paddings[2 * at.width]};
    w.pad_after = {a.explicit_paddings[2 * at.height + 1], a.explicit_paddings[2 * at.width + 1]};
  } else if (!a.explicit_paddings.empty()) {
    return invalid_argument("explicit_paddings must be empty if padding is \"", a.padding, "\"");
  }
  w.strides = {a.strides[at.height], a.strides[at.width]};
  if (!a.is_pooling) {
    if (a.strides[0] != 1 || a.strides[at.channels] != 1) {
      return unimplemented(
          "Current implementation does not yet support strides in the batch and depth "
          "dimensions.");
    }
    RETURN_IF_ERROR(check_four("dilations", a.dilations));
    for (int64_t dilation : a.dilations) {
      if (dilation <= 0) {
        return invalid_argument("Dilated rates should be larger than 0, but got ", dilation);
      }
    }
    if (a.dilations[0] != 1 || a.dilations[at.channels] != 1) {
      return unimplemented(
          "Current implementation does not yet support dilations in the batch and depth "
          "dimensions.");
    }
    w.dilations = {a.dilations[at.height], a.dilations[at.width]};
    return w;
  }
  RETURN_IF_ERROR(check_four("ksize", a.ksize));
  for (int64_t size : a.ksize) {
    if (size <= 0) return invalid_argument("Sliding window ksize must be positive, got ", size);
  }
  if (a.ksize[0] != 1 || a.strides[0] != 1) {
    return unimplemented("Pooling is not yet supported on the batch dimension.");
  }
  w.sizes = {a.ksize[at.height], a.ksize[at.width]};
  w.depth = a.ksize[at.channels];
  if (w.depth != 1 && (w.sizes[0] != 1 || w.sizes[1] != 1)) {
    return unimplemented(
        "MaxPooling supports exactly one of pooling across depth or pooling across width/height.");
  }
  if (w.depth != a.strides[at.channels]) {
    return unimplemented(
        "Depthwise max pooling requires the depth window to equal the depth "
        "stride");
  }
  return w;
}

Shape channels_last(const Shape& image, bool channels_second) {
  if (!channels_second || !image.has_rank()) return image;
  return {image[0], image[2], image[3], image[1]};
}
Shape in_format(const Shape& channels_last, bool channels_second) {
  if (!channels_second || !channels_last.has_rank()) return channels_last;
  return {channels_last[0], channels_last[3], channels_last[1], channels_last[2]};
}

Result<Dim> count_windows(InferContext& c, const Windows& windows, int axis, Dim in, Dim size) {
  const Dim stride = windows.strides[axis], dilation = windows.dilations[axis];
  // Tensors without elements may have any size. Sums of these, strides and paddings fit.
  constexpr int64_t kMost = int64_t{1} << 60;
  if (in.is_number() && in.number() > kMost)
    return invalid_argument("an image of size ", in.number());
  if (size.is_number() && size.number() > kMost / dilation.number()) {
    return invalid_argument("a window of size ", size.number(), " and dilation ",
                            dilation.number());
  }
  if (windows.padding == PaddingKind::kSame) return c.ceil_div(in, stride);
  const Dim padded = c.add(in, windows.pad_before[axis] + windows.pad_after[axis]);
  if (padded.is_number() && size.is_number()) {
    if (size == Dim(0)) return invalid_argument("a window of size 0");
    const int64_t span = (size.number() - 1) * dilation.number() + 1;
    const int64_t rest = padded.number() - span;
    if (c.is_graph() && rest < 0) {
      return invalid_argument("Negative dimension size caused by subtracting ", span, " from ",
                              padded.number());
    }
    const int64_t count = (rest + stride.number()) / stride.number();
    if (count < 0) {
      return invalid_argument("Computed output size would be negative: ", count,
                              " [input_size: ", padded.number(), ", effective_filter_size: ", span,
                              ", stride: ", stride.number(), "]");
    }
    return Dim(count);
  }
  // (padded + stride - ((size - 1) * dilation + 1)) / stride
  const Dim span = c.add(c.multiply(c.subtract(size, 1), dilation), 1);
  return c.floor_div(c.subtract(c.add(padded, stride), span), stride);
}

Pads pads_of(const Windows& windows, int axis, int64_t in, int64_t size, int64_t out) {
  switch (windows.padding) {
    case PaddingKind::kValid:
      return {0, 0};
    case PaddingKind::kExplicit:
      return {windows.pad_before[axis], windows.pad_after[axis]};
    default: {
      const int64_t span = (size - 1) * windows.dilations[axis] + 1;
      const int64_t all = std::max<int64_t>((out - 1) * windows.strides[axis] + span - in, 0);
      return {all / 2, all - all / 2};
    }
  }
}

namespace {

// `count` matrices of [rows, columns], each transposed.
void transpose_matrices(DType dtype, int64_t count, int64_t rows, int64_t columns, const void* from,
                        void* to) {
  constexpr int64_t kTile = 32, kElementsOfChunk = 1 << 16;
  visit_element_size(dtype_size(dtype), [&](auto zero) {
    using T = decltype(zero);
    const int64_t bands = (rows + kTile - 1) / kTile;  // of rows, all columns wide
    const int64_t grain = kElementsOfChunk / std::max<int64_t>(kTile * columns, 1);
    for_ranges(count * bands, grain, [&](int64_t begin, int64_t end) {
      for (int64_t band = begin; band < end; ++band) {
        const int64_t matrix = band / bands, first = band % bands * kTile;
        const int64_t last = std::min(first + kTile, rows);
        const T* x = static_cast<const T*>(from) + matrix * rows * columns;
        T* y = static_cast<T*>(to) + matrix * rows * columns;
        for (int64_t tile = 0; tile < columns; tile += kTile) {
          for (int64_t column = tile; column < std::min(tile + kTile, columns); ++column) {
            for (int64_t row = first; row < last; ++row) {
              y[column * rows + row] = x[row * columns + column];
            }
          }
        }
      }
    });
  });
}

}  // namespace

Result<Tensor> to_channels_last(const Tensor& image) {
  const Shape shape = channels_last(image.shape(), true);
  ASSIGN_OR_RETURN(Tensor made, Tensor::allocate(image.dtype(), shape));
  transpose_matrices(image.dtype(), shape.size(0), shape.size(3), shape.size(1) * shape.size(2),
                     image.raw_data(), made.mutable_raw_data());
  return made;
}

void from_channels_last(const Tensor& image, const Tensor& to) {
  const Shape& shape = image.shape();
  transpose_matrices(image.dtype(), shape.size(0), shape.size(1) * shape.size(2), shape.size(3),
                     image.raw_data(), to.mutable_raw_data());
}

}  // namespace graven::engine
