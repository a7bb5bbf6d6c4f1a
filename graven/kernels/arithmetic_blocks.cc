// Arithmetic and bits: instructions that are one or a few machine instructions, written as plain
// loops that the vectoriser turns into those of each target.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "graven/kernels/arithmetic_blocks.cc"
#include "hwy/foreach_target.h"
//
#include "graven/kernels/block_functions.h"
#include "graven/kernels/simd_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace graven::engine::HWY_NAMESPACE {
namespace {

// Integers wrap around: computed unsigned, in at least 32 bits so that nothing is promoted to a
// signed int.
template <typename T>
using Wide = std::conditional_t<(sizeof(T) < 4), uint32_t, std::make_unsigned_t<T>>;
template <typename T>
inline constexpr bool kIsFloat = std::is_floating_point_v<T>;

template <typename T>
T wrap_add(T a, T b) {
  return static_cast<T>(static_cast<Wide<T>>(a) + static_cast<Wide<T>>(b));
}
template <typename T>
T wrap_sub(T a, T b) {
  return static_cast<T>(static_cast<Wide<T>>(a) - static_cast<Wide<T>>(b));
}
template <typename T>
T wrap_mul(T a, T b) {
  return static_cast<T>(static_cast<Wide<T>>(a) * static_cast<Wide<T>>(b));
}

// Integers of up to 16 (32) bits are divided as floats (doubles), so that the loops become vectors.
// That is exact: they hold both operands, and a quotient that is no integer is too far from the
// next one to be rounded to it.
template <typename T>
inline constexpr bool kDividesAsFloats = sizeof(T) <= 2 || std::is_same_v<T, int32_t>;
template <typename T>
using FloatOf = std::conditional_t<sizeof(T) <= 2, float, double>;
template <typename T, typename Float>
T integer_of(Float whole) {
  return static_cast<T>(static_cast<int32_t>(whole));
}

// Rounded down if kRoundsDown, else towards zero. kIsOne: of one element, which is no vector.
template <bool kRoundsDown, bool kIsOne, typename T>
T integer_quotient(T a, T b) {
  bool is_minus_one = std::is_signed_v<T> && b == static_cast<T>(-1);
  T divisor = b == 0 || is_minus_one ? static_cast<T>(1) : b;
  T quotient;
  if constexpr (kDividesAsFloats<T> && !kIsOne) {
    FloatOf<T> exact = static_cast<FloatOf<T>>(a) / static_cast<FloatOf<T>>(divisor);
    quotient = integer_of<T>(kRoundsDown ? std::floor(exact) : exact);
  } else {
    quotient = static_cast<T>(a / divisor);
    if constexpr (kRoundsDown && std::is_signed_v<T>) {
      // One less where the rest is not 0 and has another sign than the divisor: sums of bits, as
      // the vectoriser makes branches of anything else.
      T rest = wrap_sub<T>(a, wrap_mul<T>(quotient, divisor));
      T lower = static_cast<T>(static_cast<T>(rest != 0) & static_cast<T>((rest ^ divisor) < 0));
      quotient = wrap_sub<T>(quotient, lower);
    }
  }
  T negated = wrap_sub<T>(0, a);
  quotient = is_minus_one ? negated : quotient;
  return b == 0 ? static_cast<T>(0) : quotient;
}
template <bool kIsOne, typename T>
T integer_div(T a, T b) {
  return integer_quotient<false, kIsOne>(a, b);
}
template <bool kIsOne, typename T>
T integer_rem(T a, T b) {
  T rest = wrap_sub<T>(a, wrap_mul<T>(integer_div<kIsOne>(a, b), b));
  return b == 0 ? static_cast<T>(0) : rest;
}
template <typename T>
bool rounds_down(T rest, T divisor) {
  return rest != 0 && ((rest < 0) != (divisor < 0));
}

// Powers of a few elements side by side, bit by bit of their exponents, so that the loops over
// them become vectors.
template <typename T>
void integer_pow_loop(void* out, const void* a, const void* b, const void*, int64_t n) {
  constexpr int64_t kElements = 64;
  using U = std::make_unsigned_t<T>;
  T* o = static_cast<T*>(out);
  const T* x = static_cast<const T*>(a);
  const T* y = static_cast<const T*>(b);
  for (int64_t first = 0; first < n; first += kElements) {
    const int64_t count = std::min(kElements, n - first);
    T power[kElements], base[kElements];
    U exponent[kElements];
    U bits = 0;
    for (int64_t i = 0; i < count; ++i) {
      T value = x[first + i], times = y[first + i];
      if constexpr (std::is_signed_v<T>) {
        // 1 / x is 0 but for 1 and -1, which are their own inverses.
        bool is_unit = value == 1 || value == static_cast<T>(-1);
        T parity = static_cast<T>(2 - (times & 1));
        value = times >= 0 || is_unit ? value : T{0};
        times = times >= 0 ? times : parity;
      }
      power[i] = 1;
      base[i] = value;
      exponent[i] = static_cast<U>(times);
      bits = static_cast<U>(bits | exponent[i]);
    }
    for (; bits != 0; bits = static_cast<U>(bits >> 1)) {
      for (int64_t i = 0; i < count; ++i) {
        T factor = (exponent[i] & 1) != 0 ? base[i] : T{1};
        power[i] = wrap_mul(power[i], factor);
        base[i] = wrap_mul(base[i], base[i]);
        exponent[i] = static_cast<U>(exponent[i] >> 1);
      }
    }
    for (int64_t i = 0; i < count; ++i) o[first + i] = power[i];
  }
}

template <typename T>
T next_after(T from, T to) {
  using Bits = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
  if (std::isnan(from) || std::isnan(to)) return from + to;
  if (from == to) return to;
  Bits bits;
  std::memcpy(&bits, &from, sizeof(T));
  constexpr Bits kSign = Bits{1} << (sizeof(T) * 8 - 1);
  if (from == 0) {
    bits = (to < 0 ? kSign : 0) | 1;
  } else {
    bits += (from < to) == (from > 0) ? 1 : -1;
  }
  T next;
  std::memcpy(&next, &bits, sizeof(T));
  return next;
}

#define GRAVEN_OP(Name)                        \
  struct Name {                                \
    template <typename T, bool kIsOne = false> \
    static T apply([[maybe_unused]] T a, [[maybe_unused]] T b, [[maybe_unused]] T c)

GRAVEN_OP(Add) {
  if constexpr (kIsFloat<T>)
    return a + b;
  else
    return wrap_add(a, b);
}
};
GRAVEN_OP(Sub) {
  if constexpr (kIsFloat<T>)
    return a - b;
  else
    return wrap_sub(a, b);
}
};
GRAVEN_OP(Mul) {
  if constexpr (kIsFloat<T>)
    return a * b;
  else
    return wrap_mul(a, b);
}
}
;
GRAVEN_OP(Div) {
  if constexpr (kIsFloat<T>)
    return a / b;
  else
    return integer_div<kIsOne>(a, b);
}
}
;
GRAVEN_OP(Rem) {
  if constexpr (kIsFloat<T>)
    return std::fmod(a, b);
  else
    return integer_rem<kIsOne>(a, b);
}
}
;
GRAVEN_OP(FloorDiv) {
  if constexpr (kIsFloat<T>) {
    return std::floor(a / b);
  } else {
    return integer_quotient<true, kIsOne>(a, b);
  }
}
}
;
GRAVEN_OP(FloorMod) {
  if constexpr (kIsFloat<T>) {
    T rest = std::fmod(a, b);
    return rest != 0 && ((rest < 0) != (b < 0)) ? rest + b : rest;
  } else {
    T rest = integer_rem<kIsOne>(a, b);
    if constexpr (std::is_signed_v<T>) {
      T shifted = wrap_add(rest, b);
      rest = rounds_down(rest, b) ? shifted : rest;
    }
    return rest;
  }
}
}
;
GRAVEN_OP(Min) { return a < b || a != a ? a : b; }
}
;
GRAVEN_OP(Max) { return a > b || a != a ? a : b; }
}
;
GRAVEN_OP(Fma) { return std::fma(a, b, c); }
}
;
GRAVEN_OP(MulAdd) { return HWY_NATIVE_FMA ? std::fma(a, b, c) : a * b + c; }
}
;
GRAVEN_OP(NextAfter) { return next_after(a, b); }
}
;
GRAVEN_OP(Neg) {
  if constexpr (kIsFloat<T>)
    return -a;
  else
    return wrap_sub<T>(0, a);
}
}
;
GRAVEN_OP(Abs) {
  if constexpr (kIsFloat<T>)
    return std::fabs(a);
  else if constexpr (std::is_unsigned_v<T>)
    return a;
  else
    return a < 0 ? wrap_sub<T>(0, a) : a;
}
}
;
GRAVEN_OP(Sign) {
  T sign = static_cast<T>(a > 0 ? 1 : a < 0 ? -1 : 0);
  return a != a ? a : sign;
}
}
;
GRAVEN_OP(Floor) { return std::floor(a); }
}
;
GRAVEN_OP(Ceil) { return std::ceil(a); }
}
;
GRAVEN_OP(Trunc) { return std::trunc(a); }
}
;
GRAVEN_OP(Round) { return std::nearbyint(a); }
}
;
GRAVEN_OP(Sqrt) { return std::sqrt(a); }
}
;
GRAVEN_OP(Rsqrt) { return T{1} / std::sqrt(a); }
}
;
GRAVEN_OP(And) { return static_cast<T>(a & b); }
}
;
GRAVEN_OP(Or) { return static_cast<T>(a | b); }
}
;
GRAVEN_OP(Xor) { return static_cast<T>(a ^ b); }
}
;
GRAVEN_OP(Not) { return static_cast<T>(~a); }
}
;
GRAVEN_OP(LogicalNot) { return static_cast<T>(a ^ 1); }
}
;
GRAVEN_OP(ShiftLeft) {
  using U = Wide<T>;
  constexpr T kBits = sizeof(T) * 8;
  bool inside = b >= 0 && b < kBits;
  return static_cast<T>(inside ? static_cast<U>(a) << static_cast<U>(inside ? b : 0) : U{0});
}
}
;
GRAVEN_OP(ShiftRight) {
  constexpr T kBits = sizeof(T) * 8;
  bool inside = b >= 0 && b < kBits;
  T all = static_cast<T>(a < 0 ? -1 : 0);
  T shifted = static_cast<T>(a >> (inside ? b : T{0}));
  return inside ? shifted : all;
}
}
;
#undef GRAVEN_OP

