#include "graven/api/operand.h"

#include <complex>
#include <limits>
#include <utility>

#include "graven/api/apply.h"
#include "graven/api/location.h"
#include "graven/api/op_functions.h"
#include "graven/api/variable.h"
#include "graven/ir/structural_ops.h"
#include "graven/library/arithmetic.h"
#include "graven/ops/logical_ops.h"
#include "graven/ops/math_ops.h"

namespace graven {

Operand::Operand(const Variable& variable, std::source_location location)
    : tensor_(variable.handle()), content_(Content::kVariable), location_(location) {}

DType Operand::dtype() const {
  if (is_number() || tensor_.is_none()) return DType::kInvalid;
  return content_ == Content::kVariable ? Variable::of_handle(tensor_).dtype() : tensor_.dtype();
}

Tensor Operand::made_tensor(DType dtype) const {
  if (is_none()) {
    throw_error(engine::value_error("An operand is no tensor (None)"), location_);
  }
  if (content_ == Content::kVariable) return Variable::of_handle(tensor_).value(location_);
  constexpr auto kLimits = std::numeric_limits<int32_t>();
  if (dtype == DType::kInvalid) {
    dtype = content_ == Content::kBool                             ? DType::kBool
            : content_ == Content::kFloat                          ? DType::kFloat32
            : integer_ < kLimits.min() || integer_ > kLimits.max() ? DType::kInt64
                                                                   : DType::kInt32;
  }
  bool fits = content_ == Content::kBool      ? dtype == DType::kBool
              : content_ == Content::kInteger ? engine::kNumberTypes.contains(dtype)
                                              : engine::kDifferentiableTypes.contains(dtype);
  if (!fits) {
    std::string text = content_ == Content::kFloat  ? engine::shortest(number_)
                       : content_ == Content::kBool ? std::string(integer_ ? "true" : "false")
                                                    : engine::str_cat(integer_);
    throw_error(engine::type_error("Cannot convert ", text, " to EagerTensor of dtype ",
                                   engine::dtype_name(dtype)),
                location_);
  }
  engine::Tensor made = engine::visit_plain(dtype, [&](auto zero) {
    using T = decltype(zero);
    if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
      return engine::Tensor::scalar(T(static_cast<float>(number_)));
    } else if constexpr (std::is_integral_v<T>) {
      using Range = std::conditional_t<std::is_same_v<T, bool>, int, T>;
      if (!std::in_range<Range>(integer_)) {
        throw_error(engine::value_error("Can't convert ", integer_, " to a tensor of dtype ",
                                        engine::dtype_name(dtype), ": out of range"),
                    location_);
      }
      return engine::Tensor::scalar(static_cast<T>(integer_));
    } else if constexpr (std::is_floating_point_v<T>) {
      return engine::Tensor::scalar(static_cast<T>(number_));
    } else {
      return engine::Tensor::scalar(T(static_cast<typename T::value_type>(number_)));
    }
  });
  return internal::constant(made, location_);
}

// --- Operators. They choose among ops by dtype as Python's do (graven/python/tensor_operators.cc).

namespace {

// The dtype that decides: that of the operand that is no number.
DType dtype_of(const Operand& x, const Operand& y) {
  if (x.is_number() && y.is_number()) return x.as_tensor().dtype();
  return x.dtype() != DType::kInvalid ? x.dtype() : y.dtype();
}

// Whether the bits of integers are meant, or truth.
bool is_bits(const Operand& x, const Operand& y) { return engine::is_integer(dtype_of(x, y)); }

// Integers are divided as floats that hold them well.
Tensor as_quotient(const Operand& x, DType dtype) {
  if (x.is_number()) return x.as_tensor(dtype);
  if (x.dtype() == dtype || x.dtype() == DType::kInvalid) return x.as_tensor();
  return internal::apply(engine::kCast, {x}, {.DstT = dtype});
}

}  // namespace

using engine::is_integer;

// The nodes of arithmetic are named as Python's operators name them.
Tensor operator+(const Operand& x, const Operand& y) {
  bool is_text = dtype_of(x, y) == DType::kString;
  return internal::apply(is_text ? engine::kAdd : engine::kAddV2, {x, y}, {}, "add");
}
Tensor operator-(const Operand& x, const Operand& y) {
  return internal::apply(engine::kSub, {x, y}, {}, "sub");
}
Tensor operator*(const Operand& x, const Operand& y) {
  auto may_be_bool = [](const Operand& o) { return o.is_number() || o.dtype() == DType::kBool; };
  if (dtype_of(x, y) != DType::kBool || !may_be_bool(x) || !may_be_bool(y)) {
    return internal::apply(engine::kMul, {x, y}, {}, "mul");
  }
  // Bools are multiplied as int32.
  internal::LineScope line(x.location());
  Tensor a = cast(x.as_tensor(DType::kBool), DType::kInt32);
  Tensor b = cast(y.as_tensor(DType::kBool), DType::kInt32);
  return cast(internal::apply(engine::kMul, {a, b}, {}, "mul"), DType::kBool);
}

Tensor operator/(const Operand& x, const Operand& y) {
  DType dtype = dtype_of(x, y);
  throw_if_error(engine::check_division(dtype, dtype), x.location());
  if (!is_integer(dtype)) return internal::apply(engine::kRealDiv, {x, y}, {}, "truediv");
  DType quotient = engine::quotient_type(dtype);
  Tensor numerator = as_quotient(x, quotient);
  return internal::apply(
      engine::kRealDiv,
      {Operand(numerator, x.location()), Operand(as_quotient(y, quotient), y.location())}, {},
      "truediv");
}

Tensor operator%(const Operand& x, const Operand& y) {
  return internal::apply(engine::kFloorMod, {x, y}, {}, "mod");
}
Tensor operator-(const Operand& x) { return internal::apply(engine::kNeg, {x}); }
Tensor operator<(const Operand& x, const Operand& y) {
  return internal::apply(engine::kLess, {x, y});
}
Tensor operator<=(const Operand& x, const Operand& y) {
  return internal::apply(engine::kLessEqual, {x, y});
}
Tensor operator>(const Operand& x, const Operand& y) {
  return internal::apply(engine::kGreater, {x, y});
}
Tensor operator>=(const Operand& x, const Operand& y) {
  return internal::apply(engine::kGreaterEqual, {x, y});
}
Tensor operator&(const Operand& x, const Operand& y) {
  return internal::apply(is_bits(x, y) ? engine::kBitwiseAnd : engine::kLogicalAnd, {x, y});
}
Tensor operator|(const Operand& x, const Operand& y) {
  return internal::apply(is_bits(x, y) ? engine::kBitwiseOr : engine::kLogicalOr, {x, y});
}
Tensor operator^(const Operand& x, const Operand& y) {
  if (is_bits(x, y)) return internal::apply(engine::kBitwiseXor, {x, y});
  // (x | y) & !(x & y), as TensorFlow computes it.
  Tensor either = internal::apply(engine::kLogicalOr, {x, y});
  Tensor both = internal::apply(engine::kLogicalAnd, {x, y});
  Tensor not_both = internal::apply(engine::kLogicalNot, {Operand(both, x.location())});
  return internal::apply(engine::kLogicalAnd,
                         {Operand(either, x.location()), Operand(not_both, x.location())});
}
Tensor operator~(const Operand& x) {
  return internal::apply(is_bits(x, x) ? engine::kInvert : engine::kLogicalNot, {x});
}

}  // namespace graven
