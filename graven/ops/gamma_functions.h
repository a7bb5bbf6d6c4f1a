#pragma once

namespace graven::engine {

// The Hurwitz zeta function: the sum of (q + n)^-x over n >= 0. Infinite for x = 1, NaN for x < 1,
// and for q <= 0 unless x is a whole number (and q none: there it is infinite for even x, else
// NaN). Relative error below 1e-14.
double zeta(double x, double q);
// The derivative of order a of digamma, for whole a >= 0; NaN for others.
double polygamma(double a, double x);
// The same with a relative error below 1e-9 only, which takes fewer powers.
double zeta_for_floats(double x, double q);
double polygamma_for_floats(double a, double x);

// The regularised incomplete gamma functions of a and x, for any numbers: NaN outside of a > 0 and
// x >= 0.
double igamma(double a, double x);
double igammac(double a, double x);
// The derivative of igamma in a.
double igamma_grad_a(double a, double x);
// The derivative in a of the x that has a given igamma(a, x): how a sample of the gamma
// distribution moves with its shape (Figurnov, Mohamed, Mnih, Implicit reparameterization
// gradients, 2018).
double gamma_sample_grad(double a, double x);

}  // namespace graven::engine
