#include "graven/api/random_ops.h"

#include <optional>
#include <utility>

#include "graven/api/location.h"
#include "graven/api/op_functions.h"
#include "graven/api/scopes.h"
#include "graven/base/mutex.h"

namespace graven::random {

using internal::LineScope;

Tensor create_rng_state(int64_t seed, Here location) {
  int64_t sign = seed < 0 ? -1 : 0;
  return Tensor::of(std::vector<int64_t>{seed, sign, sign}, Shape{3}, location);
}

Generator Generator::from_state(const Tensor& state, Here location) {
  return Generator(Variable(cast(Operand(state, location), DType::kInt64),
                            {.name = "StateVar", .trainable = false}, location));
}

Generator Generator::from_seed(int64_t seed, Here location) {
  return from_state(create_rng_state(seed, location), location);
}

Generator Generator::from_key_counter(const Operand& key, const Operand& counter) {
  return from_state(internal::random::generator_state(key, counter), key.location());
}

Generator Generator::from_non_deterministic_state(Here location) {
  LineScope line(location);
  Tensor state;
  {
    InitScope eager;
    state = internal::random::generator_new_state(location);
  }
  return from_state(state, location);
}

Tensor Generator::key(Here location) const {
  return internal::random::generator_key(Operand(state_, location));
}

void Generator::reset(const Operand& state) { state_.assign(state); }

void Generator::reset_from_seed(int64_t seed, Here location) {
  state_.assign(Operand(create_rng_state(seed, location), location));
}

void Generator::reset_from_key_counter(const Operand& key, const Operand& counter) {
  state_.assign(Operand(internal::random::generator_state(key, counter), key.location()));
}

Tensor Generator::skip(const Operand& delta) {
  return internal::random::generator_skip(Operand(state_, delta.location()), algorithm(), delta);
}

Tensor Generator::uniform(const Sizes& shape, const MaybeOperand& minval,
                          const MaybeOperand& maxval, DType dtype, Here location) {
  return internal::random::generator_uniform(Operand(state_, location), algorithm(), shape, minval,
                                             maxval, dtype);
}

Tensor Generator::uniform_full_int(const Sizes& shape, DType dtype, Here location) {
  return internal::random::generator_full_int(Operand(state_, location), algorithm(), shape, dtype);
}

Tensor Generator::normal(const Sizes& shape, const Operand& mean, const Operand& stddev,
                         DType dtype, Here location) {
  return internal::random::generator_normal(Operand(state_, location), algorithm(), shape, mean,
                                            stddev, dtype);
}

Tensor Generator::truncated_normal(const Sizes& shape, const Operand& mean, const Operand& stddev,
                                   DType dtype, Here location) {
  return internal::random::generator_truncated_normal(Operand(state_, location), algorithm(), shape,
                                                      mean, stddev, dtype);
}

Tensor Generator::binomial(const Sizes& shape, const Operand& counts, const Operand& probs,
                           DType dtype, Here location) {
  return internal::random::generator_binomial(Operand(state_, location), algorithm(), shape, counts,
                                              probs, dtype);
}

Tensor Generator::make_seeds(int64_t count, Here location) {
  return internal::random::generator_seeds(Operand(state_, location), algorithm(), count);
}

std::vector<Generator> Generator::split(int64_t count, Here location) {
  std::vector<Generator> generators;
  for (const Tensor& state :
       internal::random::generator_split(Operand(state_, location), algorithm(), count)) {
    generators.push_back(from_state(state, location));
  }
  return generators;
}

namespace {

struct GlobalGenerator {
  engine::Mutex mutex;
  std::optional<Generator> generator GUARDED_BY(mutex);
};

GlobalGenerator& global_generator() {
  static auto* global = new GlobalGenerator();
  return *global;
}

}  // namespace

Generator get_global_generator() {
  GlobalGenerator& global = global_generator();
  engine::MutexLock lock(global.mutex);
  if (!global.generator) {
    InitScope eager;
    global.generator = Generator::from_non_deterministic_state();
  }
  return *global.generator;
}

void set_global_generator(const Generator& generator) {
  GlobalGenerator& global = global_generator();
  engine::MutexLock lock(global.mutex);
  global.generator = generator;
}

}  // namespace graven::random
