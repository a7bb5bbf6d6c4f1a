#include "graven/api/arguments.h"

#include <algorithm>

#include "graven/api/apply.h"
#include "graven/api/compose.h"
#include "graven/api/op_functions.h"
#include "graven/ops/shape_ops.h"

namespace graven {

using internal::apply;
using internal::at;
using internal::integers;

Tensor internal::integers(const std::vector<int64_t>& values, const Here& location) {
  Shape shape{Dim(static_cast<int64_t>(values.size()))};
  bool small = std::all_of(values.begin(), values.end(),
                           [](int64_t v) { return std::in_range<int32_t>(v); });
  if (!small) return Tensor::of(values, shape, location);
  return Tensor::of(std::vector<int32_t>(values.begin(), values.end()), shape, location);
}

std::vector<DType> internal::dtypes_of(std::span<const engine::Tensor> tensors,
                                       const Here& location) {
  std::vector<DType> dtypes;
  for (const engine::Tensor& tensor : tensors) {
    if (!tensor.object()) {
      throw_error(engine::value_error("one of the tensors is none (None)"), location);
    }
    dtypes.push_back(tensor.dtype());
  }
  return dtypes;
}

Sizes::Sizes(const Shape& shape, Here location) {
  if (!shape.is_fully_known()) {
    throw_error(engine::value_error("The shape ", shape.to_text(),
                                    " is not fully known. graven::shape(x) gives the sizes that x "
                                    "has when the function runs"),
                location);
  }
  numbers.emplace();
  for (Dim dim : shape.dims()) numbers->push_back(dim.number());
}

Tensor Sizes::as_tensor(const Here& location) const {
  if (tensor) return tensor;
  return integers({numbers->begin(), numbers->end()}, location);
}

Tensor Axes::as_tensor(const Tensor& x, const Here& location) const {
  if (tensor) return tensor;
  if (numbers) {
    if (is_scalar) return Tensor(static_cast<int>((*numbers)[0]), location);
    return integers({numbers->begin(), numbers->end()}, location);
  }
  if (x.shape().has_rank()) {
    std::vector<int64_t> all(x.rank());
    for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<int64_t>(i);
    return integers(all, location);
  }
  Tensor rank = apply(engine::kRank, {at(x, location)});
  return range(at(rank, location));
}

}  // namespace graven
