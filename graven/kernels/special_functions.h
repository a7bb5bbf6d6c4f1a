#pragma once

namespace graven::engine {

// Functions that are rare enough to be computed element by element, in double. Arguments outside
// the domain give NaN.

// x with erf(x) = y: infinite for y = 1 and -1. Relative error below 1e-15.
double erfinv(double y);
// The quantile of the standard normal distribution: infinite for 0 and 1.
double ndtri(double p);
// The logarithmic derivative of the gamma function; NaN at its poles 0, -1, -2, ...
// Relative error below 1e-14 away from its zeros, absolute error below 1e-15 near them.
double digamma(double x);
// log|gamma(x)|, infinite at the poles.
double lgamma_of_magnitude(double x);

}  // namespace graven::engine
