#include "graven/ops/padding_ops.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "graven/ir/gradient_context.h"
#include "graven/ir/infer_context.h"
#include "graven/ir/kernel.h"
#include "graven/ir/movement.h"
#include "graven/ir/structural_ops.h"
#include "graven/ops/batch_rules.h"
#include "graven/ops/elements.h"
#include "graven/ops/formulas.h"
#include "graven/ops/join_ops.h"
#include "graven/ops/logical_ops.h"
#include "graven/ops/math_ops.h"
#include "graven/ops/movement_ops.h"
#include "graven/ops/reduction_ops.h"
#include "graven/ops/register_ops.h"
#include "graven/ops/sequence_ops.h"
#include "graven/ops/shape_ops.h"
#include "graven/ops/sizes.h"
#include "graven/ops/slice_ops.h"
#include "graven/ops/strided_copy.h"
#include "graven/tensor/add_elements.h"

namespace graven::engine {
namespace {

constexpr int64_t kBytesPerChunk = 1 << 18;

void set_unknown_dims(InferContext& c, int rank) {
  Shape shape;
  for (int i = 0; i < rank; ++i) shape.push_back(Dim::unknown());
  c.set_shape(0, shape);
}

// The rank of the output where only an input with an item for each axis tells it.
Status set_rank(InferContext& c, const Shape& items) {
  const bool is_known = items.has_rank() && items.rank() > 0 && items[0].is_number();
  if (!is_known || items.size(0) > kMaxRank) return unknown_outputs(c);
  set_unknown_dims(c, static_cast<int>(items.size(0)));
  return {};
}

// --- Pad and PadV2.

// How many elements come before and after along an axis.
int64_t before(const Tensor& paddings, int axis) { return integer_at(paddings, int64_t{2} * axis); }

int64_t after(const Tensor& paddings, int axis) {
  return integer_at(paddings, int64_t{2} * axis + 1);
}

Status check_paddings(const InferContext& c, const Shape& x) {
  const Shape& paddings = c.shape(1);
  if (!paddings.has_rank()) return {};
  bool fits = paddings.rank() == 2 && (!paddings[1].is_number() || paddings.size(1) == 2);
  if (!fits) {
    return invalid_argument("paddings must be a matrix with 2 columns: ", paddings.to_message());
  }
  if (x.has_rank() && paddings[0].is_number() && paddings.size(0) != x.rank()) {
    return invalid_argument("The first dimension of paddings must be the rank of inputs",
                            paddings.to_message(), " ", x.to_message());
  }
  return {};
}

Status padded_shape(InferContext& c) {
  const Shape& x = c.shape(0);
  RETURN_IF_ERROR(check_paddings(c, x));
  if (!x.has_rank()) return set_rank(c, c.shape(1));
  Tensor paddings = c.value(1);
  if (!paddings) {
    set_unknown_dims(c, x.rank());
    return {};
  }
  Shape out;
  for (int i = 0; i < x.rank(); ++i) {
    int64_t first = before(paddings, i), last = after(paddings, i);
    if (first < 0 || last < 0) {
      return invalid_argument("Paddings must be non-negative: ", first, " ", last);
    }
    out.push_back(x[i].is_unknown() ? x[i] : c.add(c.add(x[i], first), last));
  }
  c.set_shape(0, out);
  return {};
}

// The axes outside of the rows in which a padded tensor is written, and the rows themselves: the
// last axis that is padded, with all that lies inside it.
struct PaddedRows {
  struct Axis {
    int64_t size, before, out_size;
  };
  InlineVector<Axis, 6> outer;
  int64_t before = 0, width = 1, after = 0;  // elements of a row
  int64_t num_rows = 1;                      // of the result

