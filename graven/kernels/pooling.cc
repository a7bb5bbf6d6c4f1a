#include <algorithm>
#include <atomic>
#include <cstring>
#include <limits>
#include <type_traits>

#include "graven/base/thread_pool.h"
#include "graven/kernels/convolution.h"
#include "graven/kernels/scratch_block.h"
#include "graven/kernels/short_floats.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "graven/kernels/pooling.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#ifndef GRAVEN_POOLING_CHUNK
#define GRAVEN_POOLING_CHUNK
namespace graven::engine {
namespace {

enum class PoolingTask {
  kMax,
  kAverage,
  kMaxGradient,
  kEqualGradient,
  kAverageGradient,
  kPickLargest
};

constexpr bool is_backward(PoolingTask task) {
  return task == PoolingTask::kMaxGradient || task == PoolingTask::kEqualGradient ||
         task == PoolingTask::kAverageGradient;
}

// One chunk of work. A row has all pixels of one height (and depth); a volume has in_depth *
// in_height of them. For a result shaped like the output, rows [first, end) of an image of the
// output; for one shaped like the input, of the input.
struct Chunk {
  PoolingTask task = PoolingTask::kMax;
  int64_t image = 0, first = 0, end = 0;
  const void* input = nullptr;     // searched for the largest elements, or averaged
  const void* output = nullptr;    // the largest elements, for kEqualGradient and kPickLargest
  const void* gradient = nullptr;  // shaped like the output; for kPickLargest like the input
  void* to = nullptr;
  int64_t* places = nullptr;   // kMax: where the largest elements stand, unless it is null
  bool count_batches = false;  // they are counted from the first image on
  void* scratch = nullptr;     // of a row of the input
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
// With fewer channels it pays to fold whole rows first, even where windows do not overlap.
constexpr int64_t kFewChannels = 16;

// The part of a window that lies inside the input.
struct Window {
  int64_t front, back, top, bottom, left, right;  // [front, back), ... of the input
  int64_t size() const { return (back - front) * (bottom - top) * (right - left); }
};

// Of a row of the output, whose columns follow.
HWY_INLINE Window rows_of_window(const Pooling& p, int64_t row) {
  const int64_t z = row / p.out_height * p.stride_depth - p.pad_front;
  const int64_t y = row % p.out_height * p.stride_height - p.pad_top;
  Window w;
  w.front = std::clamp<int64_t>(z, 0, p.in_depth);
  w.back = std::clamp<int64_t>(z + p.window_depth, w.front, p.in_depth);
  w.top = std::clamp<int64_t>(y, 0, p.in_height);
  w.bottom = std::clamp<int64_t>(y + p.window_height, w.top, p.in_height);
  w.left = w.right = 0;
  return w;
}

HWY_INLINE Window at_column(const Pooling& p, Window w, int64_t column) {
  const int64_t x = column * p.stride_width - p.pad_left;
  w.left = std::clamp<int64_t>(x, 0, p.in_width);
  w.right = std::clamp<int64_t>(x + p.window_width, w.left, p.in_width);
  return w;
}

// Calls f(row of the input's image) for each row of the window, front to back.
template <typename F>
HWY_INLINE void for_each_row(const Pooling& p, const Window& w, const F& f) {
  for (int64_t z = w.front; z < w.back; ++z) {
    for (int64_t y = w.top; y < w.bottom; ++y) f(z * p.in_height + y);
  }
}

// Calls f(element of the input's image) for the first channel of each place of the window.
template <typename F>
HWY_INLINE void for_each_place(const Pooling& p, const Window& w, const F& f) {
  for_each_row(p, w, [&](int64_t row) {
    for (int64_t x = w.left; x < w.right; ++x) f((row * p.in_width + x) * p.channels);
  });
}

template <typename T>
HWY_INLINE T sum_of(T x, T y) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(static_cast<uint64_t>(x) + static_cast<uint64_t>(y));  // wraps around
  } else {
    return x + y;
  }
}

// --- Folds: the largest of lists of elements, or their sum, element by element.

struct Largest {
  // NaN is passed over: no number is less.
  template <typename T>
  static constexpr T nothing() {
    return std::is_floating_point_v<T> ? -std::numeric_limits<T>::infinity()
                                       : std::numeric_limits<T>::lowest();
  }
  template <typename T>
  HWY_INLINE T operator()(T so_far, T x) const {
    return x > so_far ? x : so_far;
  }
};

struct Total {
  template <typename T>
  static constexpr T nothing() {
    return T();
  }
  template <typename T>
  HWY_INLINE T operator()(T so_far, T x) const {
    return so_far + x;
  }
};

// Folds `count` lists of `size` elements, which begin `step` elements apart, into `to`.
template <typename T, typename Op>
HWY_INLINE void fold(const T* from, int64_t step, int64_t count, int64_t size, Op op,
                     T* HWY_RESTRICT to) {
  int64_t k = 0;
  for (; k + 2 < count; k += 3) {
    const T *a = from + k * step, *b = a + step, *c = b + step;
    for (int64_t i = 0; i < size; ++i) to[i] = op(op(op(to[i], a[i]), b[i]), c[i]);
  }
  for (; k < count; ++k) {
    const T* a = from + k * step;
    for (int64_t i = 0; i < size; ++i) to[i] = op(to[i], a[i]);
  }
}

// The same for the windows [first, end) along a row, of which none reaches into the padding.
template <typename T, typename Op>
HWY_INLINE void fold_windows(const Pooling& p, const T* row, int64_t first, int64_t end, Op op,
                             T* HWY_RESTRICT to) {
  const int64_t c = p.channels, left = first * p.stride_width - p.pad_left;
  row += left * c;
  to += first * c;
  if (p.stride_width == 1) return fold(row, c, p.window_width, (end - first) * c, op, to);
  const int64_t step = p.stride_width * c;
  for (int64_t k = 0; k < p.window_width; ++k) {
    const T* from = row + k * c;
    for (int64_t column = 0; column < end - first; ++column) {
      for (int64_t i = 0; i < c; ++i) {
        to[column * c + i] = op(to[column * c + i], from[column * step + i]);
      }
    }
  }
}

// The windows of a row of the output: columns of them are folded first, which neighbours share,
// then the results. Where they share nothing each window is folded by itself.
template <typename T, typename Op>
HWY_INLINE void fold_row(const Pooling& p, const Window& rows, const T* image, Op op, T* scratch,
                         T* to) {
  const int64_t c = p.channels, in_row = p.in_width * c;
  std::fill_n(to, p.out_width * c, Op::template nothing<T>());
  if (p.window_width <= p.stride_width && c >= kFewChannels) {
    for (int64_t column = 0; column < p.out_width; ++column) {
      const Window w = at_column(p, rows, column);
      for_each_row(p, w, [&](int64_t row) {
        fold(image + row * in_row + w.left * c, c, w.right - w.left, c, op, to + column * c);
      });
    }
    return;
  }
  const T* folded = scratch;
  if ((rows.back - rows.front) * (rows.bottom - rows.top) == 1) {
    folded = image + (rows.front * p.in_height + rows.top) * in_row;
  } else {
    std::fill_n(scratch, in_row, Op::template nothing<T>());
    for (int64_t z = rows.front; z < rows.back; ++z) {
      fold(image + (z * p.in_height + rows.top) * in_row, in_row, rows.bottom - rows.top, in_row,
           op, scratch);
    }
  }
  // The columns whose windows lie inside.
  const int64_t inside = p.in_width + p.pad_left - p.window_width;
  const int64_t first = std::min((p.pad_left + p.stride_width - 1) / p.stride_width, p.out_width);
  const int64_t end =
      std::clamp<int64_t>(inside < 0 ? 0 : inside / p.stride_width + 1, first, p.out_width);
  if (first < end) fold_windows(p, folded, first, end, op, to);
  for (int64_t column = 0; column < p.out_width; ++column) {
    if (column == first) column = end;
    if (column == p.out_width) break;
    const Window w = at_column(p, rows, column);
    fold(folded + w.left * c, c, w.right - w.left, c, op, to + column * c);
  }
}

template <typename T>
void max_of_row(const Pooling& p, int64_t row, const T* image, T* scratch, T* to) {
  fold_row(p, rows_of_window(p, row), image, Largest(), scratch, to);
}

template <typename T>
void average_of_row(const Pooling& p, int64_t row, const T* image, T* scratch, T* to) {
  const Window rows = rows_of_window(p, row);
  fold_row(p, rows, image, Total(), scratch, to);
  for (int64_t column = 0; column < p.out_width; ++column, to += p.channels) {
    const Window w = at_column(p, rows, column);
    const T count = static_cast<T>(std::max<int64_t>(1, w.size()));
    for (int64_t c = 0; c < p.channels; ++c) to[c] /= count;
  }
}

// --- Searches.

// Finds in which place of a window, counted from 0, the largest element of each channel stands. The
// first stays unless another one is greater, so that NaN is found in the first place alone.
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
        const bool larger = x[c] > best[c];
        best[c] = larger ? x[c] : best[c];
        where[c] = larger ? number : where[c];
      }
    }
    ++number;
  });
}

