#pragma once

namespace graven::engine {

// Functions of one number, in double. Arguments outside the domain give NaN. Those over vectors
// are in special_functions-inl.h, which calls these for arguments that are rare.

// The logarithmic derivative of the gamma function; NaN at its poles 0, -1, -2, ...
// Relative error below 1e-14 away from its zeros, absolute error below 1e-15 near them.
double digamma(double x);
// log|gamma(x)|, infinite at the poles.
double lgamma_of_magnitude(double x);

}  // namespace graven::engine
