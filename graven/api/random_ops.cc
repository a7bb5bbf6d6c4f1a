#include "graven/api/random_ops.h"

#include "graven/api/apply.h"
#include "graven/api/array_ops.h"
#include "graven/api/compose.h"
#include "graven/ops/random_ops.h"

namespace graven {

using internal::apply;
using internal::at;
using internal::integers;

namespace random {
namespace {

// Numbers of the op, times `scale`, plus `shift`, as TensorFlow composes them.
Tensor drawn(const engine::OpHandle<engine::RandomDTypeAttrs>& op, const Sizes& shape,
             const std::vector<int64_t>& seed, const Tensor& scale, const Tensor& shift,
             DType dtype, const Here& location) {
  if (seed.size() != 2) {
    throw_error(engine::value_error("seed must be two integers, got ", seed.size()), location);
  }
  const engine::Tensor seeds[] = {integers(seed, location)};
  engine::Tensors key =
      apply(*engine::kStatelessRandomGetKeyCounterAlg, seeds, engine::NoAttrs(), location);
  const engine::Tensor inputs[] = {shape.as_tensor(location), key[0], key[1], key[2]};
  Tensor numbers = apply(*op, inputs, engine::RandomDTypeAttrs{dtype}, location)[0];
  return at(at(numbers, location) * at(scale, location), location) + at(shift, location);
}

}  // namespace

Tensor stateless_uniform(const Sizes& shape, const std::vector<int64_t>& seed, double minval,
                         double maxval, DType dtype, Here location) {
  Tensor low = Operand(minval, location).as_tensor(dtype);
  Tensor length = Operand(maxval, location) - at(low, location);
  return drawn(engine::kStatelessRandomUniformV2, shape, seed, length, low, dtype, location);
}

Tensor stateless_normal(const Sizes& shape, const std::vector<int64_t>& seed, double mean,
                        double stddev, DType dtype, Here location) {
  return drawn(engine::kStatelessRandomNormalV2, shape, seed,
               Operand(stddev, location).as_tensor(dtype), Operand(mean, location).as_tensor(dtype),
               dtype, location);
}

}  // namespace random

}  // namespace graven
