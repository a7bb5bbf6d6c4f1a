#include "graven/expr/elementary_expressions.h"

#include <limits>
#include <numbers>
#include <span>
#include <type_traits>

#include "graven/base/strings.h"
#include "graven/expr/scalar.h"

namespace graven::engine {
namespace {

Scalar record(Instruction instruction, DType type, Scalar a, Scalar b = {}, Scalar c = {}) {
  Recorder& recorder = Recorder::current();
  return recorder.make(
      type, recorder.node(instruction, type, a.real_node(), b.real_node(), c.real_node()));
}

// --- Recorded nodes as a model of elementary_functions-inl.h.

template <typename I>
struct RecordedBits {
  using Integer = I;
  static constexpr DType kType = kDTypeOf<Integer>;
  Scalar s;

  explicit RecordedBits(Scalar scalar) : s(scalar) {}
  explicit RecordedBits(Integer value) : s(Recorder::current().integer_constant(kType, value)) {}
  friend RecordedBits operator+(RecordedBits a, RecordedBits b) { return RecordedBits(a.s + b.s); }
  friend RecordedBits operator-(RecordedBits a, RecordedBits b) { return RecordedBits(a.s - b.s); }
  friend RecordedBits operator&(RecordedBits a, RecordedBits b) { return RecordedBits(a.s & b.s); }
  friend RecordedBits operator^(RecordedBits a, RecordedBits b) { return RecordedBits(a.s ^ b.s); }
};
template <int kBits, typename Integer>
RecordedBits<Integer> shift_left(RecordedBits<Integer> a) {
  return RecordedBits<Integer>(shift_left(a.s, integer_like(a.s, kBits)));
}
template <int kBits, typename Integer>
RecordedBits<Integer> shift_right(RecordedBits<Integer> a) {
  return RecordedBits<Integer>(shift_right(a.s, integer_like(a.s, kBits)));
}

struct RecordedMask {
  Scalar s;
  friend RecordedMask operator&(RecordedMask a, RecordedMask b) { return {a.s & b.s}; }
  friend RecordedMask operator|(RecordedMask a, RecordedMask b) { return {a.s | b.s}; }
  friend RecordedMask operator!(RecordedMask a) { return {!a.s}; }
};
template <typename Integer>
RecordedMask operator==(RecordedBits<Integer> a, RecordedBits<Integer> b) {
  return {a.s == b.s};
}
bool may_hold(RecordedMask) { return true; }

template <typename T>
struct Recorded {
  static constexpr DType kType = kDTypeOf<T>;
  using Element = T;
  using Bits = RecordedBits<std::conditional_t<sizeof(T) == 4, int32_t, int64_t>>;
  using Mask = RecordedMask;
  Scalar s;

  explicit Recorded(Scalar scalar) : s(scalar) {}
  Recorded(T value) : s(Recorder::current().constant(kType, value)) {}  // NOLINT: T(1) + x
  static Recorded of_bits(Bits n) { return Recorded(bit_cast(n.s, kType)); }
  static Recorded of_integer(Bits n) { return Recorded(cast(n.s, kType)); }

