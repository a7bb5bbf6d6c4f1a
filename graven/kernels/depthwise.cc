#include "graven/kernels/depthwise.h"

#include <algorithm>

namespace graven::engine {
namespace {

// Integers as unsigned numbers, whose sums wrap around.
template <typename F>
void visit(DType dtype, F&& f) {
  switch (dtype) {
    case DType::kFloat32:
      return f(float{});
    case DType::kFloat64:
      return f(double{});
    case DType::kInt32:
      return f(uint32_t{});
    default:
      return f(uint64_t{});
  }
}

// Calls f(input pixel, output pixel, tap of the filter) for each product of pixels, in the
// row-major order of output pixels and then of taps.
template <typename F>
void for_each_product(const Convolution& c, F&& f) {
  for (int64_t n = 0; n < c.batch; ++n) {
    for (int64_t row = 0; row < c.out_height; ++row) {
      for (int64_t column = 0; column < c.out_width; ++column) {
        const int64_t pixel = (n * c.out_height + row) * c.out_width + column;
        for (int64_t i = 0; i < c.filter_height; ++i) {
          const int64_t y = row * c.stride_height - c.pad_top + i * c.dilation_height;
          if (y < 0 || y >= c.in_height) continue;
          for (int64_t j = 0; j < c.filter_width; ++j) {
            const int64_t x = column * c.stride_width - c.pad_left + j * c.dilation_width;
            if (x < 0 || x >= c.in_width) continue;
            f((n * c.in_height + y) * c.in_width + x, pixel, i * c.filter_width + j);
          }
        }
      }
    }
  }
}

int64_t multiplier_of(const Convolution& c) { return c.out_channels / c.in_channels; }

}  // namespace

bool is_depthwise(const Convolution& c) {
  return c.groups > 1 && c.groups == c.in_channels && !c.is_volume();
}

void depthwise_forward(const Convolution& c, const void* input, const void* filter, void* output) {
  const int64_t channels = c.in_channels, wide = c.out_channels, multiplier = multiplier_of(c);
  visit(c.dtype, [&](auto zero) {
    using T = decltype(zero);
    auto *x = static_cast<const T*>(input), *w = static_cast<const T*>(filter);
    T* y = static_cast<T*>(output);
    std::fill_n(y, c.batch * c.out_height * c.out_width * wide, zero);
    for_each_product(c, [&](int64_t from, int64_t to, int64_t tap) {
      auto *a = x + from * channels, *b = w + tap * wide;
      T* sum = y + to * wide;
      if (multiplier == 1) {
#pragma GCC ivdep
        for (int64_t k = 0; k < channels; ++k) sum[k] += a[k] * b[k];
      } else {
        for (int64_t k = 0; k < wide; ++k) sum[k] += a[k / multiplier] * b[k];
      }
    });
  });
}

void depthwise_input_gradient(const Convolution& c, const void* filter, const void* output_gradient,
                              void* input_gradient) {
  const int64_t channels = c.in_channels, wide = c.out_channels, multiplier = multiplier_of(c);
  visit(c.dtype, [&](auto zero) {
    using T = decltype(zero);
    auto *w = static_cast<const T*>(filter), *dy = static_cast<const T*>(output_gradient);
    T* dx = static_cast<T*>(input_gradient);
    std::fill_n(dx, c.batch * c.in_height * c.in_width * channels, zero);
    for_each_product(c, [&](int64_t to, int64_t from, int64_t tap) {
      auto *a = dy + from * wide, *b = w + tap * wide;
      T* sum = dx + to * channels;
      if (multiplier == 1) {
#pragma GCC ivdep
        for (int64_t k = 0; k < channels; ++k) sum[k] += a[k] * b[k];
      } else {
        for (int64_t k = 0; k < wide; ++k) sum[k / multiplier] += a[k] * b[k];
      }
    });
  });
}

void depthwise_filter_gradient(const Convolution& c, const void* input, const void* output_gradient,
                               void* filter_gradient) {
  const int64_t channels = c.in_channels, wide = c.out_channels, multiplier = multiplier_of(c);
  visit(c.dtype, [&](auto zero) {
    using T = decltype(zero);
    auto *x = static_cast<const T*>(input), *dy = static_cast<const T*>(output_gradient);
    T* dw = static_cast<T*>(filter_gradient);
    std::fill_n(dw, c.filter_height * c.filter_width * wide, zero);
    for_each_product(c, [&](int64_t from, int64_t pixel, int64_t tap) {
      auto *a = x + from * channels, *b = dy + pixel * wide;
      T* sum = dw + tap * wide;
      if (multiplier == 1) {
#pragma GCC ivdep
        for (int64_t k = 0; k < channels; ++k) sum[k] += a[k] * b[k];
      } else {
        for (int64_t k = 0; k < wide; ++k) sum[k] += a[k / multiplier] * b[k];
      }
    });
  });
}

}  // namespace graven::engine
