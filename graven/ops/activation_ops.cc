#include "graven/ir/gradient_context.h"
#include "graven/ir/infer_context.h"
#include "graven/ir/structural_ops.h"
#include "graven/ops/accuracy_text.h"
#include "graven/ops/formulas.h"
#include "graven/ops/logical_ops.h"
#include "graven/ops/math_ops.h"
#include "graven/ops/nn_ops.h"
#include "graven/ops/register_ops.h"
#include "graven/ops/shape_rules.h"

namespace graven::engine {
namespace {

// --- Gradients. The ...Grad ops take dy first, and where the function began, or ended, second.

Formula x_of(GradientContext& c, int i = 0) { return {c, c.x(i)}; }

Formula y_of(GradientContext& c) { return {c, c.y(0)}; }

Formula dy_of(GradientContext& c) { return {c, c.dy()}; }

// --- Relu and kin.

void define_relu(OpRegistry& ops) {
  ops.define(
      kRelu,
      {
          .name = "Relu",
          .python = "nn.relu",
          .summary = "max(features, 0), element by element. NaN stays NaN.",
          .details = exact_text(),
          .inputs = {"features: T"},
          .outputs = {"activations: T"},
          .types = {{"T", kRealTypes}},
          .infer = same_as_input,
          .gradient = [](GradientContext& c) { c.set_dx(0, call(kReluGrad, dy_of(c), y_of(c))); },
          .body = elementwise([](auto x) { return max(x, zero_like(x)); }),
      });
}

// Of ops that are linear in gradients, with factors that are constant piece by piece.
void relu_grad_gradient(GradientContext& c) {
  if (c.wants(0)) c.set_dx(0, call(kReluGrad, dy_of(c), x_of(c, 1)));
  if (c.wants(1)) c.set_dx(1, call(kZerosLike, dy_of(c)));
}

void define_relu_grad_and_kin(OpRegistry& ops) {
  ops.define(
      kReluGrad,
      {
          .name = "ReluGrad",
          .summary = "The gradients where features are above 0, else 0. Features may be "
                     "the inputs or the outputs of Relu.",
          .inputs = {"gradients: T", "features: T"},
          .outputs = {"backprops: T"},
          .types = {{"T", kRealTypes}},
          .infer = same_shapes,
          .gradient = relu_grad_gradient,
          .body = elementwise([](auto dy, auto x) { return select(x > 0, dy, zero_like(dy)); }),
      });
  ops.define(
      kRelu6,
      {
          .name = "Relu6",
          .python = "nn.relu6",
          .summary = "min(max(features, 0), 6), element by element. NaN stays NaN.",
          .details = exact_text(),
          .inputs = {"features: T"},
          .outputs = {"activations: T"},
          .types = {{"T", kRealTypes}},
          .infer = same_as_input,
          .gradient = [](GradientContext& c) { c.set_dx(0, call(kRelu6Grad, dy_of(c), y_of(c))); },
          .body =
              elementwise([](auto x) { return min(max(x, zero_like(x)), constant_like(x, 6)); }),
      });
  ops.define(kRelu6Grad,
             {
                 .name = "Relu6Grad",
                 .summary = "The gradients where features are between 0 and 6, else 0. Features "
                            "may be the inputs or the outputs of Relu6.",
                 .inputs = {"gradients: T", "features: T"},
                 .outputs = {"backprops: T"},
                 .types = {{"T", kRealTypes}},
                 .infer = same_shapes,
                 .gradient =
                     [](GradientContext& c) {
                       if (c.wants(0)) c.set_dx(0, call(kRelu6Grad, dy_of(c), x_of(c, 1)));
                       if (c.wants(1)) c.set_dx(1, call(kZerosLike, dy_of(c)));
                     },
                 .body = elementwise(
                     [](auto dy, auto x) { return select((x > 0) & (x < 6), dy, zero_like(dy)); }),
             });
  ops.define(kLeakyRelu,
             {
                 .name = "LeakyRelu",
                 .summary = "The features where they are above 0, else alpha times the features.",
                 .details = correctly_rounded(),
                 .inputs = {"features: T"},
                 .outputs = {"activations: T"},
                 .types = {{"T", kFloatTypes}},
                 .infer = same_as_input,
                 .gradient =
                     [](GradientContext& c) {
                       c.set_dx(0,
                                call(kLeakyReluGrad, dy_of(c), x_of(c), c.attrs<LeakyReluAttrs>()));
                     },
                 .body = elementwise<LeakyReluAttrs>(
                     [](const LeakyReluAttrs& a, auto x) { return select(x > 0, x, x * a.alpha); }),
             });
}

void leaky_relu_grad_gradient(GradientContext& c) {
  if (c.wants(0)) {
    c.set_dx(0, call(kLeakyReluGrad, dy_of(c), x_of(c, 1), c.attrs<LeakyReluAttrs>()));
  }
  if (c.wants(1)) c.set_dx(1, call(kZerosLike, dy_of(c)));
}

void define_leaky_relu_grad(OpRegistry& ops) {
  ops.define(kLeakyReluGrad,
             {
                 .name = "LeakyReluGrad",
                 .summary = "The gradients where features are above 0, else alpha times the "
                            "gradients.",
                 .inputs = {"gradients: T", "features: T"},
                 .outputs = {"backprops: T"},
                 .types = {{"T", kFloatTypes}},
                 .infer = same_shapes,
                 .gradient = leaky_relu_grad_gradient,
                 .body = elementwise<LeakyReluAttrs>([](const LeakyReluAttrs& a, auto dy, auto x) {
                   return select(x > 0, dy, dy * a.alpha);
                 }),
             });
}

// --- Exponential units.

void define_elu(OpRegistry& ops) {
  ops.define(
      kElu,
      {
          .name = "Elu",
          .python = "nn.elu",
          .summary = "The features where they are at least 0, else exp(features) - 1.",
          .details = accuracy_of(Instruction::kExpm1),
          .inputs = {"features: T"},
          .outputs = {"activations: T"},
          .types = {{"T", kFloatTypes}},
          .infer = same_as_input,
          .gradient = [](GradientContext& c) { c.set_dx(0, call(kEluGrad, dy_of(c), y_of(c))); },
          .body = elementwise([](auto x) { return select(x < 0, expm1(x), x); }),
      });
}

// Where outputs are negative, the factor of gradients grows as they do.
void elu_like_grad_gradient(GradientContext& c, const OpHandle<NoAttrs>& op) {
  Formula outputs = x_of(c, 1), dz = dy_of(c);
  if (c.wants(0)) c.set_dx(0, call(op, dz, outputs));
  if (c.wants(1)) {
    Formula is_negative = call(kLess, outputs, constant_like(outputs, 0));
    c.set_dx(1, c(kSelectV2, {is_negative, dz * x_of(c, 0), call(kZerosLike, outputs)}));
  }
}

void define_elu_grad(OpRegistry& ops) {
  ops.define(
      kEluGrad,
      {
          .name = "EluGrad",
          .summary = "The gradients, times outputs + 1 where the outputs of Elu are "
                     "negative.",
          .inputs = {"gradients: T", "outputs: T"},
          .outputs = {"backprops: T"},
          .types = {{"T", kFloatTypes}},
          .infer = same_shapes,
          .gradient = [](GradientContext& c) { elu_like_grad_gradient(c, kEluGrad); },
          .body = elementwise([](auto dy, auto y) { return select(y < 0, dy * (y + 1), dy); }),
      });
}

// Of self-normalising networks (Klambauer et al. 2017).
constexpr double kSeluScale = 1.0507009873554804934193349852946;

constexpr double kSeluScaleAlpha = 1.7580993408473768599402175208123;

void define_selu_and_selu_grad(OpRegistry& ops) {
  ops.define(
      kSelu,
      {
          .name = "Selu",
          .python = "nn.selu",
          .summary = "scale * features where they are at least 0, else scale * alpha "
                     "* (exp(features) - 1), with scale 1.0507 and alpha 1.6733.",
          .details = accuracy_text(4, 4),
          .inputs = {"features: T"},
          .outputs = {"activations: T"},
          .types = {{"T", kFloatTypes}},
          .infer = same_as_input,
          .gradient = [](GradientContext& c) { c.set_dx(0, call(kSeluGrad, dy_of(c), y_of(c))); },
          .body = elementwise(
              [](auto x) { return select(x < 0, kSeluScaleAlpha * expm1(x), kSeluScale * x); }),
      });
  ops.define(kSeluGrad,
             {
                 .name = "SeluGrad",
                 .summary = "The gradients times scale, or times outputs + scale * alpha where the "
                            "outputs of Selu are negative.",
                 .inputs = {"gradients: T", "outputs: T"},
                 .outputs = {"backprops: T"},
                 .types = {{"T", kFloatTypes}},
                 .infer = same_shapes,
                 .gradient = [](GradientContext& c) { elu_like_grad_gradient(c, kSeluGrad); },
                 .body = elementwise([](auto dy, auto y) {
                   return select(y < 0, dy * (y + kSeluScaleAlpha), dy * kSeluScale);
                 }),
             });
}

// --- Smooth ones.

void define_softplus_and_kin(OpRegistry& ops) {
  ops.define(kSoftplus, {
                            .name = "Softplus",
                            .python = "math.softplus, nn.softplus",
                            .summary = "log(exp(features) + 1), element by element.",
                            .details = accuracy_of(Instruction::kSoftplus),
                            .inputs = {"features: T"},
                            .outputs = {"activations: T"},
                            .types = {{"T", kFloatTypes}},
                            .infer = same_as_input,
                            .gradient =
                                [](GradientContext& c) {
                                  c.set_dx(0, call(kSoftplusGrad, dy_of(c), x_of(c)));
                                },
                            .body = elementwise([](auto x) { return softplus(x); }),
                        });
  ops.define(kSoftplusGrad,
             {
                 .name = "SoftplusGrad",
                 .summary = "gradients / (1 + exp(-features)).",
                 .inputs = {"gradients: T", "features: T"},
                 .outputs = {"backprops: T"},
                 .types = {{"T", kFloatTypes}},
                 .infer = same_shapes,
                 .gradient =
                     [](GradientContext& c) {
                       Formula features = x_of(c, 1), dz = dy_of(c);
                       if (c.wants(0)) c.set_dx(0, call(kSoftplusGrad, dz, features));
                       if (c.wants(1))
                         c.set_dx(1, call(kSigmoidGrad, call(kSigmoid, features), dz * x_of(c, 0)));
                     },
                 .body = elementwise([](auto dy, auto x) { return dy * sigmoid(x); }),
             });
  ops.define(kSoftsign, {
                            .name = "Softsign",
                            .python = "math.softsign, nn.softsign",
                            .summary = "features / (1 + |features|), element by element.",
                            .details = accuracy_text(1.5, 1.5),
                            .inputs = {"features: T"},
                            .outputs = {"activations: T"},
                            .types = {{"T", kFloatTypes}},
                            .infer = same_as_input,
                            .gradient =
                                [](GradientContext& c) {
                                  c.set_dx(0, call(kSoftsignGrad, dy_of(c), x_of(c)));
                                },
                            .body = elementwise([](auto x) { return x / (abs(x) + 1); }),
                        });
}

// The derivative of 1 / (1 + |x|)^2 is -2 sign(x) / (1 + |x|)^3.
void softsign_grad_gradient(GradientContext& c) {
  Formula features = x_of(c, 1), dz = dy_of(c);
  if (c.wants(0)) c.set_dx(0, call(kSoftsignGrad, dz, features));
  if (c.wants(1)) {
    Formula by = call(kSign, features) / (call(kAbs, features) + 1.0);
    c.set_dx(1, -2.0 * call(kSoftsignGrad, dz * x_of(c, 0), features) * by);
  }
}

void define_softsign_grad(OpRegistry& ops) {
  ops.define(kSoftsignGrad, {
                                .name = "SoftsignGrad",
                                .summary = "gradients / (1 + |features|)^2.",
                                .inputs = {"gradients: T", "features: T"},
                                .outputs = {"backprops: T"},
                                .types = {{"T", kFloatTypes}},
                                .infer = same_shapes,
                                .gradient = softsign_grad_gradient,
                                .body = elementwise([](auto dy, auto x) {
                                  auto denominator = abs(x) + 1;
                                  return dy / (denominator * denominator);
                                }),
                            });
}

}  // namespace

void define_activation_ops(OpRegistry& ops) {
  define_relu(ops);
  define_relu_grad_and_kin(ops);
  define_leaky_relu_grad(ops);
  define_elu(ops);
  define_elu_grad(ops);
  define_selu_and_selu_grad(ops);
  define_softplus_and_kin(ops);
  define_softsign_grad(ops);
}

}  // namespace graven::engine
