#pragma once
#include "graven/kernels/convolution.h"

namespace graven::engine {

// Convolutions of images each of whose input channels is a group of its own: products of single
// elements, with no matrix to multiply. Plain loops over the channels, for float32, float64, int32
// and int64 (which wrap around); one thread. The result need not be cleared before.
bool is_depthwise(const Convolution& c);
void depthwise_forward(const Convolution& c, const void* input, const void* filter, void* output);
void depthwise_input_gradient(const Convolution& c, const void* filter, const void* output_gradient,
                              void* input_gradient);
void depthwise_filter_gradient(const Convolution& c, const void* input, const void* output_gradient,
                               void* filter_gradient);

}  // namespace graven::engine
