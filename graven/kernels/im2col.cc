#include "graven/kernels/im2col.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "graven/kernels/blocked_matmul.h"

namespace graven::engine {
namespace {

// The written-out windows of a block of pixels are to stay in the second-level cache.
constexpr int64_t kBytesOfWindows = 256 << 10;
constexpr int64_t kMaxPixels = 512;
constexpr int64_t kMaxSide = 240;
// With fewer input channels a window is written out with its pixels side by side.
constexpr int64_t kFewChannels = 8;

// Sizes of the products, of one group.
struct Sizes {
  int64_t in, out;  // channels
  int64_t window;   // elements of a window
  int64_t pixels;   // of the output
  int64_t block;    // pixels at a time
  size_t element_size;
  size_t windows_bytes, sums_bytes, product_bytes;  // of scratch, in this order

  explicit Sizes(const Convolution& c)
      : in(c.in_channels / c.groups),
        out(c.out_channels / c.groups),
        window(c.filter_depth * c.filter_height * c.filter_width * in),
        pixels(c.batch * c.out_depth * c.out_height * c.out_width),
        element_size(dtype_size(c.dtype)) {
    const auto size = static_cast<int64_t>(element_size);
    block =
        std::clamp<int64_t>(kBytesOfWindows / std::max<int64_t>(1, window * size), 16, kMaxPixels);
    block = std::min(block, std::max<int64_t>(1, pixels));
    auto aligned = [&](int64_t elements) {
      return (static_cast<size_t>(elements) * element_size + 63) / 64 * 64;
    };
    windows_bytes = aligned(window * block);
    sums_bytes = aligned(window * out);
    // The largest product block that any of the three directions asks for.
    const int64_t rows = std::max(block, window), columns = std::max(rows, out);
    product_bytes = product_block_scratch(c.dtype, std::min(rows, kMaxSide),
                                          std::min(columns, kMaxSide), columns);
  }
};

// c = a b, cut into blocks of at most kMaxSide; `product` says the rest.
void multiply(ProductBlock product, int64_t rows, int64_t columns, void* scratch) {
  const auto size = static_cast<int64_t>(dtype_size(product.dtype));
  const auto* a = static_cast<const std::byte*>(product.a);
  const auto* b = static_cast<const std::byte*>(product.b);
  auto* c = static_cast<std::byte*>(product.c);
  for (int64_t row = 0; row < rows; row += kMaxSide) {
    for (int64_t column = 0; column < columns; column += kMaxSide) {
      product.rows = std::min(kMaxSide, rows - row);
      product.columns = std::min(kMaxSide, columns - column);
      product.a = a + row * product.a_row_stride * size;
      product.b = b + column * product.b_column_stride * size;
      product.c = c + (row * product.c_stride + column) * size;
      multiply_block(product, scratch);
    }
  }
}

// The first plane, row and column of the input that a window reads, which may lie in the padding.
struct Corner {
  int64_t image, front, top, left;
};

// Calls f(pixel of the block, corner of its window) for a block of pixels.
template <typename F>
void for_each_pixel(const Convolution& c, int64_t first, int64_t count, const F& f) {
  int64_t column = first % c.out_width, rest = first / c.out_width;
  int64_t row = rest % c.out_height, plane = rest / c.out_height % c.out_depth;
  int64_t image = rest / c.out_height / c.out_depth;
  for (int64_t i = 0; i < count; ++i) {
    f(i, Corner{image, plane * c.stride_depth - c.pad_front, row * c.stride_height - c.pad_top,
                column * c.stride_width - c.pad_left});
    if (++column < c.out_width) continue;
    column = 0;
    if (++row < c.out_height) continue;
    row = 0;
    if (++plane < c.out_depth) continue;
    plane = 0;
    ++image;
  }
}

// Calls f(tap, its first element of the input or -1 for padding) for each tap of a window.
template <typename F>
void for_each_tap(const Convolution& c, const Corner& corner, const F& f) {
  int64_t tap = 0;
  for (int64_t k = 0; k < c.filter_depth; ++k) {
    const int64_t z = corner.front + k * c.dilation_depth;
    const bool plane_inside = z >= 0 && z < c.in_depth;
    for (int64_t i = 0; i < c.filter_height; ++i) {
      const int64_t y = corner.top + i * c.dilation_height;
      const bool row_inside = plane_inside && y >= 0 && y < c.in_height;
      const int64_t line = ((corner.image * c.in_depth + z) * c.in_height + y) * c.in_width;
      for (int64_t j = 0; j < c.filter_width; ++j, ++tap) {
        const int64_t x = corner.left + j * c.dilation_width;
        f(tap, row_inside && x >= 0 && x < c.in_width ? (line + x) * c.in_channels : -1);
      }
    }
  }
}

template <typename T>
void write_windows(const Convolution& c, const Sizes& s, const T* input, int64_t group,
                   int64_t first, int64_t count, T* windows) {
  const size_t bytes = static_cast<size_t>(s.in) * sizeof(T);
  for_each_pixel(c, first, count, [&](int64_t pixel, const Corner& corner) {
    T* window = windows + pixel * s.window;
    for_each_tap(c, corner, [&](int64_t tap, int64_t element) {
      T* to = window + tap * s.in;
      if (element < 0) {
        std::memset(static_cast<void*>(to), 0, bytes);
      } else if (s.in == 1) {
        *to = input[element + group];
      } else {
        std::memcpy(static_cast<void*>(to), input + element + group * s.in, bytes);
      }
    });
  });
}

template <typename T>
T sum_of(T x, T y) {
  if constexpr (std::is_integral_v<T>) {
    using Unsigned = std::make_unsigned_t<T>;
    return static_cast<T>(static_cast<Unsigned>(x) + static_cast<Unsigned>(y));
  } else {
    return x + y;
  }
}

// Adds the windows to the elements that they cover. With few channels `windows` is transposed:
// [window, pixels].
template <typename T>
void add_windows(const Convolution& c, const Sizes& s, const T* windows, bool transposed,
                 int64_t group, int64_t first, int64_t count, T* input) {
  const int64_t of_pixel = transposed ? 1 : s.window, of_element = transposed ? count : 1;
  for_each_pixel(c, first, count, [&](int64_t pixel, const Corner& corner) {
    const T* window = windows + pixel * of_pixel;
    for_each_tap(c, corner, [&](int64_t tap, int64_t element) {
      if (element < 0) return;
      T* to = input + element + group * s.in;
      const T* from = window + tap * s.in * of_element;
      if (transposed) {
        for (int64_t k = 0; k < s.in; ++k) to[k] = sum_of(to[k], from[k * count]);
      } else {
        for (int64_t k = 0; k < s.in; ++k) to[k] = sum_of(to[k], from[k]);
      }
    });
  });
}

template <typename F>
void visit_convolution_type(DType dtype, const F& f) {
  visit_plain(dtype, [&](auto zero) {
    using T = decltype(zero);
    if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double> ||
                  std::is_same_v<T, int32_t> || std::is_same_v<T, int64_t>) {
      f(zero);
    }
  });
}

}  // namespace

