#pragma once
#include <cstdint>
#include <vector>

#include "graven/api/arguments.h"
#include "graven/api/operand.h"
#include "graven/api/tensor.h"
#include "graven/api/variable.h"
#include "graven/base/export.h"

// Generators of random numbers, which are those of TensorFlow for the same seeds, bit for bit for
// uniform ones.

namespace graven::random {

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

  // In [minval, maxval), of which floats have 1 where it is not given. Without both bounds integers
  // are of all values.
  Tensor uniform(const Sizes& shape, const MaybeOperand& minval = 0,
                 const MaybeOperand& maxval = {}, DType dtype = DType::kFloat32,
                 Here location = Here::current());
  Tensor uniform_full_int(const Sizes& shape, DType dtype = DType::kUInt64,
                          Here location = Here::current());
  Tensor normal(const Sizes& shape, const Operand& mean = 0, const Operand& stddev = 1,
                DType dtype = DType::kFloat32, Here location = Here::current());
  // Within two standard deviations.
  Tensor truncated_normal(const Sizes& shape, const Operand& mean = 0, const Operand& stddev = 1,
                          DType dtype = DType::kFloat32, Here location = Here::current());
  // How many of so many attempts succeed.
  Tensor binomial(const Sizes& shape, const Operand& counts, const Operand& probs,
                  DType dtype = DType::kInt32, Here location = Here::current());
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
// The generator of the process, made from the system's entropy at the first use, unless one was
// set.
GRAVEN_API Generator get_global_generator();
GRAVEN_API void set_global_generator(const Generator& generator);

}  // namespace graven::random
