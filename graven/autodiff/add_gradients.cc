#include "graven/autodiff/add_gradients.h"

#include <vector>

#include "graven/ir/graph.h"
#include "graven/ir/structural_ops.h"

namespace graven::engine {
namespace {

// The value of a tensor if it is known now.
Tensor known_value(const Tensor& tensor) {
  if (!tensor.is_symbolic()) return tensor;
  const Node& node = symbolic(tensor).node();
  // What is fed in place of a captured constant may be another value.
  if (&node.op() != kConst.op || node.graph().is_input(&node)) return {};
  return node.attrs().as<ConstAttrs>().value;
}

// Element 0 of a shape vector of known length, as a scalar.
Tensor first_element(Emitter& emit, const Tensor& shape, int length) {
  if (Tensor value = known_value(shape)) {
    return emit.constant(value.dtype() == DType::kInt32 ? Tensor::scalar(value.data<int32_t>()[0])
                                                        : Tensor::scalar(value.data<int64_t>()[0]));
  }
  // A sum of segments, where rows of negative numbers are left out, is the one structural op that
  // selects.
  std::vector<int32_t> segments(static_cast<size_t>(length), -1);
  segments[0] = 0;
  Tensor first = emit(kUnsortedSegmentSum,
                      {shape, emit.constant(Tensor::vector(std::span<const int32_t>(segments))),
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
  const Shape& length = slices.dense_shape.shape();
  int rank = length.is_fully_known() && length.rank() == 1 ? static_cast<int>(length.size(0))
                                                           : slices.values.rank();
  if (rank < 1) {
    emit.fail(value_error("IndexedSlices of unknown rank cannot be made a tensor"));
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