// The pixel of the input's image at a place of a window.
HWY_INLINE int64_t pixel_at(const Pooling& p, const Window& w, int64_t place) {
  const int64_t width = w.right - w.left, height = w.bottom - w.top;
  const int64_t x = w.left + place % width, y = w.top + place / width % height;
  return ((w.front + place / width / height) * p.in_height + y) * p.in_width + x;
}

template <typename T>
void max_and_places_of_row(const Pooling& p, int64_t row, const T* image, int64_t first_place,
                           T* to, int64_t* places) {
  int32_t where[kChannels];
  const Window rows = rows_of_window(p, row);
  for (int64_t column = 0; column < p.out_width; ++column) {
    const Window w = at_column(p, rows, column);
    for (int64_t channel = 0; channel < p.channels; channel += kChannels) {
      const int64_t channels = std::min(kChannels, p.channels - channel);
      const int64_t at = column * p.channels + channel;
      find_largest(p, w, image, channel, channels, to + at, where);
      for (int64_t c = 0; c < channels; ++c) {
        places[at + c] = first_place + pixel_at(p, w, where[c]) * p.channels + channel + c;
      }
    }
  }
}

// Adds the gradients of a row of outputs to the rows [first, end) of the input's image.
template <typename T>
void max_gradient_of_row(const Pooling& p, int64_t row, const T* image, const T* dy, int64_t first,
                         int64_t end, T* HWY_RESTRICT dx) {
  T best[kChannels];
  int32_t where[kChannels];
  const Window rows = rows_of_window(p, row);
  for (int64_t column = 0; column < p.out_width; ++column, dy += p.channels) {
    const Window w = at_column(p, rows, column);
    for (int64_t channel = 0; channel < p.channels; channel += kChannels) {
      const int64_t channels = std::min(kChannels, p.channels - channel);
      find_largest(p, w, image, channel, channels, best, where);
      const T* from = dy + channel;
      int32_t number = 0;
      for_each_row(p, w, [&](int64_t line) {
        if (line < first || line >= end) {
          number += static_cast<int32_t>(w.right - w.left);
          return;
        }
        for (int64_t x = w.left; x < w.right; ++x, ++number) {
          T* to = dx + (line * p.in_width + x) * p.channels + channel;
          for (int64_t c = 0; c < channels; ++c) {
            to[c] = sum_of(to[c], where[c] == number ? from[c] : T());
          }
        }
      });
    }
  }
}

