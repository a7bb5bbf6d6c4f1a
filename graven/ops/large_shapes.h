#pragma once

namespace graven::engine {

// Shapes of the gamma and the beta distribution from which the series and fractions of Boost, whose
// terms are about as many as the square root of the shape, take long and lose digits.
inline constexpr double kLargeShape = 1e8;

// The shares of the gamma distribution of shape a > kLargeShape below and above x >= 0. Absolute
// error below 1e-14; shares of 1e-300 still have eleven digits.
double large_gamma_share_below(double a, double x);
double large_gamma_share_above(double a, double x);
// The derivative in a of the x > 0 with a given share. Relative error below 1e-8.
double large_gamma_sample_grad(double a, double x);
// The share of the beta distribution of shapes a > kLargeShape and b > kLargeShape below x, which
// is in [0, 1]. Absolute error below 1e-11, and that of x, of which the last bit counts.
double large_beta_share_below(double a, double b, double x);

}  // namespace graven::engine
