#include "graven/kernels/elementwise.h"

#include <doctest/doctest.h>

#include "graven/base/thread_pool.h"
#include "graven/kernels/testing.h"

namespace graven::engine {
namespace {

Shape shape_of(const std::vector<int64_t>& sizes) { return Shape(std::span<const int64_t>(sizes)); }

int64_t elements(const std::vector<int64_t>& sizes) {
  int64_t n = 1;
  for (int64_t size : sizes) n *= size;
  return n;
}

// The element of an operand that belongs to position `flat` of the result.
int64_t broadcast_index(const std::vector<int64_t>& from, const std::vector<int64_t>& to,
                        int64_t flat) {
  int64_t index = 0, stride = 1;
  for (size_t back = 1; back <= to.size(); ++back) {
    int64_t size = to[to.size() - back], at = flat % size;
    flat /= size;
    if (back > from.size()) continue;
    int64_t own = from[from.size() - back];
    if (own != 1) index += at * stride;
    stride *= own;
  }
  return index;
}

template <typename T>
void check(const std::vector<int64_t>& a_sizes, const std::vector<int64_t>& b_sizes,
           const std::vector<int64_t>& sizes) {
  static const auto program =
      compile(record({kDTypeOf<T>, kDTypeOf<T>}, [](auto& x) { return x[0] - x[1]; }));
  auto a = random_values<T>(elements(a_sizes), 1), b = random_values<T>(elements(b_sizes), 2);
  Shape a_shape = shape_of(a_sizes), b_shape = shape_of(b_sizes), shape = shape_of(sizes);
  const StridedInput inputs[] = {{a.data(), &a_shape}, {b.data(), &b_shape}};
  for (int threads : {1, 2}) {
    ThreadPool::shared().set_num_threads(threads);
    std::vector<T> out(elements(sizes));
    void* outputs[] = {out.data()};
    REQUIRE(run_elementwise(*program, inputs, shape, outputs).ok());
    INFO(a_shape.to_text(), " and ", b_shape.to_text());
    for (int64_t i = 0; i < elements(sizes); ++i) {
      REQUIRE(out[i] == static_cast<T>(a[broadcast_index(a_sizes, sizes, i)] -
                                       b[broadcast_index(b_sizes, sizes, i)]));
    }
  }
  ThreadPool::shared().set_num_threads(0);
}

TEST_CASE("operands broadcast against each other in every way") {
  check<float>({}, {}, {});
  check<float>({4}, {4}, {4});
  check<float>({70000}, {1}, {70000});
  check<float>({}, {1000}, {1000});
  check<float>({300, 300}, {300}, {300, 300});
  check<float>({300, 300}, {300, 1}, {300, 300});
  check<float>({300, 1}, {1, 500}, {300, 500});
  check<float>({100000, 3}, {3}, {100000, 3});
  check<float>({3}, {100000, 1}, {100000, 3});
  check<float>({2, 1, 5, 1}, {3, 1, 7}, {2, 3, 5, 7});
  check<float>({40, 50, 60}, {50, 1}, {40, 50, 60});
  check<float>({40, 50, 60}, {40, 1, 60}, {40, 50, 60});
  check<float>({40, 1, 300}, {50, 1}, {40, 50, 300});
  check<float>({1, 513}, {7, 1}, {7, 513});
  check<float>({17, 255}, {17, 1}, {17, 255});
  check<float>({17, 256}, {256}, {17, 256});
  check<float>({1, 1, 1}, {1}, {1, 1, 1});
}

TEST_CASE("other element sizes broadcast too") {
  check<int8_t>({100, 7}, {7}, {100, 7});
  check<int16_t>({100, 1, 3}, {5, 1}, {100, 5, 3});
  check<double>({100, 1}, {1, 90}, {100, 90});
  check<std::complex<double>>({100, 1}, {1, 90}, {100, 90});
  check<std::complex<float>>({1000, 4}, {4}, {1000, 4});
}

TEST_CASE("empty results are left alone, and many dimensions work") {
  check<float>({0}, {1}, {0});
  check<float>({3, 0, 2}, {2}, {3, 0, 2});
  check<float>({2, 1, 2, 1, 2, 1, 2, 1, 2, 1}, {1, 3, 1, 2, 1, 3, 1, 2, 1, 3},
               {2, 3, 2, 2, 2, 3, 2, 2, 2, 3});
}

TEST_CASE("denormal results are flushed, and the caller's rounding state comes back") {
  auto program = compile(record({DType::kFloat32}, [](auto& x) { return x[0] * 0.5; }));
  Shape shape{Dim(1)};
  float tiny = std::numeric_limits<float>::min(), out = 1;
  const StridedInput inputs[] = {{&tiny, &shape}};
  void* outputs[] = {&out};
  REQUIRE(run_elementwise(*program, inputs, shape, outputs).ok());
  CHECK(out == 0);
  volatile float outside = tiny;
  outside = outside * 0.5f;
  CHECK(outside > 0);
}

TEST_CASE("an operand may be overwritten by the result") {
  auto program = compile(
      record({DType::kFloat32, DType::kFloat32}, [](auto& x) { return (x[0] + x[1]) * x[0]; }));
  std::vector<float> a = random_values<float>(200000, 1), b = random_values<float>(100, 2);
  std::vector<float> before = a;
  Shape shape{Dim(2000), Dim(100)}, row{Dim(100)};
  const StridedInput inputs[] = {{a.data(), &shape}, {b.data(), &row}};
  void* outputs[] = {a.data()};
  REQUIRE(run_elementwise(*program, inputs, shape, outputs).ok());
  for (size_t i = 0; i < a.size(); ++i) {
    REQUIRE(a[i] == (before[i] + b[i % 100]) * before[i]);
  }
}

}  // namespace
}  // namespace graven::engine
