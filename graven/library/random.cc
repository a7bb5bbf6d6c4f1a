#include <optional>

#include "graven/library/define_functions.h"
#include "graven/library/function.h"
#include "graven/library/random_sources.h"
#include "graven/library/seeds.h"

namespace graven::engine {
namespace {

SeedAttrs seeded(FunctionContext& c, std::optional<int64_t> seed) {
  const auto [first, second] = op_seeds(c, seed);
  return {.seed = first, .seed2 = second};
}
SeededDTypeAttrs seeded(FunctionContext& c, std::optional<int64_t> seed, DType dtype) {
  const SeedAttrs seeds = seeded(c, seed);
  return {.seed = seeds.seed, .seed2 = seeds.seed2, .dtype = dtype};
}

}  // namespace

Tensor drawn_uniform(FunctionContext& c, const Tensor& shape, std::optional<int64_t> seed,
                     const Tensor& low, const Tensor& high, DType dtype, std::string_view name) {
  if (is_integer(dtype)) {
    const Tensor from = low ? low : c.scalar(0, dtype, "min");
    return c(kRandomUniformInt, {shape, from, high}, seeded(c, seed), name);
  }
  const SeededDTypeAttrs attrs = seeded(c, seed, dtype);
  if (!low && !high) return c(kRandomUniform, {shape}, attrs, name);
  return scaled(c, c(kRandomUniform, {shape}, attrs), low, high, name);
}

namespace {

struct SetSeedParameters {
  int64_t seed = 0;
  static constexpr auto fields() {
    return std::tuple(required_field("seed", &SetSeedParameters::seed, "Any integer."));
  }
};

struct UniformParameters {
  Sizes shape;
  Tensor minval, maxval;
  DType dtype = DType::kFloat32;
  std::optional<int64_t> seed;
  static constexpr auto fields() {
    using P = UniformParameters;
    return std::tuple(
        required_field("shape", &P::shape, kDrawnShapeDoc),
        field("minval", &P::minval, "dtype", 0, "The lower bound, which is included."),
        field("maxval", &P::maxval, "dtype",
              "The upper bound, which is not; None means 1, for floats only."),
        field("dtype", &P::dtype, "The dtype of the numbers."),
        field("seed", &P::seed, kOpSeedDoc));
  }
};

Outputs uniform(FunctionContext& c, const UniformParameters& p) {
  if (is_integer(p.dtype) && !p.maxval) {
    return c.fail(value_error("Must specify maxval for integer dtype ", dtype_name(p.dtype)));
  }
  return drawn_uniform(c, c.tensor_of(p.shape, "shape"), p.seed, p.minval, p.maxval, p.dtype,
                       c.name());
}

void define_set_seed_and_uniform(FunctionRegistry& functions) {
  functions.define({
      .names = "random.set_seed",
      .results = nothing(),
      .summary = "Sets the global seed: random ops without a seed of their own follow from it.",
      .details = "All sequences of stateful random ops start anew, those with seeds of their own "
                 "too. Functions that were traced before keep the seeds of their traces.",
      .returns = "None.",
      .body = [](FunctionContext&, const SetSeedParameters& p) -> Outputs {
        start_seeds(p.seed);
        return Tensors();
      },
  });
  functions.define({
      .names = "random.uniform",
      .scope = "random_uniform",
      .types = {{"dtype", kFloatTypes | kIndexTypes}},
      .summary = "Draws numbers that are equally likely between two bounds.",
      .returns = "The numbers.",
      .raises = {{"ValueError", "The dtype is another one, or integers have no maxval."}},
      .source = "OpDefs \"RandomUniform\" and \"RandomUniformInt\"",
      .body = uniform,
  });
}

struct NormalParameters {
  Sizes shape;
  Tensor mean, stddev;
  DType dtype = DType::kFloat32;
  std::optional<int64_t> seed;
  static constexpr auto fields() {
    using P = NormalParameters;
    return std::tuple(required_field("shape", &P::shape, kDrawnShapeDoc),
                      field("mean", &P::mean, "dtype", 0.0, kMeanDoc),
                      field("stddev", &P::stddev, "dtype", 1.0, kDeviationDoc),
                      field("dtype", &P::dtype, kFloatingDoc), field("seed", &P::seed, kOpSeedDoc));
  }
};

Outputs normal(FunctionContext& c, const NormalParameters& p,
               const OpHandle<SeededDTypeAttrs>& op) {
  return normal_numbers(c, p.mean, p.stddev, p.dtype, [&](std::string_view name) {
    return c(op, {c.tensor_of(p.shape, "shape")}, seeded(c, p.seed, p.dtype), name);
  });
}

struct ShuffleParameters {
  Tensor value;
  std::optional<int64_t> seed;
  static constexpr auto fields() {
    using P = ShuffleParameters;
    return std::tuple(required_field("value", &P::value, "any", "Of any dtype."),
                      field("seed", &P::seed, kOpSeedDoc));
  }
};

void define_normal_and_kin(FunctionRegistry& functions) {
  functions.define({
      .names = "random.normal",
      .scope = "random_normal",
      .summary = "Draws normal numbers.",
      .returns = "The numbers.",
      .raises = {{"TypeError", "The dtype is not floating."}},
      .source = "OpDef \"RandomStandardNormal\"",
      .body = [](FunctionContext& c,
                 const NormalParameters& p) { return normal(c, p, kRandomStandardNormal); },
  });
  functions.define({
      .names = "random.truncated_normal",
      .scope = "truncated_normal",
      .summary = "Draws normal numbers, again if they lie more than two deviations from the mean.",
      .returns = "The numbers.",
      .raises = {{"TypeError", "The dtype is not floating."}},
      .source = "OpDef \"TruncatedNormal\"",
      .body = [](FunctionContext& c,
                 const NormalParameters& p) { return normal(c, p, kTruncatedNormal); },
  });
  functions.define({
      .names = "random.shuffle",
      .scope = "RandomShuffle",
      .summary = "Puts the rows of a tensor in random order.",
      .returns = "The rows in another order.",
      .source = "OpDef \"RandomShuffle\"",
      .body =
          [](FunctionContext& c, const ShuffleParameters& p) {
            return c(kRandomShuffle, {p.value}, seeded(c, p.seed), c.name());
          },
  });
}

struct CategoricalParameters {
  Tensor logits, num_samples;
  DType dtype = DType::kInvalid;
  std::optional<int64_t> seed;
  static constexpr auto fields() {
    using P = CategoricalParameters;
    return std::tuple(required_field("logits", &P::logits, "T", kLogitsDoc),
                      required_field("num_samples", &P::num_samples, "int32", kNumSamplesDoc),
                      field("dtype", &P::dtype, "Of the classes; None means int64."),
                      field("seed", &P::seed, kOpSeedDoc));
  }
};

Outputs categorical(FunctionContext& c, const CategoricalParameters& p) {
  const SeedAttrs seeds = seeded(c, p.seed);
  const DType dtype = p.dtype == DType::kInvalid ? DType::kInt64 : p.dtype;
  return c(kMultinomial, {p.logits, p.num_samples}, {seeds.seed, seeds.seed2, dtype}, c.name());
}

void define_categorical(FunctionRegistry& functions) {
  functions.define({
      .names = "random.categorical",
      .scope = "categorical",
      .types = {{"T", kFloatTypes}, {"dtype", kIndexTypes}},
      .summary = "Draws classes whose probabilities are the softmax of logits.",
      .returns = "The classes, shape [rows, num_samples].",
      .raises = {{"ValueError", "The dtype is neither int32 nor int64."}},
      .source = "OpDef \"Multinomial\"",
      .body = categorical,
  });
}

}  // namespace

void define_random_functions(FunctionRegistry& functions) {
  define_set_seed_and_uniform(functions);
  define_normal_and_kin(functions);
  define_categorical(functions);
}

}  // namespace graven::engine
