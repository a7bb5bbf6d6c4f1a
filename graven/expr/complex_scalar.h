#pragma once
#include "graven/expr/scalar.h"

namespace graven::engine {

// The functions of scalar.h for complex operands of one dtype, written over the real ones.
Scalar complex_add(Scalar a, Scalar b);
Scalar complex_sub(Scalar a, Scalar b);
Scalar complex_mul(Scalar a, Scalar b);
Scalar complex_div(Scalar a, Scalar b);
Scalar complex_pow(Scalar a, Scalar b);
Scalar complex_abs(Scalar z);
Scalar complex_sign(Scalar z);
Scalar complex_sqrt(Scalar z);
Scalar complex_rsqrt(Scalar z);
Scalar complex_exp(Scalar z);
Scalar complex_expm1(Scalar z);
Scalar complex_log(Scalar z);
Scalar complex_log1p(Scalar z);
Scalar complex_sin(Scalar z);
Scalar complex_cos(Scalar z);
Scalar complex_tan(Scalar z);
Scalar complex_asin(Scalar z);
Scalar complex_acos(Scalar z);
Scalar complex_atan(Scalar z);
Scalar complex_sinh(Scalar z);
Scalar complex_cosh(Scalar z);
Scalar complex_tanh(Scalar z);
Scalar complex_asinh(Scalar z);
Scalar complex_acosh(Scalar z);
Scalar complex_atanh(Scalar z);
Scalar complex_sigmoid(Scalar z);

}  // namespace graven::engine
