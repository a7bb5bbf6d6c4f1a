#pragma once
#include "graven/ops/philox.h"
#include "graven/tensor/tensor.h"

namespace graven::engine {

// Random elements of a stream, the numbers that TensorFlow makes of the same key and counter. A
// group of the stream gives four elements of a dtype of 32 bits or fewer, two of one of 64 bits, so
// element j depends on its place alone. Large tensors are filled by several threads.

// Floats in [0, 1): multiples of 2^-23 (float32), 2^-52, 2^-10 (half), 2^-7 (bfloat16).
void fill_uniform(const PhiloxStream& stream, const Tensor& out);
// Numbers of mean 0 and deviation 1, by Box and Muller; half and bfloat16 are computed in float32.
void fill_normal(const PhiloxStream& stream, const Tensor& out);
// The same within two deviations: a number outside is drawn again.
void fill_truncated_normal(const PhiloxStream& stream, const Tensor& out);
// Integers of 32 or 64 bits, all values equally likely.
void fill_integers(const PhiloxStream& stream, const Tensor& out);
// Integers in [low, high), low < high, each the full-range integer modulo the length.
void fill_integers(const PhiloxStream& stream, int64_t low, int64_t high, const Tensor& out);

}  // namespace graven::engine
