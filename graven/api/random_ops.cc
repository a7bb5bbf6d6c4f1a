#include "graven/api/random_ops.h"

#include <utility>

#include "graven/api/apply.h"
#include "graven/api/compose.h"
#include "graven/api/op_functions.h"
#include "graven/api/scopes.h"
#include "graven/base/mutex.h"
#include "graven/ir/structural_ops.h"
#include "graven/library/seeds.h"
#include "graven/ops/padding_ops.h"
#include "graven/ops/random_ops.h"

namespace graven::random {
namespace {

using internal::apply;
using internal::Composite;
using internal::LineScope;

constexpr int kAutoSelect = 3;

// Where a stateless op starts.
struct Start {
  Tensor key, counter, algorithm;
};

Start start_of(const Seed& seed, const Here& location) {
  const engine::Tensor seeds[] = {seed.as_tensor(location)};
  if (!engine::are_compatible(seeds[0].shape(), Shape{2})) {
    throw_error(
        engine::value_error("seed must be two integers, got shape ", seeds[0].shape().to_text()),
        location);
  }
  engine::Tensors parts =
      apply(*engine::kStatelessRandomGetKeyCounter, seeds, engine::NoAttrs(), location);
  return {parts[0], parts[1], Tensor(kAutoSelect)};
}

Tensor drawn(const engine::Op& op, const Tensor& sizes, const Start& start,
             engine::AttrsRef attrs) {
  const engine::Tensor inputs[] = {sizes, start.key, start.counter, start.algorithm};
  return apply(op, inputs, attrs, Here())[0];
}

// Numbers in [0, 1) moved to [minval, maxval).
Tensor scaled(const Tensor& unit, const Operand& minval, const Bound& maxval) {
  Tensor low = minval.as_tensor(unit.dtype());
  Tensor high = maxval ? maxval->as_tensor(unit.dtype()) : Operand(1).as_tensor(unit.dtype());
  return unit * (high - low) + low;
}

Tensor moved(const Tensor& standard, const Operand& mean, const Operand& stddev) {
  return standard * stddev.as_tensor(standard.dtype()) + mean.as_tensor(standard.dtype());
}

bool is_wide_unsigned(DType dtype) { return dtype == DType::kUInt32 || dtype == DType::kUInt64; }

void check_dtype(DType dtype, bool takes_unsigned, const Here& location) {
  bool is_integer = dtype == DType::kInt32 || dtype == DType::kInt64;
  bool is_known = engine::is_floating(dtype) || is_integer;
  if (is_known || (takes_unsigned && is_wide_unsigned(dtype))) return;
  throw_error(engine::value_error("Argument `dtype` got invalid value ", engine::dtype_name(dtype),
                                  ". Accepted dtypes are float16, bfloat16, float32, float64, "
                                  "int32, int64",
                                  takes_unsigned ? ", uint32, uint64" : ""),
              location);
}

Tensor uniform_of(const Tensor& sizes, const Start& start, const Bound& minval, const Bound& maxval,
                  DType dtype, const Here& location) {
  if (!engine::is_integer(dtype)) {
    if (!minval) throw_error(engine::value_error("floats need `minval`"), location);
    Tensor unit =
        drawn(*engine::kStatelessRandomUniformV2, sizes, start, engine::RandomDTypeAttrs{dtype});
    return scaled(unit, *minval, maxval);
  }
  if (minval.has_value() != maxval.has_value()) {
    throw_error(engine::value_error("For integer `dtype` argument ", engine::dtype_name(dtype),
                                    ", argument `minval` and `maxval` must be both None or not "
                                    "None."),
                location);
  }
  if (!minval) {
    return drawn(*engine::kStatelessRandomUniformFullIntV2, sizes, start,
                 engine::RandomIntegerAttrs{dtype});
  }
  if (is_wide_unsigned(dtype)) {
    throw_error(
        engine::value_error("Argument `dtype` got invalid value ", engine::dtype_name(dtype),
                            " when argument `minval` is not None. Please don't use "
                            "unsigned integers in this case."),
        location);
  }
  return apply(engine::kStatelessRandomUniformIntV2,
               {sizes, start.key, start.counter, start.algorithm, minval->as_tensor(dtype),
                maxval->as_tensor(dtype)});
}

engine::SeededDTypeAttrs seeded(std::optional<int64_t> seed, DType dtype) {
  auto [first, second] = engine::seeds_of_op(seed).value_or(std::pair<int64_t, int64_t>());
  return {.seed = first, .seed2 = second, .dtype = dtype};
}

engine::SeedAttrs seeded(std::optional<int64_t> seed) {
  auto [first, second] = engine::seeds_of_op(seed).value_or(std::pair<int64_t, int64_t>());
  return {.seed = first, .seed2 = second};
}

// Counter and key in one vector.
Tensor joined(const Operand& key, const Operand& counter) {
  LineScope line(key.location());
  Tensor low = reshape(counter.as_tensor(DType::kInt64), {-1});
  return concat(
      {cast(low, DType::kInt64), cast(reshape(key.as_tensor(DType::kInt64), {-1}), DType::kInt64)},
      0);
}

// Where a generator draws next; it passes what is drawn.
Start taken(Generator& generator, const Tensor& sizes) {
  Tensor before = generator.skip(reduce_prod(cast(sizes, DType::kInt64)));
  Tensor words = apply(engine::kBitcast, {before}, {.type = DType::kUInt64});
  return {slice(words, {2}, {1}), slice(words, {0}, {2}), Tensor(generator.algorithm())};
}

}  // namespace

// --- Of streams.

namespace {

Tensor normal_of(const char* name, const engine::OpHandle<engine::SeededDTypeAttrs>& op,
                 const Sizes& shape, const Operand& mean, const Operand& stddev, DType dtype,
                 std::optional<int64_t> seed, const Here& location) {
  Composite composite(name, location);
  Tensor sizes = shape.as_tensor(location);
  return moved(apply(op, {sizes}, seeded(seed, dtype)), mean, stddev);
}

}  // namespace

Tensor normal(const Sizes& shape, const Operand& mean, const Operand& stddev, DType dtype,
              std::optional<int64_t> seed, Here location) {
  return normal_of("random_normal", engine::kRandomStandardNormal, shape, mean, stddev, dtype, seed,
                   location);
}

Tensor truncated_normal(const Sizes& shape, const Operand& mean, const Operand& stddev, DType dtype,
                        std::optional<int64_t> seed, Here location) {
  return normal_of("truncated_normal", engine::kTruncatedNormal, shape, mean, stddev, dtype, seed,
                   location);
}

Tensor shuffle(const Operand& value, std::optional<int64_t> seed) {
  return apply(engine::kRandomShuffle, {value}, seeded(seed));
}

// --- Stateless.

Tensor stateless_uniform(const Sizes& shape, const Seed& seed, const Bound& minval,
                         const Bound& maxval, DType dtype, Here location) {
  check_dtype(dtype, true, location);
  Composite composite("stateless_random_uniform", location);
  Tensor sizes = shape.as_tensor(location);
  return uniform_of(sizes, start_of(seed, location), minval, maxval, dtype, location);
}

namespace {

// start: gives the Start for these sizes.
template <typename F>
Tensor stateless_normal_of(const char* name, const engine::OpHandle<engine::RandomDTypeAttrs>& op,
                           F start, const Sizes& shape, const Operand& mean, const Operand& stddev,
                           DType dtype, const Here& location) {
  Composite composite(name, location);
  Tensor sizes = shape.as_tensor(location);
  Tensor standard = drawn(*op, sizes, start(sizes), engine::RandomDTypeAttrs{dtype});
  return moved(standard, mean, stddev);
}

}  // namespace

Tensor stateless_normal(const Sizes& shape, const Seed& seed, const Operand& mean,
                        const Operand& stddev, DType dtype, Here location) {
  auto start = [&](const Tensor&) { return start_of(seed, location); };
  return stateless_normal_of("stateless_random_normal", engine::kStatelessRandomNormalV2, start,
                             shape, mean, stddev, dtype, location);
}

Tensor stateless_truncated_normal(const Sizes& shape, const Seed& seed, const Operand& mean,
                                  const Operand& stddev, DType dtype, Here location) {
  auto start = [&](const Tensor&) { return start_of(seed, location); };
  return stateless_normal_of("stateless_truncated_normal", engine::kStatelessTruncatedNormalV2,
                             start, shape, mean, stddev, dtype, location);
}

Tensor split(const Seed& seed, int64_t num, Here location) {
  Tensor given = seed.as_tensor(location);
  return stateless_uniform({num, 2}, given, std::nullopt, std::nullopt, given.dtype(), location);
}

Tensor fold_in(const Seed& seed, const Operand& data) {
  LineScope line(data.location());
  Tensor number = data.as_tensor();
  Tensor first =
      stateless_uniform({}, seed, std::nullopt, std::nullopt, number.dtype(), data.location());
  return stack({first, number});
}

// --- Generator.

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
  return from_state(joined(key, counter), key.location());
}