  PaddedRows(const Shape& x, const Shape& out, const Tensor& paddings) {
    int last = x.rank() - 1;
    while (last >= 0 && x.size(last) == out.size(last)) width *= x.size(last--);
    if (last < 0) return;
    before = engine::before(paddings, last) * width;
    after = engine::after(paddings, last) * width;
    width *= x.size(last);
    for (int i = 0; i < last; ++i) {
      outer.push_back({x.size(i), engine::before(paddings, i), out.size(i)});
      num_rows *= out.size(i);
    }
  }
  // The row of the input that a row of the result holds, -1 if it is all padding.
  int64_t source_of(int64_t row) const {
    int64_t source = 0, stride = 1;
    for (size_t i = outer.size(); i-- > 0;) {
      int64_t at = row % outer[i].out_size - outer[i].before;
      row /= outer[i].out_size;
      if (at < 0 || at >= outer[i].size) return -1;
      source += at * stride;
      stride *= outer[i].size;
    }
    return source;
  }
};

Status pad_kernel(KernelContext& c) {
  const Tensor &x = c.input(0), &out = c.output(0);
  if (out.num_elements() == 0) return {};
  const PaddedRows rows(x.shape(), out.shape(), c.input(1));
  visit_copied(x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const T padding = c.num_inputs() == 3 ? c.input(2).item<T>() : zero;
    const T* from = static_cast<const T*>(x.raw_data());
    T* to = static_cast<T*>(out.mutable_raw_data());
    const int64_t width = rows.before + rows.width + rows.after;
    for_ranges(rows.num_rows, kBytesPerChunk / (width * static_cast<int64_t>(sizeof(T))),
               [&](int64_t begin, int64_t end) {
                 for (int64_t row = begin; row < end; ++row) {
                   T* target = to + row * width;
                   const int64_t source = rows.source_of(row);
                   if (source < 0 || rows.width == 0) {
                     std::fill_n(target, width, padding);
                     continue;
                   }
                   std::fill_n(target, rows.before, padding);
                   std::copy_n(from + source * rows.width, rows.width, target + rows.before);
                   std::fill_n(target + rows.before + rows.width, rows.after, padding);
                 }
               });
  });
  return {};
}

std::optional<Movement> pad_reads(const ReadsContext& c) {
  const Tensor& paddings = c.value(1);
  if (!paddings) return std::nullopt;
  const Shape& x = c.shape(0);
  Movement movement = one_read(c.output(), Read::of_leading_axes(x.rank()));
  if (x == c.output()) return movement;
  movement.fill = c.num_inputs() == 3 ? 2 : Movement::kZeros;
  for (int i = 0; i < x.rank(); ++i) {
    movement.pieces[0].start.push_back(before(paddings, i));
    movement.pieces[0].size.push_back(x[i]);
  }
  return movement;
}

void pad_gradient(GradientContext& c) {
  if (!c.wants(0)) return;
  Tensor paddings = c.x(1);
  const int32_t zeros[] = {0, 0}, ends[] = {0, 1}, ones[] = {1, 1};
  Tensor begin = c(kStridedSlice,
                   {paddings, int32_vector(c, zeros), int32_vector(c, ends), int32_vector(c, ones)},
                   {.begin_mask = 1, .end_mask = 1, .shrink_axis_mask = 2});
  c.set_dx(0, c(kSlice, {c.dy(), begin, cast(c, c.shape_of_x(0), c.dtype_of_x(1))}));
}

void batch_padding(BatchContext& c) {
  std::vector<Tensor> inputs = {c.x(0)};
  for (int i = 1; i < c.num_inputs(); ++i) {
    if (gives_up_if_batched(c, {i})) return;
    inputs.push_back(i == 1 ? with_front_row(c, 1, 0, 0) : c.x(i));
  }
  apply_to_rows(c, inputs);
}

void define_pad(OpRegistry& ops) {
  kPad = ops.define<NoAttrs>({
      .name = "Pad",
      .summary = "The input with zeros before and after along each axis.",
      .inputs = {"input: T", "paddings: Tpaddings"},
      .outputs = {"output: T"},
      .types = {{"T", kValueTypes, kAllTypes}, {"Tpaddings", kIndexTypes}},
      .infer = padded_shape,
      .gradient = pad_gradient,
      .batch = batch_padding,
      .body = kernel(pad_kernel),
      .values_for_inference = {1},
      .reads = pad_reads,
  });
}

// Values that differ between rows take the places of zeros that were added.
void batch_padding_with_value(BatchContext& c) {
  if (!c.is_batched(2)) return batch_padding(c);
  const auto rank = c.rank(0);
  if (!rank || c.is_batched(1)) return c.use_loop();
  const Tensor all = c(kFill, {row_sizes(c, 0), c.constant(Tensor::scalar(true))});
  const Tensor is_given = c(kPad, {all, c.x(1)});
  const Tensor given =
      c.is_batched(0) ? c(kPad, {c.x(0), with_front_row(c, 1, 0, 0)}) : c(kPad, {c.x(0), c.x(1)});
  // A scalar of each row, [rows, 1, ...], without a gradient, as in a single row.
  const auto rows = c.num_rows_if_known();
  SizeList sizes(static_cast<size_t>(*rank) + 1, Size(1));
  sizes[0] = rows ? Size(*rows) : Size(c.num_rows());
  const Tensor value = c(kReshape, {c(kStopGradient, {c.x(2)}), vector_of(c, sizes)});
  c.set_y(0, c(kSelectV2, {is_given, given, value}));
}

Status pad_v2_shape(InferContext& c) {
  if (c.shape(2).has_rank() && c.shape(2).rank() != 0) {
    return invalid_argument("constant_values must be a scalar. Found: ", c.shape(2).to_message());
  }
  return padded_shape(c);
}

void define_pad_v2(OpRegistry& ops) {
  kPadV2 = ops.define<NoAttrs>({
      .name = "PadV2",
      .summary = "The input with a given value before and after along each axis.",
      .inputs = {"input: T", "paddings: Tpaddings", "constant_values: T"},
      .outputs = {"output: T"},
      .types = {{"T", kValueTypes, kAllTypes}, {"Tpaddings", kIndexTypes}},
      .infer = pad_v2_shape,
      .gradient = pad_gradient,
      .batch = batch_padding_with_value,
      .body = kernel(pad_kernel),
      .values_for_inference = {1},
      .reads = pad_reads,
  });
}

// --- MirrorPad and MirrorPadGrad.

// 1 if the edge itself is not repeated, else 0.
Result<int> edge_of(const MirrorPadAttrs& attrs) {
  if (attrs.mode == "REFLECT") return 1;
  if (attrs.mode == "SYMMETRIC") return 0;
  return invalid_argument("mode must be either REFLECT or SYMMETRIC, not '", attrs.mode, "'");
}

Status check_mirror(const InferContext& c, const Shape& x, const Tensor& paddings) {
  ASSIGN_OR_RETURN(int edge, edge_of(c.attrs<MirrorPadAttrs>()));
  if (!paddings) return {};
  for (int i = 0; i < x.rank(); ++i) {
    if (!x[i].is_number()) continue;
    // An axis without elements has no mirror, and needs none where nothing is added.
    int64_t most = std::max<int64_t>(x.size(i) - edge, 0);
    int64_t first = before(paddings, i), last = after(paddings, i);
    if (first <= most && last <= most) continue;
    return invalid_argument("paddings must be ", edge ? "less than" : "no greater than",
                            " the dimension size: ", first, ", ", last,
                            edge ? " not less than " : " greater than ", x.size(i));
  }
  return {};
}

// An axis of a smaller tensor and of the larger one that continues it by mirrors at both ends.
struct MirroredAxis {
  int64_t size, large_size, before, edge;

