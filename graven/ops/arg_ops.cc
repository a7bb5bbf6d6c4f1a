#include <algorithm>
#include <vector>

#include "graven/ir/infer_context.h"
#include "graven/ir/kernel.h"
#include "graven/kernels/extrema.h"
#include "graven/ops/batch_rules.h"
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

// Elements that one thread compares at a time.
constexpr int64_t kChunk = 1 << 15;

// Where the extremum of one long row is: each chunk's, and that of those.
template <bool is_max, typename T>
int64_t find_in_long_row(DType dtype, const T* x, int64_t n) {
  std::vector<int64_t> places((n + kChunk - 1) / kChunk);
  for_ranges(n, kChunk, [&](int64_t begin, int64_t end) {
    int64_t& place = places[begin / kChunk];
    find_extrema_of_rows(dtype, is_max, x + begin, 1, end - begin, &place);
    place += begin;
  });
  int64_t best = places[0];
  for (int64_t place : places) {
    if (beats<is_max>(static_cast<Compared<T>>(x[place]), static_cast<Compared<T>>(x[best]))) {
      best = place;
    }
  }
  return best;
}

template <bool is_max, typename T, typename Index>
void find_in_rows(DType dtype, const T* x, int64_t rows, int64_t n, Index* out) {
  if (rows == 1 && n > 2 * kChunk) {
    out[0] = static_cast<Index>(find_in_long_row<is_max>(dtype, x, n));
    return;
  }
  constexpr int64_t kRows = 256;
  for_ranges(rows, kChunk / n, [&](int64_t begin, int64_t end) {
    int64_t places[kRows];
    for (int64_t row = begin; row < end; row += kRows) {
      const int64_t count = std::min(kRows, end - row);
      find_extrema_of_rows(dtype, is_max, x + row * n, count, n, places);
      std::transform(places, places + count, out + row,
                     [](int64_t place) { return static_cast<Index>(place); });
    }
  });
}

// Of matrices [n, inner], the places in each column, a group of columns at a time.
template <bool is_max, typename T, typename Index>
void find_in_columns(const T* x, int64_t outer, int64_t n, int64_t inner, Index* out) {
  constexpr int64_t kColumns = 256;
  const int64_t groups = (inner + kColumns - 1) / kColumns;
  for_ranges(outer * groups, kChunk / (n * std::min(inner, kColumns)),
             [&](int64_t begin, int64_t end) {
               using C = Compared<T>;
               C best[kColumns];
               for (int64_t i = begin; i < end; ++i) {
                 const int64_t first = i % groups * kColumns;
                 const int64_t columns = std::min(kColumns, inner - first);
                 const T* from = x + i / groups * n * inner + first;
                 Index* at = out + i / groups * inner + first;
                 std::transform(from, from + columns, best,
                                [](const T& value) { return static_cast<C>(value); });
                 std::fill_n(at, columns, Index(0));
                 for (int64_t row = 1; row < n; ++row) {
                   const T* values = from + row * inner;
                   for (int64_t k = 0; k < columns; ++k) {
                     const C value = static_cast<C>(values[k]);
                     const bool is_better = beats<is_max>(value, best[k]);
                     best[k] = is_better ? value : best[k];
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
      const T* elements = x.data<T>().data();
      if (inner == 1) {
        find_in_rows<is_max>(x.dtype(), elements, outer, n, out);
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
                 .batch = batch_along_axis<0, 1>,
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
                 .batch = batch_along_axis<0, 1>,
                 .body = kernel(arg_kernel<false>),
                 .values_for_inference = {1},
             });
}

}  // namespace graven::engine
