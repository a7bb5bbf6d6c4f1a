#include "graven/ops/random_kernels.h"

#include "graven/ops/elements.h"
#include "graven/ops/random_ops.h"
#include "graven/ops/variable_kernels.h"

namespace graven::engine {
namespace {

Status check_algorithm(int64_t algorithm) {
  if (algorithm == kPhilox || algorithm == kAutoSelect) return {};
  if (algorithm == kThreefry) {
    return unimplemented("the algorithm ThreeFry is not supported on a CPU; use philox (1)");
  }
  return invalid_argument("Unsupported algorithm id: ", algorithm);
}

// 64 bits of a seed: int32 is extended by its sign.
uint64_t seed_word(const Tensor& seed, int64_t i) {
  switch (seed.dtype()) {
    case DType::kUInt32:
      return seed.data<uint32_t>()[i];
    case DType::kUInt64:
      return seed.data<uint64_t>()[i];
    default:
      return static_cast<uint64_t>(integer_at(seed, i));
  }
}

}  // namespace

Status check_key_and_counter(const InferContext& c) {
  const char* names[] = {"key", "counter", "alg"};
  const int ranks[] = {1, 1, 0};
  for (int i = 0; i < 3; ++i) {
    const Shape& shape = c.shape(i + 1);
    if (!shape.has_rank() || shape.rank() == ranks[i]) continue;
    return invalid_argument(names[i], " must be of rank ", ranks[i], ", got shape ",
                            shape.to_message());
  }
  const Shape &key = c.shape(1), &counter = c.shape(2);
  if (key.has_rank() && key[0].is_number() && key.size(0) != 1) {
    return invalid_argument("key must have shape [1], got shape ", key.to_message());
  }
  // Two words are all that Philox needs; more, as of other algorithms, are ignored.
  if (counter.has_rank() && counter[0].is_number() && counter.size(0) < 2) {
    return invalid_argument("counter must be of size at least 2, got shape ", counter.to_message());
  }
  return {};
}

Result<PhiloxStream> stream_of_key(const KernelContext& c) {
  RETURN_IF_ERROR(check_algorithm(integer_at(c.input(3), 0)));
  auto counter = c.in<uint64_t>(2);
  return PhiloxStream{counter[0], counter[1], c.in<uint64_t>(1)[0]};
}

Status check_seed(const InferContext& c, int input) {
  const Shape& seed = c.shape(input);
  if (!seed.has_rank()) return {};
  if (seed.rank() == 1 && (!seed[0].is_number() || seed.size(0) == 2)) return {};
  return invalid_argument("seed must have shape [2], not ", seed.to_message());
}

PhiloxStream stream_of_seed(const Tensor& seed) {
  return PhiloxStream::of_seed(seed_word(seed, 0), seed_word(seed, 1));
}

Result<PhiloxStream> pass_state(KernelContext& c, uint64_t num_elements, Tensor* before) {
  RETURN_IF_ERROR(check_algorithm(integer_at(c.input(1), 0)));
  ASSIGN_OR_RETURN(Variable * variable, variable_of(c));
  PhiloxStream stream;
  RETURN_IF_ERROR(variable->update([&](Tensor& value) -> Result<Tensor> {
    if (value.dtype() != DType::kInt64 || value.rank() != 1 || value.num_elements() < 3) {
      return invalid_argument("the state of a random generator must be a vector of at least 3 ",
                              "int64, got ", dtype_name(value.dtype()), " of shape ",
                              value.shape().to_message());
    }
    auto state = value.data<int64_t>();
    auto word = [&](int i) { return static_cast<uint64_t>(state[i]); };
    stream = {word(0), word(1), word(2)};
    if (before) *before = Tensor::vector<int64_t>(state);
    // delta may be any number of elements, so the counter moves by up to 72 bits.
    PhiloxStream next = stream.skipped(num_elements * kGroupsPerElement);
    next.counter_high += num_elements >> 56;
    Tensor moved = Tensor::vector<int64_t>(state);
    moved.mutable_data<int64_t>()[0] = static_cast<int64_t>(next.counter_low);
    moved.mutable_data<int64_t>()[1] = static_cast<int64_t>(next.counter_high);
    return moved;
  }));
  return stream;
}

}  // namespace graven::engine
