#include "graven/kernels/convolution.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <type_traits>
#include <vector>

#include "graven/base/thread_pool.h"
#include "graven/kernels/convolution_cache.h"
#include "graven/kernels/convolution_pieces.h"
#include "graven/kernels/depthwise.h"
#include "graven/kernels/im2col.h"
#include "graven/kernels/onednn.h"
#include "graven/kernels/panels.h"
#include "graven/kernels/scratch_block.h"
#include "graven/kernels/short_floats.h"

namespace graven::engine {
namespace {

// Multiplications that are worth a chunk of their own, about ten microseconds.
constexpr double kWorthAChunk = 1 << 20;
constexpr int64_t kMaxPieces = 32;
// A piece of the filter's gradient is a whole filter, which has to be added: one for each so many
// pixels of the output at most, and not more than so many bytes of them.
constexpr int64_t kMinPixelsOfSum = 256;
constexpr int64_t kMaxBytesOfSums = 64 << 20;
// Every piece reads the whole filter, from beyond the second-level cache if it is large; it is
// then to be used for so many pixels ([8,7,7,512] to 512 took twice as long in slabs of 14).
constexpr int64_t kBytesOfLargeFilter = 512 << 10, kPixelsOfLargeFilter = 128;
// oneDNN computes the input's gradient for 16 channels at a time, most of it for nothing where
// there are fewer than this; im2col takes as long ([64,28,28,1] from 32: 2.7 ms against 2.4 on one
// busy Zen 5 core).
constexpr int64_t kFewChannels = 8;
// A call of oneDNN takes 2.5 us beside its work: it packs the filter, and no signal may interrupt
// it. im2col is done by then with so many multiplications, and pixels of 25 ns each.
constexpr double kFewMultiplications = 4096;
constexpr int64_t kFewPixels = 100;
// Elements that one chunk converts, clears or adds up.
constexpr int64_t kElementsOfChunk = 32 << 10;

constexpr DTypeSet kConvolutionTypes = kFloatTypes | DTypeSet{DType::kInt32, DType::kInt64};

Status check_dtype(const Convolution& c) {
  if (kConvolutionTypes.contains(c.dtype)) return {};
  return invalid_argument("[Conv2D] takes a floating dtype, int32 or int64, but got ",
                          dtype_name(c.dtype));
}

Status out_of_memory() {
  return Status(Code::kResourceExhausted, "[Conv2D] no memory to compute the convolution in");
}

int64_t divide_up(int64_t value, int64_t divisor) { return (value + divisor - 1) / divisor; }

int64_t input_size(const Convolution& c) {
  return c.batch * c.in_depth * c.in_height * c.in_width * c.in_channels;
}
int64_t output_pixels(const Convolution& c) {
  return c.batch * c.out_depth * c.out_height * c.out_width;
}
int64_t output_size(const Convolution& c) { return output_pixels(c) * c.out_channels; }
int64_t filter_size(const Convolution& c) {
  return c.filter_depth * c.filter_height * c.filter_width * (c.in_channels / c.groups) *
         c.out_channels;
}
size_t bytes_of(const Convolution& c, int64_t elements) {
  return static_cast<size_t>(elements) * dtype_size(c.dtype);
}

// The same convolution with the lower and right paddings that its output's size implies, which
// may be negative by less than a stride.
Convolution with_exact_padding(Convolution c) {
  const int64_t depth = (c.filter_depth - 1) * c.dilation_depth + 1;
  const int64_t height = (c.filter_height - 1) * c.dilation_height + 1;
  const int64_t width = (c.filter_width - 1) * c.dilation_width + 1;
  c.pad_back = (c.out_depth - 1) * c.stride_depth + depth - c.in_depth - c.pad_front;
  c.pad_bottom = (c.out_height - 1) * c.stride_height + height - c.in_height - c.pad_top;
  c.pad_right = (c.out_width - 1) * c.stride_width + width - c.in_width - c.pad_left;
  return c;
}

int64_t wanted_pieces(const Convolution& c) {
  return std::max<int64_t>(1,
                           static_cast<int64_t>(std::min<double>(convolution_cost(c) / kWorthAChunk,
                                                                 static_cast<double>(kMaxPieces))));
}

// Calls f(first, count) for runs of elements, on the pool.
template <typename F>
void for_each_run(int64_t elements, const F& f) {
  ThreadPool::shared().run(divide_up(elements, kElementsOfChunk), [&](int64_t chunk) {
    const int64_t first = chunk * kElementsOfChunk;
    f(first, std::min(kElementsOfChunk, elements - first));
  });
}

// A slab of padding alone, or one that no window reads.
bool reads_nothing(const Convolution& c) {
  return std::min({c.in_depth, c.in_height, c.out_depth, c.out_height}) == 0;
}

// The compiled convolutions of all pieces, most of which share one shape, and the filter packed
// for each.
class Compiled {
 public:
  // False if oneDNN lacks one of them.
  bool compile(const OneDnn& library, const std::vector<ConvolutionPiece>& pieces,
               ConvolutionDirection direction) {
    of_piece_.reserve(pieces.size());
    for (const ConvolutionPiece& piece : pieces) {
      if (reads_nothing(piece.shape)) {
        of_piece_.push_back(kNone);
        continue;
      }
      size_t i = 0;
      while (i < per_shape_.size() && !(per_shape_[i].shape == piece.shape)) ++i;
      if (i == per_shape_.size()) {
        auto convolution = cached_convolution(library, piece.shape, direction);
        if (!convolution) {
          of_piece_.clear();
          return false;
        }
        per_shape_.push_back({piece.shape, std::move(convolution), nullptr});
      }
      of_piece_.push_back(i);
    }
    return true;
  }