size_t im2col_scratch(const Convolution& c) {
  const Sizes s(c);
  return s.windows_bytes + s.sums_bytes + s.product_bytes;
}

void im2col_forward(const Convolution& c, const void* input, const void* filter, void* output,
                    void* scratch) {
  const Sizes s(c);
  visit_convolution_type(c.dtype, [&](auto zero) {
    using T = decltype(zero);
    auto* windows = static_cast<T*>(scratch);
    void* product_scratch = static_cast<std::byte*>(scratch) + s.windows_bytes + s.sums_bytes;
    for (int64_t group = 0; group < c.groups; ++group) {
      for (int64_t first = 0; first < s.pixels; first += s.block) {
        const int64_t count = std::min(s.block, s.pixels - first);
        write_windows(c, s, static_cast<const T*>(input), group, first, count, windows);
        ProductBlock product{.dtype = c.dtype};
        product.depth = s.window;
        product.a = windows;
        product.a_row_stride = s.window;
        product.a_depth_stride = 1;
        product.b = static_cast<const T*>(filter) + group * s.out;
        product.b_depth_stride = c.out_channels;
        product.b_column_stride = 1;
        product.c = static_cast<T*>(output) + first * c.out_channels + group * s.out;
        product.c_stride = c.out_channels;
        multiply(product, count, s.out, product_scratch);
      }
    }
  });
}

