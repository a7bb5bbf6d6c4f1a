#include "graven/library/images.h"

#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "graven/ir/structural_ops.h"
#include "graven/library/asserts.h"
#include "graven/library/axes.h"
#include "graven/library/reductions.h"
#include "graven/ops/join_ops.h"
#include "graven/ops/logical_ops.h"
#include "graven/ops/math_ops.h"
#include "graven/ops/movement_ops.h"
#include "graven/ops/padding_ops.h"
#include "graven/ops/sequence_ops.h"
#include "graven/ops/shape_ops.h"
#include "graven/ops/slice_ops.h"

namespace graven::engine {
namespace {

void require_later(FunctionContext& c, const Tensor& condition, const char* message) {
  const Tensor data[] = {text_constant(c, message)};
  assert_later(c, condition, data, {});
}

// Sets the static shape of a result in a graph, which its ops do not infer.
void set_image_sizes(FunctionContext& c, const Tensor& y, const Shape& image,
                     const ImageSizes& sizes) {
  if (!image.has_rank()) return;
  Shape shape = image;
  const auto dim = [](const Size& size) {
    return size.is_number() ? Dim(size.number()) : Dim::unknown();
  };
  shape.set(shape.rank() - 3, dim(sizes.height));
  shape.set(shape.rank() - 2, dim(sizes.width));
  set_known_shape(c, y, shape);
}

}  // namespace

bool check_image(FunctionContext& c, const Tensor& x) {
  if (!x) return false;  // after an error
  const auto rank = c.rank_if_known(x);
  const std::string shape = x.shape().to_text();
  if (rank && *rank < 3) {
    c.fail(value_error("'image' (shape ", shape, ") must be at least three-dimensional."));
    return false;
  }
  bool is_known = rank.has_value();
  for (int i = -3; rank && i < 0; ++i) {
    const auto size = c.size_if_known(x, i);
    if (!size) is_known = false;
    if (size != 0) continue;
    c.fail(value_error("inner 3 dims of 'image.shape' must be > 0: ", shape));
    return false;
  }
  if (is_known) return true;
  if (!rank) {
    require_later(c, c(kGreaterEqual, {c(kRank, {x}), c.scalar(3)}),
                  "'image' must be at least three-dimensional.");
  }
  const int64_t inner[] = {-3}, end[] = {0}, one[] = {1};
  const Tensor sizes =
      c(kStridedSlice, {c(kShape, {x}), c.vector(inner), c.vector(end), c.vector(one)},
        {.end_mask = 1});
  require_later(c, reduce(c, kAll, c(kGreater, {sizes, c.scalar(0)})),
                "inner 3 dims of 'image.shape' must be > 0.");
  return c.status().ok();
}

bool check_image_or_batch(FunctionContext& c, const Tensor& x) {
  if (!check_image(c, x)) return false;
  const auto rank = c.rank_if_known(x);
  if (!rank) {
    require_later(c, c(kLessEqual, {c(kRank, {x}), c.scalar(4)}),
                  "'image' must have either 3 or 4 dimensions.");
  } else if (*rank > 4) {
    c.fail(value_error("'image' (shape ", x.shape().to_text(),
                       ") must have either 3 or 4 dimensions."));
  }
  return c.status().ok();
}

void require_at_least(FunctionContext& c, const Size& a, const Size& b, const char* message) {
  if (!a.is_number() || !b.is_number()) {
    require_later(c, c(kGreaterEqual, {a.tensor(c), b.tensor(c)}), message);
  } else if (a.number() < b.number()) {
    c.fail(value_error(message));
  }
}

Size size_of(FunctionContext& c, const Number& number, std::string_view name) {
  if (!number.number && !number.tensor) {
    c.fail(type_error(name, " must be an int32, not None"));
    return 0;
  }
  if (!number.number) return Size(as_int32(c, number.tensor));
  const double value = *number.number;
  if (value == std::trunc(value) && std::abs(value) <= std::numeric_limits<int32_t>::max()) {
    return static_cast<int64_t>(value);
  }
  c.fail(value_error(name, " must be an int32, got ", value));
  return 0;
}

int64_t height_axis(FunctionContext& c, const Tensor& x) {
  return c.rank_if_known(x).value_or(3) - 3;
}

ImageSizes image_sizes(FunctionContext& c, const Tensor& x) {
  const auto size = [&](int64_t axis) {
    const auto known = c.size_if_known(x, axis);
    return known ? Size(*known) : Size(element_of(c, c(kShape, {x}), axis));
  };
  return {size(-3), size(-2)};
}

Tensor cropped(FunctionContext& c, const Tensor& x, const ImageSizes& offset,
               const ImageSizes& target) {
  SizeList begin{offset.height, offset.width, 0}, size{target.height, target.width, -1};
  if (height_axis(c, x) == 1) {
    begin.insert(begin.begin(), 0);
    size.insert(size.begin(), -1);
  }
  const Tensor y = c(kSlice, {x, vector_of(c, begin), vector_of(c, size)});
  set_image_sizes(c, y, x.shape(), target);
  return y;
}

Tensor placed(FunctionContext& c, const Tensor& x, const ImageSizes& offset,
              const ImageSizes& target) {
  const ImageSizes own = image_sizes(c, x);
  const auto behind = [&](const Size& all, const Size& before, const Size& size) {
    return subtract(c, subtract(c, all, before), size);
  };
  SizeList pairs{offset.height, behind(target.height, offset.height, own.height),
                 offset.width,  behind(target.width, offset.width, own.width),
                 Size(0),       Size(0)};
  if (height_axis(c, x) == 1) pairs.insert(pairs.begin(), 2, Size(0));
  const int64_t table[] = {-1, 2};
  const Tensor y = c(kPad, {x, c(kReshape, {vector_of(c, pairs), c.vector(table)})});
  set_image_sizes(c, y, x.shape(), target);
  return y;
}

Tensor padded_to_box(FunctionContext& c, const Tensor& x, const ImageSizes& offset,
                     const ImageSizes& target) {
  if (!check_image_or_batch(c, x)) return {};
  const ImageSizes own = image_sizes(c, x);
  require_at_least(c, offset.height, 0, "offset_height must be >= 0");
  require_at_least(c, offset.width, 0, "offset_width must be >= 0");
  require_at_least(c, subtract(c, target.width, offset.width), own.width,
                   "width must be <= target - offset");
  require_at_least(c, subtract(c, target.height, offset.height), own.height,
                   "height must be <= target - offset");
  return c.status().ok() ? placed(c, x, offset, target) : Tensor();
}

Tensor transposed_axes(FunctionContext& c, const Tensor& x) {
  const int64_t image[] = {1, 0, 2}, batch[] = {0, 2, 1, 3}, behind[] = {1, 0, 2};
  if (const auto rank = c.rank_if_known(x)) {
    return *rank == 3 ? c.vector(image, "perm") : c.vector(batch, "perm");
  }
  const Tensor first = c(c(kRank, {x})) - 3.0;
  return joined(c, c(kRange, {c.scalar(0), first, c.scalar(1)}), c(c.vector(behind)) + c(first));
}

}  // namespace graven::engine
