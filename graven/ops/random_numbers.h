#pragma once
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <numbers>

#include "graven/ops/philox.h"

namespace graven::engine {

// Single numbers of the words of a stream.

// In [0, 1): the bits of a number in [1, 2), then minus 1.
inline float unit_float(uint32_t word) {
  return std::bit_cast<float>(0x3F800000u | (word & 0x7FFFFF)) - 1.0f;
}
inline double unit_double(uint32_t high, uint32_t low) {
  return std::bit_cast<double>(uint64_t{0x3FF} << 52 | uint64_t{high & 0xFFFFF} << 32 | low) - 1.0;
}

// Two independent normals of two uniforms: a sine and a cosine, times a radius.
inline constexpr double kLeastUniform = 1e-7;
inline std::array<float, 2> normal_floats(uint32_t w0, uint32_t w1) {
  float u = std::max(unit_float(w0), static_cast<float>(kLeastUniform));
  auto angle = static_cast<float>(2.0 * std::numbers::pi * static_cast<double>(unit_float(w1)));
  float radius = std::sqrt(-2.0f * std::log(u));
  return {radius * std::sin(angle), radius * std::cos(angle)};
}
inline std::array<double, 2> normal_doubles(const PhiloxWords& w) {
  double u = std::max(unit_double(w[0], w[1]), kLeastUniform);
  double angle = 2.0 * std::numbers::pi * unit_double(w[2], w[3]);
  double radius = std::sqrt(-2.0 * std::log(u));
  return {radius * std::sin(angle), radius * std::cos(angle)};
}

}  // namespace graven::engine
