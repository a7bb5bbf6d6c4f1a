#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "graven/ir/gradient_context.h"
#include "graven/ir/infer_context.h"
#include "graven/ir/kernel.h"
#include "graven/ir/structural_ops.h"
#include "graven/ops/batch_rules.h"
#include "graven/ops/elements.h"
#include "graven/ops/formulas.h"
#include "graven/ops/gather_ops.h"
#include "graven/ops/image_ops.h"
#include "graven/ops/math_ops.h"
#include "graven/ops/movement_ops.h"
#include "graven/ops/register_ops.h"
#include "graven/ops/sequence_ops.h"
#include "graven/ops/sizes.h"
#include "graven/ops/windows.h"

namespace graven::engine {
namespace {

constexpr int64_t kBytesPerChunk = 1 << 17;

// Dilated windows: only every rate-th row and column within their span is taken.
Result<Windows> windows_of(const ExtractImagePatchesAttrs& attrs) {
  const std::pair<const std::vector<int64_t>&, const char*> lists[] = {
      {attrs.ksizes, "ksizes"}, {attrs.strides, "strides"}, {attrs.rates, "rates"}};
  for (const auto& [list, name] : lists) {
    if (list.size() != 4) {
      return invalid_argument("Sliding window ", name, " field must specify 4 dimensions");
    }
    if (list[0] != 1 || list[3] != 1) {
      return unimplemented("Only support ", name, " across space.");
    }
    for (int64_t number : list) {
      if (number < 1 || number > std::numeric_limits<int32_t>::max()) {
        return invalid_argument(name, " must be above 0, got ", number);
      }
    }
  }
  if (attrs.padding != "SAME" && attrs.padding != "VALID") {
    return invalid_argument("padding must be \"SAME\" or \"VALID\", got \"", attrs.padding, "\"");
  }
  Windows windows;
  windows.padding = attrs.padding == "SAME" ? PaddingKind::kSame : PaddingKind::kValid;
  for (size_t i = 0; i < 2; ++i) {
    windows.strides[i] = attrs.strides[1 + i];
    windows.dilations[i] = attrs.rates[1 + i];
    windows.sizes[i] = attrs.ksizes[1 + i];
  }
  return windows;
}

Status patches_shape(InferContext& c) {
  const auto& attrs = c.attrs<ExtractImagePatchesAttrs>();
  ASSIGN_OR_RETURN(const Windows windows, windows_of(attrs));
  const Shape& images = c.shape(0);
  if (images.has_rank() && images.rank() != 4) {
    return invalid_argument("input must be 4-dimensional", images.to_message());
  }
  Shape out = images;
  if (!out.has_rank()) out = {Dim::unknown(), Dim::unknown(), Dim::unknown(), Dim::unknown()};
  for (int axis = 0; axis < 2; ++axis) {
    const Dim in = out[1 + axis];
    const int64_t span = (windows.sizes[axis] - 1) * windows.dilations[axis] + 1;
    // An image that is just too small has no patches; count_windows takes that for a mistake.
    const bool is_short = windows.padding == PaddingKind::kValid && in.is_number() &&
                          in.number() < span && in.number() + windows.strides[axis] >= span;
    ASSIGN_OR_RETURN(
        const Dim count,
        is_short ? Result<Dim>(Dim(0)) : count_windows(c, windows, axis, in, windows.sizes[axis]));
    out.set(1 + axis, count);
  }
  out.set(3, c.multiply(out[3], c.multiply(windows.sizes[0], windows.sizes[1])));
  c.set_shape(0, out);
  return {};
}

// Each row of a window is copied at once where its pixels lie side by side.
Status patches_kernel(KernelContext& c) {
  const auto& attrs = c.attrs<ExtractImagePatchesAttrs>();
  ASSIGN_OR_RETURN(const Windows windows, windows_of(attrs));
  const Tensor &images = c.input(0), &patches = c.output(0);
  if (patches.num_elements() == 0) return {};
  const Shape &in = images.shape(), &out = patches.shape();
  const int64_t kernel_height = windows.sizes[0], kernel_width = windows.sizes[1];
  const auto pixel = static_cast<int64_t>(dtype_size(images.dtype())) * in.size(3);
  const int64_t top = pads_of(windows, 0, in.size(1), kernel_height, out.size(1)).before;
  const int64_t left = pads_of(windows, 1, in.size(2), kernel_width, out.size(2)).before;
  const int64_t row_rate = windows.dilations[0], column_rate = windows.dilations[1];
  const auto* from = static_cast<const std::byte*>(images.raw_data());
  auto* to = static_cast<std::byte*>(patches.mutable_raw_data());
  const int64_t height = out.size(1), window_row = kernel_width * pixel;
  const int64_t row_size = out.size(2) * kernel_height * window_row;
  const auto copy_window_row = [&](const std::byte* source, int64_t x, std::byte* target) {
    if (column_rate == 1) {
      const int64_t first = std::clamp<int64_t>(-x, 0, kernel_width);
      const int64_t last = std::clamp<int64_t>(in.size(2) - x, first, kernel_width);
      std::memset(target, 0, static_cast<size_t>(first * pixel));
      std::memcpy(target + first * pixel, source + (x + first) * pixel,
                  static_cast<size_t>((last - first) * pixel));
      std::memset(target + last * pixel, 0, static_cast<size_t>((kernel_width - last) * pixel));
      return;
    }
    for (int64_t i = 0; i < kernel_width; ++i, target += pixel) {
      const int64_t at = x + i * column_rate;
      if (at >= 0 && at < in.size(2)) {
        std::memcpy(target, source + at * pixel, static_cast<size_t>(pixel));
      } else {
        std::memset(target, 0, static_cast<size_t>(pixel));
      }
    }
  };
  for_ranges(out.size(0) * height, kBytesPerChunk / row_size, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      const std::byte* image = from + row / height * in.size(1) * in.size(2) * pixel;
      std::byte* target = to + row * row_size;
      for (int64_t column = 0; column < out.size(2); ++column) {
        const int64_t x = column * windows.strides[1] - left;
        for (int64_t i = 0; i < kernel_height; ++i, target += window_row) {
          const int64_t y = row % height * windows.strides[0] - top + i * row_rate;
          if (y < 0 || y >= in.size(1)) {
            std::memset(target, 0, static_cast<size_t>(window_row));
          } else {
            copy_window_row(image + y * in.size(2) * pixel, x, target);
          }
        }
      }
    }
  });
  return {};
}

