#pragma once
#include "graven/ir/op.h"

namespace graven::engine {

// Random numbers, the same as TensorFlow's for the same seeds. How they are made: philox.h and
// random_elements.h.

// The algorithms by their numbers. Philox is the one there is.
constexpr int64_t kPhilox = 1, kThreefry = 2, kAutoSelect = 3;

struct RandomDTypeAttrs {
  DType dtype = DType::kFloat32;
  static constexpr auto fields() { return std::tuple(field("dtype", &RandomDTypeAttrs::dtype)); }
};
struct RandomIntegerAttrs {
  DType dtype = DType::kUInt64;
  static constexpr auto fields() { return std::tuple(field("dtype", &RandomIntegerAttrs::dtype)); }
};

// --- Stateless: the same inputs give the same numbers.
// shape, key, counter, alg -> output
GRAVEN_API inline OpHandle<RandomDTypeAttrs> kStatelessRandomUniformV2, kStatelessRandomNormalV2,
    kStatelessTruncatedNormalV2;
GRAVEN_API inline OpHandle<RandomIntegerAttrs> kStatelessRandomUniformFullIntV2;
// shape, key, counter, alg, minval, maxval -> output
GRAVEN_API inline OpHandle<NoAttrs> kStatelessRandomUniformIntV2;
GRAVEN_API inline OpHandle<NoAttrs> kStatelessRandomGetKeyCounter;     // seed -> key, counter
GRAVEN_API inline OpHandle<NoAttrs> kStatelessRandomGetKeyCounterAlg;  // seed -> key, counter, alg
GRAVEN_API inline OpHandle<NoAttrs> kStatelessRandomGetAlg;            // -> alg
GRAVEN_API inline OpHandle<NoAttrs> kStatelessShuffle;  // value, key, counter, alg -> output
// shape, seed -> output
GRAVEN_API inline OpHandle<RandomDTypeAttrs> kStatelessRandomUniform, kStatelessRandomNormal,
    kStatelessTruncatedNormal;
GRAVEN_API inline OpHandle<RandomIntegerAttrs> kStatelessRandomUniformFullInt;
// shape, seed, minval, maxval -> output
GRAVEN_API inline OpHandle<NoAttrs> kStatelessRandomUniformInt;

struct StatelessMultinomialAttrs {
  DType output_dtype = DType::kInt64;
  static constexpr auto fields() {
    return std::tuple(field("output_dtype", &StatelessMultinomialAttrs::output_dtype));
  }
};
// logits, num_samples, seed -> output
GRAVEN_API inline OpHandle<StatelessMultinomialAttrs> kStatelessMultinomial;

// --- random_sample_ops.cc: distributions with parameters.
struct StatelessSampleAttrs {
  DType dtype = DType::kInt64;
  static constexpr auto fields() {
    return std::tuple(field("dtype", &StatelessSampleAttrs::dtype));
  }
};
struct SeededSampleAttrs {
  int64_t seed = 0, seed2 = 0;
  DType dtype = DType::kInt64;
  static constexpr auto fields() {
    using A = SeededSampleAttrs;
    return std::tuple(field("seed", &A::seed), field("seed2", &A::seed2),
                      field("dtype", &A::dtype));
  }
};
struct RequiredSampleAttrs {
  DType dtype = DType::kInvalid;
  static constexpr auto fields() {
    return std::tuple(required_field("dtype", &RequiredSampleAttrs::dtype));
  }
};
GRAVEN_API inline OpHandle<NoAttrs> kStatelessRandomGammaV2;  // shape, seed, alpha -> output
// shape, key, counter, alg, alpha -> output
GRAVEN_API inline OpHandle<NoAttrs> kStatelessRandomGammaV3;
GRAVEN_API inline OpHandle<RequiredSampleAttrs>
    kStatelessRandomPoisson;  // shape, seed, lam -> output
// shape, seed, counts, probs -> output
GRAVEN_API inline OpHandle<StatelessSampleAttrs> kStatelessRandomBinomial;
// shape, seed, means, stddevs, minvals, maxvals -> output
GRAVEN_API inline OpHandle<NoAttrs> kStatelessParameterizedTruncatedNormal;
// resource, algorithm, shape, counts, probs -> output
GRAVEN_API inline OpHandle<StatelessSampleAttrs> kStatefulRandomBinomial;

// --- Stateful: each application goes on in a stream of its own (random_streams.h).

struct SeedAttrs {
  int64_t seed = 0, seed2 = 0;  // both 0: drawn from the system
  static constexpr auto fields() {
    return std::tuple(field("seed", &SeedAttrs::seed), field("seed2", &SeedAttrs::seed2));
  }
};
struct SeededDTypeAttrs {
  int64_t seed = 0, seed2 = 0;
  DType dtype = DType::kFloat32;
  static constexpr auto fields() {
    using A = SeededDTypeAttrs;
    return std::tuple(field("seed", &A::seed), field("seed2", &A::seed2),
                      required_field("dtype", &A::dtype));
  }
};
GRAVEN_API inline OpHandle<SeedAttrs> kRandomGamma;              // shape, alpha -> output
GRAVEN_API inline OpHandle<SeededSampleAttrs> kRandomPoissonV2;  // shape, rate -> output
// shape -> output
GRAVEN_API inline OpHandle<SeededDTypeAttrs> kRandomUniform, kRandomStandardNormal,
    kTruncatedNormal;
GRAVEN_API inline OpHandle<SeedAttrs> kRandomUniformInt;  // shape, minval, maxval -> output
GRAVEN_API inline OpHandle<SeedAttrs> kRandomShuffle;     // value -> output

struct MultinomialAttrs {
  int64_t seed = 0, seed2 = 0;
  DType output_dtype = DType::kInt64;
  static constexpr auto fields() {
    using A = MultinomialAttrs;
    return std::tuple(field("seed", &A::seed), field("seed2", &A::seed2),
                      field("output_dtype", &A::output_dtype));
  }
};
GRAVEN_API inline OpHandle<MultinomialAttrs> kMultinomial;  // logits, num_samples -> output

// --- Of a Generator, whose state is a variable: int64 counter low, counter high, key.
// resource, algorithm, shape -> output
GRAVEN_API inline OpHandle<RandomDTypeAttrs> kStatefulUniform, kStatefulStandardNormalV2,
    kStatefulTruncatedNormal;
GRAVEN_API inline OpHandle<RandomIntegerAttrs> kStatefulUniformFullInt;
GRAVEN_API inline OpHandle<NoAttrs>
    kStatefulUniformInt;  // resource, algorithm, shape, minval, maxval -> output
GRAVEN_API inline OpHandle<NoAttrs> kRngSkip;         // resource, algorithm, delta
GRAVEN_API inline OpHandle<NoAttrs> kRngReadAndSkip;  // resource, alg, delta -> value
struct NonDeterministicIntsAttrs {
  DType dtype = DType::kInt64;
  static constexpr auto fields() {
    return std::tuple(field("dtype", &NonDeterministicIntsAttrs::dtype));
  }
};
GRAVEN_API inline OpHandle<NonDeterministicIntsAttrs> kNonDeterministicInts;  // shape -> output

}  // namespace graven::engine
