#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

#include "graven/base/thread_pool.h"
#include "graven/kernels/convolution.h"

namespace graven::engine {
namespace {

Pooling make(DType dtype, int64_t batch, int64_t height, int64_t width, int64_t channels,
             int64_t window_height, int64_t window_width, int64_t stride, int64_t pad_before = 0,
             int64_t pad_after = 0) {
  Pooling p{.dtype = dtype,
            .batch = batch,
            .in_height = height,
            .in_width = width,
            .channels = channels,
            .window_height = window_height,
            .window_width = window_width,
            .out_height = (height + pad_before + pad_after - window_height) / stride + 1,
            .out_width = (width + pad_before + pad_after - window_width) / stride + 1};
  p.stride_height = p.stride_width = stride;
  p.pad_top = p.pad_left = pad_before;
  return p;
}

Pooling with_depth(Pooling p, int64_t depth, int64_t window, int64_t stride, int64_t pad = 0) {
  p.in_depth = depth;
  p.window_depth = window;
  p.stride_depth = stride;
  p.pad_front = pad;
  p.out_depth = (depth + 2 * pad - window) / stride + 1;
  return p;
}

const Pooling kCases[] = {
    make(DType::kFloat32, 2, 6, 8, 5, 2, 2, 2),
    make(DType::kFloat32, 2, 7, 5, 3, 3, 2, 1, 1, 1),
    make(DType::kFloat32, 1, 9, 9, 17, 3, 3, 2, 0, 1),
    make(DType::kFloat32, 3, 8, 10, 4, 2, 2, 3),
    make(DType::kFloat32, 1, 70, 66, 33, 3, 3, 1, 1, 1),
    make(DType::kFloat32, 2, 30, 31, 300, 5, 4, 2, 2, 2),
    make(DType::kFloat32, 40, 14, 14, 32, 2, 2, 2),
    with_depth(make(DType::kFloat32, 2, 6, 5, 3, 3, 2, 2, 1, 1), 5, 3, 1, 1),
    with_depth(make(DType::kFloat32, 1, 30, 31, 17, 3, 3, 1, 1, 1), 9, 2, 2),
    with_depth(make(DType::kFloat32, 2, 4, 4, 2, 2, 2, 2), 40, 3, 1),
};

int64_t in_size(const Pooling& p) {
  return p.batch * p.in_depth * p.in_height * p.in_width * p.channels;
}
int64_t out_size(const Pooling& p) {
  return p.batch * p.out_depth * p.out_height * p.out_width * p.channels;
}

double to_double(Half x) { return static_cast<float>(x); }
double to_double(BFloat16 x) { return static_cast<float>(x); }
template <typename T>
double to_double(T x) {
  return static_cast<double>(x);
}

// Small whole numbers: many ties, and sums that are exact in every dtype.
template <typename T>
std::vector<T> small_numbers(int64_t count, int seed) {
  std::mt19937 random(seed);
  std::vector<T> elements(static_cast<size_t>(count));
  for (T& x : elements) {
    const int value = static_cast<int>(random() % 8);
    if constexpr (std::is_unsigned_v<T>) {
      x = static_cast<T>(value);
    } else if constexpr (std::is_integral_v<T>) {
      x = static_cast<T>(value - 4);
    } else {
      x = T(static_cast<float>(value - 4));
    }
  }
  return elements;
}

// Calls f(output element, elements of its window in row-major order).
template <typename F>
void for_each_window(const Pooling& p, const F& f) {
  const auto inside = [](int64_t i, int64_t size) { return i >= 0 && i < size; };
  for (int64_t out = 0; out < out_size(p); ++out) {
    const int64_t c = out % p.channels, column = out / p.channels;
    const int64_t ox = column % p.out_width, row = column / p.out_width;
    const int64_t oy = row % p.out_height, plane = row / p.out_height;
    const int64_t oz = plane % p.out_depth, n = plane / p.out_depth;
    std::vector<int64_t> places;
    for (int64_t k = 0; k < p.window_depth; ++k) {
      for (int64_t i = 0; i < p.window_height; ++i) {
        for (int64_t j = 0; j < p.window_width; ++j) {
          const int64_t z = oz * p.stride_depth - p.pad_front + k;
          const int64_t y = oy * p.stride_height - p.pad_top + i;
          const int64_t x = ox * p.stride_width - p.pad_left + j;
          if (!inside(z, p.in_depth) || !inside(y, p.in_height) || !inside(x, p.in_width)) continue;
          places.push_back(
              (((n * p.in_depth + z) * p.in_height + y) * p.in_width + x) * p.channels + c);
        }
      }
    }
    f(out, places);
  }
}

// The first unless another one is greater.
template <typename T>
int64_t first_largest(const std::vector<T>& x, const std::vector<int64_t>& places) {
  int64_t best = places[0];
  for (int64_t place : places) {
    if (to_double(x[place]) > to_double(x[best])) best = place;
  }
  return best;
}

// The largest element that is no NaN.
template <typename T>
double largest_number(const std::vector<T>& x, const std::vector<int64_t>& places) {
  double largest = -std::numeric_limits<double>::infinity();
  for (int64_t place : places) largest = std::fmax(largest, to_double(x[place]));
  return largest;
}

template <typename T>
bool same(const std::vector<double>& expected, const std::vector<T>& got) {
  for (size_t i = 0; i < expected.size(); ++i) {
    const double x = to_double(got[i]);
    if (expected[i] != x && !(std::isnan(expected[i]) && std::isnan(x))) return false;
  }
  return true;
}

template <typename T>
void check_max(Pooling p, bool with_nan) {
  p.dtype = kDTypeOf<T>;
  std::vector<T> x = small_numbers<T>(in_size(p), 1);
  if constexpr (!std::is_integral_v<T>) {
    if (with_nan) {
      for (size_t i = 0; i < x.size(); i += 13) x[i] = T(std::numeric_limits<float>::quiet_NaN());
      for (size_t i = 1; i < x.size(); i += 7) x[i] = T(-std::numeric_limits<float>::infinity());
    }
  }
  const std::vector<T> dy = small_numbers<T>(out_size(p), 2), g = small_numbers<T>(in_size(p), 3);
  std::vector<double> expected_y(dy.size()), expected_dx(x.size()), expected_picked(dy.size());
  std::vector<double> expected_largest(dy.size()), expected_of_equals(x.size());
  std::vector<int64_t> expected_places(dy.size()), at(dy.size());
  for_each_window(p, [&](int64_t out, const std::vector<int64_t>& places) {
    const int64_t largest = first_largest(x, places);
    expected_places[out] = largest;
    expected_largest[out] = to_double(x[largest]);
    expected_dx[largest] += to_double(dy[out]);
    const double y = expected_y[out] = largest_number(x, places);
    for (auto place = places.rbegin(); place != places.rend(); ++place) {
      if (to_double(x[*place]) != y) continue;
      expected_picked[out] = to_double(g[*place]);
      expected_of_equals[*place] += to_double(dy[out]);
    }
  });
  std::vector<T> y(dy.size(), T(7)), dx(x.size(), T(7)), picked(dy.size(), T(7));
  std::vector<T> largest(dy.size(), T(7)), dx_of_equals(x.size(), T(7));
  REQUIRE(max_pool(p, x.data(), y.data()).ok());
  REQUIRE(max_pool_gradient(p, x.data(), y.data(), dy.data(), dx.data()).ok());
  REQUIRE(max_pool_gradient_gradient(p, x.data(), y.data(), g.data(), picked.data()).ok());
  REQUIRE(max_pool_gradient_of_equals(p, x.data(), y.data(), dy.data(), dx_of_equals.data()).ok());
  REQUIRE(max_pool_with_places(p, true, x.data(), largest.data(), at.data()).ok());
  CAPTURE(dtype_name(p.dtype));
  CHECK(same(expected_y, y));
  CHECK(same(expected_dx, dx));
  CHECK(same(expected_picked, picked));
  CHECK(same(expected_of_equals, dx_of_equals));
  CHECK(same(expected_largest, largest));
  CHECK(expected_places == at);
}

TEST_CASE("the maximum, and its gradients, which go to the first of equals") {
  for (const Pooling& p : kCases) {
    check_max<float>(p, false);
    check_max<double>(p, false);
    check_max<Half>(p, false);
    check_max<BFloat16>(p, false);
    check_max<int8_t>(p, false);
    check_max<uint16_t>(p, false);
    check_max<int32_t>(p, false);
    check_max<uint64_t>(p, false);
  }
}

TEST_CASE("NaN is passed over, but for gradients in the first place") {
  for (const Pooling& p : kCases) {
    check_max<float>(p, true);
    check_max<double>(p, true);
    check_max<Half>(p, true);
  }
}

TEST_CASE("the maximum of minus infinities is minus infinity") {
  const Pooling p = make(DType::kFloat32, 1, 2, 2, 3, 2, 2, 2);
  const std::vector<float> x(12, -std::numeric_limits<float>::infinity());
  std::vector<float> y(3);
  REQUIRE(max_pool(p, x.data(), y.data()).ok());
  for (float value : y) CHECK(value == -std::numeric_limits<float>::infinity());
}

template <typename T>
void check_average(Pooling p, double tolerance) {
  p.dtype = kDTypeOf<T>;
  const std::vector<T> x = small_numbers<T>(in_size(p), 1), dy = small_numbers<T>(out_size(p), 2);
  std::vector<double> expected_y(dy.size()), expected_dx(x.size());
  for_each_window(p, [&](int64_t out, const std::vector<int64_t>& places) {
    const auto count = static_cast<double>(places.size());
    for (int64_t place : places) {
      expected_y[out] += to_double(x[place]) / count;
      expected_dx[place] += to_double(dy[out]) / count;
    }
  });
  std::vector<T> y(dy.size(), T(7)), dx(x.size(), T(7));
  REQUIRE(average_pool(p, x.data(), y.data()).ok());
  REQUIRE(average_pool_gradient(p, dy.data(), dx.data()).ok());
  double worst = 0;
  for (size_t i = 0; i < y.size(); ++i) {
    worst = std::max(worst, std::abs(to_double(y[i]) - expected_y[i]));
  }
  for (size_t i = 0; i < dx.size(); ++i) {
    worst = std::max(worst, std::abs(to_double(dx[i]) - expected_dx[i]));
  }
  CHECK(worst <= tolerance);
}

TEST_CASE("the average divides by the elements inside, and so does its gradient") {
  for (const Pooling& p : kCases) {
    check_average<float>(p, 1e-5);
    check_average<double>(p, 1e-13);
    check_average<Half>(p, 0x1p-6);
    check_average<BFloat16>(p, 0x1p-3);
  }
}

TEST_CASE("any number of threads gives the same bits of a pooling") {
  const Pooling p = kCases[4];
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  std::vector<float> x(in_size(p)), dy(out_size(p)), y(dy.size());
  for (float& value : x) value = normal(random);
  for (float& value : dy) value = normal(random);
  std::vector<float> first;
  for (int threads : {1, 2, 3}) {
    ThreadPool::shared().set_num_threads(threads);
    std::vector<float> all(3 * x.size());
    REQUIRE(max_pool_gradient(p, x.data(), y.data(), dy.data(), all.data()).ok());
    REQUIRE(average_pool_gradient(p, dy.data(), all.data() + x.size()).ok());
    REQUIRE(average_pool(p, x.data(), all.data() + 2 * x.size()).ok());
    if (threads == 1) first = all;
    CHECK(std::memcmp(first.data(), all.data(), all.size() * sizeof(float)) == 0);
  }
  ThreadPool::shared().set_num_threads(0);
}

TEST_CASE("pooling of nothing does nothing") {
  CHECK(max_pool(make(DType::kFloat32, 0, 4, 4, 3, 2, 2, 2), nullptr, nullptr).ok());
  CHECK(average_pool(make(DType::kHalf, 2, 4, 4, 0, 2, 2, 2), nullptr, nullptr).ok());
  const Pooling no_output{.dtype = DType::kFloat32,
                          .batch = 1,
                          .in_height = 2,
                          .in_width = 2,
                          .channels = 1,
                          .window_height = 3,
                          .window_width = 3,
                          .out_height = 0,
                          .out_width = 0};
  std::vector<float> dx(4, 7);
  REQUIRE(average_pool_gradient(no_output, dx.data(), dx.data()).ok());
  for (float x : dx) CHECK(x == 0);
}

TEST_CASE("dtypes that have no order or no quotient are refused by name") {
  CHECK(max_pool(make(DType::kComplex64, 1, 4, 4, 3, 2, 2, 2), nullptr, nullptr).message() ==
        "[MaxPool] takes a real dtype, but got complex64");
  CHECK(average_pool(make(DType::kInt32, 1, 4, 4, 3, 2, 2, 2), nullptr, nullptr).message() ==
        "[AvgPool] takes a floating dtype, but got int32");
}

}  // namespace
}  // namespace graven::engine
