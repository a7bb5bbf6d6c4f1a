#include <algorithm>
#include <limits>
#include <vector>

#include "graven/ir/infer_context.h"
#include "graven/ir/kernel.h"
#include "graven/ops/elements.h"
#include "graven/ops/reduction_ops.h"
#include "graven/ops/register_ops.h"

namespace graven::engine {
namespace {

Status arg_shape(InferContext& c) {
  const Shape& x = c.shape(0);
  if (c.shape(1).has_rank() && c.shape(1).rank() != 0) {
    return invalid_argument("dim must be a scalar, but received tensor of shape: ",
                            c.shape(1).to_message());
  }
  c.set_shape(0, Shape::unknown_rank());
  if (!x.has_rank()) return {};
  Tensor dimension = c.value(1);
  if (!dimension && x.rank() > 0) {
    c.set_shape(0, Shape(std::vector<int64_t>(x.rank() - 1, -1)));
    return {};
  }
  const int64_t given = dimension ? integer_at(dimension, 0) : 0;
  if (given < -x.rank() || given >= x.rank()) {
    return invalid_argument("Expected dimension in the range [", -x.rank(), ", ", x.rank(),
                            "), but got ", given);
  }
  const int axis = static_cast<int>(given < 0 ? given + x.rank() : given);
  if (x[axis] == Dim(0)) {
    return invalid_argument("Reduction axis ", axis, " is empty in shape ", x.to_message());
  }
  Shape out = x;
  out.erase(axis);
  c.set_shape(0, out);
  return {};
}

// The type in which elements of a stored type are compared.
template <typename T>
using Compared = std::conditional_t<std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>, float,
                                    std::conditional_t<std::is_same_v<T, bool>, uint8_t, T>>;

// Whether y takes the place of x: NaN counts as more than all numbers, and the first of equal
// elements stays. Without a branch: which element wins cannot be foreseen.
template <bool is_max, typename T>
bool beats(T y, T x) {
  if constexpr (std::is_floating_point_v<T>) return (is_max ? !(y <= x) : !(y >= x)) & (x == x);
  return is_max ? y > x : y < x;
}

// Lanes that are compared at a time, so that the compiler makes vectors of them, and the elements
// in which first the extremum is found, then its place.
constexpr int64_t kBlock = 256, kChunk = 1 << 15;

template <typename T>
constexpr int64_t kLanesOf = sizeof(T) == 8 ? 8 : 16;

// The extremum of up to kBlock elements; NaN if there is one.
template <bool is_max, typename T>
T extremum(const T* x, int64_t n) {
  // All bits set where a lane has seen NaN.
  using Mask = std::conditional_t<sizeof(T) == 8, int64_t, int32_t>;
  constexpr int64_t kLanes = kLanesOf<T>;
  T best = x[0];
  int64_t i = 0;
  if (n >= 2 * kLanes) {
    T lanes[kLanes];
    Mask nan[kLanes] = {};
    std::copy_n(x, kLanes, lanes);
    for (; i + kLanes <= n; i += kLanes) {
      for (int64_t k = 0; k < kLanes; ++k) {
        const T value = x[i + k];
        lanes[k] = (is_max ? value > lanes[k] : value < lanes[k]) ? value : lanes[k];
        if constexpr (std::is_floating_point_v<T>) nan[k] |= value != value ? Mask(-1) : Mask(0);
      }
    }
    best = lanes[0];
    for (int64_t k = 0; k < kLanes; ++k) {
      if (nan[k]) lanes[k] = std::numeric_limits<T>::quiet_NaN();
      if (beats<is_max>(lanes[k], best)) best = lanes[k];
    }
  }
  for (; i < n; ++i) {
    if (beats<is_max>(x[i], best)) best = x[i];
  }
  return best;
}

template <typename T>
struct Place {
  T value;
  int64_t at;
};

// Where the extremum of contiguous elements is first found.
template <bool is_max, typename T>
Place<T> find_in_run(const T* x, int64_t n) {
  Place<T> best = {x[0], 0};  // at the beginning of its block
  for (int64_t block = 0; block < n; block += kBlock) {
    const T value = extremum<is_max>(x + block, std::min(kBlock, n - block));
    if (block == 0 || beats<is_max>(value, best.value)) best = {value, block};
  }
  const bool is_nan = best.value != best.value;
  while (is_nan ? x[best.at] == x[best.at] : x[best.at] != best.value) ++best.at;
  return best;
}

// Rows of at most so many elements are compared side by side, so many at a time: alone, a row's
// lanes hardly begin before they are compared with each other.
constexpr int64_t kShortRow = 128, kRowsAtOnce = 8;

// Where the extrema of kRowsAtOnce rows of n elements are first found. By places alone and without
// a branch: rows do not wait for each other, and no guess is wrong.
template <bool is_max, typename T, typename Index>
void find_side_by_side(const T* x, int64_t n, Index* out) {
  int64_t at[kRowsAtOnce] = {};
  for (int64_t i = 1; i < n; ++i) {
    for (int64_t row = 0; row < kRowsAtOnce; ++row) {
      const T* from = x + row * n;
      const int64_t wins = -static_cast<int64_t>(beats<is_max>(from[i], from[at[row]]));
      at[row] += (i - at[row]) & wins;
    }
  }
  for (int64_t row = 0; row < kRowsAtOnce; ++row) out[row] = static_cast<Index>(at[row]);
}

template <bool is_max, typename T, typename Index>
void find_in_rows(const T* x, int64_t rows, int64_t n, Index* out) {
  if (rows == 1 && n > 2 * kChunk) {
    std::vector<Place<T>> found((n + kChunk - 1) / kChunk);
    for_ranges(n, kChunk, [&](int64_t begin, int64_t end) {
      Place<T> place = find_in_run<is_max>(x + begin, end - begin);
      found[begin / kChunk] = {place.value, begin + place.at};
    });
    Place<T> best = found[0];
    for (const Place<T>& place : found)
      best = beats<is_max>(place.value, best.value) ? place : best;
    out[0] = static_cast<Index>(best.at);
    return;
  }
  for_ranges(rows, kChunk / n, [&](int64_t begin, int64_t end) {
    int64_t row = begin;
    for (; n <= kShortRow && row + kRowsAtOnce <= end; row += kRowsAtOnce) {
      find_side_by_side<is_max>(x + row * n, n, out + row);
    }
    for (; row < end; ++row) out[row] = static_cast<Index>(find_in_run<is_max>(x + row * n, n).at);
  });
}

// Of matrices [n, inner], the places in each column, a group of columns at a time.
template <bool is_max, typename T, typename Index>
void find_in_columns(const T* x, int64_t outer, int64_t n, int64_t inner, Index* out) {
  constexpr int64_t kColumns = 256;
  const int64_t groups = (inner + kColumns - 1) / kColumns;
  for_ranges(outer * groups, kChunk / (n * std::min(inner, kColumns)),
             [&](int64_t begin, int64_t end) {
               T best[kColumns];
               for (int64_t i = begin; i < end; ++i) {
                 const int64_t first = i % groups * kColumns;
                 const int64_t columns = std::min(kColumns, inner - first);
                 const T* from = x + i / groups * n * inner + first;
                 Index* at = out + i / groups * inner + first;
                 std::copy_n(from, columns, best);
                 std::fill_n(at, columns, Index(0));
                 for (int64_t row = 1; row < n; ++row) {
                   const T* values = from + row * inner;
                   for (int64_t k = 0; k < columns; ++k) {
                     const bool is_better = beats<is_max>(values[k], best[k]);
                     best[k] = is_better ? values[k] : best[k];
                     at[k] = is_better ? static_cast<Index>(row) : at[k];
                   }
                 }
               }
             });
}

template <bool is_max, typename Index>
Status find_extrema(KernelContext& c) {
  const Tensor& x = c.input(0);
  ASSIGN_OR_RETURN(int axis, normalized_axis(integer_at(c.input(1), 0), x.rank()));
  Index* out = c.out<Index>(0).data();
  int64_t outer = 1, inner = 1;
  for (int i = 0; i < axis; ++i) outer *= x.shape().size(i);
  for (int i = axis + 1; i < x.rank(); ++i) inner *= x.shape().size(i);
  const int64_t n = x.shape().size(axis);
  if (outer * inner == 0) return {};
  visit_plain(x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    if constexpr (!is_complex(kDTypeOf<T>)) {
      using C = Compared<T>;
      const C* elements = static_cast<const C*>(x.raw_data());
      std::vector<C> copy;
      if constexpr (sizeof(C) != sizeof(T)) {
        for (T element : x.data<T>()) copy.push_back(static_cast<C>(element));
        elements = copy.data();
      }
      if (inner == 1) {
        find_in_rows<is_max>(elements, outer, n, out);
      } else {
        find_in_columns<is_max>(elements, outer, n, inner, out);
      }
    }
  });
  return {};
}

template <bool is_max>
Status arg_kernel(KernelContext& c) {
  switch (c.output(0).dtype()) {
    case DType::kInt16:
      return find_extrema<is_max, int16_t>(c);
    case DType::kUInt16:
      return find_extrema<is_max, uint16_t>(c);
    case DType::kInt32:
      return find_extrema<is_max, int32_t>(c);
    default:
      return find_extrema<is_max, int64_t>(c);
  }
}

constexpr DTypeSet kMoreIndexTypes = kIndexTypes | DTypeSet{DType::kInt16, DType::kUInt16};

}  // namespace