// One loop for one, two or three operands; unused operands are null. kIsOne: n is 1.
template <typename Op, int kOperands, typename T, bool kIsOne>
void loop(void* out, const void* a, const void* b, const void* c, int64_t n) {
  T* o = static_cast<T*>(out);
  const T* x = static_cast<const T*>(a);
  const T* y = static_cast<const T*>(b);
  const T* z = static_cast<const T*>(c);
#pragma GCC ivdep
  for (int64_t i = 0; i < (kIsOne ? 1 : n); ++i) {
    o[i] =
        Op::template apply<T, kIsOne>(x[i], kOperands > 1 ? y[i] : T{}, kOperands > 2 ? z[i] : T{});
  }
}

// The second operand is one element.
template <typename Op, typename T>
void loop_by_one(void* out, const void* a, const void* b, const void*, int64_t n) {
  T* o = static_cast<T*>(out);
  const T* x = static_cast<const T*>(a);
  const T y = *static_cast<const T*>(b);
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) o[i] = Op::template apply<T>(x[i], y, T{});
}

// Quotients (or rests) of division by one number, multiplied by its reciprocal. Half of one is
// added to the dividend, away from the integer that the quotient is rounded to: what is rounded
// then is at least half a divisor's part from any integer, which is more than both roundings move
// it.
template <bool kRoundsDown, bool kIsRest, typename T>
void divide_by_one(void* out, const void* a, const void* b, const void* c, int64_t n) {
  using Float = FloatOf<T>;
  T* o = static_cast<T*>(out);
  const T* x = static_cast<const T*>(a);
  const T divisor = *static_cast<const T*>(b);
  if (divisor == 0 || divisor == static_cast<T>(-1)) {
    using Rest = std::conditional_t<kRoundsDown, FloorMod, Rem>;
    using Quotient = std::conditional_t<kRoundsDown, FloorDiv, Div>;
    return loop_by_one<std::conditional_t<kIsRest, Rest, Quotient>, T>(out, a, b, c, n);
  }
  const Float reciprocal = Float{1} / static_cast<Float>(divisor);
  const Float half = divisor < 0 ? Float{-0.5} : Float{0.5};
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) {
    const Float dividend = static_cast<Float>(x[i]);
    const Float away = dividend + (kRoundsDown ? half : std::copysign(half, dividend));
    const Float quotient = away * reciprocal;
    const T whole = integer_of<T>(kRoundsDown ? std::floor(quotient) : quotient);
    o[i] = kIsRest ? wrap_sub<T>(x[i], wrap_mul<T>(whole, divisor)) : whole;
  }
}

