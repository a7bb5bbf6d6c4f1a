#include "graven/ir/gradient_context.h"
#include "graven/ir/infer_context.h"
#include "graven/ops/formulas.h"
#include "graven/ops/math_ops.h"
#include "graven/ops/register_ops.h"

namespace graven::engine {
namespace {

Status check_part_types(DType real, DType complex) {
  if (real_part_type(complex) == real) return {};
  return invalid_argument("The parts of ", dtype_name(complex), " are ",
                          dtype_name(real_part_type(complex)), ", not ", dtype_name(real));
}

Status part_shape(InferContext& c) {
  RETURN_IF_ERROR(check_part_types(c.attrs<RealPartAttrs>().Tout, c.dtype(0)));
  return same_as_input(c);
}

// --- Gradients: dy + 0i in the real part, 0 + dy i in the imaginary part.

Formula complex_number(GradientContext& c, const Formula& re, const Formula& im) {
  return call(kComplex, re, im, {.Tout = c.dtype_of_x(0)});
}

Formula as_complex(GradientContext& c, const Formula& re) {
  return complex_number(c, re, constant_like(re, 0));
}

void define_real_and_imag(OpRegistry& ops) {
  kReal = ops.define<RealPartAttrs>({
      .name = "Real",
      .summary = "The real part.",
      .inputs = {"input: T"},
      .outputs = {"output: Tout"},
      .types = {{"T", kComplexTypes}, {"Tout", kWideFloats}},
      .infer = part_shape,
      .gradient = [](GradientContext& c) { c.set_dx(0, as_complex(c, Formula(c, c.dy()))); },
      .body = elementwise([](auto x) { return real(x); }),
  });
  kImag = ops.define<RealPartAttrs>({
      .name = "Imag",
      .summary = "The imaginary part.",
      .inputs = {"input: T"},
      .outputs = {"output: Tout"},
      .types = {{"T", kComplexTypes}, {"Tout", kWideFloats}},
      .infer = part_shape,
      .gradient =
          [](GradientContext& c) {
            Formula dy(c, c.dy());
            c.set_dx(0, complex_number(c, constant_like(dy, 0), dy));
          },
      .body = elementwise([](auto x) { return imag(x); }),
  });
}

// The angle moves by (-im + re i) / |x|^2 = -1 / (im + re i).
void angle_gradient(GradientContext& c) {
  Formula x(c, c.x(0));
  RealPartAttrs part = {.Tout = c.attrs<RealPartAttrs>().Tout};
  Formula turned = complex_number(c, call(kImag, x, part), call(kReal, x, part));
  c.set_dx(0, -as_complex(c, Formula(c, c.dy())) / turned);
}

void define_angle_and_kin(OpRegistry& ops) {
  kAngle = ops.define<RealPartAttrs>({
      .name = "Angle",
      .summary = "The angle in the complex plane, in [-pi, pi].",
      .inputs = {"input: T"},
      .outputs = {"output: Tout"},
      .types = {{"T", kComplexTypes}, {"Tout", kWideFloats}},
      .infer = part_shape,
      .gradient = angle_gradient,
      .body = elementwise([](auto x) { return atan2(imag(x), real(x)); }),
  });
  kComplexAbs = ops.define<RealPartAttrs>({
      .name = "ComplexAbs",
      .summary = "The magnitude of complex numbers.",
      .inputs = {"x: T"},
      .outputs = {"y: Tout"},
      .types = {{"T", kComplexTypes}, {"Tout", kWideFloats}},
      .infer = part_shape,
      .gradient =
          [](GradientContext& c) {
            c.set_dx(0, as_complex(c, Formula(c, c.dy())) * call(kSign, Formula(c, c.x(0))));
          },
      .body = elementwise([](auto x) { return abs(x); }),
  });
  kConj = ops.define<NoAttrs>({
      .name = "Conj",
      .summary = "The complex conjugate.",
      .inputs = {"input: T"},
      .outputs = {"output: T"},
      .types = {{"T", kComplexTypes, kComplexTypes | DTypeSet{DType::kVariant}}},
      .infer = same_as_input,
      .gradient = [](GradientContext& c) { c.set_dx(0, conj(Formula(c, c.dy()))); },
      .body = elementwise([](auto x) { return conj(x); }),
  });
}

void complex_gradient(GradientContext& c) {
  Formula dy(c, c.dy());
  RealPartAttrs part = {.Tout = c.dtype_of_x(0)};
  if (c.wants(0)) c.set_dx(0, reduce_to_shape(c, call(kReal, dy, part), 0));
  if (c.wants(1)) c.set_dx(1, reduce_to_shape(c, call(kImag, dy, part), 1));
}

void define_complex(OpRegistry& ops) {
  kComplex = ops.define<ComplexAttrs>({
      .name = "Complex",
      .summary = "The complex numbers of these real and imaginary parts.",
      .inputs = {"real: T", "imag: T"},
      .outputs = {"out: Tout"},
      .types = {{"T", kWideFloats}, {"Tout", kComplexTypes}},
      .infer = [](InferContext& c) -> Status {
        RETURN_IF_ERROR(check_part_types(c.dtype(0), c.attrs<ComplexAttrs>().Tout));
        return broadcast_inputs(c);
      },
      .gradient = complex_gradient,
      .body = elementwise([](auto re, auto im) { return make_complex(re, im); }),
  });
}

}  // namespace

void define_complex_ops(OpRegistry& ops) {
  define_real_and_imag(ops);
  define_angle_and_kin(ops);
  define_complex(ops);
}

}  // namespace graven::engine
