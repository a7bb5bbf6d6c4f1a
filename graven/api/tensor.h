#pragma once
#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <optional>
#include <source_location>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "graven/api/error.h"
#include "graven/base/export.h"
#include "graven/tensor/tensor.h"

namespace graven {

class Tensor;
namespace internal {
// A value for use by an op: itself, or a Const node while a function is traced.
GRAVEN_API Tensor constant(const engine::Tensor& value, const std::source_location& location);
}  // namespace internal

using engine::BFloat16;
using engine::Dim;
using engine::DType;
using engine::Half;
using engine::Shape;

// A number, truth or text in a list: {1, 2.5} or {"a", "b"}. A list with a fraction is float32, one
// of whole numbers int32, or int64 if one of them needs it.
class Element {
 public:
  template <typename T>
  requires std::is_arithmetic_v<T> Element(T number)
      : kind_(std::is_same_v<T, bool> ? kBool
              : std::is_integral_v<T> ? kInteger
                                      : kFloat),
        integer_(std::is_integral_v<T> ? static_cast<int64_t>(number) : 0),
        number_(static_cast<double>(number)) {}
  Element(const char* text) : kind_(kString), text_(text) {}

 private:
  friend class Tensor;
  enum Kind : uint8_t { kBool, kInteger, kFloat, kString };
  Kind kind_;
  int64_t integer_ = 0;
  double number_ = 0;
  const char* text_ = nullptr;
};

// A tensor: a value, or, while a function is traced, an output of a node. A handle; copies share.
// It adds no data to the engine's, only members that throw graven::Error.
class GRAVEN_API Tensor : public engine::Tensor {
 public:
  // No tensor at all, which stands for an absent gradient.
  Tensor() = default;
  template <std::same_as<engine::Tensor> T>  // a class derived from this one is copied
  Tensor(T tensor) : engine::Tensor(std::move(tensor)) {}
  // Numbers and lists, as tf.constant takes them: float and double become float32, int int32,
  // int64_t int64.
  Tensor(double value, std::source_location location = std::source_location::current());
  Tensor(float value, std::source_location location = std::source_location::current());
  Tensor(int value, std::source_location location = std::source_location::current());
  Tensor(int64_t value, std::source_location location = std::source_location::current());
  Tensor(bool value, std::source_location location = std::source_location::current());
  Tensor(const char* value, std::source_location location = std::source_location::current());
  Tensor(const std::string& value, std::source_location location = std::source_location::current());
  Tensor(std::initializer_list<Element> values,
         std::source_location location = std::source_location::current());
  Tensor(std::initializer_list<std::initializer_list<double>> rows,
         std::source_location location = std::source_location::current());
  Tensor(std::initializer_list<std::initializer_list<int>> rows,
         std::source_location location = std::source_location::current());
  // Pointers are no truth values.
  template <typename T>
  Tensor(T* value) = delete;

  // Elements in row-major order, of the dtype of T; throws if their number does not fit the shape.
  template <typename T>
  static Tensor of(std::span<const T> values, const Shape& shape,
                   std::source_location location = std::source_location::current());
  template <typename T>
  static Tensor of(const std::vector<T>& values, const Shape& shape,
                   std::source_location location = std::source_location::current()) {
    return of(std::span<const T>(values), shape, location);
  }

  // True if this is no tensor, such as the gradient where there is no path.
  bool is_none() const { return !object(); }
  // True for the same tensor, not for one of equal elements. There is no ==, which in Python
  // compares element by element: that is equal(x, y).
  bool is_same(const Tensor& other) const { return object() == other.object(); }
  friend bool operator==(const Tensor& x, const Tensor& y) = delete;

  // --- Properties, also while it is traced; a ValueError if this is no tensor.
  DType dtype(std::source_location location = std::source_location::current()) const {
    return existing(location).dtype();
  }
  // While a function is traced its sizes count as read (docs/sizes.md): where the trace left them
  // open, it serves these numbers only.
  const Shape& shape(std::source_location location = std::source_location::current()) const;
  // One size alone; none if it is not known while the function is traced. It counts as read, too.
  std::optional<int64_t> size(
      int axis, std::source_location location = std::source_location::current()) const;
  int rank(std::source_location location = std::source_location::current()) const {
    return existing(location).rank();
  }
  bool is_symbolic() const { return !is_none() && engine::Tensor::is_symbolic(); }

  // --- Values: throw for a symbolic tensor, or another dtype.
  int64_t num_elements(std::source_location location = std::source_location::current()) const {
    check_is_value(location);
    return engine::Tensor::num_elements();
  }
  // The only element.
  template <typename T>
  T item(std::source_location location = std::source_location::current()) const;
  // All elements in row-major order.
  template <typename T>
  std::vector<T> to_vector(std::source_location location = std::source_location::current()) const;
  // The truth of a single element, for `if` and `while`.
  explicit operator bool() const;

  // As Python prints it: "tf.Tensor([1. 2.], shape=(2,), dtype=float32)", and Python's repr:
  // "<tf.Tensor: shape=(), dtype=int32, numpy=2>".
  std::string to_string() const;
  std::string repr() const;

 private:
  // check_values throws if this is not a value of the dtype, or, with `one`, has not one element.
  static engine::Tensor vector_of(std::initializer_list<Element> values,
                                  const std::source_location& location);
  void check_values(DType dtype, bool one, const std::source_location& location) const;
  void check_is_value(const std::source_location& location) const;
  const engine::Tensor& existing(const std::source_location& location) const {
    if (is_none()) throw_none(location);
    return *this;
  }
  [[noreturn]] static void throw_none(const std::source_location& location);
};
static_assert(sizeof(Tensor) == sizeof(engine::Tensor));
GRAVEN_API std::ostream& operator<<(std::ostream& out, const Tensor& tensor);

// --- Templates.

template <typename T>
Tensor Tensor::of(std::span<const T> values, const Shape& shape, std::source_location location) {
  static_assert(engine::kDTypeOf<T> != DType::kInvalid, "no dtype has elements of this type");
  engine::Tensor made =
      value_or_throw(engine::Tensor::allocate(engine::kDTypeOf<T>, shape), location);
  if (made.num_elements() != static_cast<int64_t>(values.size())) {
    throw_error(engine::value_error("A tensor of shape ", shape.to_text(), " needs ",
                                    made.num_elements(), " elements, got ", values.size()),
                location);
  }
  std::copy(values.begin(), values.end(), made.mutable_data<T>().begin());
  return internal::constant(made, location);
}

template <typename T>
T Tensor::item(std::source_location location) const {
  check_values(engine::kDTypeOf<T>, true, location);
  return data<T>()[0];
}

template <typename T>
std::vector<T> Tensor::to_vector(std::source_location location) const {
  check_values(engine::kDTypeOf<T>, false, location);
  auto elements = data<T>();
  return std::vector<T>(elements.begin(), elements.end());
}

}  // namespace graven