  // The place of the smaller axis that a place of the larger one shows.
  int64_t source_of(int64_t place) const {
    int64_t at = place - before;
    if (at < 0) at = -at - 1 + edge;
    return at >= size ? 2 * size - 1 - edge - at : at;
  }
  // Calls f for each place of the larger axis that shows a place of the smaller one, in order.
  template <typename F>
  void for_each_image(int64_t place, F&& f) const {
    int64_t in_front = before - 1 + edge - place;
    if (in_front >= 0 && in_front < before) f(in_front);
    f(before + place);
    int64_t behind = before + 2 * size - 1 - edge - place;
    if (behind >= before + size && behind < large_size) f(behind);
  }
};

// The axes of a tensor of rank 1 at least, and the number of its rows along the last of them.
struct Mirror {
  InlineVector<MirroredAxis, 6> outer;
  MirroredAxis row = {1, 1, 0, 0};
  int64_t num_rows = 1, num_large_rows = 1;

  Mirror(const Shape& small, const Shape& large, const Tensor& paddings, int edge) {
    for (int i = 0; i < small.rank(); ++i) {
      MirroredAxis axis = {small.size(i), large.size(i), before(paddings, i), edge};
      if (i + 1 == small.rank()) {
        row = axis;
      } else {
        outer.push_back(axis);
        num_rows *= axis.size;
        num_large_rows *= axis.large_size;
      }
    }
  }
};

// Around the tensor there are copies of parts of it, each read backwards along the axes that it is
// a mirror of.
std::optional<Movement> mirror_pad_reads(const ReadsContext& c) {
  constexpr size_t kMostPieces = 27;
  const Tensor& paddings = c.value(1);
  auto edge = edge_of(c.attrs<MirrorPadAttrs>());
  if (!paddings || !edge.ok()) return std::nullopt;
  const Shape& x = c.shape(0);
  Movement movement;
  movement.space = c.output();
  movement.pieces.emplace_back();
  for (int i = 0; i < x.rank(); ++i) {
    const int64_t in_front = before(paddings, i), behind = after(paddings, i);
    struct Part {
      Dim start, size, offset;
      bool backwards;
    };
    const Part all[] = {{0, in_front, c.subtract(x[i], in_front + *edge), true},
                        {in_front, x[i], 0, false},
                        {c.add(x[i], in_front), behind, *edge, true}};
    Movement::Pieces pieces;
    for (const Part& part : all) {
      if (part.size == Dim(0)) continue;
      for (Movement::Piece piece : movement.pieces) {
        piece.start.push_back(part.start);
        piece.size.push_back(part.size);
        piece.read.axes.push_back({part.offset, {{i, 1}}, false, part.backwards});
        pieces.push_back(std::move(piece));
      }
    }
    if (pieces.size() > kMostPieces) return std::nullopt;
    movement.pieces = std::move(pieces);
  }
  return movement;
}

Status mirror_pad_kernel(KernelContext& c) {
  const Tensor &x = c.input(0), &out = c.output(0);
  if (out.num_elements() == 0) return {};
  ASSIGN_OR_RETURN(int edge, edge_of(c.attrs<MirrorPadAttrs>()));
  const Mirror mirror(x.shape(), out.shape(), c.input(1), edge);
  const MirroredAxis& inner = mirror.row;
  visit_copied(x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const T* from = static_cast<const T*>(x.raw_data());
    T* to = static_cast<T*>(out.mutable_raw_data());
    auto write_row = [&](int64_t row) {
      int64_t rest = row, source = 0, stride = inner.size;
      for (size_t i = mirror.outer.size(); i-- > 0;) {
        const MirroredAxis& axis = mirror.outer[i];
        source += axis.source_of(rest % axis.large_size) * stride;
        stride *= axis.size;
        rest /= axis.large_size;
      }
      const T* small = from + source;
      T* large = to + row * inner.large_size;
      for (int64_t i = 0; i < inner.before; ++i) large[i] = small[inner.source_of(i)];
      std::copy_n(small, inner.size, large + inner.before);
      for (int64_t i = inner.before + inner.size; i < inner.large_size; ++i) {
        large[i] = small[inner.source_of(i)];
      }
    };
    for_ranges(mirror.num_large_rows,
               kBytesPerChunk / (inner.large_size * static_cast<int64_t>(sizeof(T))),
               [&](int64_t begin, int64_t end) {
                 for (int64_t row = begin; row < end; ++row) write_row(row);
               });
  });
  return {};
}

