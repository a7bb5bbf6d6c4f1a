#include "graven/expr/complex_scalar.h"

namespace graven::engine {
namespace {

// The magnitude as largest part, and (smaller part / largest part)^2, so that nothing overflows:
// |z| = largest * sqrt(1 + ratio2). Zero gives ratio 0, infinite parts too.
struct Magnitude {
  Scalar largest, ratio2;
};
Magnitude magnitude(Scalar z) {
  Scalar a = abs(real(z)), b = abs(imag(z));
  // Comparisons and not min and max, whose NaN would hide an infinite other part.
  Scalar a_is_larger = (a >= b) | is_nan(b);
  Scalar largest = select(a_is_larger, a, b), other = select(a_is_larger, b, a);
  Scalar ratio = other / largest;
  Scalar none = (largest == 0) | is_inf(largest);
  ratio = select(none, zero_like(ratio), ratio);
  // |inf + NaN i| is infinite; NaN beside a finite part is NaN.
  Scalar has_inf = is_inf(a) | is_inf(b);
  largest = select(has_inf, infinity_like(largest), largest);
  return {largest, select(has_inf, zero_like(ratio), ratio * ratio)};
}

Scalar copy_sign(Scalar size, Scalar from) {
  // atan2 would tell -0 from 0; so does the sign of 1 / from, without its cost.
  Scalar negative = (from < 0) | ((from == 0) & (1 / from < 0));
  return select(negative, -size, size);
}

}  // namespace

Scalar real(Scalar x) { return x.is_complex() ? Recorder::current().real_part(x) : x; }
Scalar imag(Scalar x) {
  return x.is_complex() ? Recorder::current().imaginary_part(x) : zero_like(x);
}
Scalar make_complex(Scalar real, Scalar imag) {
  Recorder& r = Recorder::current();
  bool is_wide = real.dtype() == DType::kFloat64;
  if (real.dtype() != imag.dtype() || (!is_wide && real.dtype() != DType::kFloat32)) {
    r.fail("the parts of a complex number must both be float32 or both float64");
  }
  return r.make(is_wide ? DType::kComplex128 : DType::kComplex64, real.real_node(),
                imag.real_node());
}
Scalar conj(Scalar x) { return x.is_complex() ? make_complex(real(x), -imag(x)) : x; }

Scalar complex_add(Scalar a, Scalar b) {
  return make_complex(real(a) + real(b), imag(a) + imag(b));
}
Scalar complex_sub(Scalar a, Scalar b) {
  return make_complex(real(a) - real(b), imag(a) - imag(b));
}
Scalar complex_mul(Scalar a, Scalar b) {
  Scalar rr = real(a) * real(b), ii = imag(a) * imag(b);
  Scalar ri = real(a) * imag(b), ir = imag(a) * real(b);
  Scalar re = rr - ii;
  return make_complex(re, ri + ir);
}

// Smith's method: divide by the larger part of b, so that |b|^2 never overflows.
Scalar complex_div(Scalar a, Scalar b) {
  Scalar c = real(b), d = imag(b);
  Scalar real_is_larger = abs(c) >= abs(d);
  Scalar large = select(real_is_larger, c, d), small = select(real_is_larger, d, c);
  Scalar x = select(real_is_larger, real(a), imag(a)), y = select(real_is_larger, imag(a), real(a));
  Scalar ratio = small / large, scale = large + small * ratio;
  Scalar imaginary = (y - x * ratio) / scale;
  return make_complex((x + y * ratio) / scale, select(real_is_larger, imaginary, -imaginary));
}

Scalar complex_abs(Scalar z) {
  Magnitude m = magnitude(z);
  return m.largest * sqrt(1 + m.ratio2);
}

Scalar complex_sign(Scalar z) {
  Scalar size = complex_abs(z);
  Scalar is_zero = size == 0;
  Scalar zero = zero_like(size);
  return make_complex(select(is_zero, zero, real(z) / size), select(is_zero, zero, imag(z) / size));
}

// The part that does not cancel comes from |z| + |a|, the other from a * b = Im / 2.
Scalar complex_sqrt(Scalar z) {
  Scalar a = real(z), b = imag(z);
  // Halved before they are added, so that the sum does not overflow.
  Scalar t = sqrt(complex_abs(z) * 0.5 + abs(a) * 0.5);
  Scalar other = abs(b) / (t * 2);
  Scalar is_zero = t == 0;
  other = select(is_zero, zero_like(other), other);
  Scalar right = a >= 0;
  return make_complex(select(right, t, other), copy_sign(select(right, other, t), b));
}
Scalar complex_rsqrt(Scalar z) { return one_like(z) / complex_sqrt(z); }

Scalar complex_exp(Scalar z) {
  Scalar size = exp(real(z)), b = imag(z);
  // exp(inf + 0i) is inf + 0i, not inf + NaN i.
  return make_complex(size * cos(b), select(b == 0, b, size * sin(b)));
}

// Re: exp(a) cos(b) - 1 = expm1(a) cos(b) - 2 sin(b / 2)^2, which does not cancel near zero.
Scalar complex_expm1(Scalar z) {
  Scalar a = real(z), b = imag(z), s = sin(b * 0.5);
  return make_complex(expm1(a) * cos(b) - s * s * 2, select(b == 0, b, exp(a) * sin(b)));
}

Scalar complex_log(Scalar z) {
  Magnitude m = magnitude(z);
  return make_complex(log(m.largest) + log1p(m.ratio2) * 0.5, atan2(imag(z), real(z)));
}

// |1 + z|^2 - 1 = a (2 + a) + b^2, used where it is small.
Scalar complex_log1p(Scalar z) {
  Scalar a = real(z), b = imag(z);
  Scalar near = abs(a) + abs(b) < 0.5;
  Scalar far_log = real(complex_log(make_complex(a + 1, b)));
  return make_complex(select(near, log1p(a * (a + 2) + b * b) * 0.5, far_log), atan2(b, a + 1));
}

Scalar complex_pow(Scalar a, Scalar b) {
  Scalar power = complex_exp(complex_mul(b, complex_log(a)));
  power = select(a == zero_like(a), zero_like(a), power);
  return select(b == zero_like(b), one_like(a), power);
}

Scalar complex_sin(Scalar z) {
  return make_complex(sin(real(z)) * cosh(imag(z)), cos(real(z)) * sinh(imag(z)));
}
Scalar complex_cos(Scalar z) {
  return make_complex(cos(real(z)) * cosh(imag(z)), -(sin(real(z)) * sinh(imag(z))));
}
Scalar complex_sinh(Scalar z) {
  return make_complex(sinh(real(z)) * cos(imag(z)), cosh(real(z)) * sin(imag(z)));
}
Scalar complex_cosh(Scalar z) {
  return make_complex(cosh(real(z)) * cos(imag(z)), sinh(real(z)) * sin(imag(z)));
}

// Kahan's formula (Branch Cuts for Complex Elementary Functions, 1987): with t = tan(b),
// s = sinh(a), beta = 1 + t^2: (beta rho s + i t) / (1 + beta s^2). Far out it is +-1.
Scalar complex_tanh(Scalar z) {
  Scalar a = real(z), b = imag(z);
  Scalar far = abs(a) > 20;
  Scalar s = sinh(select(far, zero_like(a), a)), t = tan(b), beta = t * t + 1;
  Scalar rho = sqrt(s * s + 1), scale = beta * s * s + 1;
  Scalar far_imaginary = sin(b) * cos(b) * 4 * exp(abs(a) * -2);
  return make_complex(select(far, sign(a), beta * rho * s / scale),
                      select(far, far_imaginary, t / scale));
}
// tan(z) = -i tanh(i z).
Scalar complex_tan(Scalar z) {
  Scalar w = complex_tanh(make_complex(-imag(z), real(z)));
  return make_complex(imag(w), -real(w));
}

// Kahan's formulas (the same paper), with 1 - z and z - 1 made so that zero imaginary parts keep
// their sign, which tells the sides of a branch cut apart.
namespace {
Scalar sqrt_one_minus(Scalar z) { return complex_sqrt(make_complex(1 - real(z), -imag(z))); }
Scalar sqrt_one_plus(Scalar z) { return complex_sqrt(make_complex(1 + real(z), imag(z))); }
// The real and imaginary part of conj(a) * b.
Scalar inner(Scalar a, Scalar b) { return real(a) * real(b) + imag(a) * imag(b); }
Scalar outer(Scalar a, Scalar b) { return real(a) * imag(b) - imag(a) * real(b); }
}  // namespace

Scalar complex_asin(Scalar z) {
  Scalar minus = sqrt_one_minus(z), plus = sqrt_one_plus(z);
  Scalar cosine = real(minus) * real(plus) - imag(minus) * imag(plus);
  return make_complex(atan2(real(z), cosine), asinh(outer(minus, plus)));
}
Scalar complex_acos(Scalar z) {
  Scalar minus = sqrt_one_minus(z), plus = sqrt_one_plus(z);
  return make_complex(2 * atan2(real(minus), real(plus)), asinh(outer(plus, minus)));
}
Scalar complex_acosh(Scalar z) {
  Scalar minus = complex_sqrt(make_complex(real(z) - 1, imag(z))), plus = sqrt_one_plus(z);
  return make_complex(asinh(inner(minus, plus)), 2 * atan2(imag(minus), real(plus)));
}
// |1 + z|^2 / |1 - z|^2 = 1 + 4 a / |1 - z|^2, whose larger side is taken: it does not cancel.
Scalar complex_atanh(Scalar z) {
  Scalar a = abs(real(z)), b = imag(z);
  Scalar distance = (1 - a) * (1 - a) + b * b;
  Scalar re = log1p(4 * a / distance) * 0.25;
  Scalar im = atan2(2 * b, (1 - a) * (1 + a) - b * b) * 0.5;
  return make_complex(copy_sign(re, real(z)), im);
}
// asinh(z) = -i asin(i z), atan(z) = -i atanh(i z).
Scalar complex_asinh(Scalar z) {
  Scalar w = complex_asin(make_complex(-imag(z), real(z)));
  return make_complex(imag(w), -real(w));
}
Scalar complex_atan(Scalar z) {
  Scalar w = complex_atanh(make_complex(-imag(z), real(z)));
  return make_complex(imag(w), -real(w));
}

Scalar complex_sigmoid(Scalar z) { return one_like(z) / (complex_exp(-z) + one_like(z)); }

}  // namespace graven::engine
