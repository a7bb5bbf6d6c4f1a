#pragma once
#include <cstddef>

#include "graven/kernels/convolution.h"

namespace graven::engine {

// Convolutions as products of matrices, by the calling thread: the windows of a block of output
// pixels are written out as rows of a matrix ("im2col", Chellapilla, Puri, Simard 2006), which is
// multiplied with the filter. float32, float64, int32 and int64; any paddings, negative ones too
// (the first rows are then skipped). The output is written whole.
size_t im2col_scratch(const Convolution& c);
void im2col_forward(const Convolution& c, const void* input, const void* filter, void* output,
                    void* scratch);
void im2col_input_gradient(const Convolution& c, const void* filter, const void* output_gradient,
                           void* input_gradient, void* scratch);
void im2col_filter_gradient(const Convolution& c, const void* input, const void* output_gradient,
                            void* filter_gradient, void* scratch);

}  // namespace graven::engine
