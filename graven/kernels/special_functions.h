#pragma once

namespace graven::engine {

// Functions of one number, in double, for rare arguments that the vectors' formulas
// (expr/special_functions-inl.h) leave out. Arguments outside the domain give NaN.

// The logarithmic derivative of the gamma function; NaN at its poles 0, -1, -2, ...
// Relative error below 1e-14 away from its zeros, absolute error below 1e-15 near them.
double digamma(double x);
// log|gamma(x)|, infinite at the poles.
double lgamma_of_magnitude(double x);

}  // namespace graven::engine
