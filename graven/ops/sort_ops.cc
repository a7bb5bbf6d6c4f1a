#include "graven/ops/sort_ops.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <span>
#include <vector>

#include "graven/ir/cost.h"
#include "graven/ir/gradient_context.h"
#include "graven/ir/infer_context.h"
#include "graven/ir/kernel.h"
#include "graven/kernels/extrema.h"
#include "graven/kernels/sort.h"
#include "graven/ops/batch_rules.h"
#include "graven/ops/elements.h"
#include "graven/ops/formulas.h"
#include "graven/ops/gather_ops.h"
#include "graven/ops/math_ops.h"
#include "graven/ops/register_ops.h"
#include "graven/ops/sequence_ops.h"
#include "graven/ops/sizes.h"
#include "graven/ops/structural_ops.h"

namespace graven::engine {
namespace {

Status top_k_shape(InferContext& c) {
  const Shape &input = c.shape(0), &k_shape = c.shape(1);
  if (k_shape.has_rank() && k_shape.rank() != 0) {
    return invalid_argument("k must be a scalar, got shape ", k_shape.to_message());
  }
  if (!input.has_rank()) return unknown_outputs(c);
  if (input.rank() == 0) return invalid_argument("input must be >= 1-D, got shape []");
  Dim k = Dim::unknown();
  if (auto sizes = c.sizes(1); sizes && sizes->size() == 1) k = (*sizes)[0];
  if (Tensor value = c.value(1)) {
    if (integer_at(value, 0) < 0) {
      return invalid_argument("Need k >= 0, got ", integer_at(value, 0));
    }
    k = Dim(integer_at(value, 0));
  }
  const Dim columns = input[input.rank() - 1];
  if (k.is_number() && columns.is_number() && k.number() > columns.number()) {
    return invalid_argument("input must have at least k columns. Had ", columns.number(),
                            ", needed ", k.number());
  }
  Shape out = input;
  out.set(out.rank() - 1, k);
  c.set_shape(0, out);
  c.set_shape(1, out);
  return {};
}

// Unsigned integers in the reverse order of the elements, so that the largest element comes first.
// NaN counts as more than all numbers, as in ArgMax, and -0.0 equals 0.0.
template <std::integral T>
auto descending_key(T x) {
  using U = std::make_unsigned_t<T>;
  constexpr U kSign = std::is_signed_v<T> ? U(1) << (8 * sizeof(T) - 1) : U(0);
  return static_cast<U>(~(static_cast<U>(x) ^ kSign));
}

template <std::floating_point T>
auto descending_key(T x) {
  using U = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;
  constexpr U kSign = U(1) << (8 * sizeof(T) - 1);
  if (x != x) return U(0);
  const U bits = std::bit_cast<U>(x == 0 ? T(0) : x);
  return static_cast<U>(bits & kSign ? bits : ~bits & ~kSign);
}

// An element's key and place, compared in this order: of equal elements the first comes first.
// Up to 32 bits of key and place share a word, which sorts several times faster.
using WideRank = KeyAndPlace;

inline int64_t place_of(uint64_t rank) { return static_cast<uint32_t>(rank); }

inline int64_t place_of(const WideRank& rank) { return static_cast<int64_t>(rank.place); }

template <typename Rank, typename T>
Rank rank_of(T x, int64_t at) {
  if constexpr (std::is_same_v<Rank, WideRank>) {
    return {static_cast<uint64_t>(at), descending_key(x)};
  } else {
    return static_cast<uint64_t>(descending_key(x)) << 32 | static_cast<uint64_t>(at);
  }
}

// Moves the k smallest to the front, in order.
template <typename Rank>
void sort_first(std::vector<Rank>& ranks, int64_t k) {
  const auto begin = ranks.begin(), middle = begin + k, end = ranks.end();
  const auto n = static_cast<int64_t>(ranks.size());
  // A heap of the best so far looks at most elements once only, if it is small beside them.
  if (k < n / 32) return std::partial_sort(begin, middle, end);
  if (k < n) std::nth_element(begin, middle, end);
  sort_ascending(std::span(begin, middle));
}

// The same of so few that each better one is put into its place as it comes; most elements are not
// better than the last of them, and looked at once.
constexpr int64_t kFew = 32;

template <typename Rank, typename C, typename T>
void find_first(const T* x, int64_t n, int64_t k, Rank* best) {
  int64_t found = 0;
  C last{};
  for (int64_t i = 0; i < n; ++i) {
    const auto next = static_cast<C>(x[i]);
    if (found == k && next <= last) continue;
    const Rank rank = rank_of<Rank>(next, i);
    if (found == k && !(rank < best[k - 1])) continue;  // beside NaN
    int64_t at = found < k ? found++ : k - 1;
    for (; at > 0 && rank < best[at - 1]; --at) best[at] = best[at - 1];
    best[at] = rank;
    last = static_cast<C>(x[place_of(best[found - 1])]);
  }
}

// Elements that one thread goes through at a time.
constexpr int64_t kChunk = 1 << 14;

template <typename T, typename Index>
void top_1_of_rows(DType dtype, const T* x, int64_t rows, int64_t n, T* values, Index* indices) {
  constexpr int64_t kRows = 256;
  for_ranges(rows, kChunk / n, [&](int64_t begin, int64_t end) {
    int64_t places[kRows];
    for (int64_t first = begin; first < end; first += kRows) {
      const int64_t count = std::min(kRows, end - first);
      find_extrema_of_rows(dtype, /*largest=*/true, x + first * n, count, n, places);
      for (int64_t i = 0; i < count; ++i) {
        values[first + i] = x[(first + i) * n + places[i]];
        indices[first + i] = static_cast<Index>(places[i]);
      }
    }
  });
}

template <typename Rank, typename C, typename T, typename Index>
void top_k_of_rows(const T* x, int64_t rows, int64_t n, int64_t k, T* values, Index* indices) {
  for_ranges(rows, kChunk / n, [&](int64_t begin, int64_t end) {
    const bool are_few = k <= kFew && k < n;
    std::vector<Rank> ranks(are_few ? k : n);
    for (int64_t row = begin; row < end; ++row) {
      const T* from = x + row * n;
      if (are_few) {
        find_first<Rank, C>(from, n, k, ranks.data());
      } else {
        for (int64_t i = 0; i < n; ++i) ranks[i] = rank_of<Rank>(static_cast<C>(from[i]), i);
        sort_first(ranks, k);
      }
      for (int64_t i = 0; i < k; ++i) {
        const int64_t at = place_of(ranks[i]);
        values[row * k + i] = from[at];
        indices[row * k + i] = static_cast<Index>(at);
      }
    }
  });
}

template <typename T, typename Index>
Status top_k_of(KernelContext& c) {
  const Tensor& x = c.input(0);
  const int64_t n = x.shape().size(x.rank() - 1), k = integer_at(c.input(1), 0);
  if (k == 0 || x.num_elements() == 0) return {};
  if (n - 1 > std::numeric_limits<Index>::max()) {
    return invalid_argument("index_type ", dtype_name(kDTypeOf<Index>), " cannot count ", n,
                            " columns");
  }
  // Half and bfloat16 are compared as float32.
  using C = std::conditional_t<std::is_arithmetic_v<T>, T, float>;
  const int64_t rows = x.num_elements() / n;
  T* values = c.out<T>(0).data();
  Index* indices = c.out<Index>(1).data();
  if (k == 1) {
    top_1_of_rows(x.dtype(), x.data<T>().data(), rows, n, values, indices);
  } else if (sizeof(C) <= 4 && n <= std::numeric_limits<uint32_t>::max()) {
    if constexpr (sizeof(C) <= 4) {
      top_k_of_rows<uint64_t, C>(x.data<T>().data(), rows, n, k, values, indices);
    }
  } else {
    top_k_of_rows<WideRank, C>(x.data<T>().data(), rows, n, k, values, indices);
  }
  return {};
}

Status top_k_kernel(KernelContext& c) {
  return visit_plain(c.input(0).dtype(), [&](auto zero) -> Status {
    using T = decltype(zero);
    if constexpr (is_complex(kDTypeOf<T>) || std::is_same_v<T, bool>) {
      return internal_error("TopKV2 compares real numbers");
    } else {
      switch (c.output(1).dtype()) {
        case DType::kInt16:
          return top_k_of<T, int16_t>(c);
        case DType::kInt64:
          return top_k_of<T, int64_t>(c);
        default:
          return top_k_of<T, int32_t>(c);
      }
    }
  });
}

// The number of rows of the input, their size, and the shape of one element of each row.
struct Rows {
  Size rows, columns;
  Tensor rows_of_one;
};

Rows rows_of_x(GradientContext& c) {
  if (!c.static_shape_of_x(0).has_rank()) {
    const int32_t first[] = {0}, last[] = {-1}, one[] = {1};
    const Tensor shape = c.shape_of_x(0);
    const Tensor sizes = elements_between(c, shape, int32_vector(c, first), int32_vector(c, last));
    return {product_of(c, sizes), Size(element_of(c, shape, -1)),
            joined(c, sizes, int32_vector(c, one))};
  }
  SizeList sizes = sizes_of_x(c, 0);
  const Size columns = sizes.back();
  sizes.pop_back();
  const Size rows = product(c, sizes);
  sizes.push_back(1);
  return {rows, columns, vector_of(c, sizes)};
}

// The gradient of a value goes to the place in its row that its index names.
void top_k_gradient(GradientContext& c) {
  if (!c.wants(0)) return;
  const auto [rows, columns, rows_of_one] = rows_of_x(c);
  auto scalar = [&](const Size& size) { return cast(c, size.tensor(c), DType::kInt64); };
  Formula row(c, c(kRange, {scalar(0), scalar(rows), scalar(1)}));
  Tensor starts = row * Formula(c, scalar(columns));
  Formula row_start(c, c(kReshape, {starts, rows_of_one}));
  Tensor places = Formula(c, cast(c, c.y(1), DType::kInt64)) + row_start;
  const int32_t column[] = {-1, 1}, flat[] = {-1};
  const int64_t one[] = {1};
  Tensor num_elements = c(kReshape, {Formula(c, scalar(rows)) * Formula(c, scalar(columns)),
                                     constant(c, Tensor::vector<int64_t>(one))});
  Tensor dx = c(kScatterNd, {c(kReshape, {places, int32_vector(c, column)}),
                             c(kReshape, {c.dy(0), int32_vector(c, flat)}), num_elements});
  c.set_dx(0, c(kReshape, {dx, c.shape_of_x(0)}));
}

double top_k_cost(const CostContext& c) {
  constexpr double kCompare = 2;  // nanoseconds
  const double row = guessed_elements(c.input(0), -1), kept = guessed_elements(c.output(0), -1);
  return guessed_elements(c.input(0)) * (1 + std::log2(1 + std::min(row, kept))) * kCompare;
}

}  // namespace

void define_sort_ops(OpRegistry& ops) {
  kTopKV2 = ops.define<TopKV2Attrs>({
      .name = "TopKV2",
      .summary = "The k largest elements of each row and their places, the largest first.",
      .details = "Of equal elements the first comes first; NaN counts as more than all numbers.",
      .inputs = {"input: T", "k: Tk"},
      .outputs = {"values: T", "indices: index_type"},
      .types = {{"T", kRealTypes},
                {"Tk", kIndexTypes | DTypeSet{DType::kInt16}},
                {"index_type", kIndexTypes | DTypeSet{DType::kInt16}}},
      .infer = top_k_shape,
      .gradient = top_k_gradient,
      .batch = batch_data_inputs<0>,
      .body = kernel(top_k_kernel),
      .values_for_inference = {1},
      .cost = top_k_cost,
  });
}

}  // namespace graven::engine