Generator Generator::from_non_deterministic_state(Here location) {
  LineScope line(location);
  Tensor state;
  {
    InitScope eager;
    state = apply(engine::kNonDeterministicInts, {Tensor{3}}, {.dtype = DType::kInt64});
  }
  return from_state(state, location);
}

Tensor Generator::key(Here location) const {
  LineScope line(location);
  return reshape(slice(state_.value(), {2}, {1}), {});
}

void Generator::reset(const Operand& state) { state_.assign(state); }

void Generator::reset_from_seed(int64_t seed, Here location) {
  state_.assign(Operand(create_rng_state(seed, location), location));
}

void Generator::reset_from_key_counter(const Operand& key, const Operand& counter) {
  state_.assign(Operand(joined(key, counter), key.location()));
}

Tensor Generator::skip(const Operand& delta) {
  LineScope line(delta.location());
  Tensor steps = cast(delta.as_tensor(DType::kInt64), DType::kUInt64);
  return apply(engine::kRngReadAndSkip, {state_.handle(), Tensor(algorithm()), steps});
}

Tensor Generator::uniform(const Sizes& shape, const Bound& minval, const Bound& maxval, DType dtype,
                          Here location) {
  Composite composite("stateful_uniform", location);
  check_dtype(dtype, true, location);
  Tensor sizes = shape.as_tensor(location);
  return uniform_of(sizes, taken(*this, sizes), minval, maxval, dtype, location);
}

