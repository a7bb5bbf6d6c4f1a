#pragma once
#include <initializer_list>
#include <limits>
#include <string>
#include <string_view>

#include "graven/expr/expression.h"

namespace graven::engine {

// The docstring's paragraph on the errors of a numeric function of elements, for the details of its
// record. tests/ops/test_accuracy.py reads it there and checks the op against it.
//
//   "Accuracy: within 2.5 ULP in float32 and 2 ULP in float64, for x in [-1, 1]."
//
// An ULP is a unit in the last place of the exact result. half and bfloat16 compute in float32 and
// round once more. Denormal inputs count as zero, and results that would be denormal may be zero.

// Values of an input from low to high, both included.
struct Interval {
  std::string_view input;
  double low, high;
};
using Intervals = std::initializer_list<Interval>;
inline constexpr double kEndless = std::numeric_limits<double>::infinity();

// The largest errors in ULP, for inputs in the intervals; an input without one may be any number.
std::string accuracy_text(double float32, double float64, Intervals range = {});
// The same for an op that is one instruction, from kernels/accuracy.h.
std::string accuracy_of(Instruction instruction, Intervals range = {});
// An error of 0.5 ULP: the float that is next to the exact result.
std::string correctly_rounded(Intervals range = {});
// No error at all.
std::string exact_text();

}  // namespace graven::engine
