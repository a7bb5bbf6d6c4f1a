#include "graven/batching/piece_of_rows.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "graven/ir/graph.h"
#include "graven/ir/moving_ops.h"
#include "graven/ir/structural_ops.h"

namespace graven::engine {
namespace {

Tensor scalar(Emitter& emit, int value) {
  return emit.constant(Tensor::scalar(static_cast<int32_t>(value)));
}

using Numbers = InlineVector<int32_t, 8>;

Tensor vector(Emitter& emit, const Numbers& values) {
  return emit.constant(Tensor::vector(std::span<const int32_t>(values)));
}

const Shape& row_shape_of(const BatchContext& c, int i) {
  const OutputRef input = c.node().inputs()[static_cast<size_t>(i)];
  return input.node->output(input.index).shape;
}

// The bounds of a StridedSlice, an entry for each axis; bits of masks are set for its entry.
class Bounds {
 public:
  void add_whole() {
    attrs_.begin_mask |= bit();
    attrs_.end_mask |= bit();
    add(0, 0, 1);
  }
  void add_element(int64_t at) {
    attrs_.shrink_axis_mask |= bit();
    add(at, at, 1);
    num_used_ = begin_.size();
  }
  // To the end if none is given.
  void add_range(int64_t begin, std::optional<int64_t> end, int64_t stride) {
    if (!end) attrs_.end_mask |= bit();
    add(begin, end.value_or(0), stride);
    num_used_ = begin_.size();
  }
  bool is_whole() const { return num_used_ == 0; }
  // False for numbers or axes that no bound can name.
  bool fits() const { return fits_ && begin_.size() < 63; }
  Tensor cut(Emitter& emit, const Tensor& x) {
    for (Numbers* bounds : {&begin_, &end_, &strides_}) bounds->resize(num_used_);
    const int64_t used = (int64_t{1} << num_used_) - 1;
    attrs_.begin_mask &= used;
    attrs_.end_mask &= used;
    return emit(kStridedSlice,
                {x, vector(emit, begin_), vector(emit, end_), vector(emit, strides_)}, attrs_);
  }

