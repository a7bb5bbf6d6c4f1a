#include "graven/library/function_context.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "graven/ir/structural_ops.h"

namespace graven::engine {
namespace {

bool fit_int32(std::span<const int64_t> values) {
  return std::ranges::all_of(values, [](int64_t value) { return std::in_range<int32_t>(value); });
}

}  // namespace

std::optional<int> FunctionContext::rank_if_known(const Tensor& x) const {
  if (!x || !x.shape().has_rank()) return std::nullopt;
  return x.rank();
}

std::optional<int64_t> FunctionContext::size_if_known(const Tensor& x, int64_t i) const {
  if (!x || !x.shape().has_rank()) return std::nullopt;
  const int64_t rank = x.rank(), axis = i < 0 ? i + rank : i;
  if (axis < 0 || axis >= rank || !x.shape()[static_cast<int>(axis)].is_number()) {
    return std::nullopt;
  }
  return x.shape().size(static_cast<int>(axis));
}

std::optional<int64_t> FunctionContext::static_size(const Tensor& x, int64_t i) const {
  return size_if_known(x, i);
}

SizeList FunctionContext::sizes(const Tensor& x) {
  if (!rank_if_known(x)) {
    fail(value_error("The rank of a tensor must be known here"));
    return {};
  }
  return sizes_of(*this, x.shape(), [&] { return (*this)(kShape, {x}); });
}

Tensor FunctionContext::fail(Status status) {
  Emitter::fail(std::move(status));
  return {};
}

Formula FunctionContext::wide(const Tensor& x) {
  const bool is_short = x && dtype_size(x.dtype()) == 2 && is_floating(x.dtype());
  return cast(x, is_short ? DType::kFloat32 : x ? x.dtype() : DType::kInvalid);
}

Formula FunctionContext::cast(const Tensor& x, DType dtype) {
  return {*this, engine::cast(*this, x, dtype)};
}

Tensor FunctionContext::zero(DType dtype) {
  if (dtype == DType::kString) return constant(Tensor::string_scalar(""));
  if (!is_plain(dtype)) return fail(type_error("There is no zero of ", dtype_name(dtype)));
  return constant(visit_plain(dtype, [](auto zero) { return Tensor::scalar(zero); }));
}

Tensor FunctionContext::scalar(int64_t value, DType dtype, std::string_view name) {
  const Tensor made = dtype == DType::kInt64 ? Tensor::scalar<int64_t>(value)
                                             : Tensor::scalar(static_cast<int32_t>(value));
  return constant(made, name);
}

Tensor FunctionContext::vector(std::span<const int64_t> values, std::string_view name) {
  if (!fit_int32(values)) return constant(Tensor::vector(values), name);
  const InlineVector<int32_t, 6> narrow(values.begin(), values.end());
  return constant(Tensor::vector(std::span<const int32_t>(narrow.data(), narrow.size())), name);
}

Tensor FunctionContext::tensor_of(const Integers& integers, std::string_view name) {
  if (!integers.numbers) return integers.tensor;
  const auto& numbers = *integers.numbers;
  if (!integers.is_scalar) return vector({numbers.data(), numbers.size()}, name);
  return scalar(numbers[0], fit_int32({&numbers[0], 1}) ? DType::kInt32 : DType::kInt64, name);
}

}  // namespace graven::engine
