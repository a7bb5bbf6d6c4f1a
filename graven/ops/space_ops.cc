#include "graven/ops/space_ops.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "graven/ir/gradient_context.h"
#include "graven/ir/infer_context.h"
#include "graven/ir/kernel.h"
#include "graven/ops/batch_rules.h"
#include "graven/ops/elements.h"
#include "graven/ops/register_ops.h"
#include "graven/ops/strided_copy.h"
#include "graven/ops/windows.h"

namespace graven::engine {
namespace {

// --- SpaceToDepth and DepthToSpace.

// The shape of an image with its channels last, once the attributes are checked.
Result<Shape> image_shape(InferContext& c, const BlockAttrs& attrs) {
  if (attrs.data_format != "NHWC" && attrs.data_format != "NCHW") {
    return invalid_argument("data_format must be \"NHWC\" or \"NCHW\", got \"", attrs.data_format,
                            "\"");
  }
  if (attrs.block_size < 2) {
    return invalid_argument("Block size should be > 1, but was: ", attrs.block_size);
  }
  if (attrs.block_size > std::numeric_limits<int32_t>::max()) {
    return invalid_argument("block_size must fit into int32, got ", attrs.block_size);
  }
  const Shape& image = c.shape(0);
  if (image.has_rank() && image.rank() != 4) {
    return invalid_argument("Input rank should be 4 instead of ", image.rank());
  }
  return image.has_rank() ? channels_last(image, attrs.data_format == "NCHW") : unknown_sizes(4);
}

Result<Dim> divided(InferContext& c, std::string_view what, Dim size, int64_t by) {
  if (!size.is_number()) return c.floor_div(size, by);
  if (size.number() % by == 0) return Dim(size.number() / by);
  return invalid_argument(what, " ", size.number(), " should be divisible by: ", by);
}

Status space_to_depth_shape(InferContext& c) {
  const auto& attrs = c.attrs<BlockAttrs>();
  ASSIGN_OR_RETURN(Shape shape, image_shape(c, attrs));
  const int64_t block = attrs.block_size;
  for (int axis : {1, 2}) {
    ASSIGN_OR_RETURN(Dim size,
                     divided(c, axis == 1 ? "Image height" : "Image width", shape[axis], block));
    shape.set(axis, size);
  }
  shape.set(3, c.multiply(shape[3], block * block));
  c.set_shape(0, in_format(shape, attrs.data_format == "NCHW"));
  return {};
}

Status depth_to_space_shape(InferContext& c) {
  const auto& attrs = c.attrs<BlockAttrs>();
  ASSIGN_OR_RETURN(Shape shape, image_shape(c, attrs));
  const int64_t block = attrs.block_size;
  ASSIGN_OR_RETURN(Dim channels, divided(c, "Input depth dimension", shape[3], block * block));
  shape.set(3, channels);
  for (int axis : {1, 2}) shape.set(axis, c.multiply(shape[axis], block));
  c.set_shape(0, in_format(shape, attrs.data_format == "NCHW"));
  return {};
}

// Copies between an image [n, h, w, c] and the one of its blocks, [n, h / b, w / b, b b c]; or the
// same in NCHW. One box: of images, rows and columns of blocks, rows and columns in them, channels.
template <bool to_depth>
Status block_kernel(KernelContext& c) {
  const auto& attrs = c.attrs<BlockAttrs>();
  const Tensor &x = c.input(0), &y = c.output(0);
  if (y.num_elements() == 0) return {};
  const bool second = attrs.data_format == "NCHW";
  const Shape& space = to_depth ? x.shape() : y.shape();
  const Shape& blocks = to_depth ? y.shape() : x.shape();
  const auto s = row_major_strides(space), d = row_major_strides(blocks);
  const int64_t b = attrs.block_size;
  const int rows = second ? 2 : 1, columns = rows + 1, depth = second ? 1 : 3;
  const int64_t channels = space.size(depth), of_depth = d[depth] * channels;
  CopyAxis images = {space.size(0), s[0], d[0]};
  CopyAxis block_rows = {blocks.size(rows), b * s[rows], d[rows]};
  CopyAxis block_columns = {blocks.size(columns), b * s[columns], d[columns]};
  CopyAxis inner_rows = {b, s[rows], b * of_depth}, inner_columns = {b, s[columns], of_depth};
  CopyAxis inner_channels = {channels, s[depth], d[depth]};
  CopyAxes box = {images, block_rows, block_columns, inner_rows, inner_columns, inner_channels};
  if (second) {
    box = {images, inner_rows, inner_columns, inner_channels, block_rows, block_columns};
  }
  if (!to_depth) {
    for (CopyAxis& axis : box) std::swap(axis.from, axis.to);
  }
  copy_strided(x.dtype(), box, x.raw_data(), y.mutable_raw_data());
  return {};
}

void define_space_to_depth(OpRegistry& ops) {
  ops.define(kSpaceToDepth,
             {
                 .name = "SpaceToDepth",
                 .python = "nn.space_to_depth",
                 .summary = "Images of blocks of pixels: the pixels of each block, block_size high "
                            "and wide, become channels of one.",
                 .inputs = {"input: T"},
                 .outputs = {"output: T"},
                 .types = {{"T", kAllTypes}},
                 .infer = space_to_depth_shape,
                 .gradient =
                     [](GradientContext& c) {
                       c.set_dx(0, c(kDepthToSpace, {c.dy()}, c.attrs<BlockAttrs>()));
                     },
                 .batch = batch_by_folding<0>,
                 .body = kernel(block_kernel<true>),
             });
  ops.define(kDepthToSpace,
             {
                 .name = "DepthToSpace",
                 .python = "nn.depth_to_space",
                 .summary = "Images whose channels become blocks of pixels, block_size high and "
                            "wide: the inverse of space_to_depth.",
                 .inputs = {"input: T"},
                 .outputs = {"output: T"},
                 .types = {{"T", kAllTypes}},
                 .infer = depth_to_space_shape,
                 .gradient =
                     [](GradientContext& c) {
                       c.set_dx(0, c(kSpaceToDepth, {c.dy()}, c.attrs<BlockAttrs>()));
                     },
                 .batch = batch_by_folding<0>,
                 .body = kernel(block_kernel<false>),
             });
}

// --- SpaceToBatchND and BatchToSpaceND.

// Sizes of blocks, and paddings or crops, as far as their values are known.
struct Blocks {
  int axes = 0;
  std::vector<int64_t> sizes, before, after;
};

Result<Blocks> blocks_of(const Tensor& block_shape, const Tensor& margins) {
  Blocks b;
  b.axes = static_cast<int>(block_shape.num_elements());
  for (int i = 0; i < b.axes; ++i) {
    const int64_t size = integer_at(block_shape, i);
    if (size < 1) return invalid_argument("block_shape[", i, "] must be positive, got ", size);
    b.sizes.push_back(size);
    b.before.push_back(integer_at(margins, 2 * i));
    b.after.push_back(integer_at(margins, 2 * i + 1));
    // Sums of these and of sizes fit.
    constexpr int64_t kMost = int64_t{1} << 60;
    for (int64_t margin : {b.before[i], b.after[i], size}) {
      if (margin < 0 || margin > kMost) {
        return invalid_argument("paddings and crops must be nonnegative and small, got ", margin);
      }
    }
  }
  return b;
}

// The number of axes that are cut, -1 if it is not known.
Result<int> cut_axes(InferContext& c, std::string_view margins) {
  const Shape &x = c.shape(0), &block = c.shape(1), &two = c.shape(2);
  if (block.has_rank() && block.rank() != 1) {
    return invalid_argument("block_shape rank should be 1 instead of ", block.rank());
  }
  if (two.has_rank() && (two.rank() != 2 || (two[1].is_number() && two.size(1) != 2))) {
    return invalid_argument(margins, " should have the shape [", "M, 2], got ", two.to_message());
  }
  auto count = c.merge(block.has_rank() ? block[0] : Dim::unknown(),
                       two.has_rank() ? two[0] : Dim::unknown());
  if (!count.ok()) {
    return invalid_argument(margins, " should have a row for each of the ", block.size(0),
                            " block sizes, got ", two.to_message());
  }
  if (!count->is_number()) return -1;
  if (count->number() >= kMaxRank || (x.has_rank() && x.rank() <= count->number())) {
    return invalid_argument("input rank should be >= ", count->number() + 1, " instead of ",
                            x.has_rank() ? x.rank() : kMaxRank);
  }
  return static_cast<int>(count->number());
}

// The inference rule of both ops: `cut` computes the size of a spatial axis, `batch` that of the
// first axis.
template <typename Cut, typename Batch>
Status infer_blocks(InferContext& c, std::string_view margins, Cut cut, Batch batch) {
  ASSIGN_OR_RETURN(int axes, cut_axes(c, margins));
  const Shape& x = c.shape(0);
  if (!x.has_rank()) return unknown_outputs(c);
  Shape out = x;
  const Tensor block_shape = c.value(1), values = c.value(2);
  if (axes < 0 || !block_shape || !values) {
    for (int i = 0; i <= (axes < 0 ? x.rank() - 1 : axes); ++i) out.set(i, Dim::unknown());
    c.set_shape(0, out);
    return {};
  }
  ASSIGN_OR_RETURN(Blocks blocks, blocks_of(block_shape, values));
  Dim all = 1;
  for (int i = 0; i < axes; ++i) {
    all = c.multiply(all, blocks.sizes[i]);
    if (!all.is_number()) return invalid_argument("the product of block_shape is too large");
    ASSIGN_OR_RETURN(Dim size, cut(blocks, i, x[i + 1]));
    out.set(i + 1, size);
  }
  ASSIGN_OR_RETURN(Dim first, batch(x[0], all.number()));
  out.set(0, first);
  c.set_shape(0, out);
  return {};
}

Status space_to_batch_shape(InferContext& c) {
  return infer_blocks(
      c, "paddings",
      [&](const Blocks& b, int i, Dim in) -> Result<Dim> {
        const Dim padded = c.add(in, b.before[i] + b.after[i]);
        if (!padded.is_number() || padded.number() % b.sizes[i] == 0) {
          return c.floor_div(padded, b.sizes[i]);
        }
        return invalid_argument("padded_shape[", i, "]=", padded.number(),
                                " is not divisible by block_shape[", i, "]=", b.sizes[i]);
      },
      [&](Dim in, int64_t all) -> Result<Dim> { return c.multiply(in, all); });
}

Status batch_to_space_shape(InferContext& c) {
  return infer_blocks(
      c, "crops",
      [&](const Blocks& b, int i, Dim in) -> Result<Dim> {
        const Dim whole = c.multiply(in, b.sizes[i]);
        const int64_t crop = b.before[i] + b.after[i];
        if (whole.is_number() && whole.number() < crop) {
          return invalid_argument("crops[", i, "] of ", crop, " must be at most the size, ",
                                  whole.number());
        }
        return c.subtract(whole, crop);
      },
      [&](Dim in, int64_t all) -> Result<Dim> {
        if (!in.is_number() || in.number() % all == 0) return c.floor_div(in, all);
        return invalid_argument("Input batch dimension (", in.number(),
                                ") is not divisible by product of block sizes (", all, ")");
      });
}

// Copies between a tensor [batch, size..., rest...] and the one of its blocks, [product of block
// sizes * batch, (size + margins) / block..., rest...], one place of the blocks after the other.
template <bool to_batch>
Status batch_kernel(KernelContext& c) {
  const Tensor &x = c.input(0), &y = c.output(0);
  ASSIGN_OR_RETURN(Blocks b, blocks_of(c.input(1), c.input(2)));
  if (to_batch) clear_elements(y.dtype(), y.num_elements(), y.mutable_raw_data());
  const Tensor &space = to_batch ? x : y, &blocks = to_batch ? y : x;
  if (space.num_elements() == 0 || blocks.num_elements() == 0) return {};
  const auto s = row_major_strides(space.shape()), d = row_major_strides(blocks.shape());
  std::vector<int64_t> place(static_cast<size_t>(b.axes), 0);
  const int64_t batch = space.shape().size(0), count = blocks.shape().size(0) / batch;
  for (int64_t number = 0; number < count; ++number) {
    int64_t from = 0, to = number * batch * d[0];
    CopyAxes box = {{batch, s[0], d[0]}};
    for (int i = 0; i < b.axes; ++i) {
      // Pixel k of the block's axis is pixel k * size + place - before of the space.
      const int64_t size = b.sizes[i], offset = place[i] - b.before[i];
      const int64_t first = offset >= 0 ? 0 : (-offset + size - 1) / size;
      const int64_t end = std::min((space.shape().size(i + 1) - offset + size - 1) / size,
                                   blocks.shape().size(i + 1));
      box.push_back({std::max<int64_t>(end - first, 0), size * s[i + 1], d[i + 1]});
      from += (first * size + offset) * s[i + 1];
      to += first * d[i + 1];
    }
    for (int axis = b.axes + 1; axis < space.rank(); ++axis) {
      box.push_back({space.shape().size(axis), s[axis], d[axis]});
    }
    for (int i = b.axes - 1; i >= 0 && ++place[i] == b.sizes[i]; --i) place[i] = 0;
    if (std::ranges::any_of(box, [](const CopyAxis& axis) { return axis.size == 0; })) continue;
    if (!to_batch) {
      for (CopyAxis& axis : box) std::swap(axis.from, axis.to);
      std::swap(from, to);
    }
    copy_strided(x.dtype(), box, element_at(x.dtype(), x.raw_data(), from),
                 element_at(y.dtype(), y.mutable_raw_data(), to));
  }
  return {};
}

template <const OpHandle<NoAttrs>& inverse>
void batch_gradient(GradientContext& c) {
  if (c.wants(0)) c.set_dx(0, c(inverse, {c.dy(), c.x(1), c.x(2)}));
}

void define_space_to_batch(OpRegistry& ops) {
  ops.define(kSpaceToBatchND,
             {
                 .name = "SpaceToBatchND",
                 .python = "space_to_batch, space_to_batch_nd, nn.space_to_batch",
                 .summary = "The axes behind the first are padded with zeros and cut into blocks; "
                            "all elements of one place of the blocks become one of the batch.",
                 .inputs = {"input: T", "block_shape: Tblock_shape", "paddings: Tpaddings"},
                 .outputs = {"output: T"},
                 .types = {{"T", kRealTypes, kAllTypes},
                           {"Tblock_shape", kIndexTypes},
                           {"Tpaddings", kIndexTypes}},
                 .infer = space_to_batch_shape,
                 .gradient = batch_gradient<kBatchToSpaceND>,
                 .batch = batch_rows_behind,
                 .body = kernel(batch_kernel<true>),
                 .values_for_inference = {1, 2},
             });
  ops.define(kBatchToSpaceND,
             {
                 .name = "BatchToSpaceND",
                 .python = "batch_to_space",
                 .summary = "The inverse of space_to_batch: the batch is spread over the axes "
                            "behind the first, which are then cropped.",
                 .inputs = {"input: T", "block_shape: Tblock_shape", "crops: Tcrops"},
                 .outputs = {"output: T"},
                 .types = {{"T", kRealTypes, kAllTypes},
                           {"Tblock_shape", kIndexTypes},
                           {"Tcrops", kIndexTypes}},
                 .infer = batch_to_space_shape,
                 .gradient = batch_gradient<kSpaceToBatchND>,
                 .batch = batch_rows_behind,
                 .body = kernel(batch_kernel<false>),
                 .values_for_inference = {1, 2},
             });
}

}  // namespace

void define_space_ops(OpRegistry& ops) {
  define_space_to_depth(ops);
  define_space_to_batch(ops);
}

}  // namespace graven::engine
