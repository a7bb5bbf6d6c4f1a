#include "graven/ops/counting_ops.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "graven/ir/batch_context.h"
#include "graven/ir/infer_context.h"
#include "graven/ir/kernel.h"
#include "graven/ops/batch_rules.h"
#include "graven/ops/elements.h"
#include "graven/ops/register_ops.h"
#include "graven/tensor/add_elements.h"

namespace graven::engine {
namespace {

constexpr DTypeSet kCountTypes = kIndexTypes | DTypeSet{DType::kFloat32, DType::kFloat64};
constexpr int64_t kElementsOfChunk = 1 << 15;

// Calls f with a zero of one of kCountTypes.
template <typename F>
Status visit_count_type(DType dtype, F&& f) {
  switch (dtype) {
    case DType::kInt32:
      return f(int32_t{});
    case DType::kInt64:
      return f(int64_t{});
    case DType::kFloat32:
      return f(float{});
    default:
      return f(double{});
  }
}

// --- Counting in general.

// Calls add(begin, end, bins) for ranges that cover [0, n), which adds to `size` bins, and leaves
// the sums in `bins`. Chunks have bins of their own where these are few; they do not depend on the
// number of threads, so that sums of floats do not either.
template <typename T, typename F>
void count_into(int64_t n, int64_t size, T* bins, const F& add) {
  std::fill_n(bins, size, T(0));
  constexpr int64_t kChunk = 4 * kElementsOfChunk;
  const int64_t num_chunks = (n + kChunk - 1) / kChunk;
  if (num_chunks <= 1 || size > kChunk / 8) {
    add(int64_t{0}, n, bins);
    return;
  }
  std::vector<T> all(static_cast<size_t>(num_chunks * size));
  for_ranges(n, kChunk, [&](int64_t begin, int64_t end) {
    add(begin, end, all.data() + begin / kChunk * size);
  });
  for (int64_t i = 0; i < num_chunks * size; ++i) {
    bins[i % size] = add_elements(bins[i % size], all[i]);
  }
}

// --- Bincount and DenseBincount.

Status check_size(InferContext& c, int input) {
  if (c.shape(input).has_rank() && c.shape(input).rank() != 0) {
    return invalid_argument("Shape must be rank 0 but is rank ", c.shape(input).rank());
  }
  if (Tensor value = c.value(input); value && integer_at(value, 0) < 0) {
    return invalid_argument("size (", integer_at(value, 0), ") must be non-negative");
  }
  return {};
}

// The size that a scalar input says, as far as it is known.
Dim size_of(InferContext& c, int input) {
  auto sizes = c.sizes(input);
  return sizes && sizes->size() == 1 ? (*sizes)[0] : Dim::unknown();
}

Status bincount_shape(InferContext& c) {
  RETURN_IF_ERROR(check_size(c, 1));
  const Shape &arr = c.shape(0), &weights = c.shape(2);
  if (arr.is_fully_known() && weights.is_fully_known() && weights.num_elements() != 0 &&
      weights.num_elements() != arr.num_elements()) {
    return invalid_argument("Input indices and weights must have the same size.");
  }
  c.set_shape(0, {size_of(c, 1)});
  return {};
}

Status dense_bincount_shape(InferContext& c) {
  RETURN_IF_ERROR(check_size(c, 1));
  const Shape &input = c.shape(0), &weights = c.shape(2);
  if (input.has_rank() && input.rank() > 2) {
    return invalid_argument("Shape must be at most rank 2 but is rank ", input.rank());
  }
  const bool may_be_absent = !weights.is_fully_known() || weights.num_elements() == 0;
  if (!may_be_absent && !are_compatible(input, weights)) {
    return invalid_argument(
        "`weights` must be the same shape as `arr` or a length-0 `Tensor`, in which case it acts "
        "as all weights equal to 1. Received ",
        weights.to_message());
  }
  if (!input.has_rank()) return unknown_outputs(c);
  Shape out;
  if (input.rank() == 2) out.push_back(input[0]);
  out.push_back(size_of(c, 1));
  c.set_shape(0, out);
  return {};
}

// How a value counts: as 1, as its weight, or no more than once.
enum class Counting { kOnes, kWeights, kIsThere };

template <typename Index, typename T>
void count_values(std::span<const Index> values, const T* weights, Counting counting, int64_t size,
                  T* bins) {
  const auto n = static_cast<int64_t>(values.size());
  const auto count = [&](auto weight_of) {
    count_into(n, size, bins, [&](int64_t begin, int64_t end, T* own) {
      for (int64_t i = begin; i < end; ++i) {
        if (values[i] < size) own[values[i]] = add_elements(own[values[i]], weight_of(i));
      }
    });
  };
  if (counting == Counting::kWeights) return count([&](int64_t i) { return weights[i]; });
  count([](int64_t) { return T(1); });
  if (counting == Counting::kOnes) return;
  for (int64_t i = 0; i < size; ++i) bins[i] = T(bins[i] != T(0));
}

template <typename Index>
Status check_values(std::span<const Index> values) {
  Index least = 0;
  for (Index value : values) least = std::min(least, value);
  if (least >= 0) return {};
  return invalid_argument("Input arr must be non-negative! Negative input value found: ", least);
}

// Both ops; a matrix is counted row by row.
Status bincount_kernel(KernelContext& c, bool is_binary, bool has_rows) {
  const Tensor &x = c.input(0), &weights = c.input(2), &out = c.output(0);
  const int64_t size = integer_at(c.input(1), 0);
  const int64_t num_rows = has_rows && x.rank() == 2 ? x.shape().size(0) : 1;
  const Counting counting = is_binary                     ? Counting::kIsThere
                            : weights.num_elements() != 0 ? Counting::kWeights
                                                          : Counting::kOnes;
  return visit_index_type(x.dtype(), [&](auto index) -> Status {
    const auto values = x.data<decltype(index)>();
    RETURN_IF_ERROR(check_values(values));
    if (out.num_elements() == 0) return {};
    const int64_t width = x.num_elements() / num_rows;
    return visit_count_type(out.dtype(), [&](auto zero) -> Status {
      using T = decltype(zero);
      const T* all_weights = weights.data<T>().data();
      T* to = c.out<T>(0).data();
      if (num_rows == 1) {
        count_values(values, all_weights, counting, size, to);
        return {};
      }
      for_ranges(num_rows, kElementsOfChunk / (width + size), [&](int64_t begin, int64_t end) {
        for (int64_t row = begin; row < end; ++row) {
          count_values(values.subspan(row * width, width), all_weights + row * width, counting,
                       size, to + row * size);
        }
      });
      return {};
    });
  });
}

void define_bincounts(OpRegistry& ops) {
  constexpr const char* kDetails =
      "Values beyond the last bin are left out; weights are as many as values, or none for 1 each.";
  ops.define(kBincount, {
                            .name = "Bincount",
                            .summary = "How often each number below size is in arr.",
                            .details = kDetails,
                            .inputs = {"arr: int32", "size: int32", "weights: T"},
                            .outputs = {"bins: T"},
                            .types = {{"T", kCountTypes}},
                            .infer = bincount_shape,
                            .body = kernel([](KernelContext& c) -> Status {
                              return bincount_kernel(c, false, /*has_rows=*/false);
                            }),
                            .values_for_inference = {1},
                        });
  ops.define(
      kDenseBincount,
      {
          .name = "DenseBincount",
          .summary = "How often each number below size is in the input, or in each of its rows.",
          .details =
              str_cat(kDetails, " binary_output says whether it is there, and reads no weights."),
          .inputs = {"input: Tidx", "size: Tidx", "weights: T"},
          .outputs = {"output: T"},
          .types = {{"Tidx", kIndexTypes}, {"T", kCountTypes}},
          .infer = dense_bincount_shape,
          .body = kernel([](KernelContext& c) -> Status {
            return bincount_kernel(c, c.attrs<DenseBincountAttrs>().binary_output,
                                   /*has_rows=*/true);
          }),
          .values_for_inference = {1},
      });
}

// --- HistogramFixedWidth.

Status histogram_shape(InferContext& c) {
  const Shape& range = c.shape(1);
  if (range.has_rank() && range.rank() != 1) {
    return invalid_argument("value_range should be a vector.");
  }
  if (range.has_rank() && range[0].is_number() && range.size(0) != 2) {
    return invalid_argument("value_range should be a vector of 2 elements.");
  }
  if (c.shape(2).has_rank() && c.shape(2).rank() != 0) {
    return invalid_argument("nbins should be a scalar.");
  }
  if (Tensor value = c.value(2); value && integer_at(value, 0) <= 0) {
    return invalid_argument("nbins should be a positive number, but got '", integer_at(value, 0),
                            "'");
  }
  c.set_shape(0, {size_of(c, 2)});
  return {};
}

// The distance from a to a larger b.
template <typename T>
double distance(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<double>(static_cast<uint64_t>(b) - static_cast<uint64_t>(a));
  } else {
    return static_cast<double>(b - a);
  }
}

template <typename T, typename Count>
Status histogram_of(KernelContext& c) {
  const auto values = c.in<T>(0), range = c.in<T>(1);
  const T low = range[0], high = range[1];
  if (!(low < high)) {
    return invalid_argument(
        "value_range should satisfy value_range[0] < value_range[1], but got "
        "'[",
        low, ", ", high, "]'");
  }
  bool has_nan = false;
  for (T x : values) has_nan |= x != x;
  if (has_nan) return invalid_argument("Histogram values must not contain NaN");
  const int64_t nbins = c.output(0).num_elements();
  const double step = distance(low, high) / static_cast<double>(nbins);
  const auto last = static_cast<double>(nbins - 1);
  count_into(static_cast<int64_t>(values.size()), nbins, c.out<Count>(0).data(),
             [&](int64_t begin, int64_t end, Count* bins) {
               constexpr int64_t kBlock = 256;
               int32_t places[kBlock];
               for (; begin < end; begin += kBlock) {
                 const int64_t count = std::min(kBlock, end - begin);
                 for (int64_t i = 0; i < count; ++i) {
                   const double place = distance(low, std::max(values[begin + i], low)) / step;
                   // An infinite distance in infinite steps is NaN, and in the last bin.
                   places[i] = static_cast<int32_t>(place < last ? place : last);
                 }
                 for (int64_t i = 0; i < count; ++i) ++bins[places[i]];
               }
             });
  return {};
}

void define_histogram(OpRegistry& ops) {
  ops.define(kHistogramFixedWidth,
             {
                 .name = "HistogramFixedWidth",
                 .summary = "How many values are in each of nbins equal parts of value_range.",
                 .details = "What lies outside the range is in the first or last part.",
                 .inputs = {"values: T", "value_range: T", "nbins: int32"},
                 .outputs = {"out: dtype"},
                 .types = {{"T", kCountTypes}, {"dtype", kIndexTypes}},
                 .infer = histogram_shape,
                 .body = kernel([](KernelContext& c) -> Status {
                   return visit_count_type(c.input(0).dtype(), [&](auto zero) -> Status {
                     using T = decltype(zero);
                     return c.output(0).dtype() == DType::kInt64 ? histogram_of<T, int64_t>(c)
                                                                 : histogram_of<T, int32_t>(c);
                   });
                 }),
                 .values_for_inference = {2},
             });
}

// --- Places among sorted elements.

// Half and bfloat16 are compared as float32.
template <typename T>
using Compared = std::conditional_t<std::is_arithmetic_v<T>, T, float>;

// How many sorted elements are below a value, or not above it.
template <bool is_upper, typename T, typename C>
int64_t bound_of(std::span<const T> sorted, C value) {
  const T* first = sorted.data();
  for (auto count = static_cast<int64_t>(sorted.size()); count > 0;) {
    const int64_t half = count / 2;
    const auto middle = static_cast<Compared<T>>(first[half]);
    const bool is_before = is_upper ? !(value < middle) : middle < value;
    first = is_before ? first + half + 1 : first;
    count = is_before ? count - half - 1 : half;
  }
  return first - sorted.data();
}

// Integers are compared with boundaries as floats, as in TensorFlow.
template <typename T>
void bucketize(std::span<const float> boundaries, const T* x, int64_t count, int32_t* to) {
  using C = std::conditional_t<std::is_integral_v<T>, float, T>;
  constexpr size_t kFew = 16;
  if (boundaries.size() > kFew) {
    for (int64_t i = 0; i < count; ++i) {
      to[i] = static_cast<int32_t>(bound_of<true>(boundaries, static_cast<C>(x[i])));
    }
    return;
  }
  std::fill_n(to, count, 0);
  for (float boundary : boundaries) {
    for (int64_t i = 0; i < count; ++i) to[i] += static_cast<C>(x[i]) < boundary ? 0 : 1;
  }
}

Status bucketize_kernel(KernelContext& c) {
  const auto& given = c.attrs<BucketizeAttrs>().boundaries;
  const std::vector<float> boundaries(given.begin(), given.end());
  return visit_count_type(c.input(0).dtype(), [&](auto zero) -> Status {
    const auto x = c.in<decltype(zero)>(0);
    int32_t* to = c.out<int32_t>(0).data();
    constexpr int64_t kBlock = 2048;  // stays in cache over all boundaries
    for_ranges(static_cast<int64_t>(x.size()), kElementsOfChunk, [&](int64_t begin, int64_t end) {
      for (; begin < end; begin += kBlock) {
        bucketize<decltype(zero)>(boundaries, x.data() + begin, std::min(kBlock, end - begin),
                                  to + begin);
      }
    });
    return {};
  });
}

void define_bucketize(OpRegistry& ops) {
  ops.define(kBucketize, {
                             .name = "Bucketize",
                             .summary = "How many of the boundaries are not above each element.",
                             .details = "The boundaries are sorted float32 numbers.",
                             .inputs = {"input: T"},
                             .outputs = {"output: int32"},
                             .types = {{"T", kCountTypes}},
                             .infer = [](InferContext& c) -> Status {
                               const auto& all = c.attrs<BucketizeAttrs>().boundaries;
                               if (!std::is_sorted(all.begin(), all.end())) {
                                 return invalid_argument("Expected sorted boundaries");
                               }
                               return same_as_input(c);
                             },
                             .batch = batch_any_shape,
                             .body = kernel(bucketize_kernel),
                         });
}

Status bound_shape(InferContext& c) {
  const char* names[] = {"sorted_inputs", "values"};
  for (int i = 0; i < 2; ++i) {
    if (!c.shape(i).has_rank() || c.shape(i).rank() == 2) continue;
    return invalid_argument("Shape must be rank 2 but is rank ", c.shape(i).rank(), " for `",
                            names[i], "` argument");
  }
  if (c.shape(0).has_rank() && c.shape(1).has_rank() &&
      !c.merge(c.shape(0)[0], c.shape(1)[0]).ok()) {
    return invalid_argument("Leading dim_size of both tensors must match.");
  }
  if (Dim size = c.shape(0).has_rank() ? c.shape(0)[1] : Dim::unknown();
      size.is_number() && c.type("out_type") == DType::kInt32 &&
      size.number() > std::numeric_limits<int32_t>::max()) {
    return invalid_argument("trying to return int32 indices of ", size.number(), " elements");
  }
  c.set_shape(0, c.shape(1));
  return {};
}

template <bool is_upper>
Status bound_kernel(KernelContext& c) {
  const Tensor &sorted = c.input(0), &values = c.input(1), &out = c.output(0);
  if (out.num_elements() == 0) return {};
  const int64_t num_sorted = sorted.shape().size(1), num_values = values.shape().size(1);
  visit_plain(sorted.dtype(), [&](auto zero) {
    using T = decltype(zero);
    if constexpr (kRealTypes.contains(kDTypeOf<T>)) {
      const auto all = sorted.data<T>(), x = values.data<T>();
      visit_index_type(out.dtype(), [&](auto index) {
        auto to = c.out<decltype(index)>(0);
        for_ranges(out.num_elements(), kElementsOfChunk / 4, [&](int64_t begin, int64_t end) {
          for (int64_t i = begin; i < end; ++i) {
            const auto row = all.subspan(i / num_values * num_sorted, num_sorted);
            to[i] = static_cast<decltype(index)>(
                bound_of<is_upper>(row, static_cast<Compared<T>>(x[i])));
          }
        });
      });
    }
  });
  return {};
}

void define_bounds(OpRegistry& ops) {
  const auto define = [&](OpHandle<BoundAttrs>& handle, const char* name, const char* summary,
                          KernelFunction f) {
    ops.define(handle, {
                           .name = name,
                           .summary = summary,
                           .inputs = {"sorted_inputs: T", "values: T"},
                           .outputs = {"output: out_type"},
                           .types = {{"T", kRealTypes, kAllTypes}, {"out_type", kIndexTypes}},
                           .infer = bound_shape,
                           .batch = batch_by_folding<0, 1>,
                           .body = kernel(f),
                       });
  };
  define(kLowerBound, "LowerBound", "How many elements of its sorted row are below each value.",
         bound_kernel<false>);
  define(kUpperBound, "UpperBound", "How many elements of its sorted row are not above each value.",
         bound_kernel<true>);
}

}  // namespace

void define_counting_ops(OpRegistry& ops) {
  define_bincounts(ops);
  define_histogram(ops);
  define_bucketize(ops);
  define_bounds(ops);
}

}  // namespace graven::engine