template <OpHandle<MirrorPadAttrs>& op>
void mirror_gradient(GradientContext& c) {
  if (c.wants(0)) c.set_dx(0, c(op, {c.dy(), c.x(1)}, c.attrs<MirrorPadAttrs>()));
}

void define_mirror_pad(OpRegistry& ops) {
  kMirrorPad = ops.define<MirrorPadAttrs>({
      .name = "MirrorPad",
      .summary = "The input with its own elements, mirrored, before and after along each axis.",
      .inputs = {"input: T", "paddings: Tpaddings"},
      .outputs = {"output: T"},
      .types = {{"T", kValueTypes, kAllTypes}, {"Tpaddings", kIndexTypes}},
      .infer = [](InferContext& c) -> Status {
        RETURN_IF_ERROR(padded_shape(c));
        return check_mirror(c, c.shape(0), c.value(1));
      },
      .gradient = mirror_gradient<kMirrorPadGrad>,
      .batch = batch_padding,
      .body = kernel(mirror_pad_kernel),
      .values_for_inference = {1},
      .reads = mirror_pad_reads,
  });
}

Status mirror_pad_grad_shape(InferContext& c) {
  const Shape& dy = c.shape(0);
  RETURN_IF_ERROR(check_paddings(c, dy));
  if (!dy.has_rank()) return unknown_outputs(c);
  Tensor paddings = c.value(1);
  if (!paddings) {
    set_unknown_dims(c, dy.rank());
    return {};
  }
  Shape out;
  for (int i = 0; i < dy.rank(); ++i) {
    if (before(paddings, i) < 0 || after(paddings, i) < 0) {
      return invalid_argument("Paddings must be non-negative: ", before(paddings, i), " ",
                              after(paddings, i));
    }
    const int64_t around = c.add(before(paddings, i), after(paddings, i)).number();
    if (dy[i].is_number() && dy.size(i) < around) {
      return invalid_argument("paddings ", before(paddings, i), ", ", after(paddings, i),
                              " are more than the dimension size ", dy.size(i));
    }
    out.push_back(dy[i].is_unknown() ? dy[i] : c.subtract(dy[i], around));
  }
  c.set_shape(0, out);
  return check_mirror(c, out, paddings);
}