// The same, for all elements that equal the largest one.
template <typename T>
void equal_gradient_of_row(const Pooling& p, int64_t row, const T* image, const T* largest,
                           const T* dy, int64_t first, int64_t end, T* HWY_RESTRICT dx) {
  const Window rows = rows_of_window(p, row);
  for (int64_t column = 0; column < p.out_width; ++column) {
    const T *from = dy + column * p.channels, *y = largest + column * p.channels;
    const Window w = at_column(p, rows, column);
    for_each_row(p, w, [&](int64_t line) {
      if (line < first || line >= end) return;
      const int64_t begin = (line * p.in_width + w.left) * p.channels;
      for (int64_t place = begin; place < begin + (w.right - w.left) * p.channels;
           place += p.channels) {
        for (int64_t c = 0; c < p.channels; ++c) {
          dx[place + c] = sum_of(dx[place + c], image[place + c] == y[c] ? from[c] : T());
        }
      }
    });
  }
}

// Spreads a row of gradients, divided by the sizes of the windows, over the width of the input,
// and adds the result to those rows [first, end) that the windows see.
template <typename T>
void average_gradient_of_row(const Pooling& p, int64_t row, const T* dy, int64_t first, int64_t end,
                             T* HWY_RESTRICT scratch, T* HWY_RESTRICT dx) {
  const Window rows = rows_of_window(p, row);
  const int64_t n = p.channels, in_row = p.in_width * n;
  std::fill_n(scratch, in_row, T());
  T part[kChannels];
  for (int64_t column = 0; column < p.out_width; ++column, dy += n) {
    const Window w = at_column(p, rows, column);
    const T count = static_cast<T>(std::max<int64_t>(1, w.size()));
    for (int64_t channel = 0; channel < n; channel += kChannels) {
      const int64_t channels = std::min(kChannels, n - channel);
      for (int64_t c = 0; c < channels; ++c) part[c] = dy[channel + c] / count;
      for (int64_t x = w.left; x < w.right; ++x) {
        T* to = scratch + x * n + channel;
        for (int64_t c = 0; c < channels; ++c) to[c] += part[c];
      }
    }
  }
  for_each_row(p, rows, [&](int64_t line) {
    if (line < first || line >= end) return;
    T* to = dx + line * in_row;
    for (int64_t i = 0; i < in_row; ++i) to[i] += scratch[i];
  });
}

