#include <algorithm>
#include <cstring>
#include <limits>
#include <type_traits>

#include "graven/base/thread_pool.h"
#include "graven/kernels/convolution.h"
#include "graven/kernels/short_floats.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "graven/kernels/pooling.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#ifndef GRAVEN_POOLING_CHUNK
#define GRAVEN_POOLING_CHUNK
namespace graven::engine {
namespace {

enum class Kind { kMax, kAverage, kMaxGradient, kAverageGradient, kPickLargest };

// One chunk of work: for a result shaped like the output, rows [first, end) of an image of the
// output; for one shaped like the input, of the input.
struct Chunk {
  Kind kind;
  int64_t image, first, end;
  const void* input;     // searched for the largest elements, or averaged
  const void* gradient;  // shaped like the output; for kPickLargest like the input
  void* to;
};

}  // namespace
}  // namespace graven::engine
#endif  // GRAVEN_POOLING_CHUNK

// Loops over channels are plain and vectorised by the compiler, once for each target.
HWY_BEFORE_NAMESPACE();
namespace graven::engine {
namespace HWY_NAMESPACE {
namespace {

// Channels whose largest elements are searched for at a time.
constexpr int64_t kChannels = 256;

// The part of a window that lies inside the input.
struct Window {
  int64_t top, bottom, left, right;  // rows [top, bottom) and columns [left, right) of the input
  int64_t size() const { return (bottom - top) * (right - left); }
};

HWY_INLINE Window window_of(const Pooling& p, int64_t row, int64_t column) {
  const int64_t y = row * p.stride_height - p.pad_top, x = column * p.stride_width - p.pad_left;
  Window w;
  w.top = std::clamp<int64_t>(y, 0, p.in_height);
  w.bottom = std::clamp<int64_t>(y + p.window_height, w.top, p.in_height);
  w.left = std::clamp<int64_t>(x, 0, p.in_width);
  w.right = std::clamp<int64_t>(x + p.window_width, w.left, p.in_width);
  return w;
}

// Calls f(element of the input's image) for the first channel of each place of the window.
template <typename F>
HWY_INLINE void for_each_place(const Pooling& p, const Window& w, const F& f) {
  for (int64_t y = w.top; y < w.bottom; ++y) {
    for (int64_t x = w.left; x < w.right; ++x) f((y * p.in_width + x) * p.channels);
  }
}

// Whether x comes before `best` as the largest: NaN is the largest, the first of equals stays.
template <typename T>
HWY_INLINE bool is_larger(T x, T best) {
  if constexpr (std::is_floating_point_v<T>) {
    return (x > best) | ((x != x) & (best == best));
  } else {
    return x > best;
  }
}

template <typename T>
HWY_INLINE T sum_of(T x, T y) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(static_cast<uint64_t>(x) + static_cast<uint64_t>(y));  // wraps around
  } else {
    return x + y;
  }
}

template <typename T>
void max_of_row(const Pooling& p, int64_t row, const T* image, T* to) {
  for (int64_t column = 0; column < p.out_width; ++column, to += p.channels) {
    const Window w = window_of(p, row, column);
    bool first = true;
    for_each_place(p, w, [&](int64_t place) {
      const T* x = image + place;
      if (first) {
        std::memcpy(to, x, static_cast<size_t>(p.channels) * sizeof(T));
      } else {
        for (int64_t c = 0; c < p.channels; ++c) to[c] = is_larger(x[c], to[c]) ? x[c] : to[c];
      }
      first = false;
    });
    if (first) std::fill_n(to, p.channels, std::numeric_limits<T>::lowest());
  }
}

template <typename T>
void average_of_row(const Pooling& p, int64_t row, const T* image, T* to) {
  for (int64_t column = 0; column < p.out_width; ++column, to += p.channels) {
    const Window w = window_of(p, row, column);
    std::fill_n(to, p.channels, T());
    for_each_place(p, w, [&](int64_t place) {
      const T* x = image + place;
      for (int64_t c = 0; c < p.channels; ++c) to[c] += x[c];
    });
    const T count = static_cast<T>(std::max<int64_t>(1, w.size()));
    for (int64_t c = 0; c < p.channels; ++c) to[c] /= count;
  }
}

// Finds in which place of a window, counted from 0, the largest element of each channel stands.
template <typename T>
HWY_INLINE void find_largest(const Pooling& p, const Window& w, const T* image, int64_t channel,
                             int64_t channels, T* HWY_RESTRICT best, int32_t* HWY_RESTRICT where) {
  int32_t number = 0;
  for_each_place(p, w, [&](int64_t place) {
    const T* x = image + place + channel;
    if (number == 0) {
      for (int64_t c = 0; c < channels; ++c) {
        best[c] = x[c];
        where[c] = 0;
      }
    } else {
      for (int64_t c = 0; c < channels; ++c) {
        const bool larger = is_larger(x[c], best[c]);
        best[c] = larger ? x[c] : best[c];
        where[c] = larger ? number : where[c];
      }
    }
    ++number;
  });
}

// Adds the gradients of a row of outputs to the rows [first, end) of the input's image.
template <typename T>
void max_gradient_of_row(const Pooling& p, int64_t row, const T* image, const T* dy, int64_t first,
                         int64_t end, T* HWY_RESTRICT dx) {
  T best[kChannels];
  int32_t where[kChannels];
  for (int64_t column = 0; column < p.out_width; ++column, dy += p.channels) {
    const Window w = window_of(p, row, column);
    for (int64_t channel = 0; channel < p.channels; channel += kChannels) {
      const int64_t channels = std::min(kChannels, p.channels - channel);
      find_largest(p, w, image, channel, channels, best, where);
      const T* from = dy + channel;
      int32_t number = 0;
      for (int64_t y = w.top; y < w.bottom; ++y) {
        if (y < first || y >= end) {
          number += static_cast<int32_t>(w.right - w.left);
          continue;
        }
        for (int64_t x = w.left; x < w.right; ++x, ++number) {
          T* to = dx + (y * p.in_width + x) * p.channels + channel;
          for (int64_t c = 0; c < channels; ++c) {
            to[c] = sum_of(to[c], where[c] == number ? from[c] : T());
          }
        }
      }
    }
  }
}

template <typename T>
void average_gradient_of_row(const Pooling& p, int64_t row, const T* dy, int64_t first, int64_t end,
                             T* HWY_RESTRICT dx) {
  for (int64_t column = 0; column < p.out_width; ++column, dy += p.channels) {
    Window w = window_of(p, row, column);
    const T count = static_cast<T>(std::max<int64_t>(1, w.size()));
    w.top = std::max(w.top, first);
    w.bottom = std::min(w.bottom, end);
    for_each_place(p, w, [&](int64_t place) {
      T* to = dx + place;
      for (int64_t c = 0; c < p.channels; ++c) to[c] += dy[c] / count;
    });
  }
}

template <typename T>
void pick_largest_of_row(const Pooling& p, int64_t row, const T* image, const T* gradient, T* to) {
  T best[kChannels];
  int32_t where[kChannels];
  for (int64_t column = 0; column < p.out_width; ++column, to += p.channels) {
    const Window w = window_of(p, row, column);
    const int64_t width = w.right - w.left;
    for (int64_t channel = 0; channel < p.channels; channel += kChannels) {
      const int64_t channels = std::min(kChannels, p.channels - channel);
      if (w.size() == 0) {
        std::fill_n(to + channel, channels, T());
        continue;
      }
      find_largest(p, w, image, channel, channels, best, where);
      for (int64_t c = 0; c < channels; ++c) {
        const int64_t y = w.top + where[c] / width, x = w.left + where[c] % width;
        to[channel + c] = gradient[(y * p.in_width + x) * p.channels + channel + c];
      }
    }
  }
}

template <typename T>
void run(const Pooling& p, const Chunk& chunk) {
  const int64_t in_row = p.in_width * p.channels, out_row = p.out_width * p.channels;
  const int64_t in_image = chunk.image * p.in_height * in_row;
  const int64_t out_image = chunk.image * p.out_height * out_row;
  const T* input = chunk.input ? static_cast<const T*>(chunk.input) + in_image : nullptr;
  const T* gradient = static_cast<const T*>(chunk.gradient);
  T* to = static_cast<T*>(chunk.to);
  if (chunk.kind == Kind::kMaxGradient || chunk.kind == Kind::kAverageGradient) {
    to += in_image;
    std::memset(to + chunk.first * in_row, 0,
                static_cast<size_t>((chunk.end - chunk.first) * in_row) * sizeof(T));
    // The rows of the output whose windows reach into the chunk's rows.
    const int64_t above = chunk.first + p.pad_top - p.window_height + 1;
    const int64_t begin = above <= 0 ? 0 : (above + p.stride_height - 1) / p.stride_height;
    const int64_t end =
        std::min(p.out_height, (chunk.end + p.pad_top + p.stride_height - 1) / p.stride_height);
    for (int64_t row = begin; row < end; ++row) {
      const T* dy = gradient + out_image + row * out_row;
      if constexpr (std::is_floating_point_v<T>) {
        if (chunk.kind == Kind::kAverageGradient) {
          average_gradient_of_row(p, row, dy, chunk.first, chunk.end, to);
          continue;
        }
      }
      max_gradient_of_row(p, row, input, dy, chunk.first, chunk.end, to);
    }
    return;
  }
  for (int64_t row = chunk.first; row < chunk.end; ++row) {
    T* out = to + out_image + row * out_row;
    if (chunk.kind == Kind::kMax) {
      max_of_row(p, row, input, out);
    } else if (chunk.kind == Kind::kPickLargest) {
      pick_largest_of_row(p, row, input, gradient + in_image, out);
    } else if constexpr (std::is_floating_point_v<T>) {
      average_of_row(p, row, input, out);
    }
  }
}

void run_chunk(const Pooling& p, const Chunk& chunk) {
  visit_plain(p.dtype, [&](auto zero) {
    using T = decltype(zero);
    if constexpr (std::is_arithmetic_v<T> && !std::is_same_v<T, bool>) run<T>(p, chunk);
  });
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace graven::engine
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace graven::engine {
HWY_EXPORT(run_chunk);

namespace {

// Elements of the larger side that are worth a chunk.
constexpr int64_t kElementsOfChunk = 16 << 10;

// Cuts the rows of the images and runs them on the pool. Short floats are floats by now.
void run_chunks(const Pooling& p, Kind kind, const void* input, const void* gradient, void* to) {
  const bool backward = kind == Kind::kMaxGradient || kind == Kind::kAverageGradient;
  const int64_t height = backward ? p.in_height : p.out_height;
  if (p.batch == 0 || height == 0 || p.channels == 0) return;
  const int64_t elements_of_row =
      std::max<int64_t>(1, p.in_height * p.in_width * p.channels / height);
  int64_t rows = std::clamp<int64_t>(kElementsOfChunk / elements_of_row, 1, height);
  // Windows that begin on a chunk's first row end in the chunk before as seldom as can be.
  if (backward)
    rows = std::min(height, (rows + p.stride_height - 1) / p.stride_height * p.stride_height);
  const int64_t chunks_of_image = (height + rows - 1) / rows;
  const int64_t images =
      rows == height
          ? std::clamp<int64_t>(kElementsOfChunk / (elements_of_row * height), 1, p.batch)
          : 1;
  const int64_t groups = (p.batch + images - 1) / images;
  ThreadPool::shared().run(groups * chunks_of_image, [&](int64_t i) {
    const int64_t first_image = i / chunks_of_image * images;
    const int64_t first = i % chunks_of_image * rows;
    for (int64_t image = first_image; image < std::min(p.batch, first_image + images); ++image) {
      HWY_DYNAMIC_DISPATCH(run_chunk)
      (p, {kind, image, first, std::min(height, first + rows), input, gradient, to});
    }
  });
}

int64_t input_size(const Pooling& p) { return p.batch * p.in_height * p.in_width * p.channels; }
int64_t output_size(const Pooling& p) { return p.batch * p.out_height * p.out_width * p.channels; }

Status run_pooling(const char* op, const Pooling& p, Kind kind, const void* input,
                   const void* gradient, void* to) {
  const bool is_average = kind == Kind::kAverage || kind == Kind::kAverageGradient;
  if (!(is_average ? kFloatTypes : kRealTypes).contains(p.dtype)) {
    return invalid_argument("[", op, "] takes a ", is_average ? "floating" : "real",
                            " dtype, but got ", dtype_name(p.dtype));
  }
  if (!is_short_float(p.dtype)) {
    run_chunks(p, kind, input, gradient, to);
    return {};
  }
  const bool backward = kind == Kind::kMaxGradient || kind == Kind::kAverageGradient;
  const Floats x(p.dtype, input, input ? input_size(p) : 0);
  const int64_t gradient_size = kind == Kind::kPickLargest ? input_size(p) : output_size(p);
  const Floats dy(p.dtype, gradient, gradient ? gradient_size : 0);
  const Floats result(backward ? input_size(p) : output_size(p));
  if (!x.get() || !dy.get() || !result.get()) {
    return Status(Code::kResourceExhausted,
                  str_cat("[", op, "] no memory for copies of its inputs in float32"));
  }
  Pooling in_float = p;
  in_float.dtype = DType::kFloat32;
  run_chunks(in_float, kind, x.get(), dy.get(), result.get());
  result.round_to(p.dtype, to);
  return {};
}

}  // namespace

Status max_pool(const Pooling& p, const void* input, void* output) {
  return run_pooling("MaxPool", p, Kind::kMax, input, nullptr, output);
}

// The output is not read: the first largest element is found again, NaN and all.
Status max_pool_gradient(const Pooling& p, const void* input, const void*,
                         const void* output_gradient, void* input_gradient) {
  return run_pooling("MaxPoolGrad", p, Kind::kMaxGradient, input, output_gradient, input_gradient);
}

Status max_pool_gradient_gradient(const Pooling& p, const void* input, const void*,
                                  const void* gradient, void* output_gradient_gradient) {
  return run_pooling("MaxPoolGradGrad", p, Kind::kPickLargest, input, gradient,
                     output_gradient_gradient);
}

Status average_pool(const Pooling& p, const void* input, void* output) {
  return run_pooling("AvgPool", p, Kind::kAverage, input, nullptr, output);
}

Status average_pool_gradient(const Pooling& p, const void* output_gradient, void* input_gradient) {
  return run_pooling("AvgPoolGrad", p, Kind::kAverageGradient, nullptr, output_gradient,
                     input_gradient);
}

}  // namespace graven::engine
#endif  // HWY_ONCE
