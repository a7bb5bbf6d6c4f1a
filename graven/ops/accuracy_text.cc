#include "graven/ops/accuracy_text.h"

#include <cmath>
#include <cstdio>

#include "graven/base/strings.h"
#include "graven/kernels/accuracy.h"

namespace graven::engine {
namespace {

std::string number(double value) {
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  char text[32];
  std::snprintf(text, sizeof(text), "%g", value);
  return text;
}

std::string in_range(std::string text, Intervals range) {
  const char* before = ", for ";
  for (const Interval& interval : range) {
    text += str_cat(before, interval.input, " in [", number(interval.low), ", ",
                    number(interval.high), "]");
    before = " and ";
  }
  return text + ".";
}

}  // namespace

std::string accuracy_text(double float32, double float64, Intervals range) {
  return in_range(str_cat("Accuracy: within ", number(float32), " ULP in float32 and ",
                          number(float64), " ULP in float64"),
                  range);
}

std::string accuracy_of(Instruction instruction, Intervals range) {
  for (const Accuracy& known : kAccuracies) {
    if (known.instruction == instruction) return accuracy_text(known.float32, known.float64, range);
  }
  return correctly_rounded(range);
}

std::string correctly_rounded(Intervals range) {
  return in_range("Accuracy: correctly rounded, within 0.5 ULP in float32 and float64", range);
}

std::string exact_text() { return "Accuracy: exact."; }

}  // namespace graven::engine