Tensor Generator::uniform_full_int(const Sizes& shape, DType dtype, Here location) {
  Composite composite("stateful_uniform_full_int", location);
  Tensor sizes = shape.as_tensor(location);
  Start start = taken(*this, sizes);
  return drawn(*engine::kStatelessRandomUniformFullIntV2, sizes, start,
               engine::RandomIntegerAttrs{dtype});
}

Tensor Generator::normal(const Sizes& shape, const Operand& mean, const Operand& stddev,
                         DType dtype, Here location) {
  auto start = [&](const Tensor& sizes) { return taken(*this, sizes); };
  return stateless_normal_of("stateful_normal", engine::kStatelessRandomNormalV2, start, shape,
                             mean, stddev, dtype, location);
}

Tensor Generator::truncated_normal(const Sizes& shape, const Operand& mean, const Operand& stddev,
                                   DType dtype, Here location) {
  auto start = [&](const Tensor& sizes) { return taken(*this, sizes); };
  return stateless_normal_of("truncated_normal", engine::kStatelessTruncatedNormalV2, start, shape,
                             mean, stddev, dtype, location);
}

Tensor Generator::make_seeds(int64_t count, Here location) {
  LineScope line(location);
  Tensor drawn = uniform_full_int({count}, DType::kInt64, location);
  return stack({drawn, zeros_like(drawn)});
}

std::vector<Generator> Generator::split(int64_t count, Here location) {
  LineScope line(location);
  std::vector<Generator> generators;
  for (const Tensor& key : unstack(uniform_full_int({count}, DType::kInt64, location))) {
    generators.push_back(from_key_counter(key, {0, 0}));
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
