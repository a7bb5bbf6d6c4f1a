#include "graven/expr/scalar.h"

#include <bit>
#include <cmath>
#include <limits>

#include "graven/base/strings.h"
#include "graven/expr/complex_scalar.h"

namespace graven::engine {
namespace {

thread_local constinit Recorder* current_recorder = nullptr;

Recorder& recorder() { return Recorder::current(); }

template <typename T>
uint64_t bits_of(T value) {
  if constexpr (sizeof(T) == 8) {
    return std::bit_cast<uint64_t>(value);
  } else if constexpr (sizeof(T) == 4) {
    return std::bit_cast<uint32_t>(value);
  } else if constexpr (sizeof(T) == 2) {
    return std::bit_cast<uint16_t>(value);
  } else {
    return static_cast<uint8_t>(value);
  }
}

// The bits of a number in the type in which elements of the dtype are computed.
uint64_t constant_bits(DType dtype, double value) {
  switch (dtype) {
    case DType::kHalf:
      return bits_of(static_cast<float>(Half(static_cast<float>(value))));
    case DType::kBFloat16:
      return bits_of(static_cast<float>(BFloat16(static_cast<float>(value))));
    default:
      return visit_plain(real_part_type(dtype), [&](auto zero) -> uint64_t {
        using T = decltype(zero);
        if constexpr (std::is_same_v<T, bool>) {
          return value != 0;
        } else if constexpr (std::is_floating_point_v<T>) {
          return bits_of(static_cast<T>(value));
        } else if constexpr (std::is_integral_v<T>) {
          using Limits = std::numeric_limits<T>;
          if (!(value > static_cast<double>(Limits::min()))) return bits_of(Limits::min());
          if (value >= static_cast<double>(Limits::max())) return bits_of(Limits::max());
          return bits_of(static_cast<T>(value));
        } else {
          return 0;  // half and complex were handled above
        }
      });
  }
}

bool same_dtype(Instruction instruction, Scalar a, Scalar b) {
  if (a.dtype() == b.dtype()) return true;
  recorder().fail(str_cat(instruction_name(instruction), " of ", dtype_name(a.dtype()), " and ",
                          dtype_name(b.dtype()), ": operands must have one dtype"));
  return false;
}

Scalar refuse_complex(Instruction instruction, Scalar x) {
  recorder().fail(
      str_cat(instruction_name(instruction), " does not exist for ", dtype_name(x.dtype())));
  return x;
}

Scalar one(Instruction instruction, Scalar x) {
  if (x.is_complex()) return refuse_complex(instruction, x);
  return recorder().make(x.dtype(),
                         recorder().node(instruction, computing_type(x.dtype()), x.real_node()));
}

Scalar two(Instruction instruction, Scalar a, Scalar b) {
  if (!same_dtype(instruction, a, b)) return a;
  if (a.is_complex()) return refuse_complex(instruction, a);
  return recorder().make(a.dtype(), recorder().node(instruction, computing_type(a.dtype()),
                                                    a.real_node(), b.real_node()));
}

Scalar compare(Instruction instruction, Scalar a, Scalar b) {
  if (!same_dtype(instruction, a, b)) return recorder().constant(DType::kBool, 0);
  if (a.is_complex()) return refuse_complex(instruction, a);
  return recorder().make(DType::kBool,
                         recorder().node(instruction, DType::kBool, a.real_node(), b.real_node()));
}

// Integers are whole and finite already.
Scalar one_of_floats(Instruction instruction, Scalar x) {
  return is_integer(x.dtype()) ? x : one(instruction, x);
}

Scalar classify(Instruction instruction, Scalar x, bool of_integers) {
  if (x.is_complex()) return refuse_complex(instruction, x);
  if (!is_floating(x.dtype())) return recorder().constant(DType::kBool, of_integers);
  return recorder().make(DType::kBool, recorder().node(instruction, DType::kBool, x.real_node()));
}

}  // namespace

Recorder::Recorder() : outer_(current_recorder) { current_recorder = this; }
Recorder::~Recorder() { current_recorder = outer_; }
Recorder& Recorder::current() { return *current_recorder; }

Scalar Recorder::input(DType dtype) {
  uint16_t number = expression_.add_input(dtype);
  DType type = computing_type(dtype);
  uint16_t real = expression_.add_node({Instruction::kInput, type, number, 0, 0});
  if (!engine::is_complex(dtype)) return make(dtype, real);
  return make(dtype, real, expression_.add_node({Instruction::kInput, type, number, 1, 0}));
}

void Recorder::output(Scalar value) {
  if (value.dtype() == DType::kInvalid) return fail("an output has no value");
  expression_.add_output({value.dtype(), value.real_node(),
                          value.is_complex() ? value.imaginary_node() : uint16_t{0}});
}

void Recorder::trap(Scalar condition, std::string message) {
  if (condition.dtype() != DType::kBool) {
    return fail(str_cat("condition of trap_if is ", dtype_name(condition.dtype()), ", not bool"));
  }
  if (!has_failed()) expression_.add_trap({condition.real_node(), 0, std::move(message)});
}

Result<Expression> Recorder::finish() {
  if (!failure_.empty()) return internal_error("body of an op: ", failure_);
  return std::move(expression_);
}

uint16_t Recorder::node(Instruction instruction, DType type, uint16_t a, uint16_t b, uint16_t c) {
  if (has_failed()) return 0;  // operands may be missing
  if (expression_.is_full()) {
    fail("too many operations");
    return 0;
  }
  const uint16_t operands[] = {a, b, c};
  auto nodes = expression_.nodes();
  for (int i = 0; i < num_operands(instruction); ++i) {
    bool is_condition = instruction == Instruction::kSelect && i == 0;
    DType operand = operands[i] < nodes.size() ? nodes[operands[i]].type : DType::kInvalid;
    if (is_condition ? operand != DType::kBool : !instruction_takes(instruction, operand)) {
      fail(str_cat(instruction_name(instruction), " does not exist for ", dtype_name(operand)));
      return 0;
    }
  }
  return expression_.add_node({instruction, type, a, b, c});
}

Scalar Recorder::constant(DType dtype, double real, double imaginary) {
  if (expression_.is_full()) {
    fail("too many operations");
    return Scalar(dtype, 0);
  }
  DType type = computing_type(dtype);
  uint16_t node = expression_.add_constant(type, constant_bits(dtype, real));
  if (!engine::is_complex(dtype)) return Scalar(dtype, node);
  return Scalar(dtype, node, expression_.add_constant(type, constant_bits(dtype, imaginary)));
}

Scalar Recorder::integer_constant(DType dtype, int64_t value) {
  if (!is_integer(dtype)) return constant(dtype, static_cast<double>(value));
  uint64_t bits = visit_element_size(dtype_size(dtype), [&](auto zero) -> uint64_t {
    using T = decltype(zero);
    if constexpr (std::is_integral_v<T>) return static_cast<T>(value);
    return 0;
  });
  return Scalar(dtype, expression_.add_constant(dtype, bits));
}

void Recorder::fail(std::string message) {
  if (failure_.empty()) failure_ = std::move(message);
}

Scalar Recorder::real_part(Scalar x) { return Scalar(real_part_type(x.dtype()), x.real_node()); }
Scalar Recorder::imaginary_part(Scalar x) {
  return Scalar(real_part_type(x.dtype()), x.imaginary_node());
}

// --- Constants.

Scalar constant_like(Scalar x, double value) { return recorder().constant(x.dtype(), value); }
Scalar integer_like(Scalar x, int64_t value) {
  return recorder().integer_constant(x.dtype(), value);
}
Scalar zero_like(Scalar x) { return constant_like(x, 0); }
Scalar one_like(Scalar x) { return constant_like(x, 1); }

namespace {

double highest_float(DType dtype) {
  switch (real_part_type(dtype)) {
    case DType::kHalf:
      return 65504;
    case DType::kBFloat16:
      return 0x1.fep127;
    case DType::kFloat32:
      return std::numeric_limits<float>::max();
    default:
      return std::numeric_limits<double>::max();
  }
}

Scalar integer_extreme(Scalar x, bool highest) {
  int bits = static_cast<int>(dtype_size(x.dtype())) * 8;
  uint64_t ones = ~uint64_t{0} >> (64 - bits);
  if (x.dtype() == DType::kBool) return constant_like(x, highest ? 1 : 0);
  if (kUnsignedIntTypes.contains(x.dtype())) {
    return integer_like(x, highest ? static_cast<int64_t>(ones) : 0);
  }
  int64_t largest = static_cast<int64_t>(ones >> 1);
  return integer_like(x, highest ? largest : -largest - 1);
}

}  // namespace

Scalar highest_like(Scalar x) {
  if (!kDifferentiableTypes.contains(x.dtype())) return integer_extreme(x, true);
  return constant_like(x, highest_float(x.dtype()));
}
Scalar lowest_like(Scalar x) {
  if (!kDifferentiableTypes.contains(x.dtype())) return integer_extreme(x, false);
  return constant_like(x, -highest_float(x.dtype()));
}
Scalar infinity_like(Scalar x) {
  if (!kDifferentiableTypes.contains(x.dtype())) {
    recorder().fail(str_cat(dtype_name(x.dtype()), " has no infinity"));
  }
  return constant_like(x, std::numeric_limits<double>::infinity());
}

// --- Arithmetic.

Scalar operator+(Scalar a, Scalar b) {
  if (a.is_complex() && a.dtype() == b.dtype()) return complex_add(a, b);
  return two(Instruction::kAdd, a, b);
}
Scalar operator-(Scalar a, Scalar b) {
  if (a.is_complex() && a.dtype() == b.dtype()) return complex_sub(a, b);
  return two(Instruction::kSub, a, b);
}
Scalar operator*(Scalar a, Scalar b) {
  if (a.is_complex() && a.dtype() == b.dtype()) return complex_mul(a, b);
  return two(Instruction::kMul, a, b);
}
Scalar operator/(Scalar a, Scalar b) {
  if (a.is_complex() && a.dtype() == b.dtype()) return complex_div(a, b);
  return two(Instruction::kDiv, a, b);
}
Scalar operator-(Scalar x) {
  if (x.is_complex()) return make_complex(-real(x), -imag(x));
  return one(Instruction::kNeg, x);
}

Scalar operator==(Scalar a, Scalar b) {
  if (a.is_complex() && a.dtype() == b.dtype()) {
    return (real(a) == real(b)) & (imag(a) == imag(b));
  }
  return compare(Instruction::kEqual, a, b);
}
Scalar operator!=(Scalar a, Scalar b) {
  if (a.is_complex() && a.dtype() == b.dtype()) {
    return (real(a) != real(b)) | (imag(a) != imag(b));
  }
  return compare(Instruction::kNotEqual, a, b);
}
Scalar operator<(Scalar a, Scalar b) { return compare(Instruction::kLess, a, b); }
Scalar operator<=(Scalar a, Scalar b) { return compare(Instruction::kLessEqual, a, b); }
Scalar operator>(Scalar a, Scalar b) { return b < a; }
Scalar operator>=(Scalar a, Scalar b) { return b <= a; }

Scalar operator&(Scalar a, Scalar b) { return two(Instruction::kAnd, a, b); }
Scalar operator|(Scalar a, Scalar b) { return two(Instruction::kOr, a, b); }
Scalar operator^(Scalar a, Scalar b) { return two(Instruction::kXor, a, b); }
Scalar operator~(Scalar x) { return one(Instruction::kNot, x); }
Scalar operator!(Scalar x) {
  if (x.dtype() != DType::kBool) recorder().fail("! of something that is not a bool");
  return one(Instruction::kNot, x);
}
Scalar shift_left(Scalar a, Scalar b) { return two(Instruction::kShiftLeft, a, b); }
Scalar shift_right(Scalar a, Scalar b) { return two(Instruction::kShiftRight, a, b); }

Scalar select(Scalar condition, Scalar if_true, Scalar if_false) {
  Recorder& r = recorder();
  if (!same_dtype(Instruction::kSelect, if_true, if_false)) return if_true;
  if (condition.dtype() != DType::kBool) {
    r.fail(str_cat("condition of select is ", dtype_name(condition.dtype()), ", not bool"));
    return if_true;
  }
  DType type = computing_type(if_true.dtype());
  uint16_t chosen = r.node(Instruction::kSelect, type, condition.real_node(), if_true.real_node(),
                           if_false.real_node());
  if (!if_true.is_complex()) return r.make(if_true.dtype(), chosen);
  return r.make(if_true.dtype(), chosen,
                r.node(Instruction::kSelect, type, condition.real_node(), if_true.imaginary_node(),
                       if_false.imaginary_node()));
}

void trap_if(Scalar condition, std::string message) {
  recorder().trap(condition, std::move(message));
}

Scalar cast(Scalar x, DType dtype) {
  Recorder& r = recorder();
  if (x.dtype() == dtype) return x;
  if (x.is_complex()) {
    if (engine::is_complex(dtype)) {
      return make_complex(cast(real(x), real_part_type(dtype)),
                          cast(imag(x), real_part_type(dtype)));
    }
    return cast(real(x), dtype);
  }
  if (engine::is_complex(dtype)) {
    Scalar value = cast(x, real_part_type(dtype));
    return make_complex(value, zero_like(value));
  }
  DType type = computing_type(dtype);
  uint16_t node = x.real_node();
  if (computing_type(x.dtype()) != type) node = r.node(Instruction::kCast, type, node);
  Instruction rounding = rounding_instruction(dtype);
  if (rounding != Instruction::kInput) node = r.node(rounding, type, node);
  return r.make(dtype, node);
}

Scalar bit_cast(Scalar x, DType dtype) {
  Recorder& r = recorder();
  if (x.dtype() == dtype) return x;
  // half and bfloat16 are computed as float32, which has other bits.
  if (computing_type(dtype) != dtype || computing_type(x.dtype()) != x.dtype() ||
      !instruction_takes(Instruction::kBitCast, dtype) ||
      dtype_size(x.dtype()) != dtype_size(dtype)) {
    r.fail(str_cat("bit_cast of ", dtype_name(x.dtype()), " to ", dtype_name(dtype)));
    return x;
  }
  return r.make(dtype, r.node(Instruction::kBitCast, dtype, x.real_node()));
}

// --- Functions.

Scalar min(Scalar a, Scalar b) { return two(Instruction::kMin, a, b); }
Scalar max(Scalar a, Scalar b) { return two(Instruction::kMax, a, b); }
Scalar rem(Scalar a, Scalar b) { return two(Instruction::kRem, a, b); }
Scalar floor_div(Scalar a, Scalar b) { return two(Instruction::kFloorDiv, a, b); }
Scalar floor_mod(Scalar a, Scalar b) { return two(Instruction::kFloorMod, a, b); }
Scalar pow(Scalar a, Scalar b) {
  if (a.is_complex() && a.dtype() == b.dtype()) return complex_pow(a, b);
  return two(Instruction::kPow, a, b);
}
Scalar atan2(Scalar y, Scalar x) { return two(Instruction::kAtan2, y, x); }
Scalar next_after(Scalar from, Scalar to) {
  // In float32 the neighbours of a half are not halves.
  if (rounding_instruction(from.dtype()) != Instruction::kInput) {
    return refuse_complex(Instruction::kNextAfter, from);
  }
  return two(Instruction::kNextAfter, from, to);
}
Scalar fma(Scalar a, Scalar b, Scalar c) {
  if (!same_dtype(Instruction::kFma, a, b) || !same_dtype(Instruction::kFma, b, c)) return a;
  if (a.is_complex()) return refuse_complex(Instruction::kFma, a);
  return recorder().make(a.dtype(), recorder().node(Instruction::kFma, computing_type(a.dtype()),
                                                    a.real_node(), b.real_node(), c.real_node()));
}

Scalar abs(Scalar x) { return x.is_complex() ? complex_abs(x) : one(Instruction::kAbs, x); }
Scalar sign(Scalar x) { return x.is_complex() ? complex_sign(x) : one(Instruction::kSign, x); }
Scalar floor(Scalar x) { return one_of_floats(Instruction::kFloor, x); }
Scalar ceil(Scalar x) { return one_of_floats(Instruction::kCeil, x); }
Scalar trunc(Scalar x) { return one_of_floats(Instruction::kTrunc, x); }
Scalar round(Scalar x) { return one_of_floats(Instruction::kRound, x); }

#define GRAVEN_REAL_OR_COMPLEX(name, Name) \
  Scalar name(Scalar x) { return x.is_complex() ? complex_##name(x) : one(Instruction::Name, x); }
GRAVEN_REAL_OR_COMPLEX(sqrt, kSqrt)
GRAVEN_REAL_OR_COMPLEX(rsqrt, kRsqrt)
GRAVEN_REAL_OR_COMPLEX(exp, kExp)
GRAVEN_REAL_OR_COMPLEX(expm1, kExpm1)
GRAVEN_REAL_OR_COMPLEX(log, kLog)
GRAVEN_REAL_OR_COMPLEX(log1p, kLog1p)
GRAVEN_REAL_OR_COMPLEX(sin, kSin)
GRAVEN_REAL_OR_COMPLEX(cos, kCos)
GRAVEN_REAL_OR_COMPLEX(tan, kTan)
GRAVEN_REAL_OR_COMPLEX(asin, kAsin)
GRAVEN_REAL_OR_COMPLEX(acos, kAcos)
GRAVEN_REAL_OR_COMPLEX(atan, kAtan)
GRAVEN_REAL_OR_COMPLEX(sinh, kSinh)
GRAVEN_REAL_OR_COMPLEX(cosh, kCosh)
GRAVEN_REAL_OR_COMPLEX(tanh, kTanh)
GRAVEN_REAL_OR_COMPLEX(asinh, kAsinh)
GRAVEN_REAL_OR_COMPLEX(acosh, kAcosh)
GRAVEN_REAL_OR_COMPLEX(atanh, kAtanh)
GRAVEN_REAL_OR_COMPLEX(sigmoid, kSigmoid)
#undef GRAVEN_REAL_OR_COMPLEX

#define GRAVEN_REAL(name, Name) \
  Scalar name(Scalar x) { return one(Instruction::Name, x); }
GRAVEN_REAL(softplus, kSoftplus)
GRAVEN_REAL(erf, kErf)
GRAVEN_REAL(erfc, kErfc)
GRAVEN_REAL(erfinv, kErfinv)
GRAVEN_REAL(ndtri, kNdtri)
GRAVEN_REAL(lgamma, kLgamma)
GRAVEN_REAL(digamma, kDigamma)
#undef GRAVEN_REAL

Scalar is_nan(Scalar x) { return classify(Instruction::kIsNan, x, false); }
Scalar is_inf(Scalar x) { return classify(Instruction::kIsInf, x, false); }
Scalar is_finite(Scalar x) { return classify(Instruction::kIsFinite, x, true); }

}  // namespace graven::engine
