#include "graven/kernels/block_program.h"

#include <doctest/doctest.h>

#include <array>
#include <bit>
#include <cmath>
#include <functional>
#include <limits>

#include "graven/base/denormals.h"
#include "graven/base/strings.h"
#include "graven/base/thread_pool.h"
#include "graven/kernels/simd_target.h"
#include "graven/kernels/testing.h"
#include "graven/kernels/trap_notes.h"

namespace graven::engine {
namespace {

template <typename Out>
std::vector<Stored<Out>> run(const BlockProgram& program, std::vector<const void*> inputs,
                             int64_t n, std::array<bool, 8> scalars = {}) {
  std::vector<uint64_t> scratch(program.scratch_bytes() / 8 + 8);
  void* aligned = scratch.data();
  size_t space = scratch.size() * 8;
  std::align(64, program.scratch_bytes(), aligned, space);
  std::vector<Stored<Out>> out(n + 1);
  out[n] = Stored<Out>(7);  // must survive
  void* outputs[] = {out.data()};
  program.run(n, inputs.data(), scalars.data(), outputs, aligned);
  CHECK(out[n] == Stored<Out>(7));
  out.pop_back();
  return out;
}

// Values of a type that are likely to go wrong, and random ones.
template <typename T>
std::vector<Stored<T>> samples(uint64_t seed) {
  std::vector<Stored<T>> values = random_values<T>(900, seed);
  std::vector<T> special;
  if constexpr (std::is_same_v<T, bool>) {
    special = {};
  } else if constexpr (std::is_integral_v<T>) {
    using Limits = std::numeric_limits<T>;
    special = {0,
               1,
               2,
               3,
               static_cast<T>(-1),
               static_cast<T>(-2),
               Limits::min(),
               Limits::max(),
               static_cast<T>(Limits::min() + 1),
               static_cast<T>(sizeof(T) * 8)};
  } else {
    using Limits = std::numeric_limits<T>;
    special = {T(0),
               T(-0.0),
               T(1),
               T(-1),
               T(0.5),
               T(-0.5),
               T(1.5),
               T(2.5),
               T(-2.5),
               T(3e9),
               T(-3e9),
               T(1e19),
               T(-1e10),
               T(255.9),
               T(128.5),
               Limits::infinity(),
               -Limits::infinity(),
               Limits::quiet_NaN(),
               Limits::max(),
               Limits::lowest(),
               Limits::min(),
               Limits::epsilon()};
  }
  for (T a : special) values.push_back(a);
  // Every pair of them, when two lists with different offsets are read side by side.
  for (size_t i = 0; i < special.size(); ++i) {
    for (size_t k = 0; k < special.size(); ++k) values.push_back(special[seed % 2 ? i : k]);
  }
  return values;
}

template <typename In, typename Out>
void check_one(Instruction instruction, std::function<Out(In)> reference) {
  auto program = compile(of_instruction(instruction, 1, kDTypeOf<In>, kDTypeOf<Out>));
  auto x = samples<In>(1);
  auto out = run<Out>(*program, {x.data()}, static_cast<int64_t>(x.size()));
  for (size_t i = 0; i < x.size(); ++i) {
    Out expected = reference(static_cast<In>(x[i]));
    INFO(std::string(instruction_name(instruction)), " ", std::string(dtype_name(kDTypeOf<In>)),
         " to ", std::string(dtype_name(kDTypeOf<Out>)), " of ", +x[i], " gives ", +out[i],
         ", not ", +expected);
    REQUIRE(same<Stored<Out>>(out[i], expected));
  }
}

template <typename In, typename Out>
void check_two(Instruction instruction, std::function<Out(In, In)> reference) {
  auto program = compile(of_instruction(instruction, 2, kDTypeOf<In>, kDTypeOf<Out>));
  auto x = samples<In>(1), y = samples<In>(2);
  // Neighbours may not matter, nor where the block starts: the same from an odd position on.
  auto out = run<Out>(*program, {x.data(), y.data()}, static_cast<int64_t>(x.size()));
  auto moved = run<Out>(*program, {x.data() + 3, y.data() + 3}, static_cast<int64_t>(x.size() - 3));
  for (size_t i = 0; i < x.size(); ++i) {
    Out expected = reference(static_cast<In>(x[i]), static_cast<In>(y[i]));
    INFO(std::string(instruction_name(instruction)), " ", std::string(dtype_name(kDTypeOf<In>)),
         " of ", +x[i], " and ", +y[i], " gives ", +out[i], ", not ", +expected);
    REQUIRE(same<Stored<Out>>(out[i], expected));
    if (i >= 3) REQUIRE(same<Stored<Out>>(out[i], moved[i - 3]));
  }
}

// The plainest way to say what each instruction means. Integers wide enough not to overflow.
using Wide = __int128;

// The same, where the second operand is a constant.
template <typename T>
void check_with_constant(Instruction instruction, T constant, std::function<T(T, T)> reference) {
  Expression expression;
  expression.add_input(kDTypeOf<T>);
  expression.add_node({Instruction::kInput, kDTypeOf<T>, 0, 0, 0});
  uint16_t divisor = expression.add_constant(kDTypeOf<T>, static_cast<uint64_t>(constant));
  expression.add_output(
      {kDTypeOf<T>, expression.add_node({instruction, kDTypeOf<T>, 0, divisor, 0})});
  auto program = compile(expression);
  std::vector<T> x = samples<T>(1);
  for (int near : {-1, 0, 1}) {  // multiples, and their neighbours
    for (int i = -40; i < 40; ++i) x.push_back(static_cast<T>(Wide(constant) * i + near));
  }
  auto out = run<T>(*program, {x.data()}, static_cast<int64_t>(x.size()));
  for (size_t i = 0; i < x.size(); ++i) {
    INFO(std::string(instruction_name(instruction)), " ", std::string(dtype_name(kDTypeOf<T>)),
         " of ", +x[i], " and ", +constant);
    REQUIRE(out[i] == reference(x[i], constant));
  }
}

template <typename T>
T floor_div(T a, T b) {
  if (b == 0) return 0;
  Wide q = Wide(a) / b;
  if (Wide(a) % b != 0 && (a < 0) != (b < 0)) --q;
  return static_cast<T>(q);
}

template <typename T>
void check_integers() {
  using I = Instruction;
  check_two<T, T>(I::kAdd, [](T a, T b) { return static_cast<T>(Wide(a) + b); });
  check_two<T, T>(I::kSub, [](T a, T b) { return static_cast<T>(Wide(a) - b); });
  check_two<T, T>(I::kMul, [](T a, T b) {
    return static_cast<T>(static_cast<unsigned __int128>(Wide(a)) *
                          static_cast<unsigned __int128>(Wide(b)));
  });
  check_two<T, T>(I::kDiv, [](T a, T b) { return b == 0 ? T(0) : static_cast<T>(Wide(a) / b); });
  check_two<T, T>(I::kRem, [](T a, T b) { return b == 0 ? T(0) : static_cast<T>(Wide(a) % b); });
  check_two<T, T>(I::kFloorDiv, floor_div<T>);
  check_two<T, T>(I::kFloorMod, [](T a, T b) {
    return b == 0 ? T(0) : static_cast<T>(Wide(a) - Wide(floor_div(a, b)) * b);
  });
  check_two<T, T>(I::kMin, [](T a, T b) { return std::min(a, b); });
  check_two<T, T>(I::kMax, [](T a, T b) { return std::max(a, b); });
  check_two<T, T>(I::kPow, [](T a, T b) {
    if (b < 0) return a == 1 ? T(1) : Wide(a) == -1 ? (b % 2 ? a : T(1)) : T(0);
    T power = 1;
    uint64_t base = static_cast<uint64_t>(a);
    for (uint64_t e = static_cast<uint64_t>(b); e; e >>= 1, base *= base) {
      if (e & 1) power = static_cast<T>(static_cast<uint64_t>(power) * base);
    }
    return power;
  });
  check_one<T, T>(I::kNeg, [](T a) { return static_cast<T>(-Wide(a)); });
  check_one<T, T>(I::kAbs, [](T a) { return static_cast<T>(a < 0 ? -Wide(a) : Wide(a)); });
  check_one<T, T>(I::kSign, [](T a) { return static_cast<T>(a > 0 ? 1 : a < 0 ? -1 : 0); });
  check_two<T, T>(I::kAnd, [](T a, T b) { return static_cast<T>(a & b); });
  check_two<T, T>(I::kOr, [](T a, T b) { return static_cast<T>(a | b); });
  check_two<T, T>(I::kXor, [](T a, T b) { return static_cast<T>(a ^ b); });
  check_one<T, T>(I::kNot, [](T a) { return static_cast<T>(~a); });
  constexpr int kBits = sizeof(T) * 8;
  check_two<T, T>(I::kShiftLeft, [](T a, T b) {
    return b < 0 || b >= kBits ? T(0) : static_cast<T>(Wide(a) << static_cast<int>(b));
  });
  check_two<T, T>(I::kShiftRight, [](T a, T b) {
    return static_cast<T>(Wide(a) >> (b < 0 || b >= kBits ? kBits : static_cast<int>(b)));
  });
}

template <typename T>
void check_floats() {
  using I = Instruction;
  check_two<T, T>(I::kAdd, [](T a, T b) { return a + b; });
  check_two<T, T>(I::kSub, [](T a, T b) { return a - b; });
  check_two<T, T>(I::kMul, [](T a, T b) { return a * b; });
  check_two<T, T>(I::kDiv, [](T a, T b) { return a / b; });
  check_two<T, T>(I::kRem, [](T a, T b) { return std::fmod(a, b); });
  check_two<T, T>(I::kFloorDiv, [](T a, T b) { return std::floor(a / b); });
  check_two<T, T>(I::kFloorMod, [](T a, T b) {
    T rest = std::fmod(a, b);
    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
  });
  check_two<T, T>(I::kMin, [](T a, T b) {
    return std::isnan(a) || std::isnan(b) ? a + b : b == 0 && a == 0 ? b : std::fmin(a, b);
  });
  check_two<T, T>(I::kMax, [](T a, T b) {
    return std::isnan(a) || std::isnan(b) ? a + b : b == 0 && a == 0 ? b : std::fmax(a, b);
  });
  check_two<T, T>(I::kNextAfter, [](T a, T b) { return std::nextafter(a, b); });
  check_one<T, T>(I::kNeg, [](T a) { return -a; });
  check_one<T, T>(I::kAbs, [](T a) { return std::fabs(a); });
  check_one<T, T>(I::kSign, [](T a) { return std::isnan(a) ? a : T((a > 0) - (a < 0)); });
  check_one<T, T>(I::kFloor, [](T a) { return std::floor(a); });
  check_one<T, T>(I::kCeil, [](T a) { return std::ceil(a); });
  check_one<T, T>(I::kTrunc, [](T a) { return std::trunc(a); });
  check_one<T, T>(I::kRound, [](T a) { return std::nearbyint(a); });
  check_one<T, T>(I::kSqrt, [](T a) { return std::sqrt(a); });
  check_one<T, T>(I::kRsqrt, [](T a) { return T(1) / std::sqrt(a); });
  check_one<T, bool>(I::kIsNan, [](T a) { return std::isnan(a); });
  check_one<T, bool>(I::kIsInf, [](T a) { return std::isinf(a); });
  check_one<T, bool>(I::kIsFinite, [](T a) { return std::isfinite(a); });
}

template <typename T>
void check_comparisons() {
  using I = Instruction;
  check_two<T, bool>(I::kEqual, [](T a, T b) { return a == b; });
  check_two<T, bool>(I::kNotEqual, [](T a, T b) { return a != b; });
  check_two<T, bool>(I::kLess, [](T a, T b) { return a < b; });
  check_two<T, bool>(I::kLessEqual, [](T a, T b) { return a <= b; });
}

template <typename To, typename From>
To reference_cast(From x) {
  if constexpr (std::is_same_v<To, bool>) {
    return x != From(0);
  } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    constexpr bool kSmall = sizeof(To) < 4 || std::is_same_v<To, int32_t>;
    // What x86 gives for values that its conversions to 32 or 64 bits cannot represent.
    double t = std::trunc(static_cast<double>(x));
    if (std::is_same_v<To, uint64_t> && t >= 0x1p63) {
      return t < 0x1p64 ? static_cast<To>(static_cast<unsigned __int128>(t)) : To(0);
    }
    double limit = kSmall ? 0x1p31 : 0x1p63;
    bool inside = t >= -limit && t < limit;
    int64_t indefinite =
        kSmall ? std::numeric_limits<int32_t>::min() : std::numeric_limits<int64_t>::min();
    return static_cast<To>(inside ? static_cast<int64_t>(t) : indefinite);
  } else {
    return static_cast<To>(x);
  }
}

template <typename From>
void check_casts() {
  auto to = [](auto zero) {
    using To = decltype(zero);
    check_one<From, To>(Instruction::kCast, [](From x) { return reference_cast<To, From>(x); });
  };
  to(float{}), to(double{}), to(bool{});
  to(int8_t{}), to(int16_t{}), to(int32_t{}), to(int64_t{});
  to(uint8_t{}), to(uint16_t{}), to(uint32_t{}), to(uint64_t{});
}

template <typename T>
void check_select() {
  auto program = compile(record({DType::kBool, kDTypeOf<T>, kDTypeOf<T>},
                                [](auto& x) { return select(x[0], x[1], x[2]); }));
  auto c = random_values<bool>(1000, 5);
  auto x = random_values<T>(1000, 6), y = random_values<T>(1000, 7);
  auto out = run<T>(*program, {c.data(), x.data(), y.data()}, 1000);
  for (size_t i = 0; i < 1000; ++i) REQUIRE(out[i] == (c[i] ? x[i] : y[i]));
}

template <typename T>
void check_divisions_by_constants() {
  using I = Instruction;
  using Limits = std::numeric_limits<T>;
  std::vector<T> divisors = random_values<T>(30, 3);
  for (T divisor : {T(0), T(1), T(2), T(3), T(7), T(10), T(127), static_cast<T>(-1),
                    static_cast<T>(-2), static_cast<T>(-3), static_cast<T>(-7), Limits::min(),
                    Limits::max(), static_cast<T>(Limits::max() - 1)}) {
    divisors.push_back(divisor);
  }
  for (T divisor : divisors) {
    check_with_constant<T>(I::kDiv, divisor,
                           [](T a, T b) { return b == 0 ? T(0) : static_cast<T>(Wide(a) / b); });
    check_with_constant<T>(I::kRem, divisor,
                           [](T a, T b) { return b == 0 ? T(0) : static_cast<T>(Wide(a) % b); });
    check_with_constant<T>(I::kFloorDiv, divisor, floor_div<T>);
    check_with_constant<T>(I::kFloorMod, divisor, [](T a, T b) {
      return b == 0 ? T(0) : static_cast<T>(a - Wide(floor_div(a, b)) * b);
    });
  }
}

TEST_CASE("integers are divided by constants as by other numbers") {
  for_each_target([] {
    check_divisions_by_constants<int8_t>();
    check_divisions_by_constants<int16_t>();
    check_divisions_by_constants<int32_t>();
    check_divisions_by_constants<int64_t>();
    check_divisions_by_constants<uint8_t>();
    check_divisions_by_constants<uint16_t>();
    check_divisions_by_constants<uint32_t>();
    check_divisions_by_constants<uint64_t>();
  });
}

// What is noted when a program with these traps runs over n elements of value 1, one of which is
// other; "" if nothing.
template <typename Body>
std::string trap_of(Body body, int64_t n, int64_t place, int32_t other) {
  auto program = compile(record({DType::kInt32}, body));
  std::vector<int32_t> x(n, 1);
  if (place < n) x[place] = other;
  std::vector<int32_t> out(n);
  std::vector<uint64_t> scratch(program->scratch_bytes() / 8 + 8);
  void* aligned = scratch.data();
  size_t space = scratch.size() * 8;
  std::align(64, program->scratch_bytes(), aligned, space);
  const void* inputs[] = {x.data()};
  const bool scalars[] = {false};
  void* outputs[] = {out.data()};
  TrapNotes traps;
  program->run(n, inputs, scalars, outputs, aligned, &traps);
  for (int64_t i = 0; i < n; ++i) REQUIRE(out[i] == x[i] + 1);  // all are computed
  return traps.first() ? traps.first()->message : "";
}

TEST_CASE("a trap is noted wherever its element is, and only if it is among those asked for") {
  auto refuses_zero = [](auto& x) {
    trap_if(x[0] == 0, "zero");
    trap_if(x[0] < 1, "below one");
    return x[0] + 1;
  };
  for (int64_t n : {1, 7, 512, 513, 1024, 1300}) {
    CHECK(trap_of(refuses_zero, n, n, 0) == "");
    for (int64_t place : {int64_t{0}, n / 2, n - 1}) {
      CHECK(trap_of(refuses_zero, n, place, 0) == "zero");
      CHECK(trap_of(refuses_zero, n, place, -5) == "below one");
    }
  }
  CHECK(trap_of(refuses_zero, 0, 0, 0) == "");
}

TEST_CASE("a trap may ask a constant, an input, or what is the result too") {
  auto always = [](auto& x) {
    trap_if(zero_like(x[0]) == 0, "always");
    return x[0] + 1;
  };
  CHECK(trap_of(always, 5, 5, 0) == "always");
  CHECK(trap_of(always, 0, 0, 0) == "");
  // In place: the output takes the memory of the condition.
  auto program = compile(record({DType::kBool}, [](auto& x) {
    trap_if(x[0], "input");
    trap_if(!x[0], "result");
    return !x[0];
  }));
  std::vector<uint8_t> values(600, 0);
  std::vector<uint64_t> scratch(program->scratch_bytes() / 8 + 8);
  void* aligned = scratch.data();
  size_t space = scratch.size() * 8;
  std::align(64, program->scratch_bytes(), aligned, space);
  const void* inputs[] = {values.data()};
  const bool scalars[] = {false};
  void* outputs[] = {values.data()};
  TrapNotes of_false;
  program->run(600, inputs, scalars, outputs, aligned, &of_false);
  REQUIRE(of_false.first());
  CHECK(of_false.first()->message == "result");
  CHECK(values == std::vector<uint8_t>(600, 1));
  TrapNotes of_true;
  program->run(600, inputs, scalars, outputs, aligned, &of_true);
  CHECK(of_true.first()->message == "input");
}

TEST_CASE("bits are read as those of another type") {
  auto program =
      compile(record({DType::kFloat32}, [](auto& x) { return bit_cast(x[0], DType::kInt32) + 1; }));
  auto x = samples<float>(1);
  auto out = run<int32_t>(*program, {x.data()}, static_cast<int64_t>(x.size()));
  for (size_t i = 0; i < x.size(); ++i) {
    REQUIRE(static_cast<uint32_t>(out[i]) == std::bit_cast<uint32_t>(x[i]) + 1);
  }
}

TEST_CASE("integer instructions wrap around, divide by zero to zero, on every target") {
  for_each_target([] {
    check_integers<int8_t>();
    check_integers<int16_t>();
    check_integers<int32_t>();
    check_integers<int64_t>();
    check_integers<uint8_t>();
    check_integers<uint16_t>();
    check_integers<uint32_t>();
    check_integers<uint64_t>();
  });
}

TEST_CASE("float arithmetic is IEEE's to the bit on every target") {
  for_each_target([] {
    check_floats<float>();
    check_floats<double>();
  });
}

TEST_CASE("fma rounds once on every target") {
  for_each_target([] {
    auto program = compile(record({DType::kFloat32, DType::kFloat32, DType::kFloat32},
                                  [](auto& x) { return fma(x[0], x[1], x[2]); }));
    auto x = samples<float>(1), y = samples<float>(2), z = samples<float>(1);
    auto out = run<float>(*program, {x.data(), y.data(), z.data()}, x.size());
    for (size_t i = 0; i < x.size(); ++i) REQUIRE(same(out[i], std::fma(x[i], y[i], z[i])));
  });
}

TEST_CASE("comparisons, selection and logic on every target") {
  for_each_target([] {
    check_comparisons<float>(), check_comparisons<double>(), check_comparisons<bool>();
    check_comparisons<int8_t>(), check_comparisons<int16_t>(), check_comparisons<int32_t>();
    check_comparisons<int64_t>(), check_comparisons<uint8_t>(), check_comparisons<uint16_t>();
    check_comparisons<uint32_t>(), check_comparisons<uint64_t>();
    check_select<float>(), check_select<double>(), check_select<int8_t>(), check_select<int16_t>();
    check_select<bool>();
    using I = Instruction;
    check_two<bool, bool>(I::kAnd, [](bool a, bool b) { return a && b; });
    check_two<bool, bool>(I::kOr, [](bool a, bool b) { return a || b; });
    check_two<bool, bool>(I::kXor, [](bool a, bool b) { return a != b; });
    check_two<bool, bool>(I::kMin, [](bool a, bool b) { return a && b; });
    check_two<bool, bool>(I::kMax, [](bool a, bool b) { return a || b; });
    check_one<bool, bool>(I::kNot, [](bool a) { return !a; });
  });
}

TEST_CASE("every type converts to every type as x86 does it, on every target") {
  for_each_target([] {
    check_casts<float>(), check_casts<double>(), check_casts<bool>();
    check_casts<int8_t>(), check_casts<int16_t>(), check_casts<int32_t>(), check_casts<int64_t>();
    check_casts<uint8_t>(), check_casts<uint16_t>(), check_casts<uint32_t>();
    check_casts<uint64_t>();
  });
}

// A NaN stays itself, quiet and cut short, as the machine's instruction has it.
uint16_t stored_half(float value) {
  if (value == value) return Half(value).bits;
  const auto bits = std::bit_cast<uint32_t>(value);
  return static_cast<uint16_t>((bits >> 16 & 0x8000) | 0x7e00 | (bits >> 13 & 0x3ff));
}

TEST_CASE("all halves and bfloat16 load exactly and floats store to the nearest, flushing or not") {
  std::vector<Half> halves(0x10000);
  std::vector<BFloat16> brains(0x10000);
  for (uint32_t i = 0; i < 0x10000; ++i) {
    halves[i] = Half::from_bits(static_cast<uint16_t>(i));
    brains[i] = BFloat16::from_bits(static_cast<uint16_t>(i));
  }
  // Floats of every exponent, near the halves and half way between them.
  std::mt19937 random(4);
  std::vector<float> floats;
  for (int i = 0; i < 200000; ++i) {
    uint32_t bits = random();
    if (i % 3 == 0) bits = (bits & 0xffffe000u) | (i % 2 ? 0x1000 : 0x1001);
    if (i % 3 == 1) bits = (bits & 0x8fffffffu) | 0x30000000u;
    float value = std::bit_cast<float>(bits);
    if (std::fabs(value) >= 0x1p-126f || value != value) floats.push_back(value);
  }
  int64_t n = static_cast<int64_t>(floats.size());
  auto to_half =
      compile(record({DType::kFloat32}, [](auto& x) { return cast(x[0], DType::kHalf); }));
  auto rounded = compile(record(
      {DType::kFloat32}, [](auto& x) { return cast(cast(x[0], DType::kHalf), DType::kFloat32); }));
  auto to_brain =
      compile(record({DType::kFloat32}, [](auto& x) { return cast(x[0], DType::kBFloat16); }));
  for_each_target([&] {
    auto from_half =
        compile(record({DType::kHalf}, [](auto& x) { return cast(x[0], DType::kFloat32); }));
    auto from_brain =
        compile(record({DType::kBFloat16}, [](auto& x) { return cast(x[0], DType::kFloat32); }));
    to_half = compile(to_half->expression());
    rounded = compile(rounded->expression());
    to_brain = compile(to_brain->expression());
    auto store_half = compile(record({DType::kHalf}, [](auto& x) { return x[0] * 1.0; }));
    for (bool flushing : {false, true}) {
      std::vector<float> from_halves, from_brains, as_rounded;
      std::vector<Half> as_half, stored;
      std::vector<BFloat16> as_brain;
      {
        std::optional<FlushDenormals> flush;
        if (flushing) flush.emplace();
        from_halves = run<float>(*from_half, {halves.data()}, 0x10000);
        from_brains = run<float>(*from_brain, {brains.data()}, 0x10000);
        as_half = run<Half>(*to_half, {floats.data()}, n);
        as_rounded = run<float>(*rounded, {floats.data()}, n);
        as_brain = run<BFloat16>(*to_brain, {floats.data()}, n);
        stored = run<Half>(*store_half, {halves.data()}, 0x10000);
      }
      for (uint32_t i = 0; i < 0x10000; ++i) {
        REQUIRE(same(from_halves[i], static_cast<float>(halves[i])));
        REQUIRE(same(from_brains[i], static_cast<float>(brains[i])));
        if (halves[i] == halves[i]) REQUIRE(stored[i].bits == halves[i].bits);
      }
      for (int64_t i = 0; i < n; ++i) {
        INFO(floats[i]);
        REQUIRE(as_half[i].bits == stored_half(floats[i]));
        REQUIRE(same(as_rounded[i], static_cast<float>(Half(floats[i]))));
        REQUIRE(as_brain[i].bits == BFloat16(floats[i]).bits);
      }
    }
  });
}

TEST_CASE("complex arithmetic agrees with std::complex") {
  using C = std::complex<double>;
  auto x = random_values<C>(700, 1), y = random_values<C>(700, 2);
  auto check = [&](auto body, auto reference, double tolerance) {
    auto program = compile(record({DType::kComplex128, DType::kComplex128}, body));
    auto out = run<C>(*program, {x.data(), y.data()}, 700);
    for (size_t i = 0; i < x.size(); ++i) {
      C expected = reference(x[i], y[i]);
      INFO(i, " ", x[i].real(), " ", x[i].imag(), " gives ", out[i].real(), " ", out[i].imag(),
           ", not ", expected.real(), " ", expected.imag());
      REQUIRE(std::abs(out[i] - expected) <= tolerance * std::abs(expected));
    }
  };
  check([](auto& v) { return v[0] + v[1]; }, [](C a, C b) { return a + b; }, 1e-15);
  check([](auto& v) { return v[0] - v[1]; }, [](C a, C b) { return a - b; }, 1e-15);
  check([](auto& v) { return v[0] * v[1]; }, [](C a, C b) { return a * b; }, 1e-15);
  check([](auto& v) { return v[0] / v[1]; }, [](C a, C b) { return a / b; }, 1e-14);
  check([](auto& v) { return pow(v[0], v[1]); }, [](C a, C b) { return std::pow(a, b); }, 1e-12);
  check([](auto& v) { return sqrt(v[0]); }, [](C a, C) { return std::sqrt(a); }, 1e-14);
  check([](auto& v) { return rsqrt(v[0]); }, [](C a, C) { return 1.0 / std::sqrt(a); }, 1e-14);
  check([](auto& v) { return exp(v[0]); }, [](C a, C) { return std::exp(a); }, 1e-14);
  check([](auto& v) { return expm1(v[0] * 1e-3); },
        [](C a, C) {
          C z = a * 1e-3;  // five terms of the series
          return z *
                 (1.0 +
                  z / 2.0 * (1.0 + z / 3.0 * (1.0 + z / 4.0 * (1.0 + z / 5.0 * (1.0 + z / 6.0)))));
        },
        1e-13);
  check([](auto& v) { return log(v[0]); }, [](C a, C) { return std::log(a); }, 1e-13);
  check([](auto& v) { return log1p(v[0]); }, [](C a, C) { return std::log(1.0 + a); }, 1e-12);
  check([](auto& v) { return sin(v[0]); }, [](C a, C) { return std::sin(a); }, 1e-14);
  check([](auto& v) { return cos(v[0]); }, [](C a, C) { return std::cos(a); }, 1e-14);
  check([](auto& v) { return tan(v[0]); }, [](C a, C) { return std::tan(a); }, 1e-13);
  check([](auto& v) { return sinh(v[0]); }, [](C a, C) { return std::sinh(a); }, 1e-14);
  check([](auto& v) { return cosh(v[0]); }, [](C a, C) { return std::cosh(a); }, 1e-14);
  check([](auto& v) { return tanh(v[0]); }, [](C a, C) { return std::tanh(a); }, 1e-13);
  check([](auto& v) { return asin(v[0]); }, [](C a, C) { return std::asin(a); }, 1e-13);
  check([](auto& v) { return acos(v[0]); }, [](C a, C) { return std::acos(a); }, 1e-13);
  check([](auto& v) { return atan(v[0]); }, [](C a, C) { return std::atan(a); }, 1e-13);
  check([](auto& v) { return asinh(v[0]); }, [](C a, C) { return std::asinh(a); }, 1e-13);
  check([](auto& v) { return acosh(v[0]); }, [](C a, C) { return std::acosh(a); }, 1e-13);
  check([](auto& v) { return atanh(v[0]); }, [](C a, C) { return std::atanh(a); }, 1e-13);
  check([](auto& v) { return sigmoid(v[0]); }, [](C a, C) { return 1.0 / (1.0 + std::exp(-a)); },
        1e-13);
  check([](auto& v) { return sign(v[0]); }, [](C a, C) { return a / std::abs(a); }, 1e-14);
  check([](auto& v) { return conj(-v[0]); }, [](C a, C) { return std::conj(-a); }, 0);
  check([](auto& v) { return select(v[0] == v[1], v[0], v[1]); }, [](C, C b) { return b; }, 0);
  check([](auto& v) { return make_complex(abs(v[0]), imag(v[1])); },
        [](C a, C b) { return C(std::abs(a), b.imag()); }, 1e-15);
}

TEST_CASE("inverse complex functions tell the sides of their branch cuts apart") {
  using C = std::complex<double>;
  const std::vector<C> z = {{2, 0.0},   {2, -0.0},    {-2, 0.0}, {-2, -0.0},
                            {0.0, 2},   {-0.0, 2},    {0.0, -2}, {-0.0, -2},
                            {0.5, 0.0}, {-0.5, -0.0}, {0, 0.0},  {1e-9, 1e-9}};
  auto check = [&](auto body, C (*reference)(const C&)) {
    auto program = compile(record({DType::kComplex128}, [&](auto& v) { return body(v[0]); }));
    auto out = run<C>(*program, {z.data()}, static_cast<int64_t>(z.size()));
    for (size_t i = 0; i < z.size(); ++i) {
      C expected = reference(z[i]);
      INFO(z[i].real(), " ", z[i].imag(), " gives ", out[i].real(), " ", out[i].imag(), ", not ",
           expected.real(), " ", expected.imag());
      CHECK(std::abs(out[i] - expected) <= 1e-13 * std::abs(expected));
    }
  };
  check([](Scalar x) { return asin(x); }, std::asin<double>);
  check([](Scalar x) { return acos(x); }, std::acos<double>);
  check([](Scalar x) { return atan(x); }, std::atan<double>);
  check([](Scalar x) { return asinh(x); }, std::asinh<double>);
  check([](Scalar x) { return acosh(x); }, std::acosh<double>);
  check([](Scalar x) { return atanh(x); }, std::atanh<double>);
}

TEST_CASE("complex functions at their edges") {
  using C = std::complex<float>;
  float inf = std::numeric_limits<float>::infinity();
  auto apply = [](auto body, C z) {
    auto program = compile(record({DType::kComplex64}, body));
    return run<C>(*program, {&z}, 1)[0];
  };
  auto square_root = [](auto& v) { return sqrt(v[0]); };
  CHECK(apply(square_root, C(-4, 0)) == C(0, 2));
  CHECK(apply(square_root, C(-4, -0.0f)) == C(0, -2));
  CHECK(apply(square_root, C(0, 0)) == C(0, 0));
  CHECK(apply(square_root, C(3e38f, 0)).real() == doctest::Approx(1.7320508e19));
  CHECK(apply([](auto& v) { return exp(v[0]); }, C(inf, 0)) == C(inf, 0));
  auto size = [](auto& v) { return make_complex(abs(v[0]), zero_like(abs(v[0]))); };
  CHECK(apply(size, C(3e38f, 3e38f)).real() == inf);
  CHECK(apply(size, C(2e38f, 2e38f)).real() == doctest::Approx(2.8284271e38));
  CHECK(apply(size, C(0, 0)).real() == 0);
  CHECK(apply(size, C(std::nanf(""), -inf)).real() == inf);
  CHECK(std::isnan(apply(size, C(std::nanf(""), 1)).real()));
  C far = apply([](auto& v) { return tanh(v[0]); }, C(50, 1));
  CHECK(far.real() == 1);
  CHECK(std::fabs(far.imag()) < 1e-40f);
  CHECK(apply([](auto& v) { return pow(v[0], v[0]); }, C(0, 0)) == C(1, 0));
}

TEST_CASE("an output may be the memory of an input, though other steps still read that") {
  Recorder recorder;
  Scalar a = recorder.input(DType::kFloat32), b = recorder.input(DType::kFloat32);
  recorder.output(a + b);
  recorder.output(a * b);
  recorder.output(b);
  recorder.output(a);
  auto program = compile(*recorder.finish());
  std::vector<float> x = random_values<float>(1300, 1), y = random_values<float>(1300, 2);
  std::vector<float> x0 = x, y0 = y, product(1300), other(1300);
  alignas(64) static std::byte scratch[1 << 16];
  REQUIRE(program->scratch_bytes() <= sizeof(scratch));
  const void* inputs[] = {x.data(), y.data()};
  void* outputs[] = {other.data(), product.data(), x.data(), y.data()};
  bool scalars[] = {false, false};
  program->run(1300, inputs, scalars, outputs, scratch);
  for (size_t i = 0; i < 1300; ++i) {
    REQUIRE(other[i] == x0[i] + y0[i]);
    REQUIRE(product[i] == x0[i] * y0[i]);
    REQUIRE(x[i] == y0[i]);
    REQUIRE(y[i] == x0[i]);
  }
  // The sum over the first input.
  x = x0, y = y0;
  void* in_place[] = {x.data(), product.data(), other.data(), y.data()};
  program->run(1300, inputs, scalars, in_place, scratch);
  for (size_t i = 0; i < 1300; ++i) {
    REQUIRE(x[i] == x0[i] + y0[i]);
    REQUIRE(product[i] == x0[i] * y0[i]);
    REQUIRE(other[i] == y0[i]);
    REQUIRE(y[i] == x0[i]);
  }
}

TEST_CASE("inputs of one element are read as if they were repeated") {
  auto program = compile(record({DType::kHalf, DType::kFloat32, DType::kComplex64}, [](auto& x) {
    return make_complex(cast(x[0], DType::kFloat32) * x[1], imag(x[2]) + 1);
  }));
  Half h(3.0f);
  auto x = random_values<float>(1100, 3);
  std::complex<float> c(1, 2);
  std::vector<std::complex<float>> out(1100);
  alignas(64) static std::byte scratch[1 << 16];
  REQUIRE(program->scratch_bytes() <= sizeof(scratch));
  const void* inputs[] = {&h, x.data(), &c};
  bool scalars[] = {true, false, true};
  void* outputs[] = {out.data()};
  program->run(1100, inputs, scalars, outputs, scratch);
  for (size_t i = 0; i < 1100; ++i) REQUIRE(out[i] == std::complex<float>(3 * x[i], 3));
}

// The second operand as one element, and as a block of it.
template <typename T>
void check_by_one(Instruction instruction) {
  auto program = compile(of_instruction(instruction, 2, kDTypeOf<T>, kDTypeOf<T>));
  const std::vector<Stored<T>> x = samples<T>(5);
  std::vector<Stored<T>> divisors = samples<T>(6);
  divisors.resize(40);
  divisors.insert(divisors.end(), x.end() - 20, x.end());
  const auto n = static_cast<int64_t>(x.size());
  for (const Stored<T>& y : divisors) {
    const std::vector<Stored<T>> repeated(x.size(), y);
    const auto right = run<T>(*program, {x.data(), repeated.data()}, n);
    const auto out = run<T>(*program, {x.data(), &y}, n, {false, true});
    for (size_t i = 0; i < x.size(); ++i) {
      INFO(instruction_name(instruction), " of ", +x[i], " and ", +y, " is ", +right[i]);
      REQUIRE(same(out[i], right[i]));
    }
  }
}

TEST_CASE("a second operand of one element gives the bits of a block, on every target") {
  for_each_target([] {
    for (Instruction instruction :
         {Instruction::kAdd, Instruction::kSub, Instruction::kMul, Instruction::kDiv,
          Instruction::kRem, Instruction::kFloorDiv, Instruction::kFloorMod, Instruction::kMax}) {
      check_by_one<float>(instruction);
      check_by_one<double>(instruction);
      check_by_one<int8_t>(instruction);
      check_by_one<int16_t>(instruction);
      check_by_one<int32_t>(instruction);
      check_by_one<int64_t>(instruction);
      check_by_one<uint8_t>(instruction);
      check_by_one<uint16_t>(instruction);
    }
  });
}

TEST_CASE("fetching the next block ahead changes nothing") {
  auto program = compile(record({DType::kFloat32, DType::kFloat32, DType::kHalf}, [](auto& x) {
    return tanh(x[0] * x[1] + cast(x[2], DType::kFloat32)) * sigmoid(x[0]) - x[1];
  }));
  for (int64_t n : {1, 511, 512, 513, 1024, 1300, 5000}) {
    auto a = random_values<float>(static_cast<size_t>(n), 4);
    auto b = random_values<float>(static_cast<size_t>(n), 5);
    Half h(0.5f);
    std::vector<float> near(a.size()), far(a.size());
    alignas(64) static std::byte scratch[1 << 16];
    REQUIRE(program->scratch_bytes() <= sizeof(scratch));
    const void* inputs[] = {a.data(), b.data(), &h};
    bool scalars[] = {false, false, true};
    void *to_near[] = {near.data()}, *to_far[] = {far.data()};
    program->run(n, inputs, scalars, to_near, scratch);
    program->run(n, inputs, scalars, to_far, scratch, nullptr, /*is_far=*/true);
    CHECK(near == far);
  }
}

TEST_CASE("a long chain of operations keeps its registers apart") {
  auto program = compile(record({DType::kFloat64}, [](auto& x) {
    std::vector<Scalar> terms = {x[0]};
    for (int i = 1; i < 40; ++i) terms.push_back(terms.back() * 0.5 + i);
    Scalar sum = terms[0];
    for (int i = 39; i > 0; --i) sum = sum + terms[i] * (1.0 / i);
    return sum;
  }));
  auto x = random_values<double>(600, 9);
  auto out = run<double>(*program, {x.data()}, 600);
  for (size_t k = 0; k < 600; ++k) {
    std::vector<double> terms = {x[k]};
    for (int i = 1; i < 40; ++i) terms.push_back(terms.back() * 0.5 + i);
    double sum = terms[0];
    for (int i = 39; i > 0; --i) sum = sum + terms[i] * (1.0 / i);
    REQUIRE(out[k] == sum);
  }
}

}  // namespace
}  // namespace graven::engine