// The elements of `gradient` where the first element of each window stands that equals the largest
// one; 0 where none does.
template <typename T>
void pick_largest_of_row(const Pooling& p, int64_t row, const T* image, const T* largest,
                         const T* gradient, T* HWY_RESTRICT to) {
  const Window rows = rows_of_window(p, row);
  const int64_t n = p.channels;
  std::fill_n(to, p.out_width * n, T());
  for (int64_t column = 0; column < p.out_width; ++column, to += n, largest += n) {
    const Window w = at_column(p, rows, column);
    for (int64_t place = w.size() - 1; place >= 0; --place) {
      const int64_t from = pixel_at(p, w, place) * n;
      for (int64_t c = 0; c < n; ++c) {
        to[c] = image[from + c] == largest[c] ? gradient[from + c] : to[c];
      }
    }
  }
}

// Calls f(row) for the rows of the output whose windows reach into the chunk's rows.
template <typename F>
HWY_INLINE void for_each_reaching_row(const Pooling& p, const Chunk& chunk, const F& f) {
  const auto first_of = [](int64_t index, int64_t pad, int64_t window, int64_t stride) {
    const int64_t above = index + pad - window + 1;
    return above <= 0 ? 0 : (above + stride - 1) / stride;
  };
  const int64_t front = chunk.first / p.in_height, back = (chunk.end - 1) / p.in_height + 1;
  // A chunk of several planes has them whole.
  const int64_t top = back - front > 1 ? 0 : chunk.first % p.in_height;
  const int64_t bottom = back - front > 1 ? p.in_height : (chunk.end - 1) % p.in_height + 1;
  const int64_t end_z =
      std::min(p.out_depth, (back + p.pad_front + p.stride_depth - 1) / p.stride_depth);
  const int64_t end_y =
      std::min(p.out_height, (bottom + p.pad_top + p.stride_height - 1) / p.stride_height);
  for (int64_t z = first_of(front, p.pad_front, p.window_depth, p.stride_depth); z < end_z; ++z) {
    for (int64_t y = first_of(top, p.pad_top, p.window_height, p.stride_height); y < end_y; ++y) {
      f(z * p.out_height + y);
    }
  }
}