void im2col_input_gradient(const Convolution& c, const void* filter, const void* output_gradient,
                           void* input_gradient, void* scratch) {
  const Sizes s(c);
  std::memset(input_gradient, 0,
              static_cast<size_t>(c.batch * c.in_depth * c.in_height * c.in_width * c.in_channels) *
                  s.element_size);
  visit_convolution_type(c.dtype, [&](auto zero) {
    using T = decltype(zero);
    auto* windows = static_cast<T*>(scratch);
    void* product_scratch = static_cast<std::byte*>(scratch) + s.windows_bytes + s.sums_bytes;
    const bool transposed = s.in < kFewChannels;
    for (int64_t group = 0; group < c.groups; ++group) {
      for (int64_t first = 0; first < s.pixels; first += s.block) {
        const int64_t count = std::min(s.block, s.pixels - first);
        const T* dy =
            static_cast<const T*>(output_gradient) + first * c.out_channels + group * s.out;
        const T* w = static_cast<const T*>(filter) + group * s.out;
        ProductBlock product{.dtype = c.dtype};
        product.depth = s.out;
        product.a = transposed ? w : dy;
        product.b = transposed ? dy : w;
        product.a_row_stride = c.out_channels;
        product.a_depth_stride = 1;
        product.b_depth_stride = 1;
        product.b_column_stride = c.out_channels;
        product.c = windows;
        product.c_stride = transposed ? count : s.window;
        multiply(product, transposed ? s.window : count, transposed ? count : s.window,
                 product_scratch);
        add_windows(c, s, windows, transposed, group, first, count,
                    static_cast<T*>(input_gradient));
      }
    }
  });
}

void im2col_filter_gradient(const Convolution& c, const void* input, const void* output_gradient,
                            void* filter_gradient, void* scratch) {
  const Sizes s(c);
  visit_convolution_type(c.dtype, [&](auto zero) {
    using T = decltype(zero);
    auto* windows = static_cast<T*>(scratch);
    auto* sums = reinterpret_cast<T*>(static_cast<std::byte*>(scratch) + s.windows_bytes);
    void* product_scratch = static_cast<std::byte*>(scratch) + s.windows_bytes + s.sums_bytes;
    for (int64_t group = 0; group < c.groups; ++group) {
      T* gradient = static_cast<T*>(filter_gradient) + group * s.out;
      for (int64_t first = 0; first < s.pixels; first += s.block) {
        const int64_t count = std::min(s.block, s.pixels - first);
        write_windows(c, s, static_cast<const T*>(input), group, first, count, windows);
        ProductBlock product{.dtype = c.dtype};
        product.depth = count;
        product.a = windows;
        product.a_row_stride = 1;
        product.a_depth_stride = s.window;
        product.b = static_cast<const T*>(output_gradient) + first * c.out_channels + group * s.out;
        product.b_depth_stride = c.out_channels;
        product.b_column_stride = 1;
        product.c = first == 0 ? gradient : sums;
        product.c_stride = first == 0 ? c.out_channels : s.out;
        multiply(product, s.window, s.out, product_scratch);
        if (first == 0) continue;
        for (int64_t i = 0; i < s.window; ++i) {
          for (int64_t j = 0; j < s.out; ++j) {
            T& to = gradient[i * c.out_channels + j];
            to = sum_of(to, sums[i * s.out + j]);
          }
        }
      }
    }
  });
}

}  // namespace graven::engine
