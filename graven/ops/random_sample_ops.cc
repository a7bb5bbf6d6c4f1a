#include <algorithm>
#include <limits>
#include <numbers>
#include <string>

#include "graven/ir/gradient_context.h"
#include "graven/ir/infer_context.h"
#include "graven/ir/kernel.h"
#include "graven/ir/structural_ops.h"
#include "graven/ops/batch_rules.h"
#include "graven/ops/formulas.h"
#include "graven/ops/math_ops.h"
#include "graven/ops/random_kernels.h"
#include "graven/ops/random_ops.h"
#include "graven/ops/random_samples.h"
#include "graven/ops/register_ops.h"
#include "graven/ops/shape_rules.h"
#include "graven/ops/special_ops.h"

namespace graven::engine {
namespace {

constexpr DTypeSet kGammaTypes = {DType::kHalf, DType::kFloat32, DType::kFloat64};
constexpr DTypeSet kCountTypes = kGammaTypes | kIndexTypes;

// --- Shapes. Stateful ops put the samples' axes in front of the parameters'; for others `shape`
// has the axes of both.

Status shape_before_parameters(InferContext& c) {
  ASSIGN_OR_RETURN(Shape shape, shape_to_draw(c, 0));
  const Shape& parameters = c.shape(1);
  if (!shape.has_rank() || !parameters.has_rank()) {
    c.set_shape(0, Shape::unknown_rank());
    return {};
  }
  for (int i = 0; i < parameters.rank(); ++i) shape.push_back(parameters[i]);
  c.set_shape(0, shape);
  return {};
}

// That the shape ends with the broadcast one of the parameters, inputs from `first` on, is checked
// when it runs, as in TensorFlow.
template <int shape_input, int first>
Status shape_with_parameters(InferContext& c) {
  ASSIGN_OR_RETURN(const Shape shape, shape_to_draw(c, shape_input));
  Shape batch = c.shape(first);
  for (int i = first + 1; i < c.num_inputs(); ++i) {
    ASSIGN_OR_RETURN(batch, c.broadcast(batch, c.shape(i)));
  }
  c.set_shape(0, shape);
  return {};
}

// The batch of parameters, when it runs.
Result<Shape> batch_of(const KernelContext& c, int first) {
  Shape batch;
  int rank = 0;
  for (int i = first; i < c.num_inputs(); ++i) rank = std::max(rank, c.input(i).rank());
  for (int axis = -rank; axis < 0; ++axis) {
    int64_t size = 1;
    for (int i = first; i < c.num_inputs(); ++i) {
      const Shape& shape = c.input(i).shape();
      if (shape.rank() + axis >= 0 && shape.size(shape.rank() + axis) != 1) {
        size = shape.size(shape.rank() + axis);
      }
    }
    batch.push_back(Dim(size));
  }
  const Shape& shape = c.output(0).shape();
  bool is_end = shape.rank() >= rank;
  for (int i = 1; is_end && i <= rank; ++i) {
    is_end = shape.size(shape.rank() - i) == batch.size(rank - i);
  }
  if (!is_end) return invalid_argument("Shape passed in must end with broadcasted shape.");
  return batch;
}

uint64_t groups_of_output(const KernelContext& c) {
  return static_cast<uint64_t>(kGroupsOfSample * c.output(0).num_elements());
}

// --- The gamma distribution.

template <int alpha>
void gamma_gradient(GradientContext& c) {
  if (!c.wants(alpha)) return;
  const Formula slope(c, c(kRandomGammaGrad, {c.x(alpha), c.y(0)}));
  c.set_dx(alpha, reduce_to_shape(c, Formula(c, c.dy()) * slope, alpha));
}

void define_random_gamma_and_kin(OpRegistry& ops) {
  const std::string summary = "Random numbers of the gamma distribution of shape alpha, scale 1.";
  kRandomGamma = ops.define<SeedAttrs>({
      .name = "RandomGamma",
      .summary = summary,
      .details = "The result has the axes of shape, then those of alpha.",
      .inputs = {"shape: S", "alpha: T"},
      .outputs = {"output: T"},
      .types = {{"S", kIndexTypes}, {"T", kGammaTypes}},
      .infer = shape_before_parameters,
      .gradient = gamma_gradient<1>,
      .batch = batch_random<0>,
      .body = kernel([](KernelContext& c) -> Status {
        fill_gamma(next_stream<SeedAttrs>(c, groups_of_output(c)), c.input(1), c.output(0));
        return {};
      }),
      .keeps_state = true,
      .effects = unordered_effects,
      .values_for_inference = {0},
  });
  kStatelessRandomGammaV2 = ops.define<NoAttrs>({
      .name = "StatelessRandomGammaV2",
      .summary = summary,
      .details = "The shape ends with that of alpha. The seed is two integers.",
      .inputs = {"shape: T", "seed: Tseed", "alpha: dtype"},
      .outputs = {"output: dtype"},
      .types = {{"dtype", kGammaTypes}, {"T", kIndexTypes}, {"Tseed", kSeeds}},
      .infer = [](InferContext& c) -> Status {
        RETURN_IF_ERROR(check_seed(c, 1));
        return shape_with_parameters<0, 2>(c);
      },
      .gradient = gamma_gradient<2>,
      .body = kernel([](KernelContext& c) -> Status {
        RETURN_IF_ERROR(batch_of(c, 2).status());
        fill_gamma(stream_of_seed(c.input(1)), c.input(2), c.output(0));
        return {};
      }),
      .values_for_inference = {0},
  });
  kStatelessRandomGammaV3 = ops.define<NoAttrs>({
      .name = "StatelessRandomGammaV3",
      .summary = summary,
      .details = "The shape ends with that of alpha.",
      .inputs = {"shape: shape_dtype", "key: uint64", "counter: uint64", "alg: int32",
                 "alpha: dtype"},
      .outputs = {"output: dtype"},
      .types = {{"dtype", kGammaTypes}, {"shape_dtype", kIndexTypes}},
      .infer = [](InferContext& c) -> Status {
        RETURN_IF_ERROR(check_key_and_counter(c));
        return shape_with_parameters<0, 4>(c);
      },
      .gradient = gamma_gradient<4>,
      .body = kernel([](KernelContext& c) -> Status {
        RETURN_IF_ERROR(batch_of(c, 4).status());
        ASSIGN_OR_RETURN(const PhiloxStream stream, stream_of_key(c));
        fill_gamma(stream, c.input(4), c.output(0));
        return {};
      }),
      .values_for_inference = {0},
  });
}

// --- Counts.

void define_random_poisson_and_kin(OpRegistry& ops) {
  const std::string summary = "Random counts of Poisson's distribution.";
  kRandomPoissonV2 = ops.define<SeededSampleAttrs>({
      .name = "RandomPoissonV2",
      .summary = summary,
      .details = "The result has the axes of shape, then those of rate.",
      .inputs = {"shape: S", "rate: R"},
      .outputs = {"output: dtype"},
      .types = {{"S", kIndexTypes}, {"R", kCountTypes}, {"dtype", kCountTypes}},
      .infer = shape_before_parameters,
      .batch = batch_random<0>,
      .body = kernel([](KernelContext& c) -> Status {
        fill_poisson(next_stream<SeededSampleAttrs>(c, groups_of_output(c)), c.input(1),
                     c.output(0));
        return {};
      }),
      .keeps_state = true,
      .effects = unordered_effects,
      .values_for_inference = {0},
  });
  kStatelessRandomPoisson = ops.define<RequiredSampleAttrs>({
      .name = "StatelessRandomPoisson",
      .summary = summary,
      .details = "The shape ends with that of lam, the rates. The seed is two integers.",
      .inputs = {"shape: T", "seed: Tseed", "lam: Rtype"},
      .outputs = {"output: dtype"},
      .types =
          {{"Rtype", kCountTypes}, {"dtype", kCountTypes}, {"T", kIndexTypes}, {"Tseed", kSeeds}},
      .infer = [](InferContext& c) -> Status {
        RETURN_IF_ERROR(check_seed(c, 1));
        return shape_with_parameters<0, 2>(c);
      },
      .gradient = not_differentiable,
      .body = kernel([](KernelContext& c) -> Status {
        RETURN_IF_ERROR(batch_of(c, 2).status());
        fill_poisson(stream_of_seed(c.input(1)), c.input(2), c.output(0));
        return {};
      }),
      .values_for_inference = {0},
  });
}

Status generator_binomial_kernel(KernelContext& c) {
  ASSIGN_OR_RETURN(const Shape batch, batch_of(c, 3));
  const int64_t size = batch.num_elements();
  const int64_t samples = size == 0 ? 0 : c.output(0).num_elements() / size;
  // As TensorFlow moves its generators.
  ASSIGN_OR_RETURN(
      const PhiloxStream stream,
      pass_state(c, static_cast<uint64_t>(size) * 200 * static_cast<uint64_t>(samples + 3) / 4,
                 nullptr));
  fill_binomial(stream, batch, c.input(3), c.input(4), c.output(0));
  return {};
}

void define_stateless_random_binomial_and_kin(OpRegistry& ops) {
  const std::string summary =
      "Random counts of the binomial distribution: successes of so many "
      "attempts.";
  kStatelessRandomBinomial = ops.define<StatelessSampleAttrs>({
      .name = "StatelessRandomBinomial",
      .summary = summary,
      .details = "The shape ends with the broadcast shape of counts and probs. The seed is two "
                 "integers.",
      .inputs = {"shape: S", "seed: Tseed", "counts: T", "probs: T"},
      .outputs = {"output: dtype"},
      .types = {{"S", kIndexTypes}, {"Tseed", kSeeds}, {"T", kCountTypes}, {"dtype", kCountTypes}},
      .infer = [](InferContext& c) -> Status {
        RETURN_IF_ERROR(check_seed(c, 1));
        return shape_with_parameters<0, 2>(c);
      },
      .gradient = not_differentiable,
      .body = kernel([](KernelContext& c) -> Status {
        ASSIGN_OR_RETURN(const Shape batch, batch_of(c, 2));
        fill_binomial(stream_of_seed(c.input(1)), batch, c.input(2), c.input(3), c.output(0));
        return {};
      }),
      .values_for_inference = {0},
  });
  kStatefulRandomBinomial = ops.define<StatelessSampleAttrs>({
      .name = "StatefulRandomBinomial",
      .summary = summary,
      .details = "The shape ends with the broadcast shape of counts and probs.",
      .inputs = {"resource: resource", "algorithm: int64", "shape: S", "counts: T", "probs: T"},
      .outputs = {"output: dtype"},
      .types = {{"S", kIndexTypes}, {"T", kCountTypes}, {"dtype", kCountTypes}},
      .infer = shape_with_parameters<2, 3>,
      .body = kernel(generator_binomial_kernel),
      .effects = writes_resource_effects,
      .values_for_inference = {2},
  });
}

// --- Normal numbers between bounds.

Formula share_below(const Formula& x) { return 0.5 * call(kErfc, -(std::numbers::sqrt2 / 2) * x); }

// How a sample moves with its parameters while its share of the distribution stays what it is
// (Figurnov, Mohamed, Mnih, Implicit reparameterization gradients, 2018).
void bounded_normal_gradient(GradientContext& c) {
  const Formula dy(c, c.dy()), mean(c, c.x(2)), deviation(c, c.x(3)), y(c, c.y(0));
  const auto standard = [&](const Formula& x) { return (x - mean) / deviation; };
  const Formula sample = standard(y), low = standard({c, c.x(4)}), high = standard({c, c.x(5)});
  const auto set = [&](int i, const Formula& slope) {
    c.set_dx(i, reduce_to_shape(c, dy * slope, i));
  };
  if (c.wants(2)) c.set_dx(2, reduce_to_shape(c, dy, 2));
  if (c.wants(3)) set(3, sample);
  if (!c.wants(4) && !c.wants(5)) return;
  const bool is_double = y.dtype() == DType::kFloat64;
  const double tiny = is_double ? std::numeric_limits<double>::min()
                                : static_cast<double>(std::numeric_limits<float>::min());
  const double epsilon = is_double ? std::numeric_limits<double>::epsilon()
                                   : static_cast<double>(std::numeric_limits<float>::epsilon());
  const Formula below = share_below(low);
  const Formula share = (share_below(sample) - below) / (share_below(high) - below);
  const Formula inner(
      c, c(kClipByValue, {share, constant_like(share, tiny), constant_like(share, 1 - epsilon)}));
  const auto moved = [&](const Formula& bound, const Formula& log_of_share) {
    const Formula squares = call(kSquare, sample) - call(kSquare, bound);
    return call(kExp, 0.5 * squares + log_of_share);
  };
  if (c.wants(4)) set(4, moved(low, call(kLog1p, -inner)));
  if (c.wants(5)) set(5, moved(high, call(kLog, inner)));
}

void define_stateless_parameterized_truncated_normal(OpRegistry& ops) {
  kStatelessParameterizedTruncatedNormal = ops.define<NoAttrs>({
      .name = "StatelessParameterizedTruncatedNormal",
      .summary = "Random normal numbers between two bounds.",
      .details = "The shape ends with the broadcast shape of the parameters. The seed is two "
                 "integers.",
      .inputs = {"shape: S", "seed: Tseed", "means: dtype", "stddevs: dtype", "minvals: dtype",
                 "maxvals: dtype"},
      .outputs = {"output: dtype"},
      .types = {{"S", kIndexTypes}, {"Tseed", kSeeds}, {"dtype", kGammaTypes}},
      .infer = [](InferContext& c) -> Status {
        RETURN_IF_ERROR(check_seed(c, 1));
        return shape_with_parameters<0, 2>(c);
      },
      .gradient = bounded_normal_gradient,
      .body = kernel([](KernelContext& c) -> Status {
        ASSIGN_OR_RETURN(const Shape batch, batch_of(c, 2));
        return fill_bounded_normal(stream_of_seed(c.input(1)), batch,
                                   {c.input(2), c.input(3), c.input(4), c.input(5)}, c.output(0));
      }),
      .values_for_inference = {0},
  });
}

}  // namespace

void define_random_sample_ops(OpRegistry& ops) {
  define_random_gamma_and_kin(ops);
  define_random_poisson_and_kin(ops);
  define_stateless_random_binomial_and_kin(ops);
  define_stateless_parameterized_truncated_normal(ops);
}

}  // namespace graven::engine
