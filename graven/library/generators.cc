#include "graven/ir/structural_ops.h"
#include "graven/library/define_functions.h"
#include "graven/library/function.h"
#include "graven/library/random_sources.h"
#include "graven/library/seeds.h"
#include "graven/ops/join_ops.h"
#include "graven/ops/random_ops.h"
#include "graven/ops/slice_ops.h"

// The functions behind the methods of random.Generator, in both languages. The state is a variable
// of int64; for Philox the low and the high word of the counter, and the key.

namespace graven::engine {
namespace {

constexpr std::string_view kStateDoc = "The variable.";
constexpr std::string_view kAlgorithmDoc = "The number of the algorithm.";

struct UniformParameters {
  TensorOrVariable state;
  int64_t algorithm = kPhilox;
  Sizes shape;
  Tensor minval, maxval;
  DType dtype = DType::kFloat32;
  static constexpr auto fields() {
    using P = UniformParameters;
    return std::tuple(required_field("state", &P::state, "any", kStateDoc),
                      required_field("algorithm", &P::algorithm, kAlgorithmDoc),
                      required_field("shape", &P::shape, kDrawnShapeDoc),
                      field("minval", &P::minval, "dtype or None", 0, kBelowDoc),
                      field("maxval", &P::maxval, "dtype", kAboveDoc),
                      field("dtype", &P::dtype, kUniformDTypeDoc));
  }
};

Tensor uniform(FunctionContext& c, const Tensor& state, int64_t algorithm, const Tensor& shape,
               const Tensor& low, const Tensor& high, DType dtype) {
  const UniformSource source = {{state, c.scalar(algorithm, DType::kInt64, "algorithm"), shape},
                                kStatefulUniform,
                                kStatefulUniformFullInt,
                                kStatefulUniformInt};
  return uniform_numbers(c, source, low, high, dtype, c.name());
}

struct FullIntParameters {
  TensorOrVariable state;
  int64_t algorithm = kPhilox;
  Sizes shape;
  DType dtype = DType::kUInt64;
  static constexpr auto fields() {
    using P = FullIntParameters;
    return std::tuple(required_field("state", &P::state, "any", kStateDoc),
                      required_field("algorithm", &P::algorithm, kAlgorithmDoc),
                      required_field("shape", &P::shape, kDrawnShapeDoc),
                      field("dtype", &P::dtype, "int32, int64, uint32 or uint64."));
  }
};

Outputs full_int(FunctionContext& c, const FullIntParameters& p) {
  return c(kStatefulUniformFullInt,
           {p.state.handle, c.scalar(p.algorithm, DType::kInt64, "algorithm"),
            c.tensor_of(p.shape, "shape")},
           {p.dtype}, c.name());
}

void define_generator_uniform_and_generator_full_int(FunctionRegistry& functions) {
  functions.define({
      .names = "random._generator_uniform",
      .scope = "stateful_uniform",
      .summary = "Draws uniform numbers.",
      .returns = "The numbers.",
      .body =
          [](FunctionContext& c, const UniformParameters& p) {
            return uniform(c, p.state.handle, p.algorithm, c.tensor_of(p.shape, "shape"), p.minval,
                           p.maxval, p.dtype);
          },
  });
  functions.define({
      .names = "random._generator_full_int",
      .scope = "stateful_uniform_full_int",
      .summary = "Draws integers of all values of their dtype.",
      .returns = "The numbers.",
      .body = full_int,
  });
}

struct NormalParameters {
  TensorOrVariable state;
  int64_t algorithm = kPhilox;
  Sizes shape;
  Tensor mean, stddev;
  DType dtype = DType::kFloat32;
  static constexpr auto fields() {
    using P = NormalParameters;
    return std::tuple(required_field("state", &P::state, "any", kStateDoc),
                      required_field("algorithm", &P::algorithm, kAlgorithmDoc),
                      required_field("shape", &P::shape, kDrawnShapeDoc),
                      field("mean", &P::mean, "dtype", 0.0, kMeanDoc),
                      field("stddev", &P::stddev, "dtype", 1.0, kDeviationDoc),
                      field("dtype", &P::dtype, kFloatingDoc));
  }
};

Outputs normal(FunctionContext& c, const NormalParameters& p,
               const OpHandle<RandomDTypeAttrs>& op) {
  return normal_numbers(c, p.mean, p.stddev, p.dtype, [&](std::string_view name) {
    return c(op,
             {p.state.handle, c.scalar(p.algorithm, DType::kInt64, "algorithm"),
              c.tensor_of(p.shape, "shape")},
             {p.dtype}, name);
  });
}

struct SkipParameters {
  TensorOrVariable state;
  int64_t algorithm = kPhilox;
  Tensor delta;
  static constexpr auto fields() {
    using P = SkipParameters;
    return std::tuple(required_field("state", &P::state, "any", kStateDoc),
                      required_field("algorithm", &P::algorithm, kAlgorithmDoc),
                      required_field("delta", &P::delta, "any", "How many, an integer scalar."));
  }
};

void define_generator_normal_and_kin(FunctionRegistry& functions) {
  functions.define({
      .names = "random._generator_normal",
      .scope = "stateful_normal",
      .summary = "Draws normal numbers.",
      .returns = "The numbers.",
      .body = [](FunctionContext& c,
                 const NormalParameters& p) { return normal(c, p, kStatefulStandardNormalV2); },
  });
  functions.define({
      .names = "random._generator_truncated_normal",
      .scope = "truncated_normal",
      .summary = "Draws normal numbers that lie within two deviations of the mean.",
      .returns = "The numbers.",
      .body = [](FunctionContext& c,
                 const NormalParameters& p) { return normal(c, p, kStatefulTruncatedNormal); },
  });
  functions.define({
      .names = "random._generator_skip",
      .scope = "skip",
      .summary = "Moves on as if numbers had been drawn.",
      .returns = "The state before.",
      .body =
          [](FunctionContext& c, const SkipParameters& p) {
            return c(kRngReadAndSkip,
                     {p.state.handle, c.scalar(p.algorithm, DType::kInt32, "alg"),
                      c.cast(p.delta, DType::kUInt64)},
                     {}, c.name());
          },
  });
}

struct CountParameters {
  TensorOrVariable state;
  int64_t algorithm = kPhilox;
  int64_t count = 1;
  static constexpr auto fields() {
    using P = CountParameters;
    return std::tuple(required_field("state", &P::state, "any", kStateDoc),
                      required_field("algorithm", &P::algorithm, kAlgorithmDoc),
                      field("count", &P::count, "How many."));
  }
};

Tensor drawn_keys(FunctionContext& c, const CountParameters& p) {
  const int64_t shape[] = {p.count};
  return uniform(c, p.state.handle, p.algorithm, c.vector(shape, "shape"), {}, {}, DType::kInt64);
}

Outputs split(FunctionContext& c, const CountParameters& p) {
  const Tensor keys = drawn_keys(c, p);
  const Tensor zeros = c(kZerosLike, {keys});
  return c.apply(kUnpack, {c(kPack, {zeros, zeros, keys}, {.axis = 1})}, {.num = p.count});
}

struct StateParameters {
  Tensor key, counter;
  static constexpr auto fields() {
    using P = StateParameters;
    return std::tuple(
        required_field("key", &P::key, "any", "A scalar, or a vector of one."),
        required_field("counter", &P::counter, "any", "A vector, the low word first."));
  }
};

Tensor flat(FunctionContext& c, const Tensor& words) {
  const int64_t one_axis[] = {-1};
  return c(kReshape, {c.cast(words, DType::kInt64), c.vector(one_axis)});
}

Outputs state_of_key(FunctionContext& c, const StateParameters& p) {
  return c(kConcatV2, {flat(c, p.counter), flat(c, p.key), c.scalar(0)}, {}, c.name());
}

void define_generator_seeds_and_kin(FunctionRegistry& functions) {
  functions.define({
      .names = "random._generator_seeds",
      .scope = "make_seeds",
      .summary = "Draws seeds for stateless functions.",
      .returns = "int64 of shape [2, count].",
      .body =
          [](FunctionContext& c, const CountParameters& p) {
            const Tensor keys = drawn_keys(c, p);
            return c(kPack, {keys, c(kZerosLike, {keys})}, {}, c.name());
          },
  });
  functions.define({
      .names = "random._generator_split",
      .scope = "split",
      .results = tensor_list(),
      .summary = "Makes states of independent generators, by keys that it draws.",
      .returns = "The states.",
      .body = split,
  });
  functions.define({
      .names = "random._generator_state",
      .scope = "state",
      .summary = "Makes a state of a key and a counter.",
      .returns = "The state, a vector of int64.",
      .body = state_of_key,
  });
}

struct SeedParameters {
  Tensor seed;
  int64_t size = 3;
  static constexpr auto fields() {
    using P = SeedParameters;
    return std::tuple(required_field("seed", &P::seed, "any", "Integers of any shape."),
                      field("size", &P::size, "The number of words of a state."));
  }
};

// The last words of the seed, with zeros in front if it has fewer.
Outputs state_of_seed(FunctionContext& c, const SeedParameters& p) {
  const int64_t begin[] = {-p.size}, end[] = {0}, step[] = {1};
  const Tensor zeros = c.filled({.numbers = {{p.size}}}, 0, DType::kInt64);
  return c(kStridedSlice,
           {c(kConcatV2, {zeros, flat(c, p.seed), c.scalar(0)}), c.vector(begin), c.vector(end),
            c.vector(step)},
           {.end_mask = 1}, c.name());
}

// The words of an unpredictable state.
struct NewStateParameters {
  static constexpr auto fields() { return std::tuple(); }
};

Outputs new_state(FunctionContext& c, const NewStateParameters&) {
  if (seeds_are_required()) {
    return c.fail(Status(Code::kFailedPrecondition,
                         "\"from_non_deterministic_state\" cannot be called when determinism is "
                         "enabled.",
                         ErrorKind::kRuntimeError));
  }
  constexpr int64_t kNumWords[] = {3};
  return c(kNonDeterministicInts, {c.vector(kNumWords)}, {.dtype = DType::kInt64}, c.name());
}

struct KeyParameters {
  Tensor state;
  static constexpr auto fields() {
    return std::tuple(required_field("state", &KeyParameters::state, "int64", "Its value."));
  }
};

Outputs key_of_state(FunctionContext& c, const KeyParameters& p) {
  const int64_t begin[] = {-1}, end[] = {0}, step[] = {1};
  return c(kStridedSlice, {p.state, c.vector(begin), c.vector(end), c.vector(step)},
           {.shrink_axis_mask = 1}, c.name());
}

void define_generator_state_of_seed_and_kin(FunctionRegistry& functions) {
  functions.define({
      .names = "random._generator_state_of_seed",
      .scope = "state_of_seed",
      .summary = "Makes a state of the words of a seed.",
      .returns = "The state, a vector of int64.",
      .body = state_of_seed,
  });
  functions.define({
      .names = "random._generator_new_state",
      .scope = "NonDeterministicInts",
      .summary = "Makes a state that no program foresees.",
      .returns = "The state, a vector of int64.",
      .source = "OpDef \"NonDeterministicInts\"",
      .body = new_state,
  });
  functions.define({
      .names = "random._generator_key",
      .scope = "key",
      .summary = "The key that a state holds.",
      .returns = "A scalar of int64.",
      .body = key_of_state,
  });
}

}  // namespace

void define_generators(FunctionRegistry& functions) {
  define_generator_uniform_and_generator_full_int(functions);
  define_generator_normal_and_kin(functions);
  define_generator_seeds_and_kin(functions);
  define_generator_state_of_seed_and_kin(functions);
}

}  // namespace graven::engine
