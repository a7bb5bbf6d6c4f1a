#include "graven/ops/math_ops.h"

#include <algorithm>
#include <complex>

#include "graven/ir/gradient_context.h"
#include "graven/ir/infer_context.h"
#include "graven/ops/formulas.h"
#include "graven/ops/register_ops.h"

namespace graven::engine {
namespace {

void add_gradient(GradientContext& c) {
  if (c.wants(0)) c.set_dx(0, reduce_to_shape(c, c.dy(), 0));
  if (c.wants(1)) c.set_dx(1, reduce_to_shape(c, c.dy(), 1));
}

void sub_gradient(GradientContext& c) {
  if (c.wants(0)) c.set_dx(0, reduce_to_shape(c, c.dy(), 0));
  if (c.wants(1)) c.set_dx(1, reduce_to_shape(c, -Formula(c, c.dy()), 1));
}

void mul_gradient(GradientContext& c) {
  Formula dy(c, c.dy());
  if (c.wants(0)) c.set_dx(0, reduce_to_shape(c, dy * conj(Formula(c, c.x(1))), 0));
  if (c.wants(1)) c.set_dx(1, reduce_to_shape(c, dy * conj(Formula(c, c.x(0))), 1));
}

void neg_gradient(GradientContext& c) { c.set_dx(0, -Formula(c, c.dy())); }

void conj_gradient(GradientContext& c) { c.set_dx(0, conj(Formula(c, c.dy()))); }

Status no_zero_divisor(std::span<const Tensor> inputs, AttrsRef) {
  const Tensor& y = inputs.back();
  bool has_zero = visit_plain(y.dtype(), [&](auto zero) {
    auto elements = y.data<decltype(zero)>();
    return std::find(elements.begin(), elements.end(), zero) != elements.end();
  });
  return has_zero ? invalid_argument("Integer division by zero") : Status();
}

}  // namespace

void define_math_ops(OpRegistry& ops) {
  kNeg = ops.define<NoAttrs>({
      .name = "Neg",
      .python = "math.negative, negative",
      .summary = "-x, element by element. Integers wrap around.",
      .inputs = {"x: T"},
      .outputs = {"y: T"},
      .types = {{"T", kFloatTypes | kComplexTypes | kSignedIntTypes}},
      .infer = same_as_input,
      .gradient = neg_gradient,
      .body = elementwise([](auto x) { return -x; }),
  });
  kConj = ops.define<NoAttrs>({
      .name = "Conj",
      .summary = "The complex conjugate, element by element.",
      .inputs = {"input: T"},
      .outputs = {"output: T"},
      .types = {{"T", kComplexTypes}},
      .infer = same_as_input,
      .gradient = conj_gradient,
      .body = elementwise([](auto x) { return conj(x); }),
  });
  ops.define(kFloorMod,
             {
                 .name = "FloorMod",
                 .summary = "The remainder of x / y with the sign of y, element by element.",
                 .details = "Raises:\n  InvalidArgumentError: An integer y is 0.",
                 .inputs = {"x: T", "y: T"},
                 .outputs = {"z: T"},
                 .types = {{"T", kRealTypes}},
                 .infer = broadcast_inputs,
                 .body = elementwise([](auto x, auto y) {
                           return floor_mod(x, y);
                         }).with_check(kIntTypes, no_zero_divisor),
             });
  kAddV2 = ops.define<NoAttrs>({
      .name = "AddV2",
      .summary = "x + y, element by element. Integers wrap around.",
      .inputs = {"x: T", "y: T"},
      .outputs = {"z: T"},
      .types = {{"T", kNumberTypes}},
      .infer = broadcast_inputs,
      .gradient = add_gradient,
      .body = elementwise([](auto x, auto y) { return x + y; }),
      .commutative = true,
      .identity_on_right = -0.0,  // x + 0.0 makes 0.0 of -0.0
  });
  kSub = ops.define<NoAttrs>({
      .name = "Sub",
      .python = "math.subtract, subtract",
      .summary = "x - y, element by element. Integers wrap around.",
      .inputs = {"x: T", "y: T"},
      .outputs = {"z: T"},
      .types = {{"T", kNumberTypes}},
      .infer = broadcast_inputs,
      .gradient = sub_gradient,
      .body = elementwise([](auto x, auto y) { return x - y; }),
      .identity_on_right = 0,
  });
  kMul = ops.define<NoAttrs>({
      .name = "Mul",
      .python = "math.multiply, multiply",
      .summary = "x * y, element by element. Integers wrap around.",
      .inputs = {"x: T", "y: T"},
      .outputs = {"z: T"},
      .types = {{"T", kNumberTypes}},
      .infer = broadcast_inputs,
      .gradient = mul_gradient,
      .body = elementwise([](auto x, auto y) { return x * y; }),
      .commutative = true,
      .identity_on_right = 1,
  });
}

}  // namespace graven::engine
