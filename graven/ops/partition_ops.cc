#include "graven/ops/partition_ops.h"

#include <algorithm>
#include <vector>

#include "graven/ir/gradient_context.h"
#include "graven/ir/infer_context.h"
#include "graven/ir/kernel.h"
#include "graven/ir/structural_ops.h"
#include "graven/ops/batch_rules.h"
#include "graven/ops/elements.h"
#include "graven/ops/formulas.h"
#include "graven/ops/gather_ops.h"
#include "graven/ops/register_ops.h"
#include "graven/ops/sequence_ops.h"
#include "graven/ops/shape_ops.h"
#include "graven/ops/strided_copy.h"

namespace graven::engine {
namespace {

constexpr int64_t kBytesOfChunk = 1 << 17;

int64_t bytes_of_row(DType dtype, int64_t width) {
  return std::max<int64_t>(width, 1) * static_cast<int64_t>(dtype_size(dtype));
}

// One element is not worth a call of a function that copies many.
template <typename T>
void copy_row(const T* from, int64_t width, T* to) {
  if (width == 1) {
    *to = *from;
  } else {
    std::copy_n(from, width, to);
  }
}

// --- DynamicPartition.

// Whether a shape may start with the sizes of another.
bool may_start_with(const InferContext& c, const Shape& shape, const Shape& start) {
  if (!shape.has_rank() || !start.has_rank()) return true;
  bool fits = start.rank() <= shape.rank();
  for (int i = 0; fits && i < start.rank(); ++i) fits = c.merge(shape[i], start[i]).ok();
  return fits;
}

Status dynamic_partition_shape(InferContext& c) {
  const Shape &data = c.shape(0), &partitions = c.shape(1);
  if (const int64_t n = c.attrs<DynamicPartitionAttrs>().num_partitions; n < 1) {
    return invalid_argument("Value for attr 'num_partitions' of ", n,
                            " must be at least minimum 1");
  }
  if (!may_start_with(c, data, partitions)) {
    return invalid_argument("data.shape must start with partitions.shape, got data.shape = ",
                            data.to_message(), ", partitions.shape = ", partitions.to_message());
  }
  if (!data.has_rank() || !partitions.has_rank()) return unknown_outputs(c);
  for (int i = 0; i < c.num_outputs(); ++i) {
    Shape out = {c.new_symbol("partition")};
    for (int axis = partitions.rank(); axis < data.rank(); ++axis) out.push_back(data[axis]);
    c.set_shape(i, out);
  }
  return {};
}

// How many rows of each partition there are in each chunk of rows; in front of a chunk, after
// exclusive sums over the chunks.
struct PartitionCounts {
  int64_t rows_of_chunk, num_partitions;
  std::vector<int64_t> counts;

