#include "graven/ops/windows.h"

#include <algorithm>
#include <iterator>
#include <limits>

#include "graven/ops/elements.h"

namespace graven::engine {
namespace {

// Larger numbers mean nothing, and sums of them would overflow.
constexpr int64_t kLargest = std::numeric_limits<int32_t>::max();

Status check_length(std::string_view name, std::span<const int64_t> list, int length) {
  if (list.size() != static_cast<size_t>(length)) {
    return invalid_argument("Sliding window ", name, " field must specify ", length,
                            " dimensions, got ", list.size());
  }
  for (int64_t number : list) {
    if (number > kLargest) return invalid_argument(name, " must fit into int32, got ", number);
  }
  return {};
}

Status check_explicit_paddings(std::span<const int64_t> paddings, int length, int channels_at) {
  if (std::ssize(paddings) != 2 * length) {
    return invalid_argument("explicit_paddings attribute must contain ", 2 * length,
                            " values, but got: ", paddings.size());
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
                            paddings[2 * channels_at] == 0 && paddings[2 * channels_at + 1] == 0;
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
  w.axes = a.axes;
  const std::string_view last = a.axes == 2 ? "NHWC" : "NDHWC";
  const std::string_view second = a.axes == 2 ? "NCHW" : "NCDHW";
  if (a.data_format != last && a.data_format != second) {
    return invalid_argument("data_format must be \"", last, "\" or \"", second, "\", got \"",
                            a.data_format, "\"");
  }
  w.channels_second = a.data_format == second;
  const int length = a.axes + 2, channels = w.channels_second ? 1 : a.axes + 1;
  const int spatial = w.channels_second ? 2 : 1;
  RETURN_IF_ERROR(check_length("strides", a.strides, length));
  for (int64_t stride : a.strides) {
    if (stride <= 0) return invalid_argument("Stride must be > 0, but got ", stride);
  }
  ASSIGN_OR_RETURN(w.padding, padding_kind(a.padding));
  if (w.padding == PaddingKind::kExplicit) {
    RETURN_IF_ERROR(check_explicit_paddings(a.explicit_paddings, length, channels));
  } else if (!a.explicit_paddings.empty()) {
    return invalid_argument("explicit_paddings must be empty if padding is \"", a.padding, "\"");
  }
  for (int i = 0; i < a.axes; ++i) {
    w.strides[i] = a.strides[spatial + i];
    if (w.padding != PaddingKind::kExplicit) continue;
    w.pad_before[i] = a.explicit_paddings[2 * (spatial + i)];
    w.pad_after[i] = a.explicit_paddings[2 * (spatial + i) + 1];
  }
  if (!a.is_pooling) {
    if (a.strides[0] != 1 || a.strides[channels] != 1) {
      return unimplemented(
          "Current implementation does not yet support strides in the batch and depth "
          "dimensions.");
    }
    RETURN_IF_ERROR(check_length("dilations", a.dilations, length));
    for (int64_t dilation : a.dilations) {
      if (dilation <= 0) {
        return invalid_argument("Dilated rates should be larger than 0, but got ", dilation);
      }
    }
    if (a.dilations[0] != 1 || a.dilations[channels] != 1) {
      return unimplemented(
          "Current implementation does not yet support dilations in the batch and depth "
          "dimensions.");
    }
    for (int i = 0; i < a.axes; ++i) w.dilations[i] = a.dilations[spatial + i];
    return w;
  }
  RETURN_IF_ERROR(check_length("ksize", a.ksize, length));
  for (int64_t size : a.ksize) {
    if (size <= 0) return invalid_argument("Sliding window ksize must be positive, got ", size);
  }
  if (a.ksize[0] != 1 || a.strides[0] != 1) {
    return unimplemented("Pooling is not yet supported on the batch dimension.");
  }
  for (int i = 0; i < a.axes; ++i) w.sizes[i] = a.ksize[spatial + i];
  w.depth = a.ksize[channels];
  if (w.depth == 1) return w;  // Channels stay, whatever their stride.
  if (a.axes == 3) return unimplemented("Pooling is not yet supported on the depth dimension.");
  if (w.sizes[0] != 1 || w.sizes[1] != 1) {
    return unimplemented(
        "MaxPooling supports exactly one of pooling across depth or pooling across width/height.");
  }
  if (w.depth != a.strides[channels]) {
    return unimplemented(
        "Depthwise max pooling requires the depth window to equal the depth "
        "stride");
  }
  return w;
}

Shape channels_last(const Shape& image, bool channels_second) {
  if (!channels_second || !image.has_rank()) return image;
  Shape moved = image;
  moved.erase(1);
  moved.push_back(image[1]);
  return moved;
}
Shape in_format(const Shape& channels_last, bool channels_second) {
  if (!channels_second || !channels_last.has_rank()) return channels_last;
  Shape moved = channels_last;
  const int last = moved.rank() - 1;
  moved.erase(last);
  moved.insert(1, channels_last[last]);
  return moved;
}
Shape unknown_sizes(int rank) {
  Shape shape;
  for (int i = 0; i < rank; ++i) shape.push_back(Dim::unknown());
  return shape;
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
  if (image.num_elements() == 0) return made;
  const int64_t channels = image.shape().size(1);
  transpose_matrices(image.dtype(), shape.size(0), channels,
                     image.num_elements() / shape.size(0) / channels, image.raw_data(),
                     made.mutable_raw_data());
  return made;
}

void from_channels_last(const Tensor& image, const Tensor& to) {
  if (image.num_elements() == 0) return;
  const int64_t channels = to.shape().size(1);
  transpose_matrices(image.dtype(), to.shape().size(0),
                     image.num_elements() / to.shape().size(0) / channels, channels,
                     image.raw_data(), to.mutable_raw_data());
}

}  // namespace graven::engine
