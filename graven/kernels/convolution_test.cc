#include "graven/kernels/convolution.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

#include "graven/base/thread_pool.h"
#include "graven/kernels/convolution_pieces.h"
#include "graven/kernels/im2col.h"
#include "graven/kernels/onednn.h"
#include "graven/kernels/panels_testing.h"
#include "graven/tensor/allocator.h"

namespace graven::engine {
namespace {

int64_t out_size(int64_t in, int64_t filter, int64_t stride, int64_t dilation, int64_t padding) {
  return std::max<int64_t>(0, (in + padding - (filter - 1) * dilation - 1) / stride + 1);
}

struct Case {
  int64_t batch, height, width, in, out, filter_height, filter_width;
  int64_t stride = 1, dilation = 1, pad_before = 0, pad_after = 0, groups = 1;
  int64_t depth = 1, filter_depth = 1, stride_depth = 1, dilation_depth = 1, pad_depth = 0;
};

Convolution make(const Case& x, DType dtype = DType::kFloat32) {
  Convolution c{.dtype = dtype,
                .batch = x.batch,
                .in_height = x.height,
                .in_width = x.width,
                .in_channels = x.in,
                .filter_height = x.filter_height,
                .filter_width = x.filter_width,
                .out_channels = x.out,
                .out_height = 0,
                .out_width = 0};
  c.stride_height = c.stride_width = x.stride;
  c.dilation_height = c.dilation_width = x.dilation;
  c.pad_top = c.pad_left = x.pad_before;
  c.pad_bottom = c.pad_right = x.pad_after;
  c.groups = x.groups;
  const int64_t padding = x.pad_before + x.pad_after;
  c.out_height = out_size(x.height, x.filter_height, x.stride, x.dilation, padding);
  c.out_width = out_size(x.width, x.filter_width, x.stride, x.dilation, padding);
  c.in_depth = x.depth;
  c.filter_depth = x.filter_depth;
  c.stride_depth = x.stride_depth;
  c.dilation_depth = x.dilation_depth;
  c.pad_front = c.pad_back = x.pad_depth;
  c.out_depth =
      out_size(x.depth, x.filter_depth, x.stride_depth, x.dilation_depth, 2 * x.pad_depth);
  return c;
}

// Odd sizes, strides, dilations, uneven paddings, groups, depthwise, windows larger than strides
// and strides larger than windows, one channel, a single large image (cut in slabs of rows);
// volumes (cut in slabs of planes), the planes of which may lie in the padding.
const Case kCases[] = {
    {2, 5, 7, 3, 4, 3, 3},
    {1, 6, 5, 1, 8, 3, 3, 1, 1, 1, 1},
    {3, 8, 8, 16, 32, 3, 3, 1, 1, 1, 1},
    {2, 9, 11, 5, 6, 2, 4, 2, 1, 0, 1},
    {2, 9, 9, 4, 6, 3, 3, 1, 2, 2, 2},
    {2, 13, 10, 4, 8, 3, 2, 3, 2, 1, 2},
    {2, 6, 6, 8, 12, 3, 3, 1, 1, 1, 1, 4},
    {2, 7, 7, 6, 6, 3, 3, 1, 1, 1, 1, 6},
    {2, 7, 7, 3, 9, 3, 3, 2, 1, 0, 1, 3},
    {2, 7, 8, 10, 7, 1, 1},
    {2, 7, 8, 10, 7, 1, 1, 2},
    {2, 10, 9, 3, 5, 2, 2, 4, 1, 1, 0},
    {1, 40, 41, 17, 33, 3, 3, 1, 1, 1, 1},
    {1, 41, 40, 20, 24, 3, 3, 2, 1, 1, 1},
    {1, 64, 40, 16, 48, 1, 1, 2},
    {2, 66, 40, 18, 20, 2, 2, 3, 1, 1, 0},
    {1, 40, 40, 16, 16, 5, 5, 1, 2, 4, 4},
    {1, 40, 40, 16, 64, 3, 3, 1, 1, 9, 9},
    {1, 60, 60, 2, 16, 7, 7, 1, 1, 3, 3},
    {20, 14, 14, 8, 32, 3, 3, 1, 1, 1, 1},
    {2, 5, 4, 3, 4, 2, 3, 1, 1, 1, 1, 1, 4, 3},
    {1, 6, 5, 4, 6, 3, 2, 2, 1, 1, 0, 2, 7, 2, 3, 2, 1},
    {2, 4, 4, 5, 5, 2, 2, 1, 1, 0, 0, 5, 3, 2},
    {1, 12, 13, 9, 16, 3, 3, 1, 1, 1, 1, 1, 18, 3, 1, 1, 1},
    {1, 12, 10, 8, 16, 3, 3, 2, 1, 1, 1, 1, 20, 2, 3, 2, 9},
};

double to_double(Half x) { return static_cast<float>(x); }
double to_double(BFloat16 x) { return static_cast<float>(x); }
template <typename T>
double to_double(T x) {
  return static_cast<double>(x);
}

template <typename T>
std::vector<T> random_elements(int64_t count, int seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> real(-1, 1);
  std::vector<T> elements(static_cast<size_t>(count));
  for (T& element : elements) {
    if constexpr (std::is_integral_v<T>) {
      element = static_cast<T>(random() % 200) - 100;
    } else {
      element = T(real(random));
    }
  }
  return elements;
}

// The three results of a convolution, or what they should be.
template <typename T>
struct Results {
  std::vector<T> y, dx, dw;
};

template <typename T>
struct Problem {
  Convolution c;
  std::vector<T> x, w, dy;
  explicit Problem(const Convolution& convolution) : c(convolution) {
    x = random_elements<T>(in_pixels() * c.in_channels, 1);
    w = random_elements<T>(c.filter_depth * c.filter_height * c.filter_width *
                               (c.in_channels / c.groups) * c.out_channels,
                           2);
    dy = random_elements<T>(out_pixels() * c.out_channels, 3);
  }

