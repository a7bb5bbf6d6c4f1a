#pragma once

namespace graven::engine {

// Integrals of exponentials of squares, in double.

// Dawson's function: exp(-x^2) times the integral of exp(t^2) from 0 to x.
double dawson(double x);
// The integrals of cos(pi t^2 / 2) and sin(pi t^2 / 2) from 0 to x.
double fresnel_cosine(double x);
double fresnel_sine(double x);

}  // namespace graven::engine