template <typename T>
BlockFunction of_one_divisor(Instruction instruction) {
  switch (instruction) {
    case Instruction::kDiv:
      return divide_by_one<false, false, T>;
    case Instruction::kRem:
      return divide_by_one<false, true, T>;
    case Instruction::kFloorDiv:
      return divide_by_one<true, false, T>;
    case Instruction::kFloorMod:
      return divide_by_one<true, true, T>;
    default:
      return nullptr;
  }
}

template <typename T>
BlockFunction of_one(Instruction instruction) {
  switch (instruction) {
    case Instruction::kAdd:
      return loop_by_one<Add, T>;
    case Instruction::kSub:
      return loop_by_one<Sub, T>;
    case Instruction::kMul:
      return loop_by_one<Mul, T>;
    default:
      break;
  }
  if constexpr (kIsFloat<T>) {
    return instruction == Instruction::kDiv ? loop_by_one<Div, T> : nullptr;
  } else if constexpr (kDividesAsFloats<T>) {
    return of_one_divisor<T>(instruction);
  } else {
    return nullptr;
  }
}

BlockFunction find_of_one(Instruction instruction, DType type) {
  switch (type) {
    case DType::kFloat32:
      return of_one<float>(instruction);
    case DType::kFloat64:
      return of_one<double>(instruction);
    case DType::kInt32:
      return of_one<int32_t>(instruction);
    case DType::kInt64:
      return of_one<int64_t>(instruction);
    case DType::kInt8:
      return of_one<int8_t>(instruction);
    case DType::kInt16:
      return of_one<int16_t>(instruction);
    case DType::kUInt8:
      return of_one<uint8_t>(instruction);
    case DType::kUInt16:
      return of_one<uint16_t>(instruction);
    default:
      return nullptr;
  }
}