  int64_t in_pixels() const { return c.batch * c.in_depth * c.in_height * c.in_width; }
  int64_t out_pixels() const { return c.batch * c.out_depth * c.out_height * c.out_width; }

  // By the definition.
  Results<double> expected() const {
    Results<double> r;
    r.y.assign(dy.size(), 0);
    r.dx.assign(x.size(), 0);
    r.dw.assign(w.size(), 0);
    const int64_t in = c.in_channels / c.groups, out = c.out_channels / c.groups;
    for (int64_t pixel = 0; pixel < out_pixels(); ++pixel) {
      const int64_t ox = pixel % c.out_width, row = pixel / c.out_width;
      const int64_t oy = row % c.out_height, plane = row / c.out_height;
      const int64_t oz = plane % c.out_depth, n = plane / c.out_depth;
      for (int64_t tap = 0; tap < c.filter_depth * c.filter_height * c.filter_width; ++tap) {
        const int64_t fx = tap % c.filter_width, fy = tap / c.filter_width % c.filter_height;
        const int64_t fz = tap / c.filter_width / c.filter_height;
        const int64_t iz = oz * c.stride_depth + fz * c.dilation_depth - c.pad_front;
        const int64_t iy = oy * c.stride_height + fy * c.dilation_height - c.pad_top;
        const int64_t ix = ox * c.stride_width + fx * c.dilation_width - c.pad_left;
        if (iz < 0 || iz >= c.in_depth || iy < 0 || iy >= c.in_height || ix < 0 ||
            ix >= c.in_width) {
          continue;
        }
        for (int64_t o = 0; o < c.out_channels; ++o) {
          for (int64_t i = 0; i < in; ++i) {
            const int64_t at_x =
                (((n * c.in_depth + iz) * c.in_height + iy) * c.in_width + ix) * c.in_channels +
                o / out * in + i;
            const int64_t at_w = (tap * in + i) * c.out_channels + o;
            const int64_t at_y = pixel * c.out_channels + o;
            r.y[at_y] += to_double(x[at_x]) * to_double(w[at_w]);
            r.dx[at_x] += to_double(dy[at_y]) * to_double(w[at_w]);
            r.dw[at_w] += to_double(dy[at_y]) * to_double(x[at_x]);
          }
        }
      }
    }
    return r;
  }

