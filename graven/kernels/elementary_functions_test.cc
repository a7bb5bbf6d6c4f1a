#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <random>

#include "graven/base/denormals.h"
#include "graven/base/strings.h"
#include "graven/base/thread_pool.h"
#include "graven/expr/elementary_expressions.h"
#include "graven/kernels/block_functions.h"
#include "graven/kernels/simd_target.h"
#include "graven/kernels/testing.h"

namespace graven::engine {
namespace {

template <typename T>
using BitsOf = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;

// One number of each stratum: the highest bits of number i are i, the others random. So all signs
// and exponents are among them, infinities and NaN too.
template <typename T>
std::vector<T> stratified(int log2_strata, uint64_t seed) {
  constexpr int kBits = sizeof(T) * 8;
  std::mt19937_64 random(seed);
  std::vector<T> values;
  for (uint64_t i = 0; i < uint64_t{1} << log2_strata; ++i) {
    const uint64_t low = random() >> (64 - kBits + log2_strata);
    values.push_back(std::bit_cast<T>(static_cast<BitsOf<T>>(i << (kBits - log2_strata) | low)));
  }
  return values;
}

// Arguments at which formulas change, and where most calls are.
template <typename T>
void add_usual(std::vector<T>& values, int n, uint64_t seed) {
  using Limits = std::numeric_limits<T>;
  for (double edge : {0.0,
                      0.425,
                      0.5,
                      1.0,
                      1.5,
                      2.0,
                      2.5,
                      3.0,
                      4.0,
                      6.0,
                      8.0,
                      10.0,
                      18.0,
                      22.0,
                      28.0,
                      40.0,
                      80.0,
                      87.33654,
                      88.72283,
                      103.97,
                      700.0,
                      708.3964185322641,
                      709.782712893384,
                      0.41421356237,
                      2.4142135623,
                      1e6,
                      8192.0,
                      268435456.0}) {
    T below = static_cast<T>(edge), above = below;
    for (int i = 0; i < 4; ++i) {
      for (T x : {below, above, -below, -above}) values.push_back(x);
      below = std::nextafter(below, -Limits::infinity());
      above = std::nextafter(above, Limits::infinity());
    }
  }
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> unit(-1, 1), some(-40, 40), far(-1e4, 1e4);
  for (int i = 0; i < n; ++i) {
    for (double x : {unit(random), some(random), far(random)}) values.push_back(static_cast<T>(x));
  }
}

// Every pair of numbers that are special to functions of two.
template <typename T>
void add_pairs(std::vector<T>& x, std::vector<T>& y) {
  using Limits = std::numeric_limits<T>;
  std::vector<T> special;
  for (T value : {T(0), T(0.5), T(1), T(2), T(2.5), T(3), T(1e30), Limits::min(), Limits::max(),
                  Limits::infinity(), Limits::quiet_NaN()}) {
    special.push_back(value), special.push_back(-value);
  }
  for (T a : special) {
    for (T b : special) x.push_back(a), y.push_back(b);
  }
}

template <typename T>
void check_recorded(Instruction instruction, const std::vector<T>& x, const std::vector<T>& y) {
  constexpr DType kType = kDTypeOf<T>;
  const auto n = static_cast<int64_t>(x.size());
  auto expression = elementary_expression(instruction, kType);
  REQUIRE_MESSAGE(expression.ok(), expression.status().message());
  for (const ExprNode& node : expression->nodes()) {
    REQUIRE(!is_elementary(node.instruction, node.type));
  }
  auto program = compile(*expression);
  BlockFunction block = block_function(instruction, kType, kType);
  REQUIRE((block != nullptr));
  std::vector<T> recorded(x.size()), expected(x.size());
  std::vector<uint64_t> scratch(program->scratch_bytes() / 8 + 8);
  void* aligned = scratch.data();
  size_t space = scratch.size() * 8;
  std::align(64, program->scratch_bytes(), aligned, space);
  const void* inputs[] = {x.data(), y.data()};
  const bool scalars[] = {false, false};
  void* outputs[] = {recorded.data()};
  {
    FlushDenormals flush;
    program->run(n, inputs, scalars, outputs, aligned);
    block(expected.data(), x.data(), y.data(), nullptr, n);
  }
  int64_t different = 0, first = -1;
  for (int64_t i = 0; i < n; ++i) {
    const bool same =
        std::bit_cast<BitsOf<T>>(recorded[i]) == std::bit_cast<BitsOf<T>>(expected[i]) ||
        (std::isnan(recorded[i]) && std::isnan(expected[i]));
    if (same) continue;
    if (different++ == 0) first = i;
  }
  if (different == 0) return;
  FAIL_CHECK(instruction_name(instruction), " of ", dtype_name(kType), ": ", different,
             " differ; that of ", x[first], ", ", y[first], " is ", recorded[first], ", not ",
             expected[first]);
}

template <typename T>
void check_all(int log2_strata) {
  std::vector<T> x = stratified<T>(log2_strata, 1);
  const int usual = static_cast<int>(x.size() / 16);
  add_usual(x, usual, 2);
  // A partner of another stratum for each; in the usual range a usual one.
  std::vector<T> y = stratified<T>(log2_strata, 3);
  std::shuffle(y.begin(), y.end(), std::mt19937_64(4));
  add_usual(y, usual, 5);
  add_pairs(x, y);
  for (int i = 0; i < kNumInstructions; ++i) {
    const auto instruction = static_cast<Instruction>(i);
    if (is_elementary(instruction, kDTypeOf<T>)) check_recorded(instruction, x, y);
  }
}

TEST_CASE("recorded elementary functions give the bits of the vectors', on every target") {
  for (int i = 0; i <= static_cast<int>(best_simd_target()); ++i) {
    const auto target = static_cast<SimdTarget>(i);
    set_simd_target_for_test(target);
    INFO(std::string(simd_target_name(target)));
    const int log2_strata = target == best_simd_target() ? 22 : 16;
    check_all<float>(log2_strata);
    check_all<double>(log2_strata);
  }
  set_simd_target_for_test(best_simd_target());
}

TEST_CASE("what is not elementary has no expression") {
  CHECK(!elementary_expression(Instruction::kAdd, DType::kFloat32).ok());
  CHECK(!elementary_expression(Instruction::kPow, DType::kInt32).ok());
  CHECK(!elementary_expression(Instruction::kPow, DType::kFloat64).ok());
}

}  // namespace
}  // namespace graven::engine
