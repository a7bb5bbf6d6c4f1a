#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "graven/api/arguments.h"
#include "graven/api/operand.h"
#include "graven/api/tensor.h"
#include "graven/api/variable.h"
#include "graven/base/export.h"

// Random numbers: those of TensorFlow for the same seeds, bit for bit for uniform ones. Floats are
// half, bfloat16, float32 or float64; integers int32 or int64. A uniform number is in [minval,
// maxval); of floats maxval is 1 if it is not given; a ValueError for integers without it. A mean
// and a standard deviation broadcast to the shape. Truncated normal numbers are those within two
// standard deviations. The shape must not be negative.

namespace graven::random {

using Bound = std::optional<Operand>;

// --- Numbers of a stream that goes on from call to call. With set_seed, or with a seed of the op's
// own, a program draws the same ones each time it runs.

GRAVEN_API Tensor normal(const Sizes& shape, const Operand& mean = 0, const Operand& stddev = 1,
                         DType dtype = DType::kFloat32, std::optional<int64_t> seed = std::nullopt,
                         Here location = Here::current());
GRAVEN_API Tensor truncated_normal(const Sizes& shape, const Operand& mean = 0,
                                   const Operand& stddev = 1, DType dtype = DType::kFloat32,
                                   std::optional<int64_t> seed = std::nullopt,
                                   Here location = Here::current());
// The rows of the value in random order.
GRAVEN_API Tensor shuffle(const Operand& value, std::optional<int64_t> seed = std::nullopt);

// --- Numbers that the seed alone decides. Without both bounds integers are of all values, also
// uint32 and uint64.
GRAVEN_API Tensor stateless_uniform(const Sizes& shape, const Seed& seed, const Bound& minval = 0,
                                    const Bound& maxval = std::nullopt,
                                    DType dtype = DType::kFloat32, Here location = Here::current());
GRAVEN_API Tensor stateless_normal(const Sizes& shape, const Seed& seed, const Operand& mean = 0,
                                   const Operand& stddev = 1, DType dtype = DType::kFloat32,
                                   Here location = Here::current());
GRAVEN_API Tensor stateless_truncated_normal(const Sizes& shape, const Seed& seed,
                                             const Operand& mean = 0, const Operand& stddev = 1,
                                             DType dtype = DType::kFloat32,
                                             Here location = Here::current());
// New seeds of one: [num, 2]; and one of a seed and a number, in the number's dtype.
GRAVEN_API Tensor split(const Seed& seed, int64_t num = 2, Here location = Here::current());
GRAVEN_API Tensor fold_in(const Seed& seed, const Operand& data);

// --- Numbers of a generator, whose state is a variable: int64 counter low, counter high, key.
// The algorithm is Philox. A handle; copies draw from the same state.
class GRAVEN_API Generator {
 public:
  static Generator from_seed(int64_t seed, Here location = Here::current());
  static Generator from_state(const Tensor& state, Here location = Here::current());
  static Generator from_key_counter(const Operand& key, const Operand& counter);
  static Generator from_non_deterministic_state(Here location = Here::current());

  const Variable& state() const { return state_; }
  Tensor key(Here location = Here::current()) const;
  int algorithm() const { return 1; }
  void reset(const Operand& state);
  void reset_from_seed(int64_t seed, Here location = Here::current());
  void reset_from_key_counter(const Operand& key, const Operand& counter);
  // Passes delta numbers; returns the state before.
  Tensor skip(const Operand& delta);

  // Without both bounds integers are of all values.
  Tensor uniform(const Sizes& shape, const Bound& minval = 0, const Bound& maxval = std::nullopt,
                 DType dtype = DType::kFloat32, Here location = Here::current());
  Tensor uniform_full_int(const Sizes& shape, DType dtype = DType::kUInt64,
                          Here location = Here::current());
  Tensor normal(const Sizes& shape, const Operand& mean = 0, const Operand& stddev = 1,
                DType dtype = DType::kFloat32, Here location = Here::current());
  Tensor truncated_normal(const Sizes& shape, const Operand& mean = 0, const Operand& stddev = 1,
                          DType dtype = DType::kFloat32, Here location = Here::current());
  // Seeds for stateless ops, [2, count].
  Tensor make_seeds(int64_t count = 1, Here location = Here::current());
  // Generators with keys of their own.
  std::vector<Generator> split(int64_t count = 1, Here location = Here::current());

 private:
  explicit Generator(Variable state) : state_(std::move(state)) {}
  Variable state_;
};

// The state of a seed, int64 [3].
GRAVEN_API Tensor create_rng_state(int64_t seed, Here location = Here::current());
// One for all, made from the system's entropy when it is first asked for, unless one was set.
GRAVEN_API Generator get_global_generator();
GRAVEN_API void set_global_generator(const Generator& generator);

}  // namespace graven::random
