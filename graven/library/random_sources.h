#pragma once
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "graven/base/export.h"
#include "graven/base/function_ref.h"
#include "graven/base/status.h"
#include "graven/library/function_context.h"
#include "graven/library/parameters.h"
#include "graven/ops/random_ops.h"

namespace graven::engine {

// Helpers of random functions, for numbers of a stream, a seed or a generator.

inline constexpr std::string_view kDrawnShapeDoc = "The shape of the result.";
inline constexpr std::string_view kMeanDoc = "The mean, which broadcasts with the shape.";
inline constexpr std::string_view kDeviationDoc =
    "The standard deviation (before a cut, if there is one), which broadcasts with the shape.";
inline constexpr std::string_view kFloatingDoc = "A floating dtype.";
inline constexpr std::string_view kBelowDoc =
    "The lower bound, which is included; None for all values of integers.";
inline constexpr std::string_view kAboveDoc =
    "The upper bound, which is not; None means 1, or all values of integers.";
inline constexpr std::string_view kUniformDTypeDoc =
    "A floating dtype, int32, int64, or, of all values, uint32 or uint64.";
inline constexpr std::string_view kLogitsDoc =
    "Logarithms of what is in proportion to probabilities, shape [rows, classes]. What is not "
    "finite has no weight.";
inline constexpr std::string_view kNumSamplesDoc = "How many to draw for each row.";

// Of a function of a stream, and of a stateless one.
inline constexpr std::string_view kOpSeedDoc =
    "With a seed, the same program draws the same numbers; see set_seed.";
inline constexpr std::string_view kSeedDoc = "Two integers, int32 or int64.";

// seeds_of_op; 0 and 0 with an error.
std::pair<int64_t, int64_t> op_seeds(FunctionContext& c, std::optional<int64_t> seed);

// The seed of a stateless function. Narrow integers, such as NumPy's, are widened to int64.
Tensor seed_of(FunctionContext& c, const Sizes& seed);

// The number of an algorithm, by a number or by a name in any case, with any of "-_" in it.
GRAVEN_API Result<int64_t> algorithm_number(const NumberOrText& algorithm);

// The seed of a stateless op, two integers, under an algorithm that there is. Narrow integers, as
// of NumPy, are as good as int64.
Tensor stateless_seed(FunctionContext& c, const Sizes& seed, const NumberOrText& algorithm);

// Numbers of [0, 1) moved to [low, high), of which an empty one is 0 or 1.
Tensor scaled(FunctionContext& c, const Tensor& unit, const Tensor& low, const Tensor& high,
              std::string_view name);

// Normal numbers that `draw` gives under a name, with a mean and a deviation; an empty one is 0 or
// 1.
Tensor normal_numbers(FunctionContext& c, const Tensor& mean, const Tensor& deviation, DType dtype,
                      FunctionRef<Tensor(std::string_view name)> draw);

// The ops of a source of uniform numbers, which read its inputs first.
struct UniformSource {
  Tensors inputs;
  const OpHandle<RandomDTypeAttrs>& unit;
  const OpHandle<RandomIntegerAttrs>& all_integers;
  const OpHandle<NoAttrs>& integers;  // reads the bounds, too
};
// Integers without both bounds are of all values.
Tensor uniform_numbers(FunctionContext& c, const UniformSource& source, const Tensor& low,
                       const Tensor& high, DType dtype, std::string_view name);

// Numbers in [low, high), of which empty ones of floats are 0 and 1: those of random.uniform, and
// those of random.stateless_uniform.
Tensor drawn_uniform(FunctionContext& c, const Tensor& shape, std::optional<int64_t> seed,
                     const Tensor& low, const Tensor& high, DType dtype,
                     std::string_view name = {});
Tensor seeded_uniform(FunctionContext& c, const Tensor& shape, const Sizes& seed, const Tensor& low,
                      const Tensor& high, DType dtype, std::string_view name = {});

}  // namespace graven::engine
