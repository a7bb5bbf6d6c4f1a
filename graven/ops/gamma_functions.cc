// The Hurwitz zeta function by Euler's and Maclaurin's summation: the first terms are added up,
// and from a = q + n on the rest is
//
//   a^(1-x) / (x - 1) - a^-x / 2 + sum over k of B_2k / (2k)! x (x + 1) ... (x + 2k - 2)
//   a^(-x-2k+1)
//
// counted from the last term that was added. See Abramowitz and Stegun, 23.1.30 and 23.2.
#include "graven/ops/gamma_functions.h"

#include <array>
#include <cmath>
#include <limits>

#include "graven/kernels/boost_functions.h"
#include "graven/kernels/special_functions.h"
#include "graven/ops/large_shapes.h"

namespace graven::engine {
namespace {

// a! for whole a >= 0; infinite from 171 on.
double factorial(double a) {
  constexpr int kSize = 171;
  static const std::array<double, kSize> values = [] {
    std::array<double, kSize> made{};
    made[0] = 1;
    for (int i = 1; i < kSize; ++i) made[i] = made[i - 1] * i;
    return made;
  }();
  return a < kSize ? values[static_cast<size_t>(a)] : std::numeric_limits<double>::infinity();
}

// How far the terms are added up, and when they are too small to matter.
struct Precision {
  int least_terms;
  double least_a, epsilon;
};
constexpr Precision kDouble = {9, 9, std::numeric_limits<double>::epsilon() / 2};
// The smallest term of the series that remains is about exp(-2 pi a).
constexpr Precision kForFloats = {4, 4, 0x1p-34};

double sum_of_zeta(double x, double q, const Precision& precision) {
  // (2k)! / B_2k for k = 1, 2, ...
  static constexpr double kReciprocalCoefficients[] = {
      12,
      -720,
      30240,
      -1209600,
      47900160,
      -1.8924375803183791606e9,
      7.47242496e10,
      -2.950130727918164224e12,
      1.1646782814350067249e14,
      -4.5979787224074726105e15,
      1.8152105401943546773e17,
      -7.1661652561756670113e18,
  };
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const double epsilon = precision.epsilon;
  if (x == 1) return kInfinity;
  if (std::isnan(x) || std::isnan(q) || x < 1) return kNaN;
  if (q <= 0) {
    const bool is_even = std::isinf(x) || std::fmod(x, 2) == 0;
    if (q == std::floor(q)) return is_even ? kInfinity : kNaN;
    if (x != std::floor(x)) return kNaN;
  }
  double sum = std::pow(q, -x), a = q, term = 0;
  for (int n = 0; n < precision.least_terms || a <= precision.least_a; ++n) {
    a += 1;
    term = std::pow(a, -x);
    sum += term;
    // Terms below 1 still grow; beyond it they may all be 0, as the sum.
    if (a >= 1 && std::abs(term) <= epsilon * std::abs(sum)) return sum;
  }
  sum += term * a / (x - 1) - 0.5 * term;
  double product = 1, power = term, k = 0;
  for (double reciprocal : kReciprocalCoefficients) {
    product *= x + k;
    power /= a;
    double correction = product * power / reciprocal;
    sum += correction;
    if (std::abs(correction / sum) < epsilon) break;
    product *= x + k + 1;
    power /= a;
    k += 2;
  }
  return sum;
}

double derivative_of_digamma(double a, double x, const Precision& precision) {
  if (a == 0) return digamma(x);
  if (!(a > 0) || a != std::floor(a)) return std::numeric_limits<double>::quiet_NaN();
  double sign = std::fmod(a, 2) == 0 ? -1 : 1;
  return sign * factorial(a) * sum_of_zeta(a + 1, x, precision);
}

// --- Incomplete gamma functions.

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr int kMaxTerms = 100'000;  // enough up to kLargeShape

// The derivative of igamma in a by its derivative in x, for 0 < x < inf: what gamma_sample_grad is,
// but for the sign. Each term of an expansion is differentiated with it.
//
// Up to x = a + 1 the series igamma(a, x) = density x / a (1 + x / (a + 1) + ...), whose terms c
// have the ratio x / (a + n).
double ratio_by_series(double a, double x) {
  double c = 1, dc = 0, sum = 1, dsum = 0;
  for (int n = 1; n < kMaxTerms; ++n) {
    dc = (dc - c / (a + n)) * (x / (a + n));
    c *= x / (a + n);
    sum += c;
    dsum += dc;
    if (c < 1e-17 * sum && std::abs(dc) < 1e-17 * std::abs(dsum)) break;
  }
  return x / a * (sum * (std::log(x) - digamma(a + 1)) + dsum);
}

// Beyond it the continued fraction 1 - igamma(a, x) = density x p / q of Legendre (Abramowitz and
// Stegun, 6.5.31), by its recurrence p[n] = z p[n - 1] - n (n - a) p[n - 2].
double ratio_by_fraction(double a, double x) {
  double y = 1 - a, z = x + y + 1, c = 0;
  double p2 = 1, q2 = x, p1 = x + 1, q1 = z * x;
  double dp2 = 0, dq2 = 0, dp1 = 0, dq1 = -x;
  double value = p1 / q1, slope = (dp1 - value * dq1) / q1;
  for (int n = 1; n < kMaxTerms; ++n) {
    c += 1;
    y += 1;
    z += 2;
    const double yc = y * c;
    const double p = p1 * z - p2 * yc, q = q1 * z - q2 * yc;
    const double dp = dp1 * z - p1 - dp2 * yc + p2 * c;
    const double dq = dq1 * z - q1 - dq2 * yc + q2 * c;
    p2 = p1, p1 = p, q2 = q1, q1 = q;
    dp2 = dp1, dp1 = dp, dq2 = dq1, dq1 = dq;
    if (q == 0) continue;
    const double next = p / q, next_slope = (dp - next * dq) / q;
    const bool is_done = std::abs(next - value) < 1e-16 * std::abs(next) &&
                         std::abs(next_slope - slope) < 1e-15 * std::abs(next_slope);
    value = next;
    slope = next_slope;
    if (is_done) break;
    if (std::abs(p) > 0x1p200) {
      for (double* part : {&p1, &p2, &q1, &q2, &dp1, &dp2, &dq1, &dq2}) *part *= 0x1p-200;
    }
  }
  return -x * ((std::log(x) - digamma(a)) * value + slope);
}

double gamma_ratio(double a, double x) {
  if (a > kLargeShape) return -large_gamma_sample_grad(a, x);
  return x <= a + 1 ? ratio_by_series(a, x) : ratio_by_fraction(a, x);
}

bool is_gamma(double a, double x) { return a > 0 && x >= 0; }

}  // namespace

double igamma(double a, double x) {
  if (x == 0) return 0;  // for any a, as TensorFlow has it
  if (!is_gamma(a, x)) return kNaN;
  if (std::isinf(a)) return 0;
  if (std::isinf(x)) return 1;
  return a > kLargeShape ? large_gamma_share_below(a, x) : gamma_share_below(a, x);
}

double igammac(double a, double x) {
  if (!is_gamma(a, x)) return kNaN;
  if (std::isinf(x)) return 0;
  if (std::isinf(a)) return 1;
  return a > kLargeShape ? large_gamma_share_above(a, x) : gamma_share_above(a, x);
}

double igamma_grad_a(double a, double x) {
  if (x == 0) return 0;
  if (!is_gamma(a, x)) return kNaN;
  if (std::isinf(a) || std::isinf(x)) return 0;
  const double density = gamma_density(a, x);
  return density == 0 ? 0 : gamma_ratio(a, x) * density;
}

double gamma_sample_grad(double a, double x) {
  if (x == 0) return 0;
  if (!is_gamma(a, x) || std::isinf(a) || std::isinf(x)) return kNaN;
  return -gamma_ratio(a, x);
}

double zeta(double x, double q) { return sum_of_zeta(x, q, kDouble); }
double zeta_for_floats(double x, double q) { return sum_of_zeta(x, q, kForFloats); }
double polygamma(double a, double x) { return derivative_of_digamma(a, x, kDouble); }
double polygamma_for_floats(double a, double x) { return derivative_of_digamma(a, x, kForFloats); }

}  // namespace graven::engine
