#pragma once
#include <cstdint>

#include "graven/base/status.h"
#include "graven/ops/philox.h"
#include "graven/tensor/tensor.h"

namespace graven::engine {

// Samples of distributions with parameters, the numbers that TensorFlow makes of the same key and
// counter. There is a batch of parameters, and several samples of each: out has the shape
// [samples, batch], and sample i of parameters j is made of the groups from
// kGroupsOfSample (j samples + i) on, so any cut into threads gives the same numbers. Parameters
// broadcast to the batch, whose shape is that of `batch`.
inline constexpr int64_t kGroupsOfSample = 256;

// The gamma distribution of shape alpha and scale 1 (Marsaglia, Tsang, A simple method for
// generating gamma variables, 2000). alpha has the shape of the batch.
void fill_gamma(const PhiloxStream& stream, const Tensor& alpha, const Tensor& out);

// Poisson's distribution (Hörmann, The transformed rejection method for generating Poisson random
// variables, 1993; below a rate of 10 Knuth's product of uniforms). rate has the shape of the
// batch.
void fill_poisson(const PhiloxStream& stream, const Tensor& rate, const Tensor& out);

// The binomial distribution (Hörmann, The generation of binomial random variates, 1993; below 10
// successes by geometric ones, with 42 groups for a sample).
void fill_binomial(const PhiloxStream& stream, const Shape& batch, const Tensor& counts,
                   const Tensor& probs, const Tensor& out);

struct TruncatedNormalParameters {
  Tensor means, deviations, least, largest;
};
// Normal numbers between two bounds (Robert, Simulation of truncated normal variables, 1995). An
// error if a deviation is not positive, or bounds are none. In the arithmetic of the dtype. Samples
// follow each other in the stream, those of other parameters from a new group on, and each 512 from
// group 256 of the first one on; TensorFlow starts again for each thread.
Status fill_bounded_normal(const PhiloxStream& stream, const Shape& batch,
                           const TruncatedNormalParameters& parameters, const Tensor& out);

}  // namespace graven::engine
