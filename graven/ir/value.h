#pragma once
#include <complex>
#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "graven/base/export.h"
#include "graven/base/ref.h"
#include "graven/base/status.h"
#include "graven/tensor/tensor.h"

namespace graven::engine {

// The type of a value in the cache of a Function: the base of TraceType, of the room `function`.
class GRAVEN_API ValueType : public RefCounted {};

struct None {
  friend bool operator==(None, None) = default;
};
struct Bytes {
  std::string data;
  friend bool operator==(const Bytes&, const Bytes&) = default;
};
class Opaque;

// A value that is part of the key: Python's None, bool, int, float, complex, str, bytes, or any
// other hashable object (Opaque), such as an int beyond 64 bits.
using Literal = std::variant<None, bool, int64_t, double, std::complex<double>, std::string, Bytes,
                             Ref<Opaque>>;

// An object of a front end that the engine only holds and compares: a Python object, a user's C++
// object, a class of containers. It is a door to user code (DESIGN 3): called with no lock held
// but the tracing claim, and it lets no exception out.
class GRAVEN_API Opaque : public RefCounted {
 public:
  // The front end's ==.
  virtual bool equals(const Opaque& other) const = 0;
  // The same with a value that the engine knows: Decimal(1) == 1.
  virtual bool equals(const Literal& literal) const = 0;
  virtual uint64_t hash() const = 0;
  virtual std::string repr() const = 0;
  // False once the object behind a weak handle is gone; then it equals nothing.
  virtual bool is_alive() const { return true; }
};

GRAVEN_API std::string literal_repr(const Literal& literal);  // as Python prints it
// Python's == across types (1 == 1.0 == True), NaN equal to NaN.
GRAVEN_API bool literals_equal_as_numbers(const Literal& a, const Literal& b);
// The same type and the same value; -0.0 differs from 0.0.
GRAVEN_API bool literals_identical(const Literal& a, const Literal& b);

// An argument or a result, as it crosses from one language to the other.
struct GRAVEN_API Value {
  enum class Kind : uint8_t {
    kTensor,
    kVariable,  // tensor: the handle; object: the front end's variable
    kLiteral,   // literal; object: the front end's own object of it, if users are to see that
    kList,      // items
    kTuple,
    kNamedTuple,  // items, names of fields, class name, object: the class
    kAttrs,       // the same, for a class with named attributes
    kDict,        // items in their own order, keys; object: the class
    kObject,      // compared by identity or ==, weakly held
    kTyped,       // an object with a TraceType of its own (a user's type, a composite)
  };
  Kind kind = Kind::kLiteral;
  Tensor tensor;
  Literal literal;
  std::vector<Value> items;
  std::vector<std::string> names;
  std::vector<Literal> keys;
  std::string class_name;
  Ref<Opaque> object;
  Ref<const ValueType> type;  // kTyped, or the type itself where a type stands for a value
  bool is_spec = false;       // a TraceType given in place of a value (get_concrete_function)

  static Value of_tensor(Tensor tensor);
  static Value of_literal(Literal literal);
  static Value of_type(Ref<const ValueType> type);
};

// The tensors of a value in the order in which they are fed and returned: items in order, items of
// a dict by sorted key.
GRAVEN_API void collect_tensors(const Value& value, std::vector<Tensor>& tensors);
// Positions of a dict's items in the order of its sorted keys; an error if they cannot be sorted.
GRAVEN_API Result<std::vector<int>> sorted_key_order(const std::vector<Literal>& keys);

}  // namespace graven::engine
