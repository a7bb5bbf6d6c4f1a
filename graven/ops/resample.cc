#include "graven/ops/resample.h"

#include <algorithm>
#include <limits>
#include <type_traits>

#include "graven/ops/elements.h"

namespace graven::engine {

Taps transposed(const Taps& taps, int64_t size) {
  const int64_t none = std::numeric_limits<int64_t>::max();
  std::vector<int64_t> first(static_cast<size_t>(size), none), last(static_cast<size_t>(size), -1);
  for (int64_t place = 0; place < taps.size(); ++place) {
    for (int64_t i = 0; i < taps.count(place); ++i) {
      const int64_t source = taps.starts[place] + i;
      first[source] = std::min(first[source], place);
      last[source] = place;
    }
  }
  Taps result;
  for (int64_t source = 0; source < size; ++source) {
    const int64_t begin = last[source] < 0 ? 0 : first[source];
    for (int64_t place = begin; place <= last[source]; ++place) {
      const int64_t i = source - taps.starts[place];
      const bool is_read = i >= 0 && i < taps.count(place);
      result.weights.push_back(is_read ? taps.weights[taps.first_weight(place) + i] : 0);
    }
    result.add(begin);
  }
  return result;
}

namespace {

// How many elements a thread computes before it looks for more work.
constexpr int64_t kElementsPerChunk = 1 << 15;

template <typename A, typename From>
A as(From x) {
  return static_cast<A>(x);
}

// sums = the weighted sum of rows of n elements, `stride` apart.
template <typename From, typename A>
void sum_rows(const From* from, int64_t stride, const float* weights, int64_t count, int64_t n,
              A* sums) {
  if (count == 0) return static_cast<void>(std::fill_n(sums, n, A(0)));
  int64_t done = 0;
  if (count == 1) {
    const A w = weights[0];
    for (int64_t j = 0; j < n; ++j) sums[j] = w * as<A>(from[j]);
    done = 1;
  } else {
    const A w0 = weights[0], w1 = weights[1];
    const From* next = from + stride;
    for (int64_t j = 0; j < n; ++j) sums[j] = w0 * as<A>(from[j]) + w1 * as<A>(next[j]);
    done = 2;
  }
  for (; done + 1 < count; done += 2) {
    const A w0 = weights[done], w1 = weights[done + 1];
    const From* row = from + done * stride;
    const From* next = row + stride;
    for (int64_t j = 0; j < n; ++j) {
      sums[j] = sums[j] + w0 * as<A>(row[j]) + w1 * as<A>(next[j]);
    }
  }
  if (done < count) {
    const A w = weights[done];
    const From* row = from + done * stride;
    for (int64_t j = 0; j < n; ++j) sums[j] += w * as<A>(row[j]);
  }
}

// One pixel of `lanes` channels: the weighted sum of `count` pixels that lie `stride` apart.
template <int lanes, typename A, typename To>
void sum_pixels(const A* from, int64_t stride, const float* weights, int64_t count, int64_t stored,
                To* to) {
  A sums[lanes] = {};
  for (int64_t i = 0; i < count; ++i) {
    const A w = weights[i];
    for (int j = 0; j < lanes; ++j) sums[j] += w * from[i * stride + j];
  }
  for (int64_t j = 0; j < stored; ++j) to[j] = static_cast<To>(sums[j]);
}

// A row of pixels of so many channels, 0 for any number. `from` may be read `lanes` elements beyond
// its end.
template <int channels, typename A, typename To>
void sum_columns(const A* from, const Taps& columns, int64_t num_channels, To* to) {
  constexpr int kLanes = 16;
  for (int64_t x = 0; x < columns.size(); ++x) {
    const float* weights = columns.weights.data() + columns.first_weight(x);
    const int64_t count = columns.count(x);
    const A* pixels = from + columns.starts[x] * num_channels;
    To* pixel = to + x * num_channels;
    if constexpr (channels == 3) {
      sum_pixels<4>(pixels, 3, weights, count, 3, pixel);
    } else if constexpr (channels > 0) {
      sum_pixels<channels>(pixels, channels, weights, count, channels, pixel);
    } else {
      for (int64_t j = 0; j < num_channels; j += kLanes) {
        if (j + kLanes <= num_channels) {
          sum_pixels<kLanes>(pixels + j, num_channels, weights, count, kLanes, pixel + j);
        } else {
          sum_pixels<kLanes>(pixels + j, num_channels, weights, count, num_channels - j, pixel + j);
        }
      }
    }
  }
}

template <typename From, typename To>
Status resample_as(const Tensor& source, const Taps& rows, const Taps& columns, const Tensor& to) {
  using A = std::conditional_t<std::is_same_v<To, double>, double, float>;
  constexpr int64_t kBeyond = 16;
  const int64_t in_height = source.shape().size(1), in_width = source.shape().size(2);
  const int64_t channels = source.shape().size(3), row_size = in_width * channels;
  const int64_t height = rows.size(), out_size = columns.size() * channels;
  const From* from = source.data<From>().data();
  To* result = to.mutable_data<To>().data();
  const auto per = [](const Taps& taps) {
    return static_cast<int64_t>(taps.weights.size()) / std::max<int64_t>(taps.size(), 1) + 1;
  };
  const int64_t work = (row_size * per(rows) + out_size * per(columns)) / 4;
  for_ranges(source.shape().size(0) * height, kElementsPerChunk / std::max<int64_t>(work, 1),
             [&](int64_t begin, int64_t end) {
               std::vector<A> sums(static_cast<size_t>(row_size + kBeyond));
               for (int64_t row = begin; row < end; ++row) {
                 const int64_t image = row / height, y = row % height;
                 sum_rows(from + (image * in_height + rows.starts[y]) * row_size, row_size,
                          rows.weights.data() + rows.first_weight(y), rows.count(y), row_size,
                          sums.data());
                 To* pixels = result + row * out_size;
                 if (channels == 1) {
                   sum_columns<1>(sums.data(), columns, channels, pixels);
                 } else if (channels == 3) {
                   sum_columns<3>(sums.data(), columns, channels, pixels);
                 } else if (channels == 4) {
                   sum_columns<4>(sums.data(), columns, channels, pixels);
                 } else {
                   sum_columns<0>(sums.data(), columns, channels, pixels);
                 }
               }
             });
  return {};
}

}  // namespace

Status resample(const Tensor& from, const Taps& rows, const Taps& columns, const Tensor& to) {
  if (to.num_elements() == 0) return {};
  if (to.dtype() != DType::kFloat32) {
    return visit_plain(to.dtype(), [&](auto zero) -> Status {
      using To = decltype(zero);
      if constexpr (is_floating(kDTypeOf<To>))
        return resample_as<float, To>(from, rows, columns, to);
      return internal_error("images are resampled to floats");
    });
  }
  return visit_plain(from.dtype(), [&](auto zero) -> Status {
    using From = decltype(zero);
    if constexpr (kRealTypes.contains(kDTypeOf<From>)) {
      return resample_as<From, float>(from, rows, columns, to);
    }
    return internal_error("images are real numbers");
  });
}

}  // namespace graven::engine