template <typename T, bool kIsOne>
BlockFunction of_numbers(Instruction instruction) {
  switch (instruction) {
    case Instruction::kAdd:
      return loop<Add, 2, T, kIsOne>;
    case Instruction::kSub:
      return loop<Sub, 2, T, kIsOne>;
    case Instruction::kMul:
      return loop<Mul, 2, T, kIsOne>;
    case Instruction::kDiv:
      return loop<Div, 2, T, kIsOne>;
    case Instruction::kRem:
      return loop<Rem, 2, T, kIsOne>;
    case Instruction::kFloorDiv:
      return loop<FloorDiv, 2, T, kIsOne>;
    case Instruction::kFloorMod:
      return loop<FloorMod, 2, T, kIsOne>;
    case Instruction::kMin:
      return loop<Min, 2, T, kIsOne>;
    case Instruction::kMax:
      return loop<Max, 2, T, kIsOne>;
    case Instruction::kNeg:
      return loop<Neg, 1, T, kIsOne>;
    case Instruction::kAbs:
      return loop<Abs, 1, T, kIsOne>;
    case Instruction::kSign:
      return loop<Sign, 1, T, kIsOne>;
    default:
      return nullptr;
  }
}

template <typename T, bool kIsOne>
BlockFunction of_floats(Instruction instruction) {
  switch (instruction) {
    case Instruction::kFma:
      return loop<Fma, 3, T, kIsOne>;
    case Instruction::kMulAdd:
      return loop<MulAdd, 3, T, kIsOne>;
    case Instruction::kNextAfter:
      return loop<NextAfter, 2, T, kIsOne>;
    case Instruction::kFloor:
      return loop<Floor, 1, T, kIsOne>;
    case Instruction::kCeil:
      return loop<Ceil, 1, T, kIsOne>;
    case Instruction::kTrunc:
      return loop<Trunc, 1, T, kIsOne>;
    case Instruction::kRound:
      return loop<Round, 1, T, kIsOne>;
    case Instruction::kSqrt:
      return loop<Sqrt, 1, T, kIsOne>;
    case Instruction::kRsqrt:
      return loop<Rsqrt, 1, T, kIsOne>;
    default:
      return of_numbers<T, kIsOne>(instruction);
  }
}

