#include "graven/ops/random_ops.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>
#include <vector>

#include "graven/base/function_ref.h"
#include "graven/ir/infer_context.h"
#include "graven/ir/kernel.h"
#include "graven/ops/batch_rules.h"
#include "graven/ops/elements.h"
#include "graven/ops/random_elements.h"
#include "graven/ops/random_kernels.h"
#include "graven/ops/random_streams.h"
#include "graven/ops/register_ops.h"
#include "graven/ops/shape_rules.h"
#include "graven/ops/variable_kernels.h"

namespace graven::engine {
namespace {

using Fill = void (*)(const PhiloxStream& stream, const Tensor& out);

// --- Rules of several ops.

Status random_shape(InferContext& c) {
  ASSIGN_OR_RETURN(Shape shape, shape_to_draw(c, 0));
  c.set_shape(0, shape);
  return {};
}

Status check_range_scalars(InferContext& c, int minval) {
  const char* names[] = {"minval", "maxval"};
  for (int i = 0; i < 2; ++i) {
    const Shape& shape = c.shape(minval + i);
    if (shape.has_rank() && shape.rank() != 0) {
      return invalid_argument(names[i], " must be 0-D, got shape ", shape.to_message());
    }
  }
  return {};
}

Status fill_range(KernelContext& c, const PhiloxStream& stream, int minval) {
  const Tensor& out = c.output(0);
  int64_t low = integer_at(c.input(minval), 0), high = integer_at(c.input(minval + 1), 0);
  if (out.num_elements() == 0) return {};
  if (low >= high) {
    return invalid_argument("Need minval < maxval, got ", low, " >= ", high);
  }
  fill_integers(stream, low, high, out);
  return {};
}

// --- Stateless, by key and counter.

Status stateless_v2_shape(InferContext& c) {
  const Shape& shape = c.shape(0);
  if (shape.has_rank() && shape.rank() != 1) {
    return invalid_argument("shape must be of rank 1, got shape ", shape.to_message());
  }
  RETURN_IF_ERROR(check_key_and_counter(c));
  return random_shape(c);
}

template <Fill fill>
Status stateless_v2_kernel(KernelContext& c) {
  ASSIGN_OR_RETURN(PhiloxStream stream, stream_of_key(c));
  fill(stream, c.output(0));
  return {};
}

// --- Stateless, by seed.

Status stateless_shape(InferContext& c) {
  RETURN_IF_ERROR(check_seed(c, 1));
  return random_shape(c);
}

template <Fill fill>
Status stateless_kernel(KernelContext& c) {
  fill(stream_of_seed(c.input(1)), c.output(0));
  return {};
}

// --- Stateful, by two seeds.

template <typename Attrs>
PhiloxStream stream_of_elements(KernelContext& c) {
  return next_stream<Attrs>(c, kGroupsPerElement * c.output(0).num_elements());
}

// --- Of a Generator.

Status generator_shape(InferContext& c) {
  ASSIGN_OR_RETURN(Shape shape, shape_to_draw(c, 2));
  c.set_shape(0, shape);
  return {};
}

template <Fill fill>
Status generator_kernel(KernelContext& c) {
  ASSIGN_OR_RETURN(PhiloxStream stream,
                   pass_state(c, static_cast<uint64_t>(c.output(0).num_elements()), nullptr));
  fill(stream, c.output(0));
  return {};
}

// --- Records of one form.

template <typename Attrs>
void define_stateless(OpRegistry& ops, OpHandle<Attrs>& handle, OpHandle<Attrs>& by_seed,
                      const std::string& name, const char* summary, DTypeSet types, DTypeSet seeds,
                      KernelFunction f, KernelFunction f_by_seed) {
  ops.define(handle,
             {
                 .name = name + "V2",
                 .summary = summary,
                 .inputs = {"shape: Tshape", "key: uint64", "counter: uint64", "alg: int32"},
                 .outputs = {"output: dtype"},
                 .types = {{"dtype", types}, {"Tshape", kIndexTypes}},
                 .infer = stateless_v2_shape,
                 .gradient = not_differentiable,
                 .body = kernel(f),
                 .values_for_inference = {0},
             });
  ops.define(by_seed, {
                          .name = name,
                          .summary = summary,
                          .details = "The seed is two integers.",
                          .inputs = {"shape: T", "seed: Tseed"},
                          .outputs = {"output: dtype"},
                          .types = {{"dtype", types}, {"T", kIndexTypes}, {"Tseed", seeds}},
                          .infer = stateless_shape,
                          .gradient = not_differentiable,
                          .body = kernel(f_by_seed),
                          .values_for_inference = {0},
                      });
}

void define_stateless_random_uniform_v2_and_kin(OpRegistry& ops) {
  define_stateless(ops, kStatelessRandomUniformV2, kStatelessRandomUniform,
                   "StatelessRandomUniform", "Random floats in [0, 1).", kFloatTypes, kSeeds,
                   stateless_v2_kernel<fill_uniform>, stateless_kernel<fill_uniform>);
  define_stateless(ops, kStatelessRandomNormalV2, kStatelessRandomNormal, "StatelessRandomNormal",
                   "Random normal numbers of mean 0 and deviation 1.", kFloatTypes, kSeeds,
                   stateless_v2_kernel<fill_normal>, stateless_kernel<fill_normal>);
  define_stateless(
      ops, kStatelessTruncatedNormalV2, kStatelessTruncatedNormal, "StatelessTruncatedNormal",
      "Random normal numbers of mean 0 and deviation 1 that lie within 2.", kFloatTypes, kSeeds,
      stateless_v2_kernel<fill_truncated_normal>, stateless_kernel<fill_truncated_normal>);
}

constexpr DTypeSet kWideIntegers = {DType::kInt32, DType::kInt64, DType::kUInt32, DType::kUInt64};

void define_stateless_random_uniform_full_int_v2_and_kin(OpRegistry& ops) {
  define_stateless<RandomIntegerAttrs>(
      ops, kStatelessRandomUniformFullIntV2, kStatelessRandomUniformFullInt,
      "StatelessRandomUniformFullInt", "Random integers of the full range of their dtype.",
      kWideIntegers, kWideIntegers, stateless_v2_kernel<fill_integers>,
      stateless_kernel<fill_integers>);
  kStatelessRandomUniformIntV2 = ops.define<NoAttrs>({
      .name = "StatelessRandomUniformIntV2",
      .summary = "Random integers in [minval, maxval).",
      .inputs = {"shape: Tshape", "key: uint64", "counter: uint64", "alg: int32", "minval: dtype",
                 "maxval: dtype"},
      .outputs = {"output: dtype"},
      .types = {{"dtype", kIndexTypes, kIndexTypes | DTypeSet{DType::kUInt32, DType::kUInt64}},
                {"Tshape", kIndexTypes}},
      .infer = [](InferContext& c) -> Status {
        RETURN_IF_ERROR(check_range_scalars(c, 4));
        return stateless_v2_shape(c);
      },
      .gradient = not_differentiable,
      .body = kernel([](KernelContext& c) -> Status {
        ASSIGN_OR_RETURN(PhiloxStream stream, stream_of_key(c));
        return fill_range(c, stream, 4);
      }),
      .values_for_inference = {0},
  });
  kStatelessRandomUniformInt = ops.define<NoAttrs>({
      .name = "StatelessRandomUniformInt",
      .summary = "Random integers in [minval, maxval).",
      .inputs = {"shape: T", "seed: Tseed", "minval: dtype", "maxval: dtype"},
      .outputs = {"output: dtype"},
      .types = {{"dtype", kIndexTypes}, {"T", kIndexTypes}, {"Tseed", kSeeds}},
      .infer = [](InferContext& c) -> Status {
        RETURN_IF_ERROR(check_range_scalars(c, 2));
        return stateless_shape(c);
      },
      .gradient = not_differentiable,
      .body = kernel(
          [](KernelContext& c) -> Status { return fill_range(c, stream_of_seed(c.input(1)), 2); }),
      .values_for_inference = {0},
  });
}

Status key_counter_shape(InferContext& c) {
  RETURN_IF_ERROR(check_seed(c, 0));
  c.set_shape(0, {1});
  c.set_shape(1, {2});
  if (c.num_outputs() == 3) c.set_shape(2, Shape());
  return {};
}

Status key_counter_kernel(KernelContext& c) {
  PhiloxStream stream = stream_of_seed(c.input(0));
  c.out<uint64_t>(0)[0] = stream.key;
  c.out<uint64_t>(1)[0] = stream.counter_low;
  c.out<uint64_t>(1)[1] = stream.counter_high;
  if (c.num_outputs() == 3) c.out<int32_t>(2)[0] = kPhilox;
  return {};
}

void define_stateless_random_get_key_counter_and_kin(OpRegistry& ops) {
  kStatelessRandomGetKeyCounter = ops.define<NoAttrs>({
      .name = "StatelessRandomGetKeyCounter",
      .summary = "The key and counter at which the numbers of a seed start.",
      .inputs = {"seed: Tseed"},
      .outputs = {"key: uint64", "counter: uint64"},
      .types = {{"Tseed", kSeeds}},
      .infer = key_counter_shape,
      .body = kernel(key_counter_kernel),
  });
  kStatelessRandomGetKeyCounterAlg = ops.define<NoAttrs>({
      .name = "StatelessRandomGetKeyCounterAlg",
      .summary = "The key and counter at which the numbers of a seed start, and the algorithm.",
      .inputs = {"seed: Tseed"},
      .outputs = {"key: uint64", "counter: uint64", "alg: int32"},
      .types = {{"Tseed", kSeeds}},
      .infer = key_counter_shape,
      .body = kernel(key_counter_kernel),
  });
  kStatelessRandomGetAlg = ops.define<NoAttrs>({
      .name = "StatelessRandomGetAlg",
      .summary = "The number of the algorithm that this device uses: 1, Philox.",
      .outputs = {"alg: int32"},
      .infer = scalar_output,
      .body = kernel([](KernelContext& c) -> Status {
        c.out<int32_t>(0)[0] = kPhilox;
        return {};
      }),
      .effects = unordered_effects,
  });
}

// --- Stateful.

template <Fill fill>
Status stateful_kernel(KernelContext& c) {
  if (c.output(0).num_elements() == 0) return {};
  fill(stream_of_elements<SeededDTypeAttrs>(c), c.output(0));
  return {};
}

void define_stateful(OpRegistry& ops, OpHandle<SeededDTypeAttrs>& handle, const char* name,
                     const char* summary, KernelFunction f) {
  ops.define(handle, {
                         .name = name,
                         .summary = summary,
                         .inputs = {"shape: T"},
                         .outputs = {"output: dtype"},
                         .types = {{"dtype", kFloatTypes}, {"T", kIndexTypes}},
                         .infer = random_shape,
                         .gradient = not_differentiable,
                         .batch = batch_random<0>,
                         .body = kernel(f),
                         .keeps_state = true,
                         .effects = unordered_effects,
                         .values_for_inference = {0},
                     });
}

void define_random_uniform_and_kin(OpRegistry& ops) {
  define_stateful(ops, kRandomUniform, "RandomUniform", "Random floats in [0, 1).",
                  stateful_kernel<fill_uniform>);
  define_stateful(ops, kRandomStandardNormal, "RandomStandardNormal",
                  "Random normal numbers of mean 0 and deviation 1.", stateful_kernel<fill_normal>);
  define_stateful(ops, kTruncatedNormal, "TruncatedNormal",
                  "Random normal numbers of mean 0 and deviation 1 that lie within 2.",
                  stateful_kernel<fill_truncated_normal>);
}

Status random_int_kernel(KernelContext& c) {
  if (c.output(0).num_elements() == 0) return {};
  int64_t low = integer_at(c.input(1), 0), high = integer_at(c.input(2), 0);
  if (low >= high) return invalid_argument("Need minval < maxval, got ", low, " >= ", high);
  return fill_range(c, stream_of_elements<SeedAttrs>(c), 1);
}

void define_random_uniform_int(OpRegistry& ops) {
  kRandomUniformInt = ops.define<SeedAttrs>({
      .name = "RandomUniformInt",
      .summary = "Random integers in [minval, maxval).",
      .inputs = {"shape: T", "minval: Tout", "maxval: Tout"},
      .outputs = {"output: Tout"},
      .types = {{"Tout", kIndexTypes}, {"T", kIndexTypes}},
      .infer = [](InferContext& c) -> Status {
        RETURN_IF_ERROR(check_range_scalars(c, 1));
        return random_shape(c);
      },
      .gradient = not_differentiable,
      .batch = batch_random<0>,
      .body = kernel(random_int_kernel),
      .keeps_state = true,
      .effects = unordered_effects,
      .values_for_inference = {0},
  });
}

// --- Of rows and classes.

int64_t num_rows(const Tensor& x) { return x.rank() == 0 ? 1 : x.shape().size(0); }

// Swaps each row but the last with one of those from it on, by one word of the stream each.
void shuffle_rows(const PhiloxStream& stream, const Tensor& x, const Tensor& out) {
  if (x.num_elements() == 0) return;
  const int64_t n = num_rows(x);
  std::vector<int64_t> order(static_cast<size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  PhiloxWords words = {};
  for (int64_t i = 0; i + 1 < n; ++i) {
    if (i % 4 == 0) words = stream.group(static_cast<uint64_t>(i / 4));
    std::swap(order[i], order[i + words[i % 4] % static_cast<uint32_t>(n - i)]);
  }
  visit_copied(x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const T* from = static_cast<const T*>(x.raw_data());
    T* to = static_cast<T*>(out.mutable_raw_data());
    const int64_t width = x.num_elements() / n;
    for_ranges(n, (1 << 18) / (width * static_cast<int64_t>(sizeof(T))),
               [&](int64_t begin, int64_t end) {
                 for (int64_t i = begin; i < end; ++i) {
                   std::copy_n(from + order[i] * width, width, to + i * width);
                 }
               });
  });
}

Status shuffle_kernel(KernelContext& c) {
  const Tensor& x = c.input(0);
  const int64_t n = num_rows(x);
  PhiloxStream stream;
  if (n >= 2 && x.num_elements() > 0) {
    stream = next_stream<SeedAttrs>(c, static_cast<uint64_t>(n - 1 + 3) / 4);
  }
  shuffle_rows(stream, x, c.output(0));
  return {};
}

void define_random_shuffle_and_kin(OpRegistry& ops) {
  kRandomShuffle = ops.define<SeedAttrs>({
      .name = "RandomShuffle",
      .summary = "The rows of a tensor in random order.",
      .inputs = {"value: T"},
      .outputs = {"output: T"},
      .types = {{"T", kAllTypes}},
      .infer = same_as_input,
      .gradient = not_differentiable,
      .body = kernel(shuffle_kernel),
      .keeps_state = true,
      .effects = unordered_effects,
  });
  kStatelessShuffle = ops.define<NoAttrs>({
      .name = "StatelessShuffle",
      .summary = "The rows of a tensor in an order that key and counter decide.",
      .inputs = {"value: T", "key: uint64", "counter: uint64", "alg: int32"},
      .outputs = {"output: T"},
      .types = {{"T", kAllTypes}},
      .infer = [](InferContext& c) -> Status {
        RETURN_IF_ERROR(check_key_and_counter(c));
        return same_as_input(c);
      },
      .body = kernel([](KernelContext& c) -> Status {
        ASSIGN_OR_RETURN(PhiloxStream stream, stream_of_key(c));
        shuffle_rows(stream, c.input(0), c.output(0));
        return {};
      }),
  });
}

Status multinomial_shape(InferContext& c) {
  const Shape &logits = c.shape(0), &num_samples = c.shape(1);
  if (logits.has_rank() && logits.rank() != 2) {
    return invalid_argument("logits should be a matrix, got shape ", logits.to_message());
  }
  if (num_samples.has_rank() && num_samples.rank() != 0) {
    return invalid_argument("num_samples should be a scalar, got shape ", num_samples.to_message());
  }
  if (const Tensor value = c.value(1); value && integer_at(value, 0) < 0) {
    return invalid_argument("num_samples should be non-negative, got ", integer_at(value, 0));
  }
  const auto sizes = c.sizes(1);
  c.set_shape(0, {logits.has_rank() ? logits[0] : Dim::unknown(),
                  sizes && !sizes->empty() ? (*sizes)[0] : Dim::unknown()});
  return {};
}

// The first class whose running total of exp(logit - largest logit) is above a uniform share of the
// whole. Values that are not finite have no weight.
template <typename T, typename I>
void draw_classes(const T* logits, int64_t num_classes, std::span<const double> shares, I* out) {
  std::vector<double> totals(static_cast<size_t>(num_classes));
  double largest = -std::numeric_limits<double>::infinity();
  for (int64_t i = 0; i < num_classes; ++i) {
    if constexpr (sizeof(T) == 2) {
      totals[i] = static_cast<float>(logits[i]);
    } else {
      totals[i] = logits[i];
    }
    if (std::isfinite(totals[i])) largest = std::max(largest, totals[i]);
  }
  double total = 0;
  for (double& logit : totals) {
    if (std::isfinite(logit)) total += std::exp(logit - largest);
    logit = total;
  }
  for (double share : shares) {
    *out++ = static_cast<I>(std::ranges::upper_bound(totals, share * total) - totals.begin());
  }
}

// Takes its numbers of the stream that `start` gives, if any are needed.
Status draw_samples(KernelContext& c, FunctionRef<PhiloxStream()> start) {
  const Tensor &logits = c.input(0), &out = c.output(0);
  const int64_t num_classes = logits.shape().size(1), num_samples = out.shape().size(1);
  if (num_classes == 0) return invalid_argument("num_classes should be positive, got 0");
  if (out.num_elements() == 0) return {};
  ASSIGN_OR_RETURN(const Tensor shares, Tensor::allocate(DType::kFloat64, out.shape()));
  fill_uniform(start(), shares);
  const auto all = shares.data<double>();
  const auto draw = [&]<typename T, typename I>(T, I) -> Status {
    for_ranges(out.shape().size(0), (1 << 14) / (num_classes + num_samples),
               [&](int64_t begin, int64_t end) {
                 for (int64_t i = begin; i < end; ++i) {
                   draw_classes(logits.data<T>().data() + i * num_classes, num_classes,
                                all.subspan(i * num_samples, num_samples),
                                out.mutable_data<I>().data() + i * num_samples);
                 }
               });
    return {};
  };
  return visit_plain(logits.dtype(), [&](auto zero) -> Status {
    if constexpr (is_floating(kDTypeOf<decltype(zero)>)) {
      return out.dtype() == DType::kInt32 ? draw(zero, int32_t()) : draw(zero, int64_t());
    } else {
      return internal_error("logits are floats");
    }
  });
}

Status multinomial_kernel(KernelContext& c) {
  return draw_samples(c, [&] {
    // Whole groups for each row, of two words a number.
    const Shape& shape = c.output(0).shape();
    const auto words = static_cast<uint64_t>(shape.size(0) * ((shape.size(1) + 3) / 4 * 4 * 2));
    return next_stream<MultinomialAttrs>(c, kGroupsPerElement * words);
  });
}

void define_multinomial_and_kin(OpRegistry& ops) {
  kMultinomial = ops.define<MultinomialAttrs>({
      .name = "Multinomial",
      .summary = "Random classes, whose probabilities are the softmax of a row of logits.",
      .inputs = {"logits: T", "num_samples: int32"},
      .outputs = {"output: output_dtype"},
      .types = {{"T", kFloatTypes, kRealTypes}, {"output_dtype", kIndexTypes}},
      .infer = multinomial_shape,
      .gradient = not_differentiable,
      .batch = batch_by_folding<0>,
      .body = kernel(multinomial_kernel),
      .keeps_state = true,
      .effects = unordered_effects,
      .values_for_inference = {1},
  });
  kStatelessMultinomial = ops.define<StatelessMultinomialAttrs>({
      .name = "StatelessMultinomial",
      .summary = "Classes of a seed, whose probabilities are the softmax of a row of logits.",
      .inputs = {"logits: T", "num_samples: int32", "seed: Tseed"},
      .outputs = {"output: output_dtype"},
      .types = {{"T", kFloatTypes, kRealTypes}, {"Tseed", kSeeds}, {"output_dtype", kIndexTypes}},
      .infer = [](InferContext& c) -> Status {
        RETURN_IF_ERROR(check_seed(c, 2));
        return multinomial_shape(c);
      },
      .gradient = not_differentiable,
      .body = kernel([](KernelContext& c) -> Status {
        return draw_samples(c, [&] { return stream_of_seed(c.input(2)); });
      }),
      .values_for_inference = {1},
  });
}

// --- Of a Generator.

template <typename Attrs>
void define_of_generator(OpRegistry& ops, OpHandle<Attrs>& handle, const char* name,
                         const char* summary, DTypeSet types, KernelFunction f) {
  ops.define(handle,
             {
                 .name = name,
                 .summary = summary,
                 .inputs = {"resource: resource", "algorithm: int64", "shape: shape_dtype"},
                 .outputs = {"output: dtype"},
                 .types = {{"dtype", types, kAllTypes}, {"shape_dtype", kIndexTypes, kAllTypes}},
                 .infer = generator_shape,
                 .batch = batch_random<2>,
                 .body = kernel(f),
                 .effects = writes_resource_effects,
                 .values_for_inference = {2},
             });
}

void define_stateful_uniform_and_kin(OpRegistry& ops) {
  define_of_generator(ops, kStatefulUniform, "StatefulUniform",
                      "Random floats in [0, 1) from a generator.", kFloatTypes,
                      generator_kernel<fill_uniform>);
  define_of_generator(ops, kStatefulStandardNormalV2, "StatefulStandardNormalV2",
                      "Random normal numbers of mean 0 and deviation 1 from a generator.",
                      kFloatTypes, generator_kernel<fill_normal>);
  define_of_generator(ops, kStatefulTruncatedNormal, "StatefulTruncatedNormal",
                      "Random normal numbers that lie within 2, from a generator.", kFloatTypes,
                      generator_kernel<fill_truncated_normal>);
  define_of_generator(ops, kStatefulUniformFullInt, "StatefulUniformFullInt",
                      "Random integers of the full range of their dtype, from a generator.",
                      kWideIntegers, generator_kernel<fill_integers>);
}

Status generator_int_kernel(KernelContext& c) {
  int64_t low = integer_at(c.input(3), 0), high = integer_at(c.input(4), 0);
  if (low >= high) return invalid_argument("Need minval < maxval, got ", low, " >= ", high);
  ASSIGN_OR_RETURN(PhiloxStream stream,
                   pass_state(c, static_cast<uint64_t>(c.output(0).num_elements()), nullptr));
  return fill_range(c, stream, 3);
}

void define_stateful_uniform_int_and_rng_skip(OpRegistry& ops) {
  kStatefulUniformInt = ops.define<NoAttrs>({
      .name = "StatefulUniformInt",
      .summary = "Random integers in [minval, maxval) from a generator.",
      .inputs = {"resource: resource", "algorithm: int64", "shape: shape_dtype", "minval: dtype",
                 "maxval: dtype"},
      .outputs = {"output: dtype"},
      .types = {{"dtype", kIndexTypes, kAllTypes}, {"shape_dtype", kIndexTypes, kAllTypes}},
      .infer = [](InferContext& c) -> Status {
        RETURN_IF_ERROR(check_range_scalars(c, 3));
        return generator_shape(c);
      },
      .batch = batch_random<2>,
      .body = kernel(generator_int_kernel),
      .effects = writes_resource_effects,
      .values_for_inference = {2},
  });
  kRngSkip = ops.define<NoAttrs>({
      .name = "RngSkip",
      .summary = "Moves a generator on by delta elements.",
      .inputs = {"resource: resource", "algorithm: int64", "delta: int64"},
      .infer = no_outputs,
      .body = kernel([](KernelContext& c) -> Status {
        int64_t delta = integer_at(c.input(2), 0);
        return pass_state(c, static_cast<uint64_t>(delta), nullptr).status();
      }),
      .effects = writes_resource_effects,
  });
}

Status read_and_skip_kernel(KernelContext& c) {
  Tensor before;
  RETURN_IF_ERROR(pass_state(c, c.in<uint64_t>(2)[0], &before).status());
  c.set_output(0, std::move(before));
  return {};
}

void define_rng_read_and_skip_and_kin(OpRegistry& ops) {
  kRngReadAndSkip = ops.define<NoAttrs>({
      .name = "RngReadAndSkip",
      .summary = "The state of a generator, which is moved on by delta elements.",
      .inputs = {"resource: resource", "alg: int32", "delta: uint64"},
      .outputs = {"value: int64"},
      .infer = [](InferContext& c) -> Status {
        auto data = c.handle_data(0);
        c.set_shape(0, data ? data->value().shape : Shape{Dim::unknown()});
        return {};
      },
      .body = kernel(read_and_skip_kernel),
      .allocates_outputs = true,
      .effects = writes_resource_effects,
  });
  kNonDeterministicInts = ops.define<NonDeterministicIntsAttrs>({
      .name = "NonDeterministicInts",
      .summary = "Integers that nobody can foresee.",
      .inputs = {"shape: shape_dtype"},
      .outputs = {"output: dtype"},
      .types = {{"dtype", kWideIntegers, kAllTypes}, {"shape_dtype", kIndexTypes, kAllTypes}},
      .infer = random_shape,
      .batch = batch_random<0>,
      .body = kernel([](KernelContext& c) -> Status {
        fill_integers({nondeterministic_bits(), nondeterministic_bits(), nondeterministic_bits()},
                      c.output(0));
        return {};
      }),
      .effects = unordered_effects,
      .values_for_inference = {0},
  });
}

}  // namespace

void define_random_ops(OpRegistry& ops) {
  define_stateless_random_uniform_v2_and_kin(ops);
  define_stateless_random_uniform_full_int_v2_and_kin(ops);
  define_stateless_random_get_key_counter_and_kin(ops);
  define_random_uniform_and_kin(ops);
  define_random_uniform_int(ops);
  define_random_shuffle_and_kin(ops);
  define_multinomial_and_kin(ops);
  define_stateful_uniform_and_kin(ops);
  define_stateful_uniform_int_and_rng_skip(ops);
  define_rng_read_and_skip_and_kin(ops);
}

}  // namespace graven::engine
