#include <optional>
#include <vector>

#include "graven/ir/structural_ops.h"
#include "graven/library/arithmetic.h"
#include "graven/library/define_functions.h"
#include "graven/library/function.h"
#include "graven/ops/math_ops.h"
#include "graven/ops/partition_ops.h"
#include "graven/ops/segment_ops.h"
#include "graven/ops/shape_ops.h"
#include "graven/ops/sizes.h"

namespace graven::engine {
namespace {

struct UnsortedSegmentParameters {
  Tensor data, segment_ids, num_segments;
  static constexpr auto fields() {
    using P = UnsortedSegmentParameters;
    return std::tuple(
        required_field("data", &P::data, "T", "Real numbers."),
        required_field("segment_ids", &P::segment_ids, "Tindices",
                       "Integers, of the shape of data's first axes. Rows of a negative one are "
                       "dropped."),
        required_field("num_segments", &P::num_segments, "Tnumsegments", "A scalar integer."));
  }
};

// The number of rows of each segment, at least 1, in a shape that broadcasts to the segments.
Tensor num_rows(FunctionContext& c, const UnsortedSegmentParameters& p) {
  const Tensor shape = c(kShape, {p.segment_ids});
  const Tensor ones = c(kFill, {shape, c.scalar(1, p.data.dtype())});
  const Tensor count = c(kUnsortedSegmentSum, {ones, p.segment_ids, p.num_segments});
  const auto rank = c.rank_if_known(p.data), first = c.rank_if_known(p.segment_ids);
  Tensor sizes;
  if (rank && first && *first <= *rank) {
    std::vector<int64_t> known(static_cast<size_t>(*rank - *first + 1), 1);
    known[0] = -1;
    sizes = c.vector(known);
  } else {
    const int64_t all[] = {-1}, one[] = {1};
    const Tensor more = c(kSub, {c(kRank, {p.data}), c(kRank, {p.segment_ids})});
    const Tensor rest = c(kFill, {c(kReshape, {more, c.vector(one)}), c.scalar(1)});
    sizes = joined(c, c.vector(all), rest);
  }
  return c(kMaximum, {c(kReshape, {count, sizes}), c.scalar(1, p.data.dtype())});
}

// The sums divided by a function of the number of rows.
Outputs divided_sums(FunctionContext& c, const UnsortedSegmentParameters& p, bool by_root) {
  Tensor count = num_rows(c, p);
  if (by_root) count = c(kSqrt, {count});
  const Tensor sums = c(kUnsortedSegmentSum, {p.data, p.segment_ids, p.num_segments});
  if (!count || !sums) return {};
  const DType dtype = quotient_type(sums.dtype());
  return c(kRealDiv, {c.cast(sums, dtype), c.cast(count, dtype)});
}

struct SparseSegmentParameters {
  Tensor data, indices, segment_ids, num_segments;
  static constexpr auto fields() {
    using P = SparseSegmentParameters;
    return std::tuple(
        required_field("data", &P::data, "T", "Real numbers, at least one axis."),
        required_field("indices", &P::indices, "Tidx", "The rows, a vector of integers."),
        required_field("segment_ids", &P::segment_ids, "Tsegmentids",
                       "The segment of each of them, in order."),
        field("num_segments", &P::num_segments, "Tnumsegments",
              "A scalar integer; None means one more than the last id."),
        name_field(), refused_field("sparse_gradient", "Gradients are dense."));
  }
};

void define_sparse(FunctionRegistry& functions, const char* name, const char* scope,
                   const char* summary, const OpHandle<SparseSegmentAttrs>& op,
                   const OpHandle<SparseSegmentAttrs>& with_number) {
  functions.define({
      .names = str_cat("sparse.", name),
      .scope = scope,
      .summary = summary,
      .returns = "A row for each segment, 0 where it has none.",
      .raises = {{"InvalidArgumentError",
                  "The shapes do not fit, ids are not in order, or there is no such row."}},
      .source = str_cat("OpDef \"", scope, "\""),
      .body = [&op, &with_number](FunctionContext& c, const SparseSegmentParameters& p) -> Outputs {
        if (!p.num_segments) return c(op, {p.data, p.indices, p.segment_ids}, {}, c.name());
        return c(with_number, {p.data, p.indices, p.segment_ids, p.num_segments}, {}, c.name());
      },
  });
}

struct ReverseSequenceParameters {
  Tensor input, seq_lengths;
  std::optional<int64_t> seq_axis, batch_axis;
  static constexpr auto fields() {
    using P = ReverseSequenceParameters;
    return std::tuple(
        required_field("input", &P::input, "T", "Any dtype."),
        required_field("seq_lengths", &P::seq_lengths, "Tlen",
                       "How much of each sequence is turned around, int32 or int64."),
        field("seq_axis", &P::seq_axis, "The axis of the sequences; it must be given."),
        field("batch_axis", &P::batch_axis, "The axis of the lengths; None means 0."));
  }
};

}  // namespace

void define_segments(FunctionRegistry& functions) {
  constexpr Raised kDoNotFit = {"InvalidArgumentError",
                                "The shapes do not fit, or an id is not below num_segments."};
  functions.define({
      .names = "math.unsorted_segment_mean",
      .scope = "UnsortedSegmentMean",
      .summary = "Averages the rows of each segment.",
      .returns = "A row for each segment, 0 where it has none; of integers a float.",
      .raises = {kDoNotFit},
      .body = [](FunctionContext& c, const UnsortedSegmentParameters& p) -> Outputs {
        return divided_sums(c, p, false);
      },
  });
  functions.define({
      .names = "math.unsorted_segment_sqrt_n",
      .scope = "UnsortedSegmentSqrtN",
      .types = {{"T", kFloatTypes}},
      .summary = "Sums the rows of each segment and divides by the root of their number.",
      .returns = "A row for each segment, 0 where it has none.",
      .raises = {kDoNotFit},
      .body = [](FunctionContext& c, const UnsortedSegmentParameters& p) -> Outputs {
        return divided_sums(c, p, true);
      },
  });
  define_sparse(functions, "segment_sum", "SparseSegmentSum",
                "Sums the rows that indices name, of each segment.", kSparseSegmentSum,
                kSparseSegmentSumWithNumSegments);
  define_sparse(functions, "segment_mean", "SparseSegmentMean",
                "Averages the rows that indices name, of each segment.", kSparseSegmentMean,
                kSparseSegmentMeanWithNumSegments);
  define_sparse(functions, "segment_sqrt_n", "SparseSegmentSqrtN",
                "Sums the rows that indices name, of each segment, and divides by the root of "
                "their number.",
                kSparseSegmentSqrtN, kSparseSegmentSqrtNWithNumSegments);
  functions.define({
      .names = "reverse_sequence",
      .scope = "ReverseSequence",
      .summary = "Turns the start of each sequence around.",
      .details = "Behind its length a sequence stays as it is.",
      .returns = "A tensor like the input.",
      .raises = {{"TypeError", "seq_axis is not given."},
                 {"InvalidArgumentError",
                  "There is no such axis, or a length is not within the axis."}},
      .source = "OpDef \"ReverseSequence\"",
      .body = [](FunctionContext& c, const ReverseSequenceParameters& p) -> Outputs {
        if (!p.seq_axis) {
          return c.fail(type_error("Expected int for argument 'seq_dim' not None."));
        }
        return c(kReverseSequence, {p.input, p.seq_lengths},
                 {.seq_dim = *p.seq_axis, .batch_dim = p.batch_axis.value_or(0)}, c.name());
      },
  });
}

}  // namespace graven::engine
