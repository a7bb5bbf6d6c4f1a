#pragma once
#include "graven/kernels/lapack/plugin.h"

namespace graven::engine {

// The singular value decomposition of a small real matrix, as LapackRoutines::svd has it, where
// LAPACK's takes longer for its calls than for the work. False, and a is as before, if the matrix
// is larger, has (nearly) less than full rank, or has numbers whose squares do not fit a double.
//
// The columns of A V are made orthogonal, two at a time, by rotations that V collects (one-sided
// Jacobi: M. R. Hestenes, "Inversion of matrices by biorthogonalization and related results",
// 1958). Their lengths are then the singular values, and their directions U. It is computed in
// double. Small singular values are more exact than LAPACK's (J. Demmel and K. Veselic, "Jacobi's
// method is more accurate than QR", 1992).
bool small_svd(Vectors vectors, int m, int n, const float* a, float* s, float* u, float* vh);
bool small_svd(Vectors vectors, int m, int n, const double* a, double* s, double* u, double* vh);

}  // namespace graven::engine
