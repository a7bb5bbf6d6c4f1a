#include "graven/ops/strided_slice.h"

#include <algorithm>

#include "graven/ops/elements.h"

namespace graven::engine {
namespace {

bool has_bit(int64_t mask, size_t i) { return i < 63 && (mask >> i & 1); }

// Where a slice of numbers along an axis of known size starts, and how many elements it has.
StridedSlice::Axis known_axis(int64_t size, std::optional<int64_t> begin,
                              std::optional<int64_t> end, int64_t stride) {
  // Backwards, a slice may end before the first element.
  int64_t low = stride > 0 ? 0 : -1, high = stride > 0 ? size : size - 1;
  auto place = [&](std::optional<int64_t> index, int64_t whole) {
    if (!index) return whole;
    return std::clamp(*index < 0 ? *index + size : *index, low, high);
  };
  int64_t first = place(begin, stride > 0 ? low : high);
  int64_t last = place(end, stride > 0 ? high : low);
  int64_t length = last - first;
  int64_t count = 0;
  if (length != 0 && (length < 0) == (stride < 0)) {
    count = length / stride + (length % stride != 0 ? 1 : 0);
  }
  return {Dim(count), first, stride, true};
}

// max(a - b, 0)
Dim difference(const InferContext& dims, Dim a, Dim b) { return dims.subtract(dims.max(a, b), b); }

// How many elements a slice along an axis of symbolic size has. Bounds that are absent are masked.
Dim symbolic_count(const InferContext& dims, Dim size, std::optional<int64_t> begin,
                   std::optional<int64_t> end, Dim end_size, int64_t stride) {
  if (size.is_unknown()) return Dim::unknown();
  auto min = [&](Dim a, Dim b) { return dims.subtract(dims.add(a, b), dims.max(a, b)); };
  Dim count;
  if (stride < 0) {
    if (begin && *begin != -1) return Dim::unknown();
    if (end) return Dim::unknown();
    count = size;
  } else {
    bool to_the_end = !end || end_size == size;
    int64_t first = begin.value_or(0);
    if (to_the_end) {
      count = first == 0 ? size : first > 0 ? difference(dims, size, first) : min(size, -first);
    } else if (first >= 0 && *end < 0) {
      count = difference(dims, size, first - *end);
    } else if (first >= 0) {
      count = *end <= first ? Dim(0) : difference(dims, min(*end, size), first);
    } else {
      return Dim::unknown();
    }
  }
  int64_t step = stride < 0 ? -stride : stride;
  return step == 1 ? count : dims.ceil_div(count, step);
}

}  // namespace

CopyAxes StridedSlice::box(const Shape& input) const {
  auto strides = row_major_strides(input);
  CopyAxes box;
  for (size_t i = 0; i < axes.size(); ++i) {
    box.push_back({axes[i].size.number(), strides[i] * axes[i].stride, 1});
  }
  int64_t step = 1;
  for (size_t i = axes.size(); i-- > 0;) {
    box[i].to = step;
    step *= box[i].size;
  }
  return box;
}

int64_t StridedSlice::first_element(const Shape& input) const {
  auto strides = row_major_strides(input);
  int64_t first = 0;
  for (size_t i = 0; i < axes.size(); ++i) first += axes[i].begin * strides[i];
  return first;
}

Result<StridedSlice> resolve_slice(const InferContext& dims, const StridedSliceAttrs& attrs,
                                   const Shape& input, std::span<const SliceBound> begin,
                                   std::span<const SliceBound> end,
                                   std::span<const SliceBound> strides) {
  const size_t n = begin.size();
  if (end.size() != n || strides.size() != n) {
    return invalid_argument("Expected begin, end, and strides to be 1D equal size tensors, but ",
                            "got shapes [", n, "], [", end.size(), "], and [", strides.size(),
                            "] instead.");
  }
  int64_t ellipses = n < 63 ? attrs.ellipsis_mask & ((int64_t{1} << n) - 1) : attrs.ellipsis_mask;
  if (ellipses & (ellipses - 1)) {
    return invalid_argument("Multiple ellipses in slice spec not allowed");
  }
  int num_axes = 0;  // that entries name
  for (size_t e = 0; e < n; ++e) {
    if (!has_bit(ellipses, e) && !has_bit(attrs.new_axis_mask, e)) ++num_axes;
  }
  StridedSlice slice;
  auto keep_whole = [&] {
    Dim size = input[static_cast<int>(slice.axes.size())];
    slice.axes.push_back({.size = size, .result = slice.shape.rank()});
    slice.shape.push_back(size);
  };
  for (size_t e = 0; e < n; ++e) {
    if (has_bit(ellipses, e)) {
      for (int i = input.rank() - num_axes; i > 0; --i) keep_whole();
      continue;
    }
    if (has_bit(attrs.new_axis_mask, e)) {
      slice.shape.push_back(1);
      continue;
    }
    int axis = static_cast<int>(slice.axes.size());
    if (axis == input.rank()) {
      if (axis == 0) return invalid_argument("Attempting to slice scalar input.");
      return invalid_argument("Index out of range using input dim ", axis, "; input has only ",
                              input.rank(), " dims");
    }
    const Dim size = input[axis];
    const auto stride = strides[e].number;
    if (stride == 0) return invalid_argument("strides[", e, "] must be non-zero");
    if (has_bit(attrs.shrink_axis_mask, e)) {
      if (stride && *stride < 0) {
        return invalid_argument("only stride 1 allowed on non-range indexing.");
      }
      auto index = begin[e].number;
      StridedSlice::Axis one = {Dim(1), 0, 1, false, -1, static_cast<int>(e)};
      if (index && size.is_number()) {
        one.begin = *index < 0 ? *index + size.number() : *index;
        one.is_known = true;
        if (one.begin < 0 || one.begin >= size.number()) {
          return invalid_argument("slice index ", *index, " of dimension ", axis,
                                  " out of bounds.");
        }
      }
      slice.axes.push_back(one);
      continue;
    }
    bool from_start = has_bit(attrs.begin_mask, e), to_end = has_bit(attrs.end_mask, e);
    auto first = from_start ? std::nullopt : begin[e].number;
    auto last = to_end ? std::nullopt : end[e].number;
    const bool begin_known = from_start || first, end_known = to_end || last;
    if (stride && begin_known && end_known && size.is_number()) {
      slice.axes.push_back(known_axis(size.number(), first, last, *stride));
    } else {
      StridedSlice::Axis open = {Dim::unknown(), first.value_or(0), stride.value_or(1), false};
      // Backwards that end is before the start.
      bool ends_with_axis =
          !to_end && stride.value_or(-1) > 0 && end[e].size == size && !size.is_unknown();
      if (stride && begin_known && (end_known || ends_with_axis)) {
        open.size = symbolic_count(dims, size, first, ends_with_axis ? std::nullopt : last,
                                   to_end ? Dim::unknown() : end[e].size, *stride);
      } else if (stride == 1 && !to_end && (from_start || first == 0) && size == Dim(0)) {
        open.size = 0;
      }
      if (open.size.is_unknown()) open.size = dims.new_symbol("slice");
      slice.axes.push_back(open);
    }
    slice.axes.back().result = slice.shape.rank();
    slice.axes.back().entry = static_cast<int>(e);
    slice.shape.push_back(slice.axes.back().size);
  }
  while (static_cast<int>(slice.axes.size()) < input.rank()) keep_whole();
  return slice;
}

Result<StridedSlice> resolve_slice(const StridedSliceAttrs& attrs, const Shape& input,
                                   const Tensor& begin, const Tensor& end, const Tensor& strides) {
  auto bounds = [](const Tensor& values) {
    SliceBounds list;
    for (int64_t i = 0; i < values.num_elements(); ++i) list.push_back({integer_at(values, i)});
    return list;
  };
  return resolve_slice(attrs, input, bounds(begin), bounds(end), bounds(strides));
}

Result<StridedSlice> resolve_slice(const StridedSliceAttrs& attrs, const Shape& input,
                                   std::span<const SliceBound> begin,
                                   std::span<const SliceBound> end,
                                   std::span<const SliceBound> strides) {
  const TypeBindings no_types = {};
  InferContext numbers(*kStridedSlice, attrs, {}, no_types, 0, nullptr);
  return resolve_slice(numbers, attrs, input, begin, end, strides);
}

}  // namespace graven::engine