// Each pixel is the sum over the patches that it was copied to: the patches of the numbers of the
// pixels, counted from 1, tell which these are.
void patches_gradient(GradientContext& c) {
  if (!c.wants(0)) return;
  const auto sizes = [&](const Shape& known, auto shape) {
    const Shape four{Dim::unknown(), Dim::unknown(), Dim::unknown(), Dim::unknown()};
    return sizes_of(c, known.has_rank() ? known : four, shape);
  };
  const SizeList x = sizes(c.static_shape_of_x(0), [&] { return c.shape_of_x(0); });
  const SizeList y = sizes(c.static_shape_of_y(0), [&] { return c.shape_of_y(0); });
  const auto& attrs = c.attrs<ExtractImagePatchesAttrs>();
  const Size pixels = multiply(c, x[1], x[2]), windows = multiply(c, y[1], y[2]);
  const Size copies = multiply(c, windows, multiply(c, attrs.ksizes[1], attrs.ksizes[2]));
  const auto shaped = [&](const Tensor& tensor, std::initializer_list<Size> shape) {
    return c(kReshape, {tensor, vector_of(c, {shape.begin(), shape.size()})});
  };
  const Tensor one = Size(1).tensor(c), count = pixels.tensor(c);
  const Formula past(c, count);
  const Tensor numbers = c(kRange, {one, past + 1.0, one});
  const Tensor copied = c(kExtractImagePatches, {shaped(numbers, {1, x[1], x[2], 1})}, attrs);
  const Formula places(c, shaped(copied, {copies}));
  const int32_t copies_first[] = {1, 0, 2};
  const Tensor order = int32_vector(c, copies_first);
  const Tensor dy = c(kTranspose, {shaped(c.dy(), {x[0], copies, x[3]}), order});
  const Tensor sums = c(kUnsortedSegmentSum, {dy, places - 1.0, count});
  c.set_dx(0, shaped(c(kTranspose, {sums, order}), {x[0], x[1], x[2], x[3]}));
}

}  // namespace

void define_patch_ops(OpRegistry& ops) {
  kExtractImagePatches = ops.define<ExtractImagePatchesAttrs>({
      .name = "ExtractImagePatches",
      .summary =
          "The pixels of each window that slides over images, as one pixel of many channels.",
      .details = "The channels of a window are in the order of its rows, columns and channels; "
                 "what lies outside of the image is 0. Of a window every rate-th row and column "
                 "counts.",
      .inputs = {"images: T"},
      .outputs = {"patches: T"},
      .types = {{"T", kNumberTypes, kPlainTypes}},
      .infer = patches_shape,
      .gradient = patches_gradient,
      .batch = batch_by_folding<0>,
      .body = kernel(patches_kernel),
  });
}

}  // namespace graven::engine