  int64_t* of_chunk(int64_t chunk) { return counts.data() + chunk * num_partitions; }
};

Result<PartitionCounts> count_rows(const Tensor& partitions, int64_t num_partitions) {
  constexpr int64_t kRows = 1 << 15;
  const auto given = partitions.data<int32_t>();
  const auto n = static_cast<int64_t>(given.size());
  PartitionCounts result{std::max(kRows, num_partitions), num_partitions, {}};
  const int64_t chunks = (n + result.rows_of_chunk - 1) / result.rows_of_chunk;
  result.counts.resize(static_cast<size_t>((chunks + 1) * num_partitions));
  for (int64_t chunk = 0; chunk < chunks; ++chunk) {
    const int64_t begin = chunk * result.rows_of_chunk;
    const int64_t end = std::min(n, begin + result.rows_of_chunk);
    int64_t* counts = result.of_chunk(chunk + 1);
    for (int64_t i = begin; i < end; ++i) {
      if (given[i] < 0 || given[i] >= num_partitions) {
        return invalid_argument("partitions", place_text(partitions.shape(), i), " = ", given[i],
                                " is not in [0, ", num_partitions, ")");
      }
      ++counts[given[i]];
    }
  }
  for (int64_t i = 0; i < chunks * num_partitions; ++i) {
    result.counts[i + num_partitions] += result.counts[i];
  }
  return result;
}

Status dynamic_partition_kernel(KernelContext& c) {
  const Tensor &data = c.input(0), &partitions = c.input(1);
  ASSIGN_OR_RETURN(PartitionCounts counts, count_rows(partitions, c.num_outputs()));
  Shape shape = {0};
  int64_t width = 1;
  for (int axis = partitions.rank(); axis < data.rank(); ++axis) {
    shape.push_back(data.shape()[axis]);
    width *= data.shape().size(axis);
  }
  for (int i = 0; i < c.num_outputs(); ++i) {
    shape.set(0, counts.counts[counts.counts.size() - counts.num_partitions + i]);
    RETURN_IF_ERROR(c.allocate_output(i, data.dtype(), shape));
  }
  visit_copied(data.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const T* from = static_cast<const T*>(data.raw_data());
    const int32_t* of_row = partitions.data<int32_t>().data();
    std::vector<T*> starts;
    for (int i = 0; i < c.num_outputs(); ++i) {
      starts.push_back(static_cast<T*>(c.output(i).mutable_raw_data()));
    }
    for_ranges(partitions.num_elements(), counts.rows_of_chunk, [&](int64_t begin, int64_t end) {
      int64_t* next = counts.of_chunk(begin / counts.rows_of_chunk);
      for (int64_t i = begin; i < end; ++i) {
        const int32_t k = of_row[i];
        copy_row(from + i * width, width, starts[k] + next[k]++ * width);
      }
    });
  });
  return {};
}

// The numbers 0, 1, 2, ... in the shape of the partitions are parted like the data: where each part
// came from.
void dynamic_partition_gradient(GradientContext& c) {
  const auto& attrs = c.attrs<DynamicPartitionAttrs>();
  const Tensor shape = c.shape_of_x(1), partitions = c.x(1);
  auto scalar = [&](int32_t value) { return constant(c, Tensor::scalar(value)); };
  const Tensor all = c(kRange, {scalar(0), c(kSize, {partitions}), scalar(1)});
  Tensors inputs = c.apply(*kDynamicPartition,
                           std::vector<Tensor>{c(kReshape, {all, shape}), partitions}, attrs);
  for (int i = 0; i < static_cast<int>(attrs.num_partitions); ++i) inputs.push_back(c.dy(i));
  const Tensors merged = c.apply(*kParallelDynamicStitch, inputs, NoAttrs());
  if (!merged.empty()) c.set_dx(0, c(kReshape, {merged[0], c.shape_of_x(0)}));
}

void define_dynamic_partition(OpRegistry& ops) {
  ops.define(kDynamicPartition,
             {
                 .name = "DynamicPartition",
                 .python = "dynamic_partition",
                 .summary = "The slices of data, outputs[i] those of which partitions is i.",
                 .details = "data has the axes of partitions first. Each output keeps the order.",
                 .inputs = {"data: T", "partitions: int32"},
                 .outputs = {"outputs: num_partitions * T"},
                 .types = {{"T", kAllTypes}},
                 .infer = dynamic_partition_shape,
                 .gradient = dynamic_partition_gradient,
                 .body = kernel(dynamic_partition_kernel),
                 .allocates_outputs = true,
             });
}

// --- DynamicStitch.

// The axes of the data that follow the axes of its indices.
Result<Shape> row_shape(const InferContext& c, int i, int n) {
  const Shape &indices = c.shape(i), &data = c.shape(n + i);
  if (!may_start_with(c, data, indices)) {
    return invalid_argument("data[", i, "].shape = ", data.to_message(),
                            " does not start with indices[", i, "].shape = ", indices.to_message());
  }
  if (!indices.has_rank() || !data.has_rank()) return Shape::unknown_rank();
  Shape rest;
  for (int axis = indices.rank(); axis < data.rank(); ++axis) rest.push_back(data[axis]);
  return rest;
}

Status dynamic_stitch_shape(InferContext& c) {
  const int n = c.num_inputs() / 2;
  if (n == 0) return invalid_argument("DynamicStitch needs at least one tensor of indices");
  Shape rest = Shape::unknown_rank();
  int64_t num_rows = 0;
  bool is_known = true;
  for (int i = 0; i < n; ++i) {
    ASSIGN_OR_RETURN(const Shape row, row_shape(c, i, n));
    auto merged = merge_shapes(rest, row);
    if (!merged.ok()) {
      return invalid_argument("Need data[0].shape[", c.shape(0).rank(), ":] = data[", i, "].shape[",
                              c.shape(i).rank(),
                              ":], got data[0].shape = ", c.shape(n).to_message(), ", data[", i,
                              "].shape = ", c.shape(n + i).to_message());
    }
    rest = *merged;
    const Tensor indices = c.value(i);
    is_known &= static_cast<bool>(indices);
    if (!indices) continue;
    for (int32_t index : indices.data<int32_t>()) num_rows = std::max(num_rows, int64_t{index} + 1);
  }
  if (!rest.has_rank()) return unknown_outputs(c);
  rest.insert(0, is_known ? Dim(num_rows) : c.new_symbol("stitch"));
  c.set_shape(0, rest);
  return {};
}

// The number of rows of the result.
Result<int64_t> num_merged_rows(const KernelContext& c, int n) {
  int64_t num_rows = 0;
  for (int i = 0; i < n; ++i) {
    int32_t least = 0, most = -1;
    for (int32_t index : c.in<int32_t>(i)) {
      least = std::min(least, index);
      most = std::max(most, index);
    }
    if (least < 0) return invalid_argument("indices[", i, "] is out of range");
    num_rows = std::max(num_rows, int64_t{most} + 1);
  }
  return num_rows;
}

Status dynamic_stitch_kernel(KernelContext& c) {
  const int n = c.num_inputs() / 2;
  ASSIGN_OR_RETURN(const int64_t num_rows, num_merged_rows(c, n));
  Shape shape = {num_rows};
  int64_t width = 1;
  for (int axis = c.input(0).rank(); axis < c.input(n).rank(); ++axis) {
    shape.push_back(c.input(n).shape()[axis]);
    width *= c.input(n).shape().size(axis);
  }
  RETURN_IF_ERROR(c.allocate_output(0, c.input(n).dtype(), shape));
  const Tensor& out = c.output(0);
  clear_elements(out.dtype(), out.num_elements(), out.mutable_raw_data());
  visit_copied(out.dtype(), [&](auto zero) {
    using T = decltype(zero);
    T* to = static_cast<T*>(out.mutable_raw_data());
    // Cut by columns: of rows of one index the last one counts.
    const int64_t grain = kBytesOfChunk / bytes_of_row(out.dtype(), std::max<int64_t>(num_rows, 1));
    for_ranges(width, std::max<int64_t>(grain, 64), [&](int64_t begin, int64_t end) {
      for (int i = 0; i < n; ++i) {
        const auto indices = c.in<int32_t>(i);
        const T* from = static_cast<const T*>(c.input(n + i).raw_data());
        for (size_t row = 0; row < indices.size(); ++row) {
          const T* source = from + static_cast<int64_t>(row) * width;
          copy_row(source + begin, end - begin, to + indices[row] * width + begin);
        }
      }
    });
  });
  return {};
}

// A row that another one replaced has the gradient of its place, too, as in TensorFlow.
void dynamic_stitch_gradient(GradientContext& c) {
  const int n = c.num_inputs() / 2;
  const Tensor axis = constant(c, Tensor::scalar<int32_t>(0));
  for (int i = 0; i < n; ++i) {
    if (c.wants(n + i)) c.set_dx(n + i, c(kGatherV2, {c.dy(), c.x(i), axis}));
  }
}

void define_dynamic_stitch(OpRegistry& ops) {
  OpRecord record{
      .name = "DynamicStitch",
      .python = "dynamic_stitch",
      .summary =
          "The slices of data, each at its index: merged[indices[m][i, ...]] is "
          "data[m][i, ...].",
      .details = "Of slices of one index the last one counts; an index without one has zeros.",
      .inputs = {"indices: N * int32", "data: N * T"},
      .outputs = {"merged: T"},
      .types = {{"T", kAllTypes}},
      .infer = dynamic_stitch_shape,
      .gradient = dynamic_stitch_gradient,
      .body = kernel(dynamic_stitch_kernel),
      .allocates_outputs = true,
  };
  ops.define(kDynamicStitch, record);
  record.name = "ParallelDynamicStitch";
  record.python = {};
  ops.define(kParallelDynamicStitch, record);
}

// --- ReverseSequence.

Status reverse_sequence_shape(InferContext& c) {
  const auto& [seq_dim, batch_dim] = c.attrs<ReverseSequenceAttrs>();
  const Shape &x = c.shape(0), &lengths = c.shape(1);
  if (lengths.has_rank() && lengths.rank() != 1) {
    return invalid_argument("seq_lengths must be 1-dim, not ", lengths.rank());
  }
  if (seq_dim == batch_dim) return invalid_argument("batch_dim == seq_dim == ", seq_dim);
  if (seq_dim < 0) return invalid_argument("Invalid seq_dim ", seq_dim);
  if (batch_dim < 0) return invalid_argument("Invalid batch_dim ", batch_dim);
  if (!x.has_rank()) return unknown_outputs(c);
  if (seq_dim >= x.rank()) {
    return invalid_argument("seq_dim must be < input rank ( ", seq_dim, " vs. ", x.rank(), ")");
  }
  if (batch_dim >= x.rank()) {
    return invalid_argument("batch_dim must be < input rank ( ", batch_dim, " vs. ", x.rank(), ")");
  }
  Shape out = x;
  if (lengths.has_rank()) {
    auto merged = c.merge(x[static_cast<int>(batch_dim)], lengths[0]);
    if (!merged.ok()) {
      return invalid_argument("Length of seq_lengths != input.dims(", batch_dim, "), (",
                              lengths.size(0), " vs. ", x.size(static_cast<int>(batch_dim)), ")");
    }
    out.set(static_cast<int>(batch_dim), *merged);
  }
  c.set_shape(0, out);
  return {};
}

// The input as [outer, first, between, second, inner], where first and second are the batch and the
// sequence, or the reverse.
struct Sequences {
  int64_t outer = 1, first = 1, between = 1, second = 1, inner = 1;
  bool batch_is_first;

