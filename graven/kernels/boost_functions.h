#pragma once

namespace graven::engine {

// Functions of numbers that Boost.Math computes, in double. They never throw: NaN outside their
// domain, infinity where they overflow. Errors are a few units in the last place.

// Modified Bessel functions of the second kind, of order 0 and 1, for x > 0 only.
double bessel_k0(double x);
double bessel_k1(double x);

// log(1 + x) - x, without cancellation; for x > -1 only.
double log1p_minus(double x);

// The integral of exp(t) / t up to x.
double exponential_integral(double x);

// The regularised incomplete gamma functions, for a > 0 and x >= 0: shares of the gamma
// distribution of shape a below and above x, and its density there.
double gamma_share_below(double a, double x);
double gamma_share_above(double a, double x);
double gamma_density(double a, double x);

// The regularised incomplete beta function: the share of the beta distribution of a > 0 and b > 0
// below x, which is in [0, 1].
double beta_share_below(double a, double b, double x);

}  // namespace graven::engine