// Each element of the result adds up its images in their order in dy.
Status mirror_pad_grad_kernel(KernelContext& c) {
  const Tensor &dy = c.input(0), &out = c.output(0);
  if (out.num_elements() == 0) return {};
  ASSIGN_OR_RETURN(int edge, edge_of(c.attrs<MirrorPadAttrs>()));
  const Mirror mirror(out.shape(), dy.shape(), c.input(1), edge);
  const MirroredAxis& inner = mirror.row;
  visit_plain(dy.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const T* from = static_cast<const T*>(dy.raw_data());
    T* to = static_cast<T*>(out.mutable_raw_data());
    auto add_row = [&](const T* large, T* sums) {
      auto add = [&](int64_t i) {
        T& sum = sums[inner.source_of(i)];
        sum = add_elements(sum, large[i]);
      };
      for (int64_t i = 0; i < inner.before; ++i) add(i);
      const T* middle = large + inner.before;
      for (int64_t i = 0; i < inner.size; ++i) sums[i] = add_elements(sums[i], middle[i]);
      for (int64_t i = inner.before + inner.size; i < inner.large_size; ++i) add(i);
    };
    auto images_of = [&](int64_t row) {
      InlineVector<int64_t, 6> places(mirror.outer.size(), 0);
      for (size_t i = mirror.outer.size(); i-- > 0;) {
        places[i] = row % mirror.outer[i].size;
        row /= mirror.outer[i].size;
      }
      InlineVector<int64_t, 9> images;  // rows of dy
      images.push_back(0);
      for (size_t i = 0; i < mirror.outer.size(); ++i) {
        const MirroredAxis& axis = mirror.outer[i];
        InlineVector<int64_t, 9> next;
        for (int64_t image : images) {
          axis.for_each_image(places[i],
                              [&](int64_t at) { next.push_back(image * axis.large_size + at); });
        }
        images = std::move(next);
      }
      return images;
    };
    for_ranges(mirror.num_rows,
               kBytesPerChunk / (inner.large_size * static_cast<int64_t>(sizeof(T))),
               [&](int64_t begin, int64_t end) {
                 for (int64_t row = begin; row < end; ++row) {
                   T* sums = to + row * inner.size;
                   std::fill_n(sums, inner.size, zero);
                   for (int64_t image : images_of(row)) {
                     add_row(from + image * inner.large_size, sums);
                   }
                 }
               });
  });
  return {};
}

void define_mirror_pad_grad(OpRegistry& ops) {
  kMirrorPadGrad = ops.define<MirrorPadAttrs>({
      .name = "MirrorPadGrad",
      .summary = "The elements that MirrorPad mirrored, added to those that they came from.",
      .inputs = {"input: T", "paddings: Tpaddings"},
      .outputs = {"output: T"},
      .types = {{"T", kNumberTypes, kAllTypes}, {"Tpaddings", kIndexTypes}},
      .infer = mirror_pad_grad_shape,
      .gradient = mirror_gradient<kMirrorPad>,
      .batch = batch_padding,
      .body = kernel(mirror_pad_grad_kernel),
      .values_for_inference = {1},
  });
}

// --- Tile.

Status tile_shape(InferContext& c) {
  const Shape &x = c.shape(0), &multiples = c.shape(1);
  if (multiples.has_rank() && x.has_rank() &&
      (multiples.rank() != 1 || (multiples[0].is_number() && multiples.size(0) != x.rank()))) {
    return invalid_argument("Expected multiples argument to be a vector of length ", x.rank(),
                            " but got shape ", multiples.to_message());
  }
  if (!x.has_rank()) return set_rank(c, multiples);
  if (Tensor value = c.value(1)) {
    for (int i = 0; i < x.rank(); ++i) {
      if (integer_at(value, i) < 0) {
        return invalid_argument("Expected multiples[", i, "] >= 0, but got ", integer_at(value, i));
      }
    }
  }
  auto sizes = c.sizes(1);
  Shape out;
  for (int i = 0; i < x.rank(); ++i) {
    bool known = sizes && i < static_cast<int>(sizes->size()) && !x[i].is_unknown() &&
                 !(*sizes)[i].is_unknown();
    out.push_back(known ? c.multiply(x[i], (*sizes)[i]) : Dim::unknown());
  }
  c.set_shape(0, out);
  return {};
}