  friend Recorded operator-(Recorded a) { return Recorded(-a.s); }
  friend Recorded operator+(Recorded a, Recorded b) { return Recorded(a.s + b.s); }
  friend Recorded operator-(Recorded a, Recorded b) { return Recorded(a.s - b.s); }
  friend Recorded operator*(Recorded a, Recorded b) { return Recorded(a.s * b.s); }
  friend Recorded operator/(Recorded a, Recorded b) { return Recorded(a.s / b.s); }
  friend Mask operator<(Recorded a, Recorded b) { return {a.s < b.s}; }
  friend Mask operator<=(Recorded a, Recorded b) { return {a.s <= b.s}; }
  friend Mask operator>(Recorded a, Recorded b) { return {a.s > b.s}; }
  friend Mask operator>=(Recorded a, Recorded b) { return {a.s >= b.s}; }
  friend Mask operator==(Recorded a, Recorded b) { return {a.s == b.s}; }
  friend Mask is_nan(Recorded a) { return {engine::is_nan(a.s)}; }
  friend Recorded mul_add(Recorded a, Recorded b, Recorded c) {
    return Recorded(record(Instruction::kMulAdd, kType, a.s, b.s, c.s));
  }
  friend Recorded sqrt(Recorded a) { return Recorded(engine::sqrt(a.s)); }
  friend Recorded floor(Recorded a) { return Recorded(engine::floor(a.s)); }
  friend Recorded abs(Recorded a) { return Recorded(engine::abs(a.s)); }
  friend Recorded copy_sign(Recorded size, Recorded sign) {
    constexpr auto kSign = std::numeric_limits<typename Bits::Integer>::min();
    return of_bits((bits(size) & Bits(~kSign)) ^ (bits(sign) & Bits(kSign)));
  }
  friend Recorded select(Mask mask, Recorded a, Recorded b) {
    return Recorded(engine::select(mask.s, a.s, b.s));
  }
  friend Bits bits(Recorded a) { return Bits(bit_cast(a.s, Bits::kType)); }
};

Recorded<double> as_double(Recorded<float> x) {
  return Recorded<double>(cast(x.s, DType::kFloat64));
}
template <typename Function, typename... More>
Recorded<float> in_double(Function function, Recorded<float> x, More... more) {
  return Recorded<float>(cast(function(as_double(x), as_double(more)...).s, DType::kFloat32));
}
template <Instruction kInstruction, typename T>
Recorded<T> or_library(RecordedMask inside, Recorded<T> y, Recorded<T> x) {
  const Scalar far = record(kInstruction, DType::kFloat64, cast(x.s, DType::kFloat64));
  return select(inside, y, Recorded<T>(cast(far, Recorded<T>::kType)));
}

}  // namespace
}  // namespace graven::engine

#include "graven/expr/elementary_functions-inl.h"
#include "graven/expr/special_functions-inl.h"

namespace graven::engine {
namespace {

template <typename T>
Scalar record_elementary(Instruction instruction, std::span<const Scalar> x) {
  using V = Recorded<T>;
  switch (instruction) {
#define GRAVEN_RECORD(Name, name) \
  case Instruction::Name:         \
    return elementary::name(V(x[0])).s;
    GRAVEN_FUNCTIONS_OF_ONE(GRAVEN_RECORD)
#undef GRAVEN_RECORD
    case Instruction::kAtan2:
      return elementary::atan2(V(x[0]), V(x[1])).s;
    default:
      if constexpr (sizeof(T) == 4) return elementary::pow(V(x[0]), V(x[1])).s;
      return x[0];
  }
}

}  // namespace

bool is_elementary(Instruction instruction, DType operand_type) {
  if (operand_type != DType::kFloat32 && operand_type != DType::kFloat64) return false;
  switch (instruction) {
#define GRAVEN_CASE(Name, name) case Instruction::Name:
    GRAVEN_FUNCTIONS_OF_ONE(GRAVEN_CASE)
#undef GRAVEN_CASE
    case Instruction::kAtan2:
      return true;
    case Instruction::kPow:
      return operand_type == DType::kFloat32;
    default:
      return false;
  }
}

Result<Expression> elementary_expression(Instruction instruction, DType type) {
  if (!is_elementary(instruction, type)) {
    return internal_error(instruction_name(instruction), " of ", dtype_name(type),
                          " is no elementary function");
  }
  Recorder recorder;
  Scalar x[2];
  for (int i = 0; i < num_operands(instruction); ++i) x[i] = recorder.input(type);
  recorder.output(type == DType::kFloat32 ? record_elementary<float>(instruction, x)
                                          : record_elementary<double>(instruction, x));
  return recorder.finish();
}

}  // namespace graven::engine
