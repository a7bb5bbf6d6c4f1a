#include <optional>

#include "graven/library/define_functions.h"
#include "graven/library/function.h"
#include "graven/library/seeds.h"
#include "graven/ops/math_ops.h"
#include "graven/ops/random_ops.h"

namespace graven::engine {
namespace {

constexpr std::string_view kShapeDoc = "The shape of the result.";
constexpr std::string_view kSeedDoc =
    "With a seed, the same program draws the same numbers; see set_seed.";

SeedAttrs seeded(std::optional<int64_t> seed) {
  const auto [first, second] = seeds_of_op(seed).value_or(std::pair<int64_t, int64_t>(0, 0));
  return {.seed = first, .seed2 = second};
}
SeededDTypeAttrs seeded(std::optional<int64_t> seed, DType dtype) {
  const SeedAttrs seeds = seeded(seed);
  return {.seed = seeds.seed, .seed2 = seeds.seed2, .dtype = dtype};
}

// Numbers of [0, 1) moved to [low, high), of which an empty one is 0 or 1.
Tensor scaled(FunctionContext& c, const Tensor& unit, const Tensor& low, const Tensor& high) {
  Formula x = c(unit), from = low ? c(low) : constant_like(x, 0);
  Formula to = high ? c(high) : constant_like(x, 1);
  return c(kAddV2, {x * (to - from), from}, {}, c.name());
}

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
        required_field("shape", &P::shape, kShapeDoc),
        field("minval", &P::minval, "dtype", 0, "The lower bound, which is included."),
        field("maxval", &P::maxval, "dtype",
              "The upper bound, which is not; None means 1, for floats only."),
        field("dtype", &P::dtype, "The dtype of the numbers."), field("seed", &P::seed, kSeedDoc));
  }
};

Outputs uniform(FunctionContext& c, const UniformParameters& p) {
  if (is_integer(p.dtype) && !p.maxval) {
    return c.fail(value_error("Must specify maxval for integer dtype ", dtype_name(p.dtype)));
  }
  const Tensor shape = c.tensor_of(p.shape, "shape");
  if (is_integer(p.dtype)) {
    const Tensor low = p.minval ? p.minval : c.scalar(0, p.dtype, "min");
    return c(kRandomUniformInt, {shape, low, p.maxval}, seeded(p.seed), c.name());
  }
  const SeededDTypeAttrs attrs = seeded(p.seed, p.dtype);
  if (!p.minval && !p.maxval) return c(kRandomUniform, {shape}, attrs, c.name());
  return scaled(c, c(kRandomUniform, {shape}, attrs), p.minval, p.maxval);
}

}  // namespace

void define_random_functions(FunctionRegistry& functions) {
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

}  // namespace graven::engine