std::optional<Movement> tile_reads(const ReadsContext& c) {
  const Tensor& multiples = c.value(1);
  if (!multiples) return std::nullopt;
  const Shape& x = c.shape(0);
  Movement movement;
  Movement::Piece& piece = movement.pieces.emplace_back();
  for (int i = 0; i < x.rank(); ++i) {
    movement.space.push_back(integer_at(multiples, i));
    movement.space.push_back(x[i]);
    movement.split.push_back(2);
    piece.read.axes.push_back({0, {{2 * i + 1, 1}}});
  }
  return movement;
}

Status tile_kernel(KernelContext& c) {
  const Tensor &x = c.input(0), &out = c.output(0);
  auto from = row_major_strides(x.shape()), to = row_major_strides(out.shape());
  CopyAxes axes;
  for (int i = 0; i < x.rank(); ++i) {
    int64_t size = x.shape().size(i);
    axes.push_back({integer_at(c.input(1), i), 0, to[i] * size});
    axes.push_back({size, from[i], to[i]});
  }
  copy_strided(x.dtype(), axes, x.raw_data(), out.mutable_raw_data());
  return {};
}

// The gradient where the rank is found when it runs.
Tensor summed_over_multiples(GradientContext& c) {
  const Tensor multiples_and_sizes[] = {cast(c, c.x(1), DType::kInt32), c.shape_of_x(0)};
  const int32_t flat[] = {-1};
  const Tensors packed = c.apply(*kPack, multiples_and_sizes, PackAttrs{.axis = 1});
  if (packed.empty()) return {};
  Tensor pairs = c(kReshape, {packed[0], int32_vector(c, flat)});
  auto scalar = [&](int number) { return Size(number).tensor(c); };
  Tensor axes = c(kRange, {scalar(0), c(kSize, {pairs}), scalar(2)});
  Tensor sum = c(kSum, {c(kReshape, {c.dy(), pairs}), axes});
  return c(kReshape, {sum, c.shape_of_x(0)});
}

// The copies added up: dy as [multiple, size, multiple, size, ...], summed over the multiples.
void tile_gradient(GradientContext& c) {
  if (!c.wants(0)) return;
  if (!c.static_shape_of_x(0).has_rank()) return c.set_dx(0, summed_over_multiples(c));
  SizeList sizes = sizes_of_x(c, 0), pairs;
  Tensor multiples = c.x(1), known = known_value(multiples);
  std::vector<int32_t> axes;
  for (int i = 0; i < static_cast<int>(sizes.size()); ++i) {
    pairs.push_back(known ? Size(integer_at(known, i)) : Size(element_of(c, multiples, i)));
    pairs.push_back(sizes[i]);
    axes.push_back(2 * i);
  }
  Tensor dy = c(kReshape, {c.dy(), vector_of(c, pairs)});
  c.set_dx(0, c(kSum, {dy, int32_vector(c, axes)}));
}

void batch_tile(BatchContext& c) {
  if (gives_up_if_batched(c, {1})) return;
  const Tensor inputs[] = {c.x(0), with_front(c, 1, 1)};
  apply_to_rows(c, inputs);
}

void define_tile(OpRegistry& ops) {
  kTile = ops.define<NoAttrs>({
      .name = "Tile",
      .summary = "The input repeated, as often as multiples says for each axis.",
      .inputs = {"input: T", "multiples: Tmultiples"},
      .outputs = {"output: T"},
      .types = {{"T", kAllTypes}, {"Tmultiples", kIndexTypes}},
      .infer = tile_shape,
      .gradient = tile_gradient,
      .batch = batch_tile,
      .body = kernel(tile_kernel),
      .values_for_inference = {1},
      .reads = tile_reads,
  });
}

}  // namespace

void define_padding_ops(OpRegistry& ops) {
  define_pad(ops);
  define_pad_v2(ops);
  define_mirror_pad(ops);
  define_mirror_pad_grad(ops);
  define_tile(ops);
}

}  // namespace graven::engine
