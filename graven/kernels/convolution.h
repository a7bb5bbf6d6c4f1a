#pragma once
#include <cstdint>

#include "graven/base/export.h"
#include "graven/base/status.h"
#include "graven/ir/kernel.h"
#include "graven/tensor/dtype.h"

namespace graven::engine {

// A convolution of images in NHWC with filters in HWIO, as TensorFlow stores them; or of volumes in
// NDHWC with filters in DHWIO, where a depth is not 1.
// Sizes are checked by the caller and all at least 0; paddings are explicit.
struct Convolution {
  DType dtype;
  int64_t batch, in_height, in_width, in_channels;
  int64_t filter_height, filter_width, out_channels;
  int64_t out_height, out_width;
  int64_t stride_height = 1, stride_width = 1;
  int64_t dilation_height = 1, dilation_width = 1;
  int64_t pad_top = 0, pad_bottom = 0, pad_left = 0, pad_right = 0;
  int64_t groups = 1;  // filter: [fh, fw, in_channels / groups, out_channels]
  int64_t in_depth = 1, filter_depth = 1, out_depth = 1;
  int64_t stride_depth = 1, dilation_depth = 1, pad_front = 0, pad_back = 0;

  bool is_volume() const { return in_depth != 1 || filter_depth != 1 || out_depth != 1; }
  friend bool operator==(const Convolution&, const Convolution&) = default;
};

// Floating dtypes, int32 and int64 (which wrap around). float32 runs through oneDNN, one primitive
// (kept by shape) for each slice of the batch, or slab of rows for a small batch, cut by shape
// alone, on our pool. Other dtypes, shapes that oneDNN refuses, and float32 without oneDNN run by
// blocks of im2col and matmul, or by plain loops where each channel is a group. half and bfloat16
// compute in float32 and round the result. The filter gradient adds its slices in index order. One
// thread or two give the same bits. Rows and columns of the output beyond padding see zeros; a sum
// over nothing is zero. done: called for each rectangle of the result, whose rows are pixels; not
// called if the convolution fails.
GRAVEN_API Status convolution_forward(const Convolution& c, const void* input, const void* filter,
                                      void* output, const PanelDone* done = nullptr);
GRAVEN_API Status convolution_input_gradient(const Convolution& c, const void* filter,
                                             const void* output_gradient, void* input_gradient,
                                             const PanelDone* done = nullptr);
GRAVEN_API Status convolution_filter_gradient(const Convolution& c, const void* input,
                                              const void* output_gradient, void* filter_gradient);

// Statistics of the compiled convolutions that oneDNN keeps by shape: how many, about how many
// bytes of the process they take, and how often one was asked for and made. At most `max_bytes` are
// kept, the least recently used go first.
struct ConvolutionCacheStats {
  int64_t entries = 0, bytes = 0, max_bytes = 0, requests = 0, misses = 0;
};
GRAVEN_API ConvolutionCacheStats convolution_cache_stats();
GRAVEN_API void set_convolution_cache_bytes(int64_t max_bytes);  // 0 empties it and keeps none
GRAVEN_API void clear_convolution_cache();

// Pooling over windows of [window_height, window_width] in NHWC, or with window_depth in NDHWC.
// Padding takes no part: the average divides by the elements inside. The maximum passes over NaN,
// and is minus infinity (or the lowest integer) if there is nothing else. It folds rows, then
// columns; so does the sum of the average.
struct Pooling {
  DType dtype;
  int64_t batch, in_height, in_width, channels;
  int64_t window_height, window_width, out_height, out_width;
  int64_t stride_height = 1, stride_width = 1;
  int64_t pad_top = 0, pad_left = 0;
  int64_t in_depth = 1, window_depth = 1, out_depth = 1, stride_depth = 1, pad_front = 0;
};
GRAVEN_API Status max_pool(const Pooling& p, const void* input, void* output);
// The same with the place of each maximum: that of its element in the image, or, if it counts
// batches, in all of them. It is the first of equals in row-major order, and NaN stays in the first
// place.
GRAVEN_API Status max_pool_with_places(const Pooling& p, bool count_batches, const void* input,
                                       void* output, int64_t* places);
// What comes in for a window goes to that place.
GRAVEN_API Status max_pool_gradient(const Pooling& p, const void* input, const void* output,
                                    const void* output_gradient, void* input_gradient);
// It goes to all elements that equal the output's.
GRAVEN_API Status max_pool_gradient_of_equals(const Pooling& p, const void* input,
                                              const void* output, const void* output_gradient,
                                              void* input_gradient);
// The gradient of these with respect to output_gradient: picks the elements of `gradient` (shaped
// like the input) where the first elements stand that equal the output's; 0 where none does.
GRAVEN_API Status max_pool_gradient_gradient(const Pooling& p, const void* input,
                                             const void* output, const void* gradient,
                                             void* output_gradient_gradient);
GRAVEN_API Status average_pool(const Pooling& p, const void* input, void* output);
GRAVEN_API Status average_pool_gradient(const Pooling& p, const void* output_gradient,
                                        void* input_gradient);

}  // namespace graven::engine