  Results<T> computed() const {
    Results<T> r;
    r.y.assign(dy.size(), T(77));
    r.dx.assign(x.size(), T(77));
    r.dw.assign(w.size(), T(77));
    PanelLog of_y(r.y.data(), out_pixels(), c.out_channels, sizeof(T));
    PanelLog of_dx(r.dx.data(), in_pixels(), c.in_channels, sizeof(T));
    REQUIRE(convolution_forward(c, x.data(), w.data(), r.y.data(), of_y.done()).ok());
    REQUIRE(convolution_input_gradient(c, w.data(), dy.data(), r.dx.data(), of_dx.done()).ok());
    CHECK(of_y.error() == "");
    CHECK(of_dx.error() == "");
    REQUIRE(convolution_filter_gradient(c, x.data(), dy.data(), r.dw.data()).ok());
    return r;
  }
};

// The largest difference, as a part of the largest element.
template <typename T>
double error(const std::vector<double>& expected, const std::vector<T>& got) {
  double largest = 1e-30, worst = 0;
  for (double x : expected) largest = std::max(largest, std::abs(x));
  for (size_t i = 0; i < expected.size(); ++i) {
    const double distance = std::abs(expected[i] - to_double(got[i]));
    if (!(distance <= worst)) worst = distance;
  }
  return worst / largest;
}

template <typename T>
void check_cases(double tolerance) {
  for (const Case& x : kCases) {
    const Problem<T> problem(make(x, kDTypeOf<T>));
    const Results<double> expected = problem.expected();
    const Results<T> got = problem.computed();
    CAPTURE(&x - kCases);
    CAPTURE(dtype_name(kDTypeOf<T>));
    CHECK(error(expected.y, got.y) <= tolerance);
    CHECK(error(expected.dx, got.dx) <= tolerance);
    CHECK(error(expected.dw, got.dw) <= tolerance);
  }
}

TEST_CASE("convolutions and both gradients are those of naive loops, float32") {
  check_cases<float>(2e-6);
}
TEST_CASE("convolutions and both gradients are those of naive loops, float64") {
  check_cases<double>(1e-14);
}
TEST_CASE("convolutions and both gradients are those of naive loops, half and bfloat16") {
  check_cases<Half>(0x1p-10);
  check_cases<BFloat16>(0x1p-7);
}
TEST_CASE("convolutions and both gradients are those of naive loops, integers") {
  check_cases<int32_t>(0);
  check_cases<int64_t>(0);
}

TEST_CASE("without oneDNN float32 is computed by im2col") {
  for (const Case& x : kCases) {
    const Problem<float> problem(make(x));
    const Results<double> expected = problem.expected();
    const size_t bytes = im2col_scratch(problem.c);
    void* scratch = Allocator::host().allocate(bytes);
    std::vector<float> y(problem.dy.size()), dx(problem.x.size()), dw(problem.w.size());
    im2col_forward(problem.c, problem.x.data(), problem.w.data(), y.data(), scratch);
    im2col_input_gradient(problem.c, problem.w.data(), problem.dy.data(), dx.data(), scratch);
    im2col_filter_gradient(problem.c, problem.x.data(), problem.dy.data(), dw.data(), scratch);
    Allocator::host().free(scratch, bytes);
    CAPTURE(&x - kCases);
    CHECK(error(expected.y, y) <= 2e-6);
    CHECK(error(expected.dx, dx) <= 2e-6);
    CHECK(error(expected.dw, dw) <= 2e-6);
  }
}

TEST_CASE("any number of threads gives the same bits of a convolution") {
  for (int which : {2, 11, 12, 13, 15, 18, 19}) {
    const Problem<float> problem(make(kCases[which]));
    Results<float> first;
    for (int threads : {1, 2, 3}) {
      ThreadPool::shared().set_num_threads(threads);
      Results<float> got = problem.computed();
      if (threads == 1) first = got;
      auto same = [](const std::vector<float>& a, const std::vector<float>& b) {
        return std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
      };
      CAPTURE(which);
      CHECK(same(first.y, got.y));
      CHECK(same(first.dx, got.dx));
      CHECK(same(first.dw, got.dw));
    }
    ThreadPool::shared().set_num_threads(0);
  }
}

TEST_CASE("the pieces of a convolution cover its output, or its input, once") {
  for (const Case& x : kCases) {
    const Convolution c = make(x);
    for (int64_t wanted : {1, 3, 8, 32}) {
      const int64_t out_rows = c.batch * c.out_depth * c.out_height;
      const int64_t in_rows = c.batch * c.in_depth * c.in_height;
      std::vector<int> outputs(static_cast<size_t>(out_rows)), inputs(static_cast<size_t>(in_rows));
      for (const ConvolutionPiece& piece : cut_output(c, wanted)) {
        const Convolution& s = piece.shape;
        const int64_t row = piece.output_offset / (c.out_width * c.out_channels);
        for (int64_t i = 0; i < s.batch * s.out_depth * s.out_height; ++i) ++outputs[row + i];
      }
      for (const ConvolutionPiece& piece : cut_input(c, wanted)) {
        const Convolution& s = piece.shape;
        const int64_t row = piece.input_offset / (c.in_width * c.in_channels);
        for (int64_t i = 0; i < s.batch * s.in_depth * s.in_height; ++i) ++inputs[row + i];
      }
      CHECK(std::count(outputs.begin(), outputs.end(), 1) == out_rows);
      CHECK(std::count(inputs.begin(), inputs.end(), 1) == in_rows);
    }
  }
}

TEST_CASE("a convolution of nothing is zero, and told of") {
  const Convolution c = make({2, 4, 4, 0, 3, 3, 3});
  std::vector<float> y(2 * 2 * 2 * 3, 77);
  PanelLog log(y.data(), 2 * 2 * 2, 3, sizeof(float));
  REQUIRE(convolution_forward(c, nullptr, nullptr, y.data(), log.done()).ok());
  for (float x : y) CHECK(x == 0);
  CHECK(log.error() == "");
}

TEST_CASE("gradients of an empty batch are zero") {
  const Convolution c = make({0, 4, 4, 2, 3, 3, 3});
  std::vector<float> dw(3 * 3 * 2 * 3, 77);
  CHECK(convolution_forward(c, nullptr, dw.data(), nullptr).ok());
  CHECK(convolution_input_gradient(c, dw.data(), nullptr, nullptr).ok());
  REQUIRE(convolution_filter_gradient(c, nullptr, nullptr, dw.data()).ok());
  for (float x : dw) CHECK(x == 0);
}

TEST_CASE("an output without rows gives gradients of zero") {
  const Convolution c = make({1, 2, 2, 2, 3, 3, 3});
  REQUIRE(c.out_height == 0);
  const std::vector<float> w(3 * 3 * 2 * 3, 1);
  std::vector<float> dx(1 * 2 * 2 * 2, 77), dw(w.size(), 77);
  PanelLog log(dx.data(), 2 * 2, 2, sizeof(float));
  REQUIRE(convolution_input_gradient(c, w.data(), nullptr, dx.data(), log.done()).ok());
  CHECK(log.error() == "");
  REQUIRE(convolution_filter_gradient(c, dx.data(), nullptr, dw.data()).ok());
  for (float x : dx) CHECK(x == 0);
  for (float x : dw) CHECK(x == 0);
}

TEST_CASE("dtypes without convolution are refused by name") {
  Convolution c = make(kCases[0]);
  c.dtype = DType::kComplex64;
  CHECK(convolution_forward(c, nullptr, nullptr, nullptr).message() ==
        "[Conv2D] takes a floating dtype, int32 or int64, but got complex64");
}

TEST_CASE("no memory for a convolution is a ResourceExhaustedError") {
  const Problem<float> problem(make(kCases[2]));
  std::vector<float> y(problem.dy.size()), dw(problem.w.size());
  const int64_t limit = Allocator::host().limit();
  Allocator::host().set_limit(0);
  const Status forward =
      convolution_forward(problem.c, problem.x.data(), problem.w.data(), y.data());
  const Status backward =
      convolution_filter_gradient(problem.c, problem.x.data(), problem.dy.data(), dw.data());
  Allocator::host().set_limit(limit);
  CHECK(forward.code() == Code::kResourceExhausted);
  CHECK(backward.code() == Code::kResourceExhausted);
}

TEST_CASE("a convolution allocates nothing from the system in steady state") {
  for (int which : {2, 12}) {
    const Problem<float> problem(make(kCases[which]));
    Results<float> r = problem.computed();
    ThreadPool::shared().set_num_threads(1);
    (void)problem.computed();
    const int64_t before = Allocator::host().stats().num_system_allocations;
    for (int i = 0; i < 5; ++i) (void)problem.computed();
    CHECK(Allocator::host().stats().num_system_allocations == before);
    ThreadPool::shared().set_num_threads(0);
  }
}

TEST_CASE("compiled convolutions are kept by shape, within a number of bytes") {
  if (!onednn_is_available()) return;
  clear_convolution_cache();
  const ConvolutionCacheStats empty = convolution_cache_stats();
  CHECK(empty.entries == 0);
  CHECK(empty.bytes == 0);
  const Problem<float> problem(make(kCases[2]));
  (void)problem.computed();
  const ConvolutionCacheStats once = convolution_cache_stats();
  CHECK(once.entries == 3);
  CHECK(once.bytes > 0);
  CHECK(once.misses - empty.misses == 3);
  (void)problem.computed();
  CHECK(convolution_cache_stats().misses == once.misses);
  set_convolution_cache_bytes(once.bytes - 1);
  CHECK(convolution_cache_stats().entries == 2);
  (void)Problem<float>(make(kCases[4])).computed();
  CHECK(convolution_cache_stats().bytes < once.bytes);
  set_convolution_cache_bytes(0);
  CHECK(convolution_cache_stats().entries == 0);
  CHECK(error(problem.expected().y, problem.computed().y) <= 2e-6);
  CHECK(convolution_cache_stats().entries == 0);
  set_convolution_cache_bytes(empty.max_bytes);
}

}  // namespace
}  // namespace graven::engine
