#pragma once
#include <concepts>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>

#include "graven/base/export.h"
#include "graven/base/status.h"
#include "graven/expr/expression.h"

namespace graven::engine {

// The recording scalar that bodies of ops are written over:
//
//   elementwise([](auto x) { return max(x, zero_like(x)); })
//
// A body is run once per dtype, while a Recorder is in place on the thread; each operation on
// scalars becomes a node of its Expression. A Scalar knows its dtype, so `if (x.dtype() == ...)`
// is ordinary C++. Arithmetic demands operands of one dtype; a plain number takes the dtype of
// the other operand. Complex scalars are two nodes; half and bfloat16 compute in float32.
// Mistakes in a body (mixed dtypes, an instruction that a dtype lacks) are internal errors that
// the Recorder reports when it finishes.
class GRAVEN_API Scalar {
 public:
  Scalar() = default;
  DType dtype() const { return dtype_; }
  bool is_complex() const { return engine::is_complex(dtype_); }
  // The nodes; for code that works on expressions, not for bodies.
  uint16_t real_node() const { return real_; }
  uint16_t imaginary_node() const { return imaginary_; }

 private:
  friend class Recorder;
  Scalar(DType dtype, uint16_t real, uint16_t imaginary = 0)
      : dtype_(dtype), real_(real), imaginary_(imaginary) {}
  DType dtype_ = DType::kInvalid;
  uint16_t real_ = 0, imaginary_ = 0;
};

// Collects the nodes of one expression. At most one is active on a thread.
class GRAVEN_API Recorder {
 public:
  Recorder();
  ~Recorder();
  Recorder(const Recorder&) = delete;
  static Recorder& current();

  Scalar input(DType dtype);
  void output(Scalar value);
  void trap(Scalar condition, std::string message);
  // The expression, or the first mistake in the body as an error.
  Result<Expression> finish();

  // --- For the functions below.
  Scalar make(DType dtype, uint16_t real, uint16_t imaginary = 0) {
    return Scalar(dtype, real, imaginary);
  }
  uint16_t node(Instruction instruction, DType type, uint16_t a = 0, uint16_t b = 0,
                uint16_t c = 0);
  Scalar constant(DType dtype, double real, double imaginary = 0);
  Scalar integer_constant(DType dtype, int64_t value);
  void fail(std::string message);  // keeps the first
  bool has_failed() const { return !failure_.empty(); }
  // A scalar of x's value in type float32 (half, bfloat16), or the parts of a complex one.
  Scalar real_part(Scalar x);
  Scalar imaginary_part(Scalar x);