void define_arg_ops(OpRegistry& ops) {
  ops.define(kArgMax,
             {
                 .name = "ArgMax",
                 .summary = "The index of the first largest element along an axis, or of the "
                            "first NaN.",
                 .inputs = {"input: T", "dimension: Tidx"},
                 .outputs = {"output: output_type"},
                 .types = {{"T", kRealTypes | kBoolType},
                           {"Tidx", kIndexTypes | DTypeSet{DType::kInt16}},
                           {"output_type", kMoreIndexTypes}},
                 .infer = arg_shape,
                 .gradient = not_differentiable,
                 .body = kernel(arg_kernel<true>),
                 .values_for_inference = {1},
             });
  ops.define(kArgMin,
             {
                 .name = "ArgMin",
                 .summary = "The index of the first smallest element along an axis, or of the "
                            "first NaN.",
                 .inputs = {"input: T", "dimension: Tidx"},
                 .outputs = {"output: output_type"},
                 .types = {{"T", kRealTypes | kBoolType},
                           {"Tidx", kIndexTypes},
                           {"output_type", kIndexTypes}},
                 .infer = arg_shape,
                 .gradient = not_differentiable,
                 .body = kernel(arg_kernel<false>),
                 .values_for_inference = {1},
             });
}

}  // namespace graven::engine