  Sequences(const Shape& shape, int batch, int sequence) : batch_is_first(batch < sequence) {
    const int low = std::min(batch, sequence), high = std::max(batch, sequence);
    for (int i = 0; i < shape.rank(); ++i) {
      int64_t& size = i < low     ? outer
                      : i == low  ? first
                      : i < high  ? between
                      : i == high ? second
                                  : inner;
      size *= shape.size(i);
    }
  }
};

// The place in its sequence that an element at this one comes from.
int64_t source_place(int64_t at, int64_t length) { return at < length ? length - 1 - at : at; }

template <typename T>
void reverse_sequences(const Sequences& s, std::span<const int64_t> lengths, const T* from, T* to) {
  const int64_t row_size = s.second * s.inner;
  for_ranges(s.outer * s.first * s.between,
             kBytesOfChunk / static_cast<int64_t>(sizeof(T)) / row_size,
             [&](int64_t begin, int64_t end) {
               for (int64_t row = begin; row < end; ++row) {
                 const int64_t i = row / s.between % s.first;
                 for (int64_t k = 0; k < s.second; ++k) {
                   const int64_t length = lengths[s.batch_is_first ? i : k];
                   const int64_t source_row =
                       s.batch_is_first ? row : row + (source_place(i, length) - i) * s.between;
                   const int64_t source = s.batch_is_first ? source_place(k, length) : k;
                   copy_row(from + source_row * row_size + source * s.inner, s.inner,
                            to + row * row_size + k * s.inner);
                 }
               }
             });
}

Status reverse_sequence_kernel(KernelContext& c) {
  const auto& attrs = c.attrs<ReverseSequenceAttrs>();
  const Tensor& x = c.input(0);
  const int batch = static_cast<int>(attrs.batch_dim), sequence = static_cast<int>(attrs.seq_dim);
  std::vector<int64_t> lengths(static_cast<size_t>(c.input(1).num_elements()));
  for (size_t i = 0; i < lengths.size(); ++i) {
    lengths[i] = integer_at(c.input(1), static_cast<int64_t>(i));
    if (lengths[i] < 0) return invalid_argument("seq_lens(", i, ") < 0");
    if (lengths[i] > x.shape().size(sequence)) {
      return invalid_argument("seq_lens(", i, ") > input.dims(", sequence, ")");
    }
  }
  if (x.num_elements() == 0) return {};
  visit_copied(x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    reverse_sequences(Sequences(x.shape(), batch, sequence), lengths,
                      static_cast<const T*>(x.raw_data()),
                      static_cast<T*>(c.output(0).mutable_raw_data()));
  });
  return {};
}