template <typename T, bool kIsOne>
BlockFunction of_integers(Instruction instruction) {
  switch (instruction) {
    case Instruction::kPow:
      return integer_pow_loop<T>;
    case Instruction::kAnd:
      return loop<And, 2, T, kIsOne>;
    case Instruction::kOr:
      return loop<Or, 2, T, kIsOne>;
    case Instruction::kXor:
      return loop<Xor, 2, T, kIsOne>;
    case Instruction::kNot:
      return loop<Not, 1, T, kIsOne>;
    case Instruction::kShiftLeft:
      return loop<ShiftLeft, 2, T, kIsOne>;
    case Instruction::kShiftRight:
      return loop<ShiftRight, 2, T, kIsOne>;
    default:
      return of_numbers<T, kIsOne>(instruction);
  }
}

template <bool kIsOne>
BlockFunction of_bools(Instruction instruction) {
  switch (instruction) {
    case Instruction::kAnd:
    case Instruction::kMin:
      return loop<And, 2, uint8_t, kIsOne>;
    case Instruction::kOr:
    case Instruction::kMax:
      return loop<Or, 2, uint8_t, kIsOne>;
    case Instruction::kXor:
      return loop<Xor, 2, uint8_t, kIsOne>;
    case Instruction::kNot:
      return loop<LogicalNot, 1, uint8_t, kIsOne>;
    default:
      return nullptr;
  }
}

template <bool kIsOne>
BlockFunction find(Instruction instruction, DType type) {
  switch (type) {
    case DType::kFloat32:
      return of_floats<float, kIsOne>(instruction);
    case DType::kFloat64:
      return of_floats<double, kIsOne>(instruction);
    case DType::kInt8:
      return of_integers<int8_t, kIsOne>(instruction);
    case DType::kInt16:
      return of_integers<int16_t, kIsOne>(instruction);
    case DType::kInt32:
      return of_integers<int32_t, kIsOne>(instruction);
    case DType::kInt64:
      return of_integers<int64_t, kIsOne>(instruction);
    case DType::kUInt8:
      return of_integers<uint8_t, kIsOne>(instruction);
    case DType::kUInt16:
      return of_integers<uint16_t, kIsOne>(instruction);
    case DType::kUInt32:
      return of_integers<uint32_t, kIsOne>(instruction);
    case DType::kUInt64:
      return of_integers<uint64_t, kIsOne>(instruction);
    case DType::kBool:
      return of_bools<kIsOne>(instruction);
    default:
      return nullptr;
  }
}

BlockFunction find_loop(Instruction instruction, DType type) {
  return find<false>(instruction, type);
}
BlockFunction find_one(Instruction instruction, DType type) {
  return find<true>(instruction, type);
}

}  // namespace
}  // namespace graven::engine::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace graven::engine {
BlockFunction arithmetic_function(Instruction instruction, DType type) {
  return GRAVEN_SIMD_DISPATCH(find_loop)(instruction, type);
}
BlockFunction arithmetic_function_of_one(Instruction instruction, DType type) {
  return GRAVEN_SIMD_DISPATCH(find_one)(instruction, type);
}
BlockFunction by_one_function(Instruction instruction, DType type) {
  return GRAVEN_SIMD_DISPATCH(find_of_one)(instruction, type);
}
}  // namespace graven::engine
#endif
