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

// Algorithm AS 241 (M. J. Wichura, The Percentage Points of the Normal Distribution, Applied
// Statistics 37, 1988), routine PPND16: the normal quantile of 0.5 + q, whose smaller tail has
// the given probability. Three rational functions: of q^2 in the middle, of
// sqrt(-log(tail)) outside.
double normal_quantile(double q, double tail) {
  static constexpr double kMiddleTop[] = {3.3871328727963666080e0, 1.3314166789178437745e2,
                                          1.9715909503065514427e3, 1.3731693765509461125e4,
                                          4.5921953931549871457e4, 6.7265770927008700853e4,
                                          3.3430575583588128105e4, 2.5090809287301226727e3};
  static constexpr double kMiddleBottom[] = {1.0,
                                             4.2313330701600911252e1,
                                             6.8718700749205790830e2,
                                             5.3941960214247511077e3,
                                             2.1213794301586595867e4,
                                             3.9307895800092710610e4,
                                             2.8729085735721942674e4,
                                             5.2264952788528545610e3};
  static constexpr double kNearTop[] = {1.42343711074968357734e0,  4.63033784615654529590e0,
                                        5.76949722146069140550e0,  3.64784832476320460504e0,
                                        1.27045825245236838258e0,  2.41780725177450611770e-1,
                                        2.27238449892691845833e-2, 7.74545014278341407640e-4};
  static constexpr double kNearBottom[] = {1.0,
                                           2.05319162663775882187e0,
                                           1.67638483018380384940e0,
                                           6.89767334985100004550e-1,
                                           1.48103976427480074590e-1,
                                           1.51986665636164571966e-2,
                                           5.47593808499534494600e-4,
                                           1.05075007164441684324e-9};
  static constexpr double kFarTop[] = {6.65790464350110377720e0,  5.46378491116411436990e0,
                                       1.78482653991729133580e0,  2.96560571828504891230e-1,
                                       2.65321895265761230930e-2, 1.24266094738807843860e-3,
                                       2.71155556874348757815e-5, 2.01033439929228813265e-7};
  static constexpr double kFarBottom[] = {1.0,
                                          5.99832206555887937690e-1,
                                          1.36929880922735805310e-1,
                                          1.48753612908506148525e-2,
                                          7.86869131145613259100e-4,
                                          1.84631831751005468180e-5,
                                          1.42151175831644588870e-7,
                                          2.04426310338993978564e-15};
  if (std::fabs(q) <= 0.425) {
    double r = 0.180625 - q * q;
    return q * polynomial(kMiddleTop, r) / polynomial(kMiddleBottom, r);
  }
  double r = std::sqrt(-std::log(tail));
  double size = r <= 5 ? polynomial(kNearTop, r - 1.6) / polynomial(kNearBottom, r - 1.6)
                       : polynomial(kFarTop, r - 5) / polynomial(kFarBottom, r - 5);
  return q < 0 ? -size : size;
}

}  // namespace

double erfinv(double y) {
  if (!(std::fabs(y) <= 1)) return kNaN;
  if (std::fabs(y) == 1) return y * kInfinity;
  return normal_quantile(y / 2, (1 - std::fabs(y)) / 2) / std::numbers::sqrt2;
}

double ndtri(double p) {
  if (!(p >= 0 && p <= 1)) return kNaN;
  if (p == 0) return -kInfinity;
  if (p == 1) return kInfinity;
  return normal_quantile(p - 0.5, p < 0.5 ? p : 1 - p);
}

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