 private:
  Expression expression_;
  std::string failure_;
  Recorder* outer_;
};

// --- Constants. constant_like rounds the number to x's dtype.
GRAVEN_API Scalar constant_like(Scalar x, double value);
GRAVEN_API Scalar integer_like(Scalar x, int64_t value);
GRAVEN_API Scalar zero_like(Scalar x);
GRAVEN_API Scalar one_like(Scalar x);
// Largest and smallest finite values, infinity.
GRAVEN_API Scalar highest_like(Scalar x);
GRAVEN_API Scalar lowest_like(Scalar x);
GRAVEN_API Scalar infinity_like(Scalar x);

// --- Arithmetic; complex where it makes sense (kDiv by Smith's method).
GRAVEN_API Scalar operator+(Scalar a, Scalar b);
GRAVEN_API Scalar operator-(Scalar a, Scalar b);
GRAVEN_API Scalar operator*(Scalar a, Scalar b);
GRAVEN_API Scalar operator/(Scalar a, Scalar b);
GRAVEN_API Scalar operator-(Scalar x);
#define GRAVEN_SCALAR_MIXED(op)                                        \
  template <typename T>                                                \
  requires std::is_arithmetic_v<T> Scalar operator op(Scalar a, T b) { \
    return a op constant_like(a, static_cast<double>(b));              \
  }                                                                    \
  template <typename T>                                                \
  requires std::is_arithmetic_v<T> Scalar operator op(T a, Scalar b) { \
    return constant_like(b, static_cast<double>(a)) op b;              \
  }
GRAVEN_SCALAR_MIXED(+)
GRAVEN_SCALAR_MIXED(-)
GRAVEN_SCALAR_MIXED(*)
GRAVEN_SCALAR_MIXED(/)

// --- Comparisons, result bool. == and != take complex operands too.
GRAVEN_API Scalar operator==(Scalar a, Scalar b);
GRAVEN_API Scalar operator!=(Scalar a, Scalar b);
GRAVEN_API Scalar operator<(Scalar a, Scalar b);
GRAVEN_API Scalar operator<=(Scalar a, Scalar b);
GRAVEN_API Scalar operator>(Scalar a, Scalar b);
GRAVEN_API Scalar operator>=(Scalar a, Scalar b);
GRAVEN_SCALAR_MIXED(==)
GRAVEN_SCALAR_MIXED(!=)
GRAVEN_SCALAR_MIXED(<)
GRAVEN_SCALAR_MIXED(<=)
GRAVEN_SCALAR_MIXED(>)
GRAVEN_SCALAR_MIXED(>=)
#undef GRAVEN_SCALAR_MIXED

// --- Bits of integers, logic of bools.
GRAVEN_API Scalar operator&(Scalar a, Scalar b);
GRAVEN_API Scalar operator|(Scalar a, Scalar b);
GRAVEN_API Scalar operator^(Scalar a, Scalar b);
GRAVEN_API Scalar operator~(Scalar x);
GRAVEN_API Scalar operator!(Scalar x);
GRAVEN_API Scalar shift_left(Scalar a, Scalar b);
GRAVEN_API Scalar shift_right(Scalar a, Scalar b);

// --- The condition is a bool scalar; the branches have one dtype, complex allowed.
GRAVEN_API Scalar select(Scalar condition, Scalar if_true, Scalar if_false);
GRAVEN_API Scalar cast(Scalar x, DType dtype);
// The bits of x, float32, float64 or an integer of their sizes, as another such dtype of that size.
GRAVEN_API Scalar bit_cast(Scalar x, DType dtype);

// The op fails with the message if the condition, a bool scalar, holds for any element:
//
//   if (is_integer(y.dtype())) trap_if(y == zero_like(y), "Integer division by zero");
//
// The other operations still need values for such an element; any will do.
GRAVEN_API void trap_if(Scalar condition, std::string message);

// --- Complex numbers.
GRAVEN_API Scalar real(Scalar x);  // itself, of a real number
GRAVEN_API Scalar imag(Scalar x);  // zero, of a real number
GRAVEN_API Scalar make_complex(Scalar real, Scalar imag);
GRAVEN_API Scalar conj(Scalar x);

// --- Functions named after their instruction. Those marked C also take complex numbers. Rounding
// to integers takes integers too, which it leaves alone, and so do is_nan and kin.
GRAVEN_API Scalar min(Scalar a, Scalar b);
GRAVEN_API Scalar max(Scalar a, Scalar b);
GRAVEN_API Scalar rem(Scalar a, Scalar b);
GRAVEN_API Scalar floor_div(Scalar a, Scalar b);
GRAVEN_API Scalar floor_mod(Scalar a, Scalar b);
GRAVEN_API Scalar pow(Scalar a, Scalar b);  // C
GRAVEN_API Scalar atan2(Scalar y, Scalar x);
GRAVEN_API Scalar next_after(Scalar from, Scalar to);
GRAVEN_API Scalar fma(Scalar a, Scalar b, Scalar c);
GRAVEN_API Scalar abs(Scalar x);   // C: the real magnitude
GRAVEN_API Scalar sign(Scalar x);  // C: x / |x|, 0 for 0
GRAVEN_API Scalar floor(Scalar x);
GRAVEN_API Scalar ceil(Scalar x);
GRAVEN_API Scalar trunc(Scalar x);
GRAVEN_API Scalar round(Scalar x);
GRAVEN_API Scalar sqrt(Scalar x);     // C
GRAVEN_API Scalar rsqrt(Scalar x);    // C
GRAVEN_API Scalar exp(Scalar x);      // C
GRAVEN_API Scalar expm1(Scalar x);    // C
GRAVEN_API Scalar log(Scalar x);      // C
GRAVEN_API Scalar log1p(Scalar x);    // C
GRAVEN_API Scalar sin(Scalar x);      // C
GRAVEN_API Scalar cos(Scalar x);      // C
GRAVEN_API Scalar tan(Scalar x);      // C
GRAVEN_API Scalar asin(Scalar x);     // C
GRAVEN_API Scalar acos(Scalar x);     // C
GRAVEN_API Scalar atan(Scalar x);     // C
GRAVEN_API Scalar sinh(Scalar x);     // C
GRAVEN_API Scalar cosh(Scalar x);     // C
GRAVEN_API Scalar tanh(Scalar x);     // C
GRAVEN_API Scalar asinh(Scalar x);    // C
GRAVEN_API Scalar acosh(Scalar x);    // C
GRAVEN_API Scalar atanh(Scalar x);    // C
GRAVEN_API Scalar sigmoid(Scalar x);  // C
GRAVEN_API Scalar softplus(Scalar x);
GRAVEN_API Scalar erf(Scalar x);
GRAVEN_API Scalar erfc(Scalar x);
GRAVEN_API Scalar erfinv(Scalar x);
GRAVEN_API Scalar ndtri(Scalar x);
GRAVEN_API Scalar lgamma(Scalar x);
GRAVEN_API Scalar digamma(Scalar x);
GRAVEN_API Scalar is_nan(Scalar x);
GRAVEN_API Scalar is_inf(Scalar x);
GRAVEN_API Scalar is_finite(Scalar x);

}  // namespace graven::engine
