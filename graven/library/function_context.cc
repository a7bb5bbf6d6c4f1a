#include "graven/library/function_context.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "graven/base/strings.h"
#include "graven/ir/call_sizes.h"
#include "graven/ir/structural_ops.h"
#include "graven/ops/movement_ops.h"

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

std::optional<InlineVector<int64_t, 6>> FunctionContext::sizes_if_known(const Tensor& x) const {
  if (!x || !x.shape().is_fully_known()) return std::nullopt;
  InlineVector<int64_t, 6> sizes;
  for (int i = 0; i < x.rank(); ++i) sizes.push_back(x.shape().size(i));
  return sizes;
}

std::optional<int64_t> FunctionContext::number_if_known(const Tensor& x) const {
  const Tensor value = known_value(x);
  if (!value || value.rank() != 0) return std::nullopt;
  if (value.dtype() == DType::kInt32) return value.item<int32_t>();
  if (value.dtype() == DType::kInt64) return value.item<int64_t>();
  return std::nullopt;
}

std::optional<int64_t> FunctionContext::static_size(const Tensor& x, int64_t i) const {
  if (!x || !x.shape().has_rank()) return std::nullopt;
  const int64_t rank = x.rank(), axis = i < 0 ? i + rank : i;
  if (axis < 0 || axis >= rank) return std::nullopt;
  return CallSizes::read(x, static_cast<int>(axis));
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

namespace {

// Whether T, a type of integers, has the very number.
template <typename T>
bool holds(int64_t value) {
  return std::in_range<T>(value);
}
template <typename T>
bool holds(double value) {
  const double end = std::ldexp(1.0, std::numeric_limits<T>::digits);
  return value == std::trunc(value) && value >= (std::is_signed_v<T> ? -end : 0) && value < end;
}

// The error where it has not; `name` is the parameter's.
Status no_integer(double value, DType dtype, std::string_view name) {
  if (!std::isfinite(value) || value != std::trunc(value)) {
    return type_error("Cannot convert ", shortest(value), " to EagerTensor of dtype ",
                      dtype_name(dtype));
  }
  const std::string text =
      std::abs(value) < 0x1p63 ? str_cat(static_cast<int64_t>(value)) : shortest(value);
  return invalid_argument(name.empty() ? "A number" : str_cat("'", name, "'"), " is of ",
                          dtype_name(dtype), ", which does not hold ", text);
}

}  // namespace

template <typename Value>
Tensor FunctionContext::plain_scalar(Value value, DType dtype, std::string_view name) {
  if (!is_plain(dtype)) return fail(type_error("There is no number of ", dtype_name(dtype)));
  const auto made = visit_plain(dtype, [&](auto zero) -> Result<Tensor> {
    using T = decltype(zero);
    if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
      return Tensor::scalar(T(static_cast<float>(value)));
    } else {
      if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
        if (!holds<T>(value)) return no_integer(static_cast<double>(value), dtype, name);
      }
      return Tensor::scalar(static_cast<T>(value));
    }
  });
  return made.ok() ? constant(*made, name) : fail(made.status());
}

Tensor FunctionContext::scalar(double value, DType dtype, std::string_view name) {
  return plain_scalar(value, dtype, name);
}

Tensor FunctionContext::scalar(int64_t value, DType dtype, std::string_view name) {
  return plain_scalar(value, dtype, name);
}

namespace {

// Larger constants are a Fill in the graph, so that it stays small.
constexpr int64_t kMaxConstant = 1000;

Result<Tensor> repeated(double value, DType dtype, const Shape& shape) {
  ASSIGN_OR_RETURN(Tensor tensor, Tensor::allocate(dtype, shape));
  if (!is_plain(dtype)) return tensor;  // empty strings
  visit_plain(dtype, [&](auto zero) {
    using T = decltype(zero);
    constexpr bool kIsShort = std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>;
    std::conditional_t<kIsShort, float, T> number = static_cast<decltype(number)>(value);
    std::ranges::fill(tensor.mutable_data<T>(), T(number));
  });
  return tensor;
}

}  // namespace

Tensor FunctionContext::filled(const Integers& shape, double value, DType dtype,
                               std::string_view name) {
  if (dtype == DType::kString && value != 0) {
    return fail(type_error("Cannot convert ", value, " to EagerTensor of dtype string"));
  }
  if (shape.numbers && is_graph()) {
    Shape known;
    for (int64_t size : *shape.numbers) {
      if (size < 0) return fail(value_error("Dimension ", size, " must be >= 0"));
      known.push_back(Dim(size));
    }
    const auto count = known.checked_num_elements();
    if (count && *count < kMaxConstant) {
      auto made = repeated(value, dtype, known);
      return made.ok() ? constant(*made, name) : fail(made.status());
    }
  }
  Tensor dims = shape.tensor;
  if (shape.numbers) {
    dims = vector({shape.numbers->data(), shape.numbers->size()});
  } else if (rank_if_known(dims) == 0) {
    dims = (*this)(kExpandDims, {dims, scalar(0)});  // the size of a vector
  }
  const Tensor element = dtype == DType::kString ? zero(dtype) : scalar(value, dtype);
  return (*this)(kFill, {dims, element}, {}, name);
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

std::vector<Tensor> FunctionContext::tensors_of(
    std::initializer_list<std::pair<const Integers&, std::string_view>> all) {
  const bool is_wide = std::ranges::any_of(all, [](const auto& item) {
    const Integers& integers = item.first;
    if (integers.tensor) return integers.tensor.dtype() == DType::kInt64;
    return integers.numbers && !fit_int32({integers.numbers->data(), integers.numbers->size()});
  });
  std::vector<Tensor> tensors;
  for (const auto& [integers, name] : all) {
    if (!is_wide || !integers.numbers || integers.is_scalar) {
      tensors.push_back(tensor_of(integers, name));
      continue;
    }
    const std::span<const int64_t> numbers(integers.numbers->data(), integers.numbers->size());
    tensors.push_back(constant(Tensor::vector(numbers), name));
  }
  return tensors;
}

Tensor FunctionContext::tensor_of(const Number& number, DType dtype, std::string_view name) {
  if (number.number) return scalar(*number.number, dtype, name);
  if (number.tensor) return number.tensor;
  return fail(
      value_error("Attempt to convert a value (None) with an unsupported type (<class "
                  "'NoneType'>) to a Tensor."));
}

}  // namespace graven::engine