 private:
  int64_t bit() const { return int64_t{1} << std::min<size_t>(begin_.size(), 62); }
  void add(int64_t begin, int64_t end, int64_t stride) {
    for (int64_t number : {begin, end, stride}) fits_ &= static_cast<int32_t>(number) == number;
    begin_.push_back(static_cast<int32_t>(begin));
    end_.push_back(static_cast<int32_t>(end));
    strides_.push_back(static_cast<int32_t>(stride));
  }
  Numbers begin_, end_, strides_;
  StridedSliceAttrs attrs_;
  size_t num_used_ = 0;  // entries up to the last one that cuts
  bool fits_ = true;
};

}  // namespace

PieceOfRows::PieceOfRows(BatchContext& c, RowSizes& sizes, const Movement::Piece& piece,
                         std::span<const Dim> box)
    : c_(c), sizes_(sizes), piece_(piece), box_(box), tensor_(c.x(piece.input)) {
  if (c.is_batched(piece.input)) axes_.push_back({.indices = {kRows}});
}

Tensor PieceOfRows::make() {
  const bool is_made = cut() && look_up() && split() && turn() && fit();
  return is_made ? tensor_ : Tensor();
}

const Movement::RunTimeOffset* PieceOfRows::offset_along(int axis) const {
  const auto at = std::ranges::find(piece_.offsets, axis, &Movement::RunTimeOffset::axis);
  return at == piece_.offsets.end() ? nullptr : &*at;
}

int PieceOfRows::place_of(int index) const {
  for (size_t i = 0; i < axes_.size(); ++i) {
    if (axes_[i].indices.size() == 1 && axes_[i].indices[0] == index) return static_cast<int>(i);
  }
  return -1;
}

struct PieceOfRows::Count {
  InlineVector<int, 2> indices;  // the fastest last
  Dim size = 1;
  int64_t step = 1;  // of the fastest
};

std::optional<PieceOfRows::Count> PieceOfRows::count_of(const Read::Axis& axis) const {
  auto rest = axis.terms;
  Dim step = Dim::unknown();
  for (const Read::Term& term : rest) {
    if (!term.coefficient.is_number()) continue;
    if (step.is_unknown() || term.coefficient.number() < step.number()) step = term.coefficient;
  }
  if (step.is_unknown() || step == Dim(0)) return std::nullopt;
  Count count;
  count.step = step.number();
  while (!rest.empty()) {
    auto* next = std::ranges::find(rest, step, &Read::Term::coefficient);
    if (next == rest.end()) return std::nullopt;
    const int index = next->index + 1;
    count.indices.insert(count.indices.begin(), index);
    count.size = sizes_.dims().multiply(count.size, size_of(index));
    step = sizes_.dims().multiply(step, size_of(index));
    rest.erase(next);
  }
  return count;
}

bool PieceOfRows::cut() {
  const Shape& row = row_shape_of(c_, piece_.input);
  const DimArithmetic& dims = sizes_.dims();
  Bounds bounds;
  Numbers turned_round;
  if (!axes_.empty()) bounds.add_whole();  // the rows
  for (int k = 0; k < row.rank(); ++k) {
    const Read::Axis& read = piece_.read.axes[static_cast<size_t>(k)];
    const Movement::RunTimeOffset* offset = offset_along(k);
    if (offset || (read.terms.empty() && row[k] == Dim(1))) {
      const bool is_element = read.terms.empty() && read.offset == Dim(0) && !read.backwards;
      if (offset && !is_element) return false;
      axes_.push_back({.size = row[k], .offset = offset});
      bounds.add_whole();
      continue;
    }
    if (read.broadcasts) {
      axes_.push_back({.indices = {read.terms[0].index + 1}, .size = row[k], .may_be_one = true});
      bounds.add_whole();
      continue;
    }
    if (!read.offset.is_number()) return false;
    const int64_t first = read.backwards ? -1 - read.offset.number() : read.offset.number();
    if (read.terms.empty()) {
      bounds.add_element(first);
      continue;
    }
    auto count = count_of(read);
    if (!count) return false;
    axes_.push_back({.indices = count->indices, .size = count->size});
    const Dim reach = dims.add(read.offset, dims.multiply(count->step, count->size));
    if (reach == row[k] && read.offset == Dim(0) && count->step == 1) {
      bounds.add_whole();
      if (read.backwards) turned_round.push_back(static_cast<int32_t>(axes_.size() - 1));
    } else if (reach == row[k]) {
      bounds.add_range(first, std::nullopt, read.backwards ? -count->step : count->step);
    } else if (reach.is_number()) {
      const int64_t last = read.backwards ? -1 - reach.number() : reach.number();
      bounds.add_range(first, last, read.backwards ? -count->step : count->step);
    } else {
      return false;
    }
  }
  if (!bounds.is_whole() && !bounds.fits()) return false;
  if (!bounds.is_whole()) tensor_ = bounds.cut(c_, tensor_);
  if (!turned_round.empty()) tensor_ = c_(kReverseV2, {tensor_, vector(c_, turned_round)});
  return true;
}

bool PieceOfRows::look_up() {
  for (size_t at = 0; at < axes_.size();) {
    const Movement::RunTimeOffset* offset = axes_[at].offset;
    if (!offset) {
      ++at;
      continue;
    }
    // GatherV2 refuses an index, and takes none that counts from the end.
    if (!offset->refuse || offset->counts_from_end || c_.rank(offset->input) != 0) return false;
    const Tensor& index = c_.x(offset->input);
    const Tensor place = scalar(c_, static_cast<int>(at));
    const int rows = place_of(kRows);
    if (!c_.is_batched(offset->input)) {
      tensor_ = c_(kGatherV2, {tensor_, index, place});
    } else if (rows == 0) {
      tensor_ = c_(kGatherV2, {tensor_, index, place}, {.batch_dims = 1});
    } else if (rows < 0) {
      tensor_ = c_(kGatherV2, {tensor_, index, place});
      axes_[at] = {.indices = {kRows}};
      ++at;
      continue;
    } else {
      return false;
    }
    axes_.erase(axes_.begin() + at);
  }
  return true;
}

bool PieceOfRows::split() {
  const bool is_split =
      std::ranges::any_of(axes_, [](const Axis& axis) { return axis.indices.size() > 1; });
  if (!is_split) return true;
  const int rows = place_of(kRows);
  if (rows > 0) return false;
  InlineVector<Axis, 6> parts;
  Movement::Indices sizes;
  for (const Axis& axis : axes_) {
    if (axis.indices.size() <= 1) {
      parts.push_back(axis);
      if (rows < 0 || parts.size() > 1) sizes.push_back(axis.size);
      continue;
    }
    for (int index : axis.indices) {
      parts.push_back({.indices = {index}, .size = size_of(index)});
      sizes.push_back(size_of(index));
    }
  }
  const Tensor shape = sizes_.vector_for_reshape(rows == 0, sizes);
  if (!shape) return false;
  tensor_ = c_(kReshape, {tensor_, shape});
  axes_ = std::move(parts);
  return true;
}

void PieceOfRows::squeeze(std::span<const int> axes) {
  if (axes.empty()) return;
  tensor_ = c_(kSqueeze, {tensor_}, {.squeeze_dims = {axes.begin(), axes.end()}});
  for (size_t i = axes.size(); i-- > 0;) axes_.erase(axes_.begin() + axes[i]);
}

bool PieceOfRows::turn() {
  InlineVector<int, 6> indices, ones;
  for (size_t i = 0; i < axes_.size(); ++i) {
    if (axes_[i].is_one()) {
      ones.push_back(static_cast<int>(i));
    } else {
      indices.push_back(axes_[i].indices[0]);
    }
  }
  InlineVector<int, 6> sorted = indices;
  std::ranges::sort(sorted);
  if (std::ranges::adjacent_find(sorted) != sorted.end()) return false;  // a diagonal
  if (indices == sorted) return true;
  squeeze(ones);
  Numbers order;
  InlineVector<Axis, 6> turned;
  for (int index : sorted) {
    order.push_back(place_of(index));
    turned.push_back(axes_[static_cast<size_t>(order.back())]);
  }
  tensor_ = c_(kTranspose, {tensor_, vector(c_, order)});
  axes_ = std::move(turned);
  return true;
}

bool PieceOfRows::fit() {
  InlineVector<int, 6> dropped, added;
  bool broadcasts = false;
  size_t at = 0;
  const auto is_one = [&] { return at < axes_.size() && axes_[at].is_one(); };
  const int num_indices = static_cast<int>(box_.size()) + 1;
  for (int index = 0; index < num_indices; ++index) {
    const bool is_wide = index == kRows || !(size_of(index) == Dim(1));
    if (place_of(index) < 0) {  // an axis of size 1 in its place serves
      if (is_one()) {
        ++at;
      } else {
        added.push_back(index);
      }
      broadcasts |= is_wide;
      continue;
    }
    while (is_one()) dropped.push_back(static_cast<int>(at++));
    broadcasts |= axes_[at++].may_be_one && is_wide;
  }
  while (at < axes_.size()) dropped.push_back(static_cast<int>(at++));
  squeeze(dropped);
  // BroadcastTo adds axes in front itself.
  int in_front = 0;
  for (int index : added) {
    if (broadcasts && index == in_front) {
      ++in_front;
    } else {
      tensor_ = c_(kExpandDims, {tensor_, scalar(c_, index - in_front)});
    }
  }
  if (!broadcasts) return true;
  const Tensor shape = sizes_.vector(/*with_rows=*/true, box_);
  if (shape) tensor_ = c_(kBroadcastTo, {tensor_, shape});
  return static_cast<bool>(shape);
}

}  // namespace graven::engine
