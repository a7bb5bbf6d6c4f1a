#include "graven/autodiff/add_gradients.h"

#include <optional>
#include <vector>

#include "graven/ir/graph.h"
#include "graven/ir/structural_ops.h"

namespace graven::engine {
namespace {

// The value of a tensor if it is known now.
Tensor known_value(const Tensor& tensor) {
  if (!tensor.is_symbolic()) return tensor;
  const Node& node = symbolic(tensor).node();
  // A captured constant is an input of the graph: a call may feed another value.
  if (&node.op() != kConst.op || node.graph().is_input(&node)) return {};
  return node.attrs().as<ConstAttrs>().value;
}

// 0 and then -1: a segment for each element of a vector of sizes, of which only the first counts.
Tensor segments_of_first(Emitter& emit, const Tensor& sizes, std::optional<int> length) {
  if (length) {
    std::vector<int32_t> segments(static_cast<size_t>(*length), -1);
    segments[0] = 0;
    return emit.constant(Tensor::vector(std::span<const int32_t>(segments)));
  }
  const int32_t one[] = {1}, zero[] = {0};
  Tensor count = emit(kShape, {sizes}, {DType::kInt32});
  Tensor scalar =
      emit(kReshape, {count, emit.constant(Tensor::vector(std::span<const int32_t>()))});
  Tensor first = emit(kUnsortedSegmentSum, {emit.constant(Tensor::vector<int32_t>(one)),
                                            emit.constant(Tensor::vector<int32_t>(zero)), scalar});
  Tensor all = emit(kFill, {count, emit.constant(Tensor::scalar<int32_t>(-1))});
  const Tensor terms[] = {all, first};
  Tensors segments = emit.apply(*kAddN, terms, NoAttrs());
  return segments.empty() ? Tensor() : segments[0];
}

// Element 0 of a shape vector, as a scalar. The length is there if it is known now.
Tensor first_element(Emitter& emit, const Tensor& shape, std::optional<int> length) {
  if (Tensor value = known_value(shape)) {
    return emit.constant(value.dtype() == DType::kInt32 ? Tensor::scalar(value.data<int32_t>()[0])
                                                        : Tensor::scalar(value.data<int64_t>()[0]));
  }
  // A sum of segments, where rows of negative numbers are left out, is the one structural op that
  // selects.
  Tensor first = emit(kUnsortedSegmentSum, {shape, segments_of_first(emit, shape, length),
                                            emit.constant(Tensor::scalar<int32_t>(1))});
  return emit(kReshape, {first, emit.constant(Tensor::vector(std::span<const int32_t>()))});
}

// Tensors of one or both index dtypes, all in the wider one if they differ.
void make_equal_dtypes(Emitter& emit, std::vector<Tensor>& indices) {
  bool differ = false;
  for (const Tensor& tensor : indices) differ |= tensor.dtype() != indices[0].dtype();
  if (!differ) return;
  for (Tensor& tensor : indices) {
    if (tensor.dtype() != DType::kInt64) tensor = emit(kCast, {tensor}, {DType::kInt64, false});
  }
}

Tensor concatenated(Emitter& emit, std::vector<Tensor> parts) {
  parts.push_back(emit.constant(Tensor::scalar<int32_t>(0)));
  Tensors outputs = emit.apply(*kConcatV2, parts, NoAttrs());
  return outputs.empty() ? Tensor() : outputs[0];
}

Gradient concatenated(Emitter& emit, std::span<const Gradient> terms) {
  std::vector<Tensor> values, indices;
  Tensor dense_shape;
  for (const Gradient& term : terms) {
    values.push_back(term.slices.values);
    indices.push_back(term.slices.indices);
    if (!dense_shape) dense_shape = term.slices.dense_shape;
  }
  make_equal_dtypes(emit, indices);
  Gradient sum;
  sum.slices = {concatenated(emit, std::move(values)), concatenated(emit, std::move(indices)),
                std::move(dense_shape)};
  return sum;
}

}  // namespace

Tensor densify(Emitter& emit, const IndexedSlices& slices) {
  if (!emit.status().ok()) return {};
  if (!slices.dense_shape) {
    emit.fail(
        value_error("IndexedSlices without a dense shape (dense_shape unknown) cannot be "
                    "made a tensor: values of shape ",
                    slices.values.shape().to_message()));
    return {};
  }
  const Shape &sizes = slices.dense_shape.shape(), &values = slices.values.shape();
  std::optional<int> rank;
  if (sizes.is_fully_known() && sizes.rank() == 1) {
    rank = static_cast<int>(sizes.size(0));
  } else if (values.has_rank()) {
    rank = values.rank();
  }
  if (rank && *rank < 1) {
    emit.fail(value_error("IndexedSlices of a scalar cannot be made a tensor: they have no rows"));
    return {};
  }
  Tensor rows = first_element(emit, slices.dense_shape, rank);
  Tensor dense = emit(kUnsortedSegmentSum, {slices.values, slices.indices, rows});
  if (!dense || dense.shape().is_fully_known()) return dense;
  // Says the sizes that the number of rows, found at run time, does not.
  return emit(kReshape, {dense, slices.dense_shape});
}

Tensor densify(Emitter& emit, const Gradient& gradient) {
  return gradient.is_slices() ? densify(emit, gradient.slices) : gradient.dense;
}

Gradient add_gradients(Emitter& emit, std::span<const Gradient> terms) {
  std::vector<Gradient> some;
  bool all_slices = true;
  for (const Gradient& term : terms) {
    if (term.is_none()) continue;
    all_slices &= term.is_slices();
    some.push_back(term);
  }
  if (some.empty()) return {};
  if (some.size() == 1) return some[0];
  if (all_slices) return concatenated(emit, some);
  std::vector<Tensor> dense;
  for (const Gradient& term : some) dense.push_back(densify(emit, term));
  Tensors sum = emit.apply(*kAddN, dense, NoAttrs());
  Gradient result;
  if (!sum.empty()) result.dense = sum[0];
  return result;
}

}  // namespace graven::engine
