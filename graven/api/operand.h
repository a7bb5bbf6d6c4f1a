#pragma once
#include <concepts>
#include <optional>
#include <source_location>
#include <string>
#include <type_traits>

#include "graven/api/tensor.h"
#include "graven/base/export.h"

namespace graven {

class Variable;

// An operand of an op: a tensor, a variable (which the op reads, the operands from left to right),
// or a number that takes the dtype of the other operands. It notes the user's line for errors and
// traced nodes. Made where an op is called, and not kept.
class GRAVEN_API Operand {
 public:
  Operand(const Tensor& tensor, std::source_location location = std::source_location::current())
      : tensor_(tensor), location_(location) {}
  Operand(const engine::Tensor& tensor,
          std::source_location location = std::source_location::current())
      : tensor_(tensor), location_(location) {}
  Operand(const Variable& variable,
          std::source_location location = std::source_location::current());
  Operand(const char* text, std::source_location location = std::source_location::current())
      : tensor_(text, location), location_(location) {}
  Operand(const std::string& text, std::source_location location = std::source_location::current())
      : tensor_(text, location), location_(location) {}
  template <typename T>
  requires std::is_arithmetic_v<T> Operand(
      T number, std::source_location location = std::source_location::current())
      : content_(std::is_same_v<T, bool> ? Content::kBool
                 : std::is_integral_v<T> ? Content::kInteger
                                         : Content::kFloat),
        integer_(std::is_integral_v<T> ? static_cast<int64_t>(number) : 0),
        number_(static_cast<double>(number)),
        location_(location) {}
  // Lists of numbers have the dtype that Tensor gives them.
  Operand(std::initializer_list<Element> values,
          std::source_location location = std::source_location::current())
      : tensor_(values, location), location_(location) {}
  Operand(std::initializer_list<std::initializer_list<int>> rows,
          std::source_location location = std::source_location::current())
      : tensor_(rows, location), location_(location) {}

  bool is_number() const { return content_ > Content::kVariable; }
  bool is_variable() const { return content_ == Content::kVariable; }
  const Tensor& handle() const { return tensor_; }  // of the variable, if it is one
  bool is_none() const { return content_ == Content::kTensor && tensor_.is_none(); }
  double number() const { return number_; }  // if it is one
  // The dtype of the argument; kInvalid for a number, or no tensor.
  DType dtype() const;
  const std::source_location& location() const { return location_; }
  // The tensor; the present value of a variable; a number as a tensor of the given dtype (kInvalid:
  // int32, or float32). Throws for a number that the dtype cannot hold, such as a fraction in an
  // integer, and if there is no tensor.
  Tensor as_tensor(DType dtype = DType::kInvalid) const {
    return content_ == Content::kTensor && !is_none() ? tensor_ : made_tensor(dtype);
  }

 private:
  enum class Content : uint8_t { kTensor, kVariable, kBool, kInteger, kFloat };
  Tensor made_tensor(DType dtype) const;
  Tensor tensor_;  // or the handle of the variable
  Content content_ = Content::kTensor;
  int64_t integer_ = 0;
  double number_ = 0;
  std::source_location location_;
};

// An operand that may be none, where that is allowed.
class MaybeOperand : public Operand {
 public:
  MaybeOperand() : Operand(Tensor(), std::source_location()) {}
  MaybeOperand(std::nullopt_t) : MaybeOperand() {}
  MaybeOperand(const Operand& operand) : Operand(operand) {}
  using Operand::Operand;
};

// --- Operators, as in Python: arithmetic broadcasts. Python's == and != are equal() and
// not_equal() here.
GRAVEN_API Tensor operator+(const Operand& x, const Operand& y);  // also joins strings
GRAVEN_API Tensor operator-(const Operand& x, const Operand& y);
GRAVEN_API Tensor operator*(const Operand& x, const Operand& y);
GRAVEN_API Tensor operator/(const Operand& x, const Operand& y);  // integers: true division
GRAVEN_API Tensor operator%(const Operand& x, const Operand& y);  // sign of the divisor
GRAVEN_API Tensor operator-(const Operand& x);
GRAVEN_API Tensor operator<(const Operand& x, const Operand& y);
GRAVEN_API Tensor operator<=(const Operand& x, const Operand& y);
GRAVEN_API Tensor operator>(const Operand& x, const Operand& y);
GRAVEN_API Tensor operator>=(const Operand& x, const Operand& y);
GRAVEN_API Tensor operator&(const Operand& x, const Operand& y);  // bool: logical; integers: bits
GRAVEN_API Tensor operator|(const Operand& x, const Operand& y);
GRAVEN_API Tensor operator^(const Operand& x, const Operand& y);
GRAVEN_API Tensor operator~(const Operand& x);

}  // namespace graven
