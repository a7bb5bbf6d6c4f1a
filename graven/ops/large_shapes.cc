// Temme's uniform expansions, by the first term behind the normal distribution: with a number eta
// that is 0 at the mean,
//
//   share above x = erfc(eta sqrt(s / 2)) / 2 + exp(-s eta^2 / 2) / sqrt(2 pi s) c0(eta)
//
// See the Digital Library of Mathematical Functions, 8.12 for the gamma distribution, where s is a,
// and 8.18(ii) for the beta distribution, where s is a + b. What c0 multiplies is 0 unless x is
// near the mean, so that a few powers of eta are all of c0.
#include "graven/ops/large_shapes.h"

#include <cmath>
#include <numbers>

#include "graven/kernels/boost_functions.h"

namespace graven::engine {
namespace {

struct Expansion {
  double z;           // eta sqrt(s)
  double c0_by_root;  // c0(eta) / sqrt(s)

  double above() const { return std::erfc(z * kRootOfHalf) / 2 + term(); }
  double below() const { return std::erfc(-z * kRootOfHalf) / 2 - term(); }

 private:
  static constexpr double kRootOfHalf = std::numbers::sqrt2 / 2;
  double term() const {
    const double density = std::exp(-0.5 * z * z) * (std::numbers::inv_sqrtpi * kRootOfHalf);
    return density == 0 ? 0 : density * c0_by_root;  // c0 may be infinite there
  }
};

// With x = a (1 + t) it is eta^2 / 2 = t - log(1 + t).
Expansion gamma_expansion(double a, double x) {
  const double t = (x - a) / a;
  const double eta = std::copysign(std::sqrt(-2 * log1p_minus(t)), t);
  const double z = eta * std::sqrt(a);
  const double c0 = -1.0 / 3 + eta * (1.0 / 12 + eta * (-2.0 / 135 + eta / 864));
  return {z, c0 / std::sqrt(a)};
}

}  // namespace

double large_gamma_share_below(double a, double x) { return gamma_expansion(a, x).below(); }
double large_gamma_share_above(double a, double x) { return gamma_expansion(a, x).above(); }

// (1 + t) log(1 + t) / t keeps eta sqrt(a); the rest is the first power of 1 / a, as it is at the
// mean.
double large_gamma_sample_grad(double a, double x) {
  const double t = (x - a) / a, part = x / a;
  const double logarithm = t < -0.5 ? std::log(part) : std::log1p(t);
  return (t == 0 ? 1 : part * logarithm / t) + part / (6 * a);
}

double large_beta_share_below(double a, double b, double x) {
  if (x == 0 || x == 1) return x;
  const double s = a + b, mean = a / s, rest = b / s, deviation = std::sqrt(mean * rest);
  const double distance = x - mean;
  const double exponent =
      mean * log1p_minus(distance / mean) + rest * log1p_minus(-distance / rest);
  const double eta = std::copysign(std::sqrt(-2 * exponent), distance), z = eta * std::sqrt(s);
  // Near the mean the difference has no digits left.
  const double c0 =
      std::abs(z) < 1e-4 ? (rest - mean) / (3 * deviation) : 1 / eta - deviation / distance;
  return Expansion{-z, c0 / std::sqrt(s)}.above();
}

}  // namespace graven::engine
