#include <variant>

#include "graven/library/define_functions.h"
#include "graven/library/function.h"
#include "graven/library/random_sources.h"
#include "graven/ops/join_ops.h"
#include "graven/ops/random_ops.h"

// Random numbers that depend on a seed alone. An op that reads a seed gives the numbers of the op
// that reads a key and a counter, which it scrambles the seed into.

namespace graven::engine {
namespace {

constexpr std::string_view kAlgorithmDoc = "\"philox\" or \"auto_select\", which is the same here.";
constexpr Raised kWrongSeed = {"InvalidArgumentError", "The seed is not two integers."};
constexpr Raised kNotFloating = {"TypeError", "The dtype is not floating."};

// Uniform numbers of a seed from seed_of or stateless_seed.
Tensor uniform(FunctionContext& c, const Tensor& shape, const Tensor& seed, const Tensor& low,
               const Tensor& high, DType dtype, std::string_view name) {
  const UniformSource source = {{shape, seed},
                                kStatelessRandomUniform,
                                kStatelessRandomUniformFullInt,
                                kStatelessRandomUniformInt};
  return uniform_numbers(c, source, low, high, dtype, name);
}

}  // namespace

Tensor stateless_seed(FunctionContext& c, const Sizes& seed, const NumberOrText& algorithm) {
  const auto number = algorithm_number(algorithm);
  if (!number.ok()) return c.fail(number.status());
  if (*number == kThreefry) {
    return c.fail(unimplemented("the algorithm ThreeFry is not supported on a CPU; use philox"));
  }
  return seed_of(c, seed);
}

Tensor seeded_uniform(FunctionContext& c, const Tensor& shape, const Sizes& seed, const Tensor& low,
                      const Tensor& high, DType dtype, std::string_view name) {
  return uniform(c, shape, seed_of(c, seed), low, high, dtype, name);
}

namespace {

struct UniformParameters {
  Sizes shape, seed;
  Tensor minval, maxval;
  DType dtype = DType::kFloat32;
  NumberOrText alg = std::string("auto_select");
  static constexpr auto fields() {
    using P = UniformParameters;
    return std::tuple(required_field("shape", &P::shape, kDrawnShapeDoc),
                      required_field("seed", &P::seed, kSeedDoc),
                      field("minval", &P::minval, "dtype or None", 0, kBelowDoc),
                      field("maxval", &P::maxval, "dtype", kAboveDoc),
                      field("dtype", &P::dtype, kUniformDTypeDoc), name_field(),
                      field("alg", &P::alg, kAlgorithmDoc));
  }
};

struct NormalParameters {
  Sizes shape, seed;
  Tensor mean, stddev;
  DType dtype = DType::kFloat32;
  NumberOrText alg = std::string("auto_select");
  static constexpr auto fields() {
    using P = NormalParameters;
    return std::tuple(required_field("shape", &P::shape, kDrawnShapeDoc),
                      required_field("seed", &P::seed, kSeedDoc),
                      field("mean", &P::mean, "dtype", 0.0, kMeanDoc),
                      field("stddev", &P::stddev, "dtype", 1.0, kDeviationDoc),
                      field("dtype", &P::dtype, kFloatingDoc), name_field(),
                      field("alg", &P::alg, kAlgorithmDoc));
  }
};

Outputs normal(FunctionContext& c, const NormalParameters& p,
               const OpHandle<RandomDTypeAttrs>& op) {
  const Tensor seed = stateless_seed(c, p.seed, p.alg);
  return normal_numbers(c, p.mean, p.stddev, p.dtype, [&](std::string_view name) {
    return c(op, {c.tensor_of(p.shape, "shape"), seed}, {p.dtype}, name);
  });
}

void define_stateless_uniform_and_kin(FunctionRegistry& functions) {
  functions.define({
      .names = "random.stateless_uniform",
      .scope = "stateless_random_uniform",
      .types = {{"dtype", kFloatTypes | kIndexTypes | DTypeSet{DType::kUInt32, DType::kUInt64}}},
      .summary = "Makes uniform numbers of a seed: the same at each call.",
      .returns = "The numbers.",
      .raises = {{"ValueError",
                  "The dtype is another one, one bound of integers is None, or "
                  "unsigned ones have bounds."},
                 kWrongSeed},
      .source = "OpDef \"StatelessRandomUniform\" and kin",
      .body =
          [](FunctionContext& c, const UniformParameters& p) {
            const Tensor seed = stateless_seed(c, p.seed, p.alg);
            return uniform(c, c.tensor_of(p.shape, "shape"), seed, p.minval, p.maxval, p.dtype,
                           c.name());
          },
  });
  functions.define({
      .names = "random.stateless_normal",
      .scope = "stateless_random_normal",
      .summary = "Makes normal numbers of a seed: the same at each call.",
      .returns = "The numbers.",
      .raises = {kNotFloating, kWrongSeed},
      .source = "OpDef \"StatelessRandomNormal\"",
      .body = [](FunctionContext& c,
                 const NormalParameters& p) { return normal(c, p, kStatelessRandomNormal); },
  });
  functions.define({
      .names = "random.stateless_truncated_normal",
      .scope = "stateless_truncated_normal",
      .summary = "Makes normal numbers of a seed that lie within two deviations of the mean: the "
                 "same at each call.",
      .returns = "The numbers.",
      .raises = {kNotFloating, kWrongSeed},
      .source = "OpDef \"StatelessTruncatedNormal\"",
      .body = [](FunctionContext& c,
                 const NormalParameters& p) { return normal(c, p, kStatelessTruncatedNormal); },
  });
}

struct CategoricalParameters {
  Tensor logits, num_samples;
  Sizes seed;
  DType dtype = DType::kInt64;
  static constexpr auto fields() {
    using P = CategoricalParameters;
    return std::tuple(required_field("logits", &P::logits, "T", kLogitsDoc),
                      required_field("num_samples", &P::num_samples, "int32", kNumSamplesDoc),
                      required_field("seed", &P::seed, kSeedDoc),
                      field("dtype", &P::dtype, "Of the classes: int32 or int64."));
  }
};

struct SplitParameters {
  Sizes seed;
  Tensor num;
  NumberOrText alg = std::string("auto_select");
  static constexpr auto fields() {
    using P = SplitParameters;
    return std::tuple(required_field("seed", &P::seed, kSeedDoc),
                      field("num", &P::num, "int32", 2, "How many."),
                      field("alg", &P::alg, kAlgorithmDoc));
  }
};

Outputs split(FunctionContext& c, const SplitParameters& p) {
  const Tensor seed = stateless_seed(c, p.seed, p.alg);
  if (!seed) return seed;  // after an error
  if (!is_integer(seed.dtype())) {
    return c.fail(value_error("A seed is two integers, not ", dtype_name(seed.dtype())));
  }
  const Tensor num = p.num ? p.num : c.scalar(2);
  return uniform(c, c(kPack, {num, c.scalar(2)}), seed, {}, {}, seed.dtype(), c.name());
}

void define_stateless_categorical_and_split(FunctionRegistry& functions) {
  functions.define({
      .names = "random.stateless_categorical",
      .scope = "stateless_categorical",
      .types = {{"T", kFloatTypes}, {"dtype", kIndexTypes}},
      .summary = "Makes classes of a seed, whose probabilities are the softmax of logits: the same "
                 "at each call.",
      .returns = "The classes, shape [rows, num_samples].",
      .raises = {{"ValueError", "The dtype is neither int32 nor int64."}, kWrongSeed},
      .source = "OpDef \"StatelessMultinomial\"",
      .body =
          [](FunctionContext& c, const CategoricalParameters& p) {
            return c(kStatelessMultinomial, {p.logits, p.num_samples, seed_of(c, p.seed)},
                     {p.dtype}, c.name());
          },
  });
  functions.define({
      .names = "random.split, random.experimental.stateless_split",
      .summary = "Makes several seeds of one.",
      .returns = "Integers of the seed's dtype, shape [num, 2].",
      .raises = {kWrongSeed},
      .body = split,
  });
}

struct FoldInParameters {
  Sizes seed;
  Tensor data;
  NumberOrText alg = std::string("auto_select");
  static constexpr auto fields() {
    using P = FoldInParameters;
    return std::tuple(required_field("seed", &P::seed, kSeedDoc),
                      required_field("data", &P::data, "any", "An int32 or int64 scalar."),
                      field("alg", &P::alg, kAlgorithmDoc));
  }
};

Outputs fold_in(FunctionContext& c, const FoldInParameters& p) {
  if (!is_integer(p.data.dtype())) {
    return c.fail(value_error("data is an integer, not ", dtype_name(p.data.dtype())));
  }
  const Tensor seed = stateless_seed(c, p.seed, p.alg);
  return c(kPack, {uniform(c, c.vector({}), seed, {}, {}, p.data.dtype(), c.name()), p.data});
}

struct ShuffleParameters {
  Tensor value;
  Sizes seed;
  NumberOrText alg = std::string("auto_select");
  static constexpr auto fields() {
    using P = ShuffleParameters;
    return std::tuple(required_field("value", &P::value, "any", "Of any dtype."),
                      required_field("seed", &P::seed, kSeedDoc),
                      field("alg", &P::alg, kAlgorithmDoc));
  }
};

Outputs shuffle(FunctionContext& c, const ShuffleParameters& p) {
  const Tensors start = c.apply(kStatelessRandomGetKeyCounter, {stateless_seed(c, p.seed, p.alg)});
  if (start.empty()) return Tensor();
  return c(kStatelessShuffle,
           {p.value, start[0], start[1], c.scalar(kPhilox, DType::kInt32, "alg")}, {}, c.name());
}

void define_fold_in_and_stateless_shuffle(FunctionRegistry& functions) {
  functions.define({
      .names = "random.fold_in, random.experimental.stateless_fold_in",
      .summary = "Makes a seed of a seed and a number.",
      .returns = "Two integers of the dtype of data.",
      .raises = {{"ValueError", "The data is no integer."}, kWrongSeed},
      .body = fold_in,
  });
  functions.define({
      .names = "random.experimental.stateless_shuffle",
      .scope = "stateless_shuffle",
      .summary = "Puts the rows of a tensor in an order that a seed decides.",
      .returns = "The rows in another order.",
      .raises = {kWrongSeed},
      .source = "OpDef \"StatelessShuffle\"",
      .body = shuffle,
  });
}

}  // namespace

void define_stateless_random_functions(FunctionRegistry& functions) {
  define_stateless_uniform_and_kin(functions);
  define_stateless_categorical_and_split(functions);
  define_fold_in_and_stateless_shuffle(functions);
}

}  // namespace graven::engine
