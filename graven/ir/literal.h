#pragma once
#include <complex>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include "graven/base/export.h"
#include "graven/base/ref.h"

namespace graven::engine {

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
// The number that a literal is; none for a text and the like.
std::optional<std::complex<double>> literal_as_number(const Literal& literal);
// Python's == across types (1 == 1.0 == True), NaN equal to NaN.
GRAVEN_API bool literals_equal_as_numbers(const Literal& a, const Literal& b);
// The same type and the same value; -0.0 differs from 0.0.
GRAVEN_API bool literals_identical(const Literal& a, const Literal& b);
// Heap memory of a text or of bytes; the objects of front ends are not counted.
GRAVEN_API int64_t heap_bytes_of(const Literal& literal);

}  // namespace graven::engine
