#include "graven/kernels/special_functions.h"

#include <math.h>

#include <cmath>
#include <limits>
#include <numbers>

namespace graven::engine {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

template <int N>
double polynomial(const double (&coefficients)[N], double x) {  // lowest degree first
  double sum = coefficients[N - 1];
  for (int i = N - 2; i >= 0; --i) sum = sum * x + coefficients[i];
  return sum;
}

}  // namespace

// Reflection for negative arguments, recurrence up to 10, then the asymptotic series
// log(x) - 1/(2x) - sum of B(2k) / (2k x^(2k)). Near the positive zero 1.4616... the recurrence
// cancels, so there the distance from the zero is factored out: absolute error only.
double digamma(double x) {
  if (std::isnan(x) || x == -kInfinity) return kNaN;
  if (x == kInfinity) return x;
  double reflected = 0;
  if (x <= 0) {
    double rest = x - std::nearbyint(x);  // the distance to the nearest integer is exact
    if (rest == 0) return kNaN;
    reflected = std::fabs(rest) == 0.5 ? 0 : std::numbers::pi / std::tan(std::numbers::pi * rest);
    x = 1 - x;
  }
  double shifted = 0;
  for (; x < 10; x += 1) shifted += 1 / x;
  static constexpr double kSeries[] = {1.0 / 12,  -1.0 / 120,     1.0 / 252, -1.0 / 240,
                                       1.0 / 132, -691.0 / 32760, 1.0 / 12,  -3617.0 / 8160};
  double square = 1 / (x * x);
  double tail = square * polynomial(kSeries, square);
  return std::log(x) - 0.5 / x - tail - shifted - reflected;
}

double lgamma_of_magnitude(double x) {
  int sign;
  return ::lgamma_r(x, &sign);  // std::lgamma writes a global
}

}  // namespace graven::engine
