#pragma once
#include <doctest/doctest.h>

#include <cmath>
#include <complex>
#include <cstdint>
#include <cstring>
#include <functional>
#include <initializer_list>
#include <limits>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "graven/expr/scalar.h"
#include "graven/kernels/block_program.h"
#include "graven/kernels/row_program.h"
#include "graven/kernels/simd_target.h"
#include "graven/tensor/shape.h"

// Helpers of this room's tests.
namespace graven::engine {

// bool tensors are bytes.
template <typename T>
using Stored = std::conditional_t<std::is_same_v<T, bool>, uint8_t, T>;

template <typename Body>
Expression record(std::initializer_list<DType> dtypes, Body body) {
  Recorder recorder;
  std::vector<Scalar> x;
  for (DType dtype : dtypes) x.push_back(recorder.input(dtype));
  recorder.output(body(x));
  auto expression = recorder.finish();
  REQUIRE_MESSAGE(expression.ok(), expression.status().message());
  return *expression;
}

// One instruction, of inputs of one type.
inline Expression of_instruction(Instruction instruction, uint16_t operands, DType operand,
                                 DType result) {
  Expression expression;
  for (uint16_t i = 0; i < operands; ++i) {
    expression.add_input(operand);
    expression.add_node({Instruction::kInput, operand, i, 0, 0});
  }
  const uint16_t second = operands > 1 ? 1 : 0;
  expression.add_output({result, expression.add_node({instruction, result, 0, second, 0})});
  return expression;
}

inline std::shared_ptr<const BlockProgram> compile(const Expression& expression) {
  auto program = BlockProgram::compile(expression);
  REQUIRE_MESSAGE(program.ok(), program.status().message());
  return *program;
}

template <typename T>
T random_value(std::mt19937_64& random) {
  if constexpr (std::is_same_v<T, bool>) {
    return random() & 1;
  } else if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(random() >> (random() % 64));  // all magnitudes
  } else if constexpr (std::is_floating_point_v<T>) {
    return static_cast<T>(std::normal_distribution<double>(0, 3)(random));
  } else if constexpr (requires(T z) { z.real(); }) {
    using Part = typename T::value_type;
    return T(random_value<Part>(random), random_value<Part>(random));
  } else {
    return T(random_value<float>(random));
  }
}

template <typename T>
std::vector<Stored<T>> random_values(size_t n, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<Stored<T>> values;
  for (size_t i = 0; i < n; ++i) values.push_back(random_value<T>(random));
  return values;
}

inline ReductionParts reduction(DType stored, Scalar (*combine)(Scalar, Scalar), double identity) {
  DType accumulator = is_complex(stored) ? stored : computing_type(stored);
  Recorder recorder;
  Scalar start = recorder.constant(accumulator, identity);
  recorder.output(start);
  auto constant = recorder.finish();
  return {record({stored}, [&](auto& x) { return cast(x[0], accumulator); }),
          record({accumulator, accumulator}, [&](auto& x) { return combine(x[0], x[1]); }),
          record({accumulator, DType::kFloat64}, [&](auto& x) { return cast(x[0], stored); }),
          accumulator,
          {constant->constant(constant->nodes()[0]), 0}};
}

// Softmax over the last axis of input 0; the result is stage 3.
inline std::vector<RowStage> softmax_stages(DType dtype) {
  using Source = RowStage::Source;
  double lowest = -std::numeric_limits<double>::infinity();
  std::vector<RowStage> stages(4);
  stages[0].reduction = reduction(dtype, max, lowest);
  stages[0].sources = {Source{-1, 0}};
  stages[1].expression = record({dtype, dtype}, [](auto& x) { return exp(x[0] - x[1]); });
  stages[1].sources = {Source{-1, 0}, Source{0, 0}};
  stages[2].reduction = reduction(dtype, operator+, 0);
  stages[2].sources = {Source{1, 0}};
  stages[3].expression = record({dtype, dtype}, [](auto& x) { return x[0] / x[1]; });
  stages[3].sources = {Source{1, 0}, Source{2, 0}};
  return stages;
}

// Calls f for each SIMD target of this machine; programs that f compiles run on that target.
inline void for_each_target(const std::function<void()>& f) {
  for (int target = 0; target <= static_cast<int>(best_simd_target()); ++target) {
    set_simd_target_for_test(static_cast<SimdTarget>(target));
    INFO(std::string(simd_target_name(simd_target())));
    f();
    // Loops that use registers of MMX leave the x87 unit unusable.
    volatile long double one = 1;
    CHECK(one + one == 2);
  }
  set_simd_target_for_test(best_simd_target());
}

// The same bits, or both are NaN.
template <typename T>
bool same(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  }
  return std::memcmp(&a, &b, sizeof(T)) == 0;
}

}  // namespace graven::engine