  Status pack(const float* filter) {
    for (PerShape& one : per_shape_) {
      one.filter = std::make_unique<ScratchBlock>(one.convolution->packed_filter_bytes());
      if (!one.filter->get()) return out_of_memory();
    }
    std::atomic<bool> failed{false};
    ThreadPool::shared().run(static_cast<int64_t>(per_shape_.size()), [&](int64_t i) {
      if (!per_shape_[i].convolution->pack_filter(filter, per_shape_[i].filter->get()))
        failed = true;
    });
    return failed ? out_of_memory() : Status();
  }

  // False for a slab of nothing but padding, and if compile() was not called.
  bool has(int64_t piece) const { return !of_piece_.empty() && of_piece_[piece] != kNone; }
  const OneDnnConvolution& operator[](int64_t piece) const {
    return *per_shape_[of_piece_[piece]].convolution;
  }
  void* filter(int64_t piece) const { return per_shape_[of_piece_[piece]].filter->get(); }

 private:
  static constexpr size_t kNone = -1;
  struct PerShape {
    Convolution shape;
    std::shared_ptr<const OneDnnConvolution> convolution;
    std::unique_ptr<ScratchBlock> filter;
  };
  std::vector<PerShape> per_shape_;
  std::vector<size_t> of_piece_;
};

// Runs the pieces on the pool, each with a scratch block of its own.
template <typename BytesOf, typename Body>
Status run_pieces(size_t count, const BytesOf& bytes_of, const Body& body) {
  std::atomic<bool> failed{false};
  ThreadPool::shared().run(static_cast<int64_t>(count), [&](int64_t i) {
    const ScratchBlock scratch(bytes_of(i));
    if (!scratch.get() || !body(i, scratch.get())) failed.store(true, std::memory_order_relaxed);
  });
  return failed ? out_of_memory() : Status();
}

// Forward and input gradient: each piece writes its part of the result.
Status run_with_filter(const Convolution& c, ConvolutionDirection direction, void* input,
                       const void* filter, void* output, const PanelDone* done) {
  const bool forward = direction == ConvolutionDirection::kForward;
  int64_t wanted = wanted_pieces(c);
  if (static_cast<int64_t>(bytes_of(c, filter_size(c))) > kBytesOfLargeFilter) {
    wanted = std::clamp<int64_t>(output_pixels(c) / kPixelsOfLargeFilter, 1, wanted);
  }
  const std::vector<ConvolutionPiece> pieces =
      forward ? cut_output(c, wanted) : cut_input(c, wanted);
  const auto size = static_cast<int64_t>(dtype_size(c.dtype));
  auto input_of = [&](const ConvolutionPiece& piece) {
    return static_cast<std::byte*>(input) + piece.input_offset * size;
  };
  auto output_of = [&](const ConvolutionPiece& piece) {
    return static_cast<std::byte*>(output) + piece.output_offset * size;
  };
  auto report = [&](const ConvolutionPiece& piece) {
    const Convolution& s = piece.shape;
    if (forward) {
      (*done)({piece.output_offset / s.out_channels, output_pixels(s), 0, s.out_channels});
    } else {
      (*done)(
          {piece.input_offset / s.in_channels, input_size(s) / s.in_channels, 0, s.in_channels});
    }
  };
  const bool refused = (!forward && c.groups == 1 && c.in_channels < kFewChannels) ||
                       (convolution_cost(c) < kFewMultiplications && output_pixels(c) < kFewPixels);
  const OneDnn* library = c.dtype == DType::kFloat32 && !refused ? onednn() : nullptr;
  Compiled compiled;
  if (library && compiled.compile(*library, pieces, direction)) {
    RETURN_IF_ERROR(compiled.pack(static_cast<const float*>(filter)));
  }
  return run_pieces(
      pieces.size(),
      [&](int64_t i) {
        return compiled.has(i)                 ? compiled[i].scratch_bytes()
               : is_depthwise(pieces[i].shape) ? 0
                                               : im2col_scratch(pieces[i].shape);
      },
      [&](int64_t i, void* scratch) {
        std::byte* x = input_of(pieces[i]);
        std::byte* y = output_of(pieces[i]);
        if (compiled.has(i)) {
          if (!compiled[i].run(reinterpret_cast<float*>(x), compiled.filter(i),
                               reinterpret_cast<float*>(y), scratch)) {
            return false;
          }
        } else if (is_depthwise(pieces[i].shape)) {
          if (forward) {
            depthwise_forward(pieces[i].shape, x, filter, y);
          } else {
            depthwise_input_gradient(pieces[i].shape, filter, y, x);
          }
        } else if (forward) {
          im2col_forward(pieces[i].shape, x, filter, y, scratch);
        } else {
          im2col_input_gradient(pieces[i].shape, filter, y, x, scratch);
        }
        if (done) report(pieces[i]);
        return true;
      });
}

// Adds `count` partial sums, each of `elements`, in index order.
template <typename T>
void add_in_order(const T* sums, int64_t count, int64_t elements, T* total) {
  for_each_run(elements, [&](int64_t first, int64_t length) {
    std::memcpy(total + first, sums + first, static_cast<size_t>(length) * sizeof(T));
    for (int64_t i = 1; i < count; ++i) {
      const T* sum = sums + i * elements + first;
      for (int64_t j = 0; j < length; ++j) {
        if constexpr (std::is_integral_v<T>) {
          using Unsigned = std::make_unsigned_t<T>;
          total[first + j] = static_cast<T>(static_cast<Unsigned>(total[first + j]) +
                                            static_cast<Unsigned>(sum[j]));
        } else {
          total[first + j] += sum[j];
        }
      }
    }
  });
}

Status run_filter_gradient(const Convolution& c, const void* input, const void* output_gradient,
                           void* filter_gradient) {
  const int64_t pixels = output_pixels(c);
  const auto filter_bytes = static_cast<int64_t>(bytes_of(c, filter_size(c)));
  const int64_t wanted =
      std::clamp<int64_t>(std::min({wanted_pieces(c), pixels / kMinPixelsOfSum,
                                    kMaxBytesOfSums / std::max<int64_t>(1, filter_bytes)}),
                          1, kMaxPieces);
  const std::vector<ConvolutionPiece> pieces = cut_output(c, wanted);
  const auto count = static_cast<int64_t>(pieces.size());
  const auto size = static_cast<int64_t>(dtype_size(c.dtype));
  const ScratchBlock sums(count > 1 ? static_cast<size_t>(count * filter_bytes) : 0);
  if (!sums.get()) return out_of_memory();
  auto sum_of = [&](int64_t i) {
    return count > 1 ? static_cast<std::byte*>(sums.get()) + i * filter_bytes
                     : static_cast<std::byte*>(filter_gradient);
  };
  auto x_of = [&](int64_t i) {
    return static_cast<const std::byte*>(input) + pieces[i].input_offset * size;
  };
  auto dy_of = [&](int64_t i) {
    return static_cast<const std::byte*>(output_gradient) + pieces[i].output_offset * size;
  };
  const OneDnn* library = c.dtype == DType::kFloat32 ? onednn() : nullptr;
  Compiled compiled;
  if (library) compiled.compile(*library, pieces, ConvolutionDirection::kFilterGradient);
  auto scratch_of = [&](int64_t i) { return (compiled[i].scratch_bytes() + 63) / 64 * 64; };
  RETURN_IF_ERROR(run_pieces(
      pieces.size(),
      [&](int64_t i) {
        return compiled.has(i)                 ? scratch_of(i) + compiled[i].packed_filter_bytes()
               : is_depthwise(pieces[i].shape) ? 0
                                               : im2col_scratch(pieces[i].shape);
      },
      [&](int64_t i, void* scratch) {
        if (!compiled.has(i) && is_depthwise(pieces[i].shape)) {
          depthwise_filter_gradient(pieces[i].shape, x_of(i), dy_of(i), sum_of(i));
          return true;
        }
        if (!compiled.has(i)) {
          im2col_filter_gradient(pieces[i].shape, x_of(i), dy_of(i), sum_of(i), scratch);
          return true;
        }
        void* packed = static_cast<std::byte*>(scratch) + scratch_of(i);
        return compiled[i].run(const_cast<float*>(reinterpret_cast<const float*>(x_of(i))), packed,
                               const_cast<float*>(reinterpret_cast<const float*>(dy_of(i))),
                               scratch) &&
               compiled[i].unpack_filter(packed, reinterpret_cast<float*>(sum_of(i)));
      }));
  if (count == 1) return {};
  visit_plain(c.dtype, [&](auto zero) {
    using T = decltype(zero);
    if constexpr (std::is_arithmetic_v<T> && !std::is_same_v<T, bool>) {
      add_in_order(static_cast<const T*>(sums.get()), count, filter_size(c),
                   static_cast<T*>(filter_gradient));
    }
  });
  return {};
}

Convolution in_float(Convolution c) {
  c.dtype = DType::kFloat32;
  return c;
}

}  // namespace

Status convolution_forward(const Convolution& convolution, const void* input, const void* filter,
                           void* output, const PanelDone* done) {
  RETURN_IF_ERROR(check_dtype(convolution));
  const Convolution c = with_exact_padding(convolution);
  if (output_size(c) == 0) return {};
  const int64_t pixels = output_size(c) / c.out_channels;
  if (input_size(c) == 0 || filter_size(c) == 0) {
    std::memset(output, 0, bytes_of(c, output_size(c)));
    report_rows(done, pixels, c.out_channels);
    return {};
  }
  if (!is_short_float(c.dtype)) {
    return run_with_filter(c, ConvolutionDirection::kForward, const_cast<void*>(input), filter,
                           output, done);
  }
  const Floats x(c.dtype, input, input_size(c)), w(c.dtype, filter, filter_size(c));
  const Floats y(output_size(c));
  if (!x.get() || !w.get() || !y.get()) return out_of_memory();
  RETURN_IF_ERROR(run_with_filter(in_float(c), ConvolutionDirection::kForward, x.get(), w.get(),
                                  y.get(),
                                  /*done=*/nullptr));
  y.round_to(c.dtype, output);
  report_rows(done, pixels, c.out_channels);
  return {};
}

Status convolution_input_gradient(const Convolution& convolution, const void* filter,
                                  const void* output_gradient, void* input_gradient,
                                  const PanelDone* done) {
  RETURN_IF_ERROR(check_dtype(convolution));
  const Convolution c = with_exact_padding(convolution);
  if (input_size(c) == 0) return {};
  const int64_t pixels = input_size(c) / c.in_channels;
  if (output_size(c) == 0 || filter_size(c) == 0) {
    std::memset(input_gradient, 0, bytes_of(c, input_size(c)));
    report_rows(done, pixels, c.in_channels);
    return {};
  }
  if (!is_short_float(c.dtype)) {
    return run_with_filter(c, ConvolutionDirection::kInputGradient, input_gradient, filter,
                           const_cast<void*>(output_gradient), done);
  }
  const Floats w(c.dtype, filter, filter_size(c)), dy(c.dtype, output_gradient, output_size(c));
  const Floats dx(input_size(c));
  if (!w.get() || !dy.get() || !dx.get()) return out_of_memory();
  RETURN_IF_ERROR(run_with_filter(in_float(c), ConvolutionDirection::kInputGradient, dx.get(),
                                  w.get(), dy.get(), /*done=*/nullptr));
  dx.round_to(c.dtype, input_gradient);
  report_rows(done, pixels, c.in_channels);
  return {};
}

Status convolution_filter_gradient(const Convolution& convolution, const void* input,
                                   const void* output_gradient, void* filter_gradient) {
  RETURN_IF_ERROR(check_dtype(convolution));
  const Convolution c = with_exact_padding(convolution);
  if (filter_size(c) == 0) return {};
  if (input_size(c) == 0 || output_size(c) == 0) {
    std::memset(filter_gradient, 0, bytes_of(c, filter_size(c)));
    return {};
  }
  if (!is_short_float(c.dtype)) {
    return run_filter_gradient(c, input, output_gradient, filter_gradient);
  }
  const Floats x(c.dtype, input, input_size(c)), dy(c.dtype, output_gradient, output_size(c));
  const Floats dw(filter_size(c));
  if (!x.get() || !dy.get() || !dw.get()) return out_of_memory();
  RETURN_IF_ERROR(run_filter_gradient(in_float(c), x.get(), dy.get(), dw.get()));
  dw.round_to(c.dtype, filter_gradient);
  return {};
}

}  // namespace graven::engine