void batch_reverse_sequence(BatchContext& c) {
  if (c.attrs<ReverseSequenceAttrs>().batch_dim != 0) return c.use_loop();
  batch_by_folding<0, 1>(c);
}

void define_reverse_sequence(OpRegistry& ops) {
  ops.define(
      kReverseSequence,
      {
          .name = "ReverseSequence",
          .summary = "The input with the start of each sequence, as long as seq_lengths says, "
                     "turned around.",
          .details = "The sequences lie along seq_dim, and one length is for each index of "
                     "batch_dim. Behind its length a sequence stays as it is.",
          .inputs = {"input: T", "seq_lengths: Tlen"},
          .outputs = {"output: T"},
          .types = {{"T", kPlainTypes | DTypeSet{DType::kString}, kAllTypes},
                    {"Tlen", kIndexTypes}},
          .infer = reverse_sequence_shape,
          .gradient =
              [](GradientContext& c) {
                c.set_dx(0, c(kReverseSequence, {c.dy(), c.x(1)}, c.attrs<ReverseSequenceAttrs>()));
              },
          .batch = batch_reverse_sequence,
          .body = kernel(reverse_sequence_kernel),
      });
}

}  // namespace

void define_partition_ops(OpRegistry& ops) {
  define_dynamic_partition(ops);
  define_dynamic_stitch(ops);
  define_reverse_sequence(ops);
}

}  // namespace graven::engine
