#pragma once
#include <complex>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <random>
#include <vector>

#include "graven/expr/scalar.h"
#include "graven/kernels/block_program.h"
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
  if (!expression.ok()) throw std::runtime_error(expression.status().message());
  return *expression;
}

inline std::shared_ptr<const BlockProgram> compile(const Expression& expression) {
  auto program = BlockProgram::compile(expression);
  if (!program.ok()) throw std::runtime_error(program.status().message());
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

}  // namespace graven::engine
