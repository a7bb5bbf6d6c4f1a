#include <limits>
#include <optional>
#include <utility>

#include "graven/ir/structural_ops.h"
#include "graven/library/define_functions.h"
#include "graven/library/function.h"
#include "graven/library/random_sources.h"
#include "graven/library/seeds.h"
#include "graven/ops/math_ops.h"
#include "graven/ops/random_ops.h"
#include "graven/ops/shape_ops.h"

// Random numbers of distributions with parameters.

namespace graven::engine {
namespace {

constexpr std::string_view kWholeShapeDoc =
    "The shape of the result, which ends with that of the parameters.";
constexpr std::string_view kBeforeShapeDoc = "How many for each parameter, as a shape.";
constexpr std::string_view kAlphaDoc = "The shape parameter, positive.";
constexpr std::string_view kBetaDoc =
    "The rate, 1 / scale, which broadcasts with alpha; None is 1.";
constexpr std::string_view kGammaDTypeDoc = "float16, float32 or float64.";
constexpr std::string_view kCountDTypeDoc = "float16, float32, float64, int32 or int64.";
constexpr DTypeSet kGammaTypes = {DType::kHalf, DType::kFloat32, DType::kFloat64};
constexpr Raised kWrongShape = {"InvalidArgumentError",
                                "The shape does not end with that of the parameters."};

// --- The gamma distribution.

struct GammaParameters {
  Sizes shape;
  Tensor alpha, beta;
  DType dtype = DType::kFloat32;
  std::optional<int64_t> seed;
  static constexpr auto fields() {
    using P = GammaParameters;
    return std::tuple(required_field("shape", &P::shape, kBeforeShapeDoc),
                      required_field("alpha", &P::alpha, "dtype", kAlphaDoc),
                      field("beta", &P::beta, "dtype", kBetaDoc),
                      field("dtype", &P::dtype, kGammaDTypeDoc),
                      field("seed", &P::seed, kOpSeedDoc));
  }
};

struct StatelessGammaParameters {
  Sizes shape, seed;
  Tensor alpha, beta;
  DType dtype = DType::kFloat32;
  static constexpr auto fields() {
    using P = StatelessGammaParameters;
    return std::tuple(required_field("shape", &P::shape, kWholeShapeDoc),
                      required_field("seed", &P::seed, kSeedDoc),
                      required_field("alpha", &P::alpha, "dtype", kAlphaDoc),
                      field("beta", &P::beta, "dtype", kBetaDoc),
                      field("dtype", &P::dtype, kGammaDTypeDoc));
  }
};

// alpha in the shape that it has with beta.
Tensor broadcast_alpha(FunctionContext& c, const Tensor& alpha, const Tensor& beta) {
  if (!beta || c.rank_if_known(beta) == 0) return alpha;
  return c(kBroadcastTo, {alpha, c(kShape, {c(alpha) + c(beta)})});
}

// By their rate; a sample that is too small is the smallest normal number.
Tensor scaled_samples(FunctionContext& c, const Formula& drawn, const Tensor& beta) {
  const double tiny = drawn.dtype() == DType::kHalf      ? 0x1p-14
                      : drawn.dtype() == DType::kFloat64 ? std::numeric_limits<double>::min()
                                                         : 0x1p-126;
  const Formula scaled = beta ? drawn / c(beta) : drawn;
  return c(kMaximum, {constant_like(scaled, tiny), scaled}, {}, c.name());
}

Outputs gamma(FunctionContext& c, const GammaParameters& p) {
  const auto [seed, seed2] = op_seeds(c, p.seed);
  const Tensor alpha = broadcast_alpha(c, p.alpha, p.beta);
  return scaled_samples(
      c, c(c(kRandomGamma, {c.tensor_of(p.shape, "shape"), alpha}, {seed, seed2})), p.beta);
}

Outputs stateless_gamma(FunctionContext& c, const StatelessGammaParameters& p) {
  const Tensors start = c.apply(kStatelessRandomGetKeyCounter, {seed_of(c, p.seed)});
  if (start.empty()) return Tensor();
  const Tensor drawn =
      c(kStatelessRandomGammaV3,
        {c.tensor_of(p.shape, "shape"), start[0], start[1], c.scalar(kPhilox, DType::kInt32, "alg"),
         broadcast_alpha(c, p.alpha, p.beta)});
  return scaled_samples(c, c(drawn), p.beta);
}

// --- Counts.

struct PoissonParameters {
  Sizes shape;
  Tensor lam;
  DType dtype = DType::kFloat32;
  std::optional<int64_t> seed;
  static constexpr auto fields() {
    using P = PoissonParameters;
    return std::tuple(required_field("shape", &P::shape, kBeforeShapeDoc),
                      required_field("lam", &P::lam, "any", "The rates, their means."),
                      field("dtype", &P::dtype, kCountDTypeDoc),
                      field("seed", &P::seed, kOpSeedDoc));
  }
};

struct StatelessPoissonParameters {
  Sizes shape, seed;
  Tensor lam;
  DType dtype = DType::kInt32;
  static constexpr auto fields() {
    using P = StatelessPoissonParameters;
    return std::tuple(required_field("shape", &P::shape, kWholeShapeDoc),
                      required_field("seed", &P::seed, kSeedDoc),
                      required_field("lam", &P::lam, "any", "The rates, their means."),
                      field("dtype", &P::dtype, kCountDTypeDoc));
  }
};

struct StatelessBinomialParameters {
  Sizes shape, seed;
  Number counts, probs;
  DType output_dtype = DType::kInt32;
  static constexpr auto fields() {
    using P = StatelessBinomialParameters;
    return std::tuple(
        required_field("shape", &P::shape, kWholeShapeDoc),
        required_field("seed", &P::seed, kSeedDoc),
        required_field("counts", &P::counts, "How many attempts."),
        required_field("probs", &P::probs, "How likely each one succeeds; broadcasts."),
        field("output_dtype", &P::output_dtype, kCountDTypeDoc));
  }
};

struct GeneratorBinomialParameters {
  TensorOrVariable state;
  int64_t algorithm = kPhilox;
  Sizes shape;
  Tensor counts, probs;
  DType dtype = DType::kInt32;
  static constexpr auto fields() {
    using P = GeneratorBinomialParameters;
    return std::tuple(
        required_field("state", &P::state, "any", "The variable."),
        required_field("algorithm", &P::algorithm, "The number of the algorithm."),
        required_field("shape", &P::shape, kWholeShapeDoc),
        required_field("counts", &P::counts, "mutual T", "How many attempts."),
        required_field("probs", &P::probs, "T", "How likely each one succeeds; broadcasts."),
        field("dtype", &P::dtype, kCountDTypeDoc));
  }
};

// Both in the dtype of probs; float32 if that is a number.
std::pair<Tensor, Tensor> counts_and_probs(FunctionContext& c, const Number& counts,
                                           const Number& probs) {
  const auto as_float = [&](const Number& given, DType dtype, std::string_view name) {
    const Tensor x = c.tensor_of(given, dtype, name);
    return given.is_list && x && is_integer(x.dtype()) ? c.cast(x, dtype).tensor() : x;
  };
  const Tensor second = as_float(probs, DType::kFloat32, "probs");
  return {as_float(counts, second ? second.dtype() : DType::kFloat32, "counts"), second};
}

// --- Normal numbers between bounds.

struct BoundedNormalParameters {
  Sizes shape, seed;
  Tensor means, stddevs, minvals, maxvals;
  static constexpr auto fields() {
    using P = BoundedNormalParameters;
    return std::tuple(required_field("shape", &P::shape, kWholeShapeDoc),
                      required_field("seed", &P::seed, kSeedDoc),
                      field("means", &P::means, "T", 0.0, "The means before the cut."),
                      field("stddevs", &P::stddevs, "T", 1.0, "The deviations before the cut."),
                      field("minvals", &P::minvals, "T", -2.0, "The lower bounds."),
                      field("maxvals", &P::maxvals, "T", 2.0, "The upper bounds."));
  }
};

Outputs bounded_normal(FunctionContext& c, const BoundedNormalParameters& p) {
  DType dtype = DType::kFloat32;
  for (const Tensor& given : {p.means, p.stddevs, p.minvals, p.maxvals}) {
    if (given) dtype = given.dtype();
  }
  const auto or_default = [&](const Tensor& given, double number) {
    return given ? given : c.scalar(number, dtype);
  };
  return c(kStatelessParameterizedTruncatedNormal,
           {c.tensor_of(p.shape, "shape"), seed_of(c, p.seed), or_default(p.means, 0),
            or_default(p.stddevs, 1), or_default(p.minvals, -2), or_default(p.maxvals, 2)},
           {}, c.name());
}

}  // namespace

void define_distributions(FunctionRegistry& functions) {
  functions.define({
      .names = "random.gamma",
      .scope = "random_gamma",
      .types = {{"dtype", kGammaTypes}},
      .summary = "Draws numbers of the gamma distribution.",
      .details = "Samples have gradients in alpha and beta.",
      .returns = "The numbers: the axes of shape, then those of alpha with beta.",
      .source = "OpDef \"RandomGamma\"",
      .body = gamma,
  });
  functions.define({
      .names = "random.stateless_gamma",
      .scope = "stateless_random_gamma",
      .summary = "Makes numbers of the gamma distribution of a seed: the same at each call.",
      .details = "Samples have gradients in alpha and beta.",
      .returns = "The numbers.",
      .raises = {kWrongShape},
      .source = "OpDef \"StatelessRandomGammaV3\"",
      .body = stateless_gamma,
  });
  functions.define({
      .names = "random.poisson",
      .scope = "random_poisson",
      .summary = "Draws counts of Poisson's distribution.",
      .returns = "The counts: the axes of shape, then those of lam.",
      .source = "OpDef \"RandomPoissonV2\"",
      .body =
          [](FunctionContext& c, const PoissonParameters& p) {
            const auto [seed, seed2] = op_seeds(c, p.seed);
            return c(kRandomPoissonV2, {c.tensor_of(p.shape, "shape"), p.lam},
                     {seed, seed2, p.dtype}, c.name());
          },
  });
  functions.define({
      .names = "random.stateless_poisson",
      .scope = "stateless_random_poisson",
      .summary = "Makes counts of Poisson's distribution of a seed: the same at each call.",
      .returns = "The counts.",
      .raises = {kWrongShape},
      .source = "OpDef \"StatelessRandomPoisson\"",
      .body =
          [](FunctionContext& c, const StatelessPoissonParameters& p) {
            return c(kStatelessRandomPoisson,
                     {c.tensor_of(p.shape, "shape"), seed_of(c, p.seed), p.lam}, {p.dtype},
                     c.name());
          },
  });
  functions.define({
      .names = "random.stateless_binomial",
      .scope = "stateless_random_binomial",
      .summary = "Makes counts of the binomial distribution of a seed: the same at each call.",
      .returns = "The counts.",
      .raises = {kWrongShape},
      .source = "OpDef \"StatelessRandomBinomial\"",
      .body =
          [](FunctionContext& c, const StatelessBinomialParameters& p) {
            const auto [counts, probs] = counts_and_probs(c, p.counts, p.probs);
            return c(kStatelessRandomBinomial,
                     {c.tensor_of(p.shape, "shape"), seed_of(c, p.seed), counts, probs},
                     {p.output_dtype}, c.name());
          },
  });
  functions.define({
      .names = "random.stateless_parameterized_truncated_normal",
      .scope = "stateless_parameterized_truncated_normal",
      .types = {{"T", kGammaTypes}},
      .summary = "Makes normal numbers between two bounds of a seed: the same at each call.",
      .details = "Samples have gradients in all parameters.",
      .returns = "The numbers.",
      .raises = {kWrongShape,
                 {"InvalidArgumentError", "A deviation is not positive, or bounds are none."}},
      .source = "OpDef \"StatelessParameterizedTruncatedNormal\"",
      .body = bounded_normal,
  });
  functions.define({
      .names = "random._generator_binomial",
      .scope = "binomial",
      .summary = "Draws counts of the binomial distribution.",
      .returns = "The counts.",
      .raises = {kWrongShape},
      .body =
          [](FunctionContext& c, const GeneratorBinomialParameters& p) {
            return c(kStatefulRandomBinomial,
                     {p.state.handle, c.scalar(p.algorithm, DType::kInt64, "algorithm"),
                      c.tensor_of(p.shape, "shape"), p.counts, p.probs},
                     {p.dtype}, c.name());
          },
  });
}

}  // namespace graven::engine
