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

#include "graven/kernels/special_functions.h"

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

}  // namespace

double zeta(double x, double q) { return sum_of_zeta(x, q, kDouble); }
double zeta_for_floats(double x, double q) { return sum_of_zeta(x, q, kForFloats); }
double polygamma(double a, double x) { return derivative_of_digamma(a, x, kDouble); }
double polygamma_for_floats(double a, double x) { return derivative_of_digamma(a, x, kForFloats); }

}  // namespace graven::engine
