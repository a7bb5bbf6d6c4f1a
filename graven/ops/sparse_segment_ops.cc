#include <algorithm>
#include <cmath>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "graven/ir/gradient_context.h"
#include "graven/ir/infer_context.h"
#include "graven/ir/kernel.h"
#include "graven/ir/structural_ops.h"
#include "graven/ops/batch_rules.h"
#include "graven/ops/elements.h"
#include "graven/ops/formulas.h"
#include "graven/ops/gather_ops.h"
#include "graven/ops/math_ops.h"
#include "graven/ops/register_ops.h"
#include "graven/ops/segment_kernels.h"
#include "graven/ops/segment_ops.h"
#include "graven/ops/sizes.h"

// Segments of rows that indices choose: no tensor of the chosen rows is made.

namespace graven::engine {
namespace {

constexpr int64_t kElementsOfChunk = 1 << 15, kColumns = 1024;

// What a sum of so many rows is divided by.
enum class Divisor { kOne, kCount, kRoot };

// --- The kernel.

std::vector<int64_t> integers_of(const Tensor& vector) {
  std::vector<int64_t> values(static_cast<size_t>(vector.num_elements()));
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = integer_at(vector, static_cast<int64_t>(i));
  return values;
}

Status check_indices(const std::vector<int64_t>& indices, int64_t size) {
  for (size_t i = 0; i < indices.size(); ++i) {
    if (indices[i] >= 0 && indices[i] < size) continue;
    return invalid_argument("Bad: indices[", i, "] == ", indices[i], " out of range [0, ", size,
                            ")");
  }
  return {};
}

// The columns [first, last) of one segment, no more than kColumns.
template <Divisor divisor, typename T>
void combine(const T* data, const int64_t* rows, int64_t count, int64_t width, int64_t first,
             int64_t last, T* to) {
  using A = Accumulator<T>;
  A sums[kColumns] = {};
  for (int64_t i = 0; i < count; ++i) {
    const T* row = data + rows[i] * width;
    for (int64_t k = first; k < last; ++k) sums[k - first] += static_cast<A>(row[k]);
  }
  for (int64_t k = first; k < last; ++k) {
    A sum = sums[k - first];
    if constexpr (divisor == Divisor::kCount) sum /= static_cast<A>(count);
    if constexpr (divisor == Divisor::kRoot) sum /= std::sqrt(static_cast<A>(count));
    to[k] = static_cast<T>(sum);
  }
}

template <Divisor divisor>
Status sparse_segment_kernel(KernelContext& c) {
  const Tensor& data = c.input(0);
  const bool has_limit = c.num_inputs() == 4;
  const int64_t num_rows = data.shape().size(0);
  const std::vector<int64_t> rows = integers_of(c.input(1)), ids = integers_of(c.input(2));
  RETURN_IF_ERROR(check_indices(rows, num_rows));
  ASSIGN_OR_RETURN(
      const std::vector<SegmentRun> runs,
      sorted_runs(std::span<const int64_t>(ids), has_limit ? c.output(0).shape().size(0) : -1));
  if (!has_limit) {
    Shape shape = data.shape();
    shape.set(0, runs.empty() ? 0 : runs.back().segment + 1);
    RETURN_IF_ERROR(c.allocate_output(0, data.dtype(), shape));
  }
  const Tensor& out = c.output(0);
  if (out.num_elements() == 0) return {};
  const int64_t width = out.num_elements() / out.shape().size(0);
  const int64_t parts = (width + kColumns - 1) / kColumns;
  const auto num_runs = static_cast<int64_t>(runs.size());
  visit_plain(data.dtype(), [&](auto zero) {
    using T = decltype(zero);
    if constexpr (is_floating(kDTypeOf<T>) ||
                  (divisor == Divisor::kOne && kRealTypes.contains(kDTypeOf<T>))) {
      T* to = c.out<T>(0).data();
      std::fill_n(to, out.num_elements(), T{});
      if (runs.empty()) return;
      const int64_t elements = std::max<int64_t>(
          static_cast<int64_t>(rows.size()) / num_runs * std::min(width, kColumns), 1);
      for_ranges(num_runs * parts, std::max<int64_t>(kElementsOfChunk / elements, 1),
                 [&](int64_t begin, int64_t end) {
                   for (int64_t i = begin; i < end; ++i) {
                     const SegmentRun& run = runs[static_cast<size_t>(i / parts)];
                     const int64_t first = i % parts * kColumns;
                     combine<divisor>(data.data<T>().data(), rows.data() + run.begin,
                                      run.end - run.begin, width, first,
                                      std::min(first + kColumns, width), to + run.segment * width);
                   }
                 });
    }
  });
  return {};
}

// --- The records.

Status sparse_segment_shape(InferContext& c) {
  const Shape &data = c.shape(0), &indices = c.shape(1), &ids = c.shape(2);
  const bool has_limit = c.num_inputs() == 4;
  if (data.has_rank() && data.rank() == 0) {
    return invalid_argument("Shape must be at least rank 1");
  }
  if (indices.has_rank() && indices.rank() != 1) {
    return invalid_argument("indices should be a vector.");
  }
  if (ids.has_rank() && ids.rank() != 1) {
    return invalid_argument("segment_ids should be a vector.");
  }
  if (indices.has_rank() && ids.has_rank() && !c.merge(indices[0], ids[0]).ok()) {
    return invalid_argument("segment_ids and indices should have same size.");
  }
  if (has_limit && c.shape(3).has_rank() && c.shape(3).rank() != 0) {
    return invalid_argument("num_segments should be a scalar, not shape ", c.shape(3).to_message());
  }
  auto limit = has_limit ? c.sizes(3) : std::nullopt;
  if (Tensor value = has_limit ? c.value(3) : Tensor(); value && integer_at(value, 0) < 0) {
    return invalid_argument("segment ids must be >= 0");
  }
  if (!data.has_rank()) return unknown_outputs(c);
  Shape out = data;
  out.set(0, !has_limit ? c.new_symbol("segments") : limit ? (*limit)[0] : Dim::unknown());
  c.set_shape(0, out);
  return {};
}

// Each row has the gradient of the sums that it went into, divided as they were.
template <Divisor divisor>
void sparse_segment_gradient(GradientContext& c) {
  if (c.attrs<SparseSegmentAttrs>().sparse_gradient) {
    c.fail(unimplemented("[", c.op().name(), "] gradients are not sparse here: sparse_gradient"));
    return;
  }
  Formula dy(c, c.dy());
  const Tensor axis = constant(c, Tensor::scalar<int32_t>(0));
  if (divisor != Divisor::kOne) {
    const Tensor ones = c(kFill, {c.shape_of_x(2), constant_like(dy, 1)});
    const Tensor segments = element_of(c, c(kShape, {dy}), 0);
    Formula count(c, as_column(c, c(kUnsortedSegmentSum, {ones, c.x(2), segments})));
    if (divisor == Divisor::kRoot) count = call(kSqrt, count);
    dy = call(kDivNoNan, dy, count);
  }
  const Tensor rows = c(kGatherV2, {dy, c.x(2), axis});
  c.set_dx(0, c(kUnsortedSegmentSum, {rows, c.x(1), element_of(c, c.shape_of_x(0), 0)}));
}

template <Divisor divisor>
void define(OpRegistry& ops, OpHandle<SparseSegmentAttrs>& handle, const std::string& name,
            const char* result, bool has_limit = false) {
  OpRecord record = {
      .name = name,
      .summary = str_cat("output[i] is the ", result,
                         " of the rows of data that indices name whose segment id is i."),
      .details = "The ids are sorted, and none is negative; a segment without rows is 0.",
      .inputs = {"data: T", "indices: Tidx", "segment_ids: Tsegmentids"},
      .outputs = {"output: T"},
      .types = {{"T", divisor == Divisor::kOne ? kRealTypes : kFloatTypes},
                {"Tidx", kIndexTypes},
                {"Tsegmentids", kIndexTypes}},
      .infer = sparse_segment_shape,
      .gradient = sparse_segment_gradient<divisor>,
      .batch = batch_rows_behind,
      .body = kernel(sparse_segment_kernel<divisor>),
  };
  if (has_limit) {
    record.inputs.push_back("num_segments: Tnumsegments");
    record.types.push_back({"Tnumsegments", kIndexTypes});
    record.values_for_inference = {3};
  }
  ops.define(handle, std::move(record));
}

}  // namespace

void define_sparse_segment_ops(OpRegistry& ops) {
  const char *sum = "sum", *mean = "mean", *by_root = "sum, by the root of their number,";
  define<Divisor::kOne>(ops, kSparseSegmentSum, "SparseSegmentSum", sum);
  define<Divisor::kOne>(ops, kSparseSegmentSumWithNumSegments, "SparseSegmentSumWithNumSegments",
                        sum, true);
  define<Divisor::kCount>(ops, kSparseSegmentMean, "SparseSegmentMean", mean);
  define<Divisor::kCount>(ops, kSparseSegmentMeanWithNumSegments,
                          "SparseSegmentMeanWithNumSegments", mean, true);
  define<Divisor::kRoot>(ops, kSparseSegmentSqrtN, "SparseSegmentSqrtN", by_root);
  define<Divisor::kRoot>(ops, kSparseSegmentSqrtNWithNumSegments,
                         "SparseSegmentSqrtNWithNumSegments", by_root, true);
}

}  // namespace graven::engine