template <typename T>
void run(const Pooling& p, const Chunk& chunk) {
  const int64_t in_row = p.in_width * p.channels, out_row = p.out_width * p.channels;
  const int64_t in_image = chunk.image * p.in_depth * p.in_height * in_row;
  const int64_t out_image = chunk.image * p.out_depth * p.out_height * out_row;
  const T* input = chunk.input ? static_cast<const T*>(chunk.input) + in_image : nullptr;
  const T* output = chunk.output ? static_cast<const T*>(chunk.output) + out_image : nullptr;
  const T* gradient = static_cast<const T*>(chunk.gradient);
  T *to = static_cast<T*>(chunk.to), *scratch = static_cast<T*>(chunk.scratch);
  if (is_backward(chunk.task)) {
    to += in_image;
    std::memset(to + chunk.first * in_row, 0,
                static_cast<size_t>((chunk.end - chunk.first) * in_row) * sizeof(T));
    for_each_reaching_row(p, chunk, [&](int64_t row) {
      const T* dy = gradient + out_image + row * out_row;
      if (chunk.task == PoolingTask::kEqualGradient) {
        const T* y = output + row * out_row;
        equal_gradient_of_row(p, row, input, y, dy, chunk.first, chunk.end, to);
      } else if (chunk.task == PoolingTask::kMaxGradient) {
        max_gradient_of_row(p, row, input, dy, chunk.first, chunk.end, to);
      } else if constexpr (std::is_floating_point_v<T>) {
        average_gradient_of_row(p, row, dy, chunk.first, chunk.end, scratch, to);
      }
    });
    return;
  }
  for (int64_t row = chunk.first; row < chunk.end; ++row) {
    T* out = to + out_image + row * out_row;
    if (chunk.places) {
      max_and_places_of_row(p, row, input, chunk.count_batches ? in_image : 0, out,
                            chunk.places + out_image + row * out_row);
    } else if (chunk.task == PoolingTask::kMax) {
      max_of_row(p, row, input, scratch, out);
    } else if (chunk.task == PoolingTask::kPickLargest) {
      pick_largest_of_row(p, row, input, output + row * out_row, gradient + in_image, out);
    } else if constexpr (std::is_floating_point_v<T>) {
      average_of_row(p, row, input, scratch, out);
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

int64_t in_rows(const Pooling& p) { return p.in_depth * p.in_height; }
int64_t out_rows(const Pooling& p) { return p.out_depth * p.out_height; }
int64_t input_size(const Pooling& p) { return p.batch * in_rows(p) * p.in_width * p.channels; }
int64_t output_size(const Pooling& p) { return p.batch * out_rows(p) * p.out_width * p.channels; }

Status out_of_memory(const char* op) {
  return Status(Code::kResourceExhausted, str_cat("[", op, "] no memory for its rows"));
}

// Cuts the rows of the images and runs them on the pool. Short floats are floats by now.
Status run_chunks(const char* op, const Pooling& p, const Chunk& whole) {
  const bool backward = is_backward(whole.task);
  const int64_t height = backward ? in_rows(p) : out_rows(p);
  if (p.batch == 0 || height == 0 || p.channels == 0) return {};
  const int64_t elements_of_row =
      std::max<int64_t>(1, in_rows(p) * p.in_width * p.channels / height);
  int64_t rows = std::clamp<int64_t>(kElementsOfChunk / elements_of_row, 1, height);
  if (backward) {
    // Windows that begin on a chunk's first row end in the chunk before as seldom as can be, and
    // chunks have whole planes or a part of one.
    rows = (rows + p.stride_height - 1) / p.stride_height * p.stride_height;
    if (rows > p.in_height) rows = rows / p.in_height * p.in_height;
    if (rows < p.in_height && p.in_depth > 1) {
      while (p.in_height % rows != 0) --rows;
    }
    rows = std::min(height, rows);
  }
  const int64_t chunks_of_image = (height + rows - 1) / rows;
  const int64_t images =
      rows == height
          ? std::clamp<int64_t>(kElementsOfChunk / (elements_of_row * height), 1, p.batch)
          : 1;
  const int64_t groups = (p.batch + images - 1) / images;
  std::atomic<bool> failed{false};
  ThreadPool::shared().run(groups * chunks_of_image, [&](int64_t i) {
    const ScratchBlock scratch(static_cast<size_t>(p.in_width * p.channels) * dtype_size(p.dtype));
    if (!scratch.get()) {
      failed.store(true, std::memory_order_relaxed);
      return;
    }
    const int64_t first_image = i / chunks_of_image * images;
    Chunk chunk = whole;
    chunk.first = i % chunks_of_image * rows;
    chunk.end = std::min(height, chunk.first + rows);
    chunk.scratch = scratch.get();
    for (int64_t image = first_image; image < std::min(p.batch, first_image + images); ++image) {
      chunk.image = image;
      HWY_DYNAMIC_DISPATCH(run_chunk)(p, chunk);
    }
  });
  return failed ? out_of_memory(op) : Status();
}

Status run_pooling(const char* op, const Pooling& p, const Chunk& whole) {
  const bool is_average =
      whole.task == PoolingTask::kAverage || whole.task == PoolingTask::kAverageGradient;
  if (!(is_average ? kFloatTypes : kRealTypes).contains(p.dtype)) {
    return invalid_argument("[", op, "] takes a ", is_average ? "floating" : "real",
                            " dtype, but got ", dtype_name(p.dtype));
  }
  if (!is_short_float(p.dtype)) return run_chunks(op, p, whole);
  const Floats x(p.dtype, whole.input, whole.input ? input_size(p) : 0);
  const Floats y(p.dtype, whole.output, whole.output ? output_size(p) : 0);
  const int64_t gradient_size =
      whole.task == PoolingTask::kPickLargest ? input_size(p) : output_size(p);
  const Floats dy(p.dtype, whole.gradient, whole.gradient ? gradient_size : 0);
  const Floats result(is_backward(whole.task) ? input_size(p) : output_size(p));
  if (!x.get() || !y.get() || !dy.get() || !result.get()) return out_of_memory(op);
  Pooling in_float = p;
  in_float.dtype = DType::kFloat32;
  Chunk floats = whole;
  floats.input = x.get();
  floats.output = y.get();
  floats.gradient = dy.get();
  floats.to = result.get();
  RETURN_IF_ERROR(run_chunks(op, in_float, floats));
  result.round_to(p.dtype, whole.to);
  return {};
}

}  // namespace

Status max_pool(const Pooling& p, const void* input, void* output) {
  return run_pooling("MaxPool", p, {.task = PoolingTask::kMax, .input = input, .to = output});
}

Status max_pool_with_places(const Pooling& p, bool count_batches, const void* input, void* output,
                            int64_t* places) {
  return run_pooling("MaxPoolWithArgmax", p,
                     {.task = PoolingTask::kMax,
                      .input = input,
                      .to = output,
                      .places = places,
                      .count_batches = count_batches});
}

// The output is not read: the first largest element is found again.
Status max_pool_gradient(const Pooling& p, const void* input, const void*,
                         const void* output_gradient, void* input_gradient) {
  return run_pooling("MaxPoolGrad", p,
                     {.task = PoolingTask::kMaxGradient,
                      .input = input,
                      .gradient = output_gradient,
                      .to = input_gradient});
}

Status max_pool_gradient_of_equals(const Pooling& p, const void* input, const void* output,
                                   const void* output_gradient, void* input_gradient) {
  return run_pooling("MaxPool3DGrad", p,
                     {.task = PoolingTask::kEqualGradient,
                      .input = input,
                      .output = output,
                      .gradient = output_gradient,
                      .to = input_gradient});
}

Status max_pool_gradient_gradient(const Pooling& p, const void* input, const void* output,
                                  const void* gradient, void* output_gradient_gradient) {
  return run_pooling("MaxPoolGradGrad", p,
                     {.task = PoolingTask::kPickLargest,
                      .input = input,
                      .output = output,
                      .gradient = gradient,
                      .to = output_gradient_gradient});
}

Status average_pool(const Pooling& p, const void* input, void* output) {
  return run_pooling("AvgPool", p, {.task = PoolingTask::kAverage, .input = input, .to = output});
}

Status average_pool_gradient(const Pooling& p, const void* output_gradient, void* input_gradient) {
  return run_pooling(
      "AvgPoolGrad", p,
      {.task = PoolingTask::kAverageGradient, .gradient = output_gradient, .to = input_gradient});
}

}  // namespace graven::engine
#endif  // HWY_ONCE
