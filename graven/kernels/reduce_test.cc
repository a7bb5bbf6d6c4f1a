#include "graven/kernels/reduce.h"

#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <cstring>

#include "graven/base/thread_pool.h"
#include "graven/kernels/testing.h"

namespace graven::engine {
namespace {

Shape shape_of(const std::vector<int64_t>& sizes) { return Shape(std::span<const int64_t>(sizes)); }

std::shared_ptr<const ReductionProgram> compile_reduction(const ReductionParts& parts) {
  auto program = ReductionProgram::compile(parts);
  REQUIRE(program.ok());
  return *program;
}

template <typename T>
ReductionParts sum_of() {
  constexpr DType kType = kDTypeOf<T>;
  constexpr DType kAccumulator =
      kType == DType::kHalf || kType == DType::kBFloat16 ? DType::kFloat32 : kType;
  return {record({kType}, [](auto& x) { return cast(x[0], kAccumulator); }),
          record({kAccumulator, kAccumulator}, [](auto& x) { return x[0] + x[1]; }),
          record({kAccumulator, DType::kFloat64}, [](auto& x) { return cast(x[0], kType); }),
          kAccumulator,
          {0, 0}};
}

// Calls f(flat index, index of the result) for each element.
template <typename F>
void for_each(const std::vector<int64_t>& sizes, uint64_t reduced, F f) {
  int64_t n = 1;
  for (int64_t size : sizes) n *= size;
  for (int64_t flat = 0; flat < n; ++flat) {
    int64_t rest = flat, result = 0, stride = 1;
    for (size_t axis = sizes.size(); axis-- > 0;) {
      if (!(reduced >> axis & 1)) {
        result += rest % sizes[axis] * stride;
        stride *= sizes[axis];
      }
      rest /= sizes[axis];
    }
    f(flat, result);
  }
}
int64_t results(const std::vector<int64_t>& sizes, uint64_t reduced) {
  int64_t n = 1;
  for (size_t axis = 0; axis < sizes.size(); ++axis) {
    if (!(reduced >> axis & 1)) n *= sizes[axis];
  }
  return n;
}

template <typename T>
std::vector<T> run(const ReductionProgram& program, const std::vector<T>& x,
                   const std::vector<int64_t>& sizes, uint64_t reduced) {
  Shape shape = shape_of(sizes);
  const StridedInput inputs[] = {{x.data(), &shape}};
  std::vector<T> out(results(sizes, reduced)), again(out.size());
  ThreadPool::shared().set_num_threads(1);
  REQUIRE(run_reduction(program, inputs, shape, reduced, out.data()).ok());
  ThreadPool::shared().set_num_threads(2);
  REQUIRE(run_reduction(program, inputs, shape, reduced, again.data()).ok());
  ThreadPool::shared().set_num_threads(0);
  if (!out.empty()) {
    CHECK(std::memcmp(out.data(), again.data(), out.size() * sizeof(T)) == 0);
  }
  return out;
}

// Integers have one right sum, whatever the order: over every subset of the axes.
template <typename T>
void check_integer_sums(const std::vector<int64_t>& sizes) {
  auto program = compile_reduction(sum_of<T>());
  int64_t n = 1;
  for (int64_t size : sizes) n *= size;
  std::vector<T> x = random_values<T>(n, 3);
  for (uint64_t reduced = 0; reduced < uint64_t{1} << sizes.size(); ++reduced) {
    std::vector<T> out = run(*program, x, sizes, reduced);
    std::vector<uint64_t> expected(out.size(), 0);
    for_each(sizes, reduced,
             [&](int64_t i, int64_t r) { expected[r] += static_cast<uint64_t>(x[i]); });
    INFO(shape_of(sizes).to_text(), " over ", reduced);
    for (size_t i = 0; i < out.size(); ++i) REQUIRE(out[i] == static_cast<T>(expected[i]));
  }
}

TEST_CASE("sums over every subset of axes are those of a plain loop") {
  for (auto sizes : std::vector<std::vector<int64_t>>{{},
                                                      {1},
                                                      {5},
                                                      {511},
                                                      {512},
                                                      {513},
                                                      {200003},
                                                      {7, 9},
                                                      {1000, 3},
                                                      {3, 1000},
                                                      {70, 300},
                                                      {300, 257},
                                                      {1000, 513},
                                                      {70000, 4},
                                                      {2, 100000},
                                                      {2, 3, 4},
                                                      {40, 1, 50, 30},
                                                      {3, 4, 5, 6, 7},
                                                      {2, 2, 2, 2, 2, 2, 2, 2}}) {
    check_integer_sums<int32_t>(sizes);
  }
  check_integer_sums<int8_t>({30, 40, 50});
  check_integer_sums<uint16_t>({30, 40, 50});
  check_integer_sums<int64_t>({30, 40, 50});
  check_integer_sums<uint64_t>({3000, 50});
}

TEST_CASE("empty reductions give the identity, empty results nothing") {
  check_integer_sums<int32_t>({0});
  check_integer_sums<int32_t>({3, 0});
  check_integer_sums<int32_t>({0, 600});
  check_integer_sums<int32_t>({2, 0, 5});
}

// The bounds follow from the order of reduction_order.h, with u = 2^-24, the largest relative error
// of one addition. A segment's 16 384 values go to 64 lanes, so that a lane adds 256 of them one
// after the other, of which the first to 0 without an error. Six additions combine the lanes of a
// segment by halves, ten the 1024 segments of 2^24 values as a tree.
constexpr int64_t kManyElements = int64_t{1} << 24;
constexpr double kRounding = 0x1p-24;

TEST_CASE("a float32 sum of equal elements is as accurate as its lanes") {
  auto program = compile_reduction(sum_of<float>());
  std::vector<float> x(kManyElements, 0.1f);
  std::vector<float> out = run(*program, x, {kManyElements}, 1);
  const double exact = 0.1f * static_cast<double>(kManyElements);
  // Addition k of a lane rounds k elements, the error being at most u (1 + 255 u) k of them. What
  // follows doubles equal numbers, which is exact.
  const double bound = (256 * 257 / 2 - 1) / 256. * kRounding * (1 + 255 * kRounding);
  CHECK(std::fabs(out[0] - exact) / exact <= bound);
}

TEST_CASE("a float32 sum of any elements is as accurate as its longest chain of additions") {
  auto program = compile_reduction(sum_of<float>());
  std::vector<float> x = random_values<float>(kManyElements, 6);
  std::vector<float> out = run(*program, x, {kManyElements}, 1);
  double exact = 0, magnitude = 0;  // in float64, whose own errors are some 2^-29 as large
  for (float value : x) {
    exact += value;
    magnitude += std::fabs(value);
  }
  // Each element goes through at most so many additions: the error is at most
  // n u / (1 - n u) of the sum of magnitudes (Higham, Accuracy and Stability of Numerical
  // Algorithms, section 4.2).
  constexpr double kAdditions = 255 + 6 + 10;
  CHECK(std::fabs(out[0] - exact) <=
        kAdditions * kRounding / (1 - kAdditions * kRounding) * magnitude);
}

TEST_CASE("halves are summed in float32 and rounded once") {
  auto program = compile_reduction(sum_of<Half>());
  std::vector<Half> x(3000, Half(1.0f));
  Shape shape{Dim(3000)};
  const StridedInput inputs[] = {{x.data(), &shape}};
  Half out;
  REQUIRE(run_reduction(*program, inputs, shape, 1, &out).ok());
  CHECK(static_cast<float>(out) == 3000);  // 2048 + 1 is 2048 in half
  auto of_bfloat16 = compile_reduction(sum_of<BFloat16>());
  std::vector<BFloat16> y(1024, BFloat16(1.0f));
  BFloat16 sum;
  Shape other{Dim(1024)};
  const StridedInput brains[] = {{y.data(), &other}};
  REQUIRE(run_reduction(*of_bfloat16, brains, other, 1, &sum).ok());
  CHECK(static_cast<float>(sum) == 1024);
}

TEST_CASE("complex sums add both parts") {
  auto program = compile_reduction(sum_of<std::complex<double>>());
  for (auto sizes :
       std::vector<std::vector<int64_t>>{{700}, {300, 5}, {5, 300}, {4, 600}, {100000}}) {
    int64_t n = 1;
    for (int64_t size : sizes) n *= size;
    auto x = random_values<std::complex<double>>(n, 8);
    for (uint64_t reduced = 0; reduced < uint64_t{1} << sizes.size(); ++reduced) {
      auto out = run(*program, x, sizes, reduced);
      std::vector<std::complex<double>> expected(out.size());
      for_each(sizes, reduced, [&](int64_t i, int64_t r) { expected[r] += x[i]; });
      for (size_t i = 0; i < out.size(); ++i) REQUIRE(std::abs(out[i] - expected[i]) < 1e-9);
    }
  }
}

template <typename T, typename Combine>
void check_combination(Scalar (*combine)(Scalar, Scalar), T identity, Combine reference) {
  constexpr DType kType = kDTypeOf<T>;
  uint64_t bits = 0;
  Stored<T> stored = identity;
  std::memcpy(&bits, &stored, sizeof(stored));
  auto program =
      compile_reduction({record({kType}, [](auto& x) { return x[0]; }),
                         record({kType, kType}, [&](auto& x) { return combine(x[0], x[1]); }),
                         record({kType, DType::kFloat64}, [](auto& x) { return x[0]; }),
                         kType,
                         {bits, 0}});
  for (auto sizes : std::vector<std::vector<int64_t>>{{1000}, {70, 80}, {5, 400}, {0, 3}}) {
    int64_t n = 1;
    for (int64_t size : sizes) n *= size;
    auto x = random_values<T>(n, 4);
    for (uint64_t reduced = 0; reduced < uint64_t{1} << sizes.size(); ++reduced) {
      auto out = run(*program, x, sizes, reduced);
      std::vector<Stored<T>> expected(out.size(), identity);
      for_each(sizes, reduced,
               [&](int64_t i, int64_t r) { expected[r] = reference(expected[r], x[i]); });
      for (size_t i = 0; i < out.size(); ++i) REQUIRE(out[i] == expected[i]);
    }
  }
}

TEST_CASE("minima, maxima, products and logic reduce") {
  auto smaller = [](auto a, auto b) { return b < a ? b : a; };
  auto larger = [](auto a, auto b) { return b > a ? b : a; };
  float inf = std::numeric_limits<float>::infinity();
  check_combination<float>(min, inf, smaller);
  check_combination<float>(max, -inf, larger);
  check_combination<double>(max, -inf, larger);
  check_combination<int16_t>(min, 32767, smaller);
  check_combination<uint8_t>(max, 0, larger);
  check_combination<int64_t>(operator*, 1, [](int64_t a, int64_t b) {
    return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
  });
  check_combination<bool>(operator&, true, [](uint8_t a, uint8_t b) { return a & b; });
  check_combination<bool>(operator|, false, [](uint8_t a, uint8_t b) { return a | b; });
  check_combination<int32_t>(operator|, 0, [](int32_t a, int32_t b) { return a | b; });
}

TEST_CASE("a NaN makes the maximum NaN wherever it stands") {
  auto parts = ReductionParts{
      record({DType::kFloat32}, [](auto& x) { return x[0]; }),
      record({DType::kFloat32, DType::kFloat32}, [](auto& x) { return max(x[0], x[1]); }),
      record({DType::kFloat32, DType::kFloat64}, [](auto& x) { return x[0]; }),
      DType::kFloat32,
      {std::bit_cast<uint32_t>(-INFINITY), 0}};
  auto program = compile_reduction(parts);
  for (int64_t at : {0, 1, 511, 512, 999}) {
    std::vector<float> x(1000, 1.0f);
    x[at] = NAN;
    CHECK(std::isnan(run(*program, x, {1000}, 1)[0]));
  }
}

TEST_CASE("preparing fuses a chain of broadcasting inputs, finishing knows the count") {
  // mean((a - b)^2), b one number for each row.
  ReductionParts parts = sum_of<double>();
  parts.prepare = record({DType::kFloat32, DType::kFloat32}, [](auto& x) {
    Scalar d = cast(x[0] - x[1], DType::kFloat64);
    return d * d;
  });
  parts.finish = record({DType::kFloat64, DType::kFloat64},
                        [](auto& x) { return cast(x[0] / x[1], DType::kFloat32); });
  auto program = compile_reduction(parts);
  for (auto sizes :
       std::vector<std::vector<int64_t>>{{50, 1000}, {1000, 10}, {3, 700}, {2000, 100}}) {
    auto a = random_values<float>(sizes[0] * sizes[1], 1), b = random_values<float>(sizes[0], 2);
    Shape shape = shape_of(sizes), rows{Dim(sizes[0]), Dim(1)};
    const StridedInput inputs[] = {{a.data(), &shape}, {b.data(), &rows}};
    for (uint64_t reduced : {1, 2, 3}) {
      std::vector<float> out(results(sizes, reduced));
      REQUIRE(run_reduction(*program, inputs, shape, reduced, out.data()).ok());
      std::vector<double> sums(out.size());
      for_each(sizes, reduced, [&](int64_t i, int64_t r) {
        double d = a[i] - b[i / sizes[1]];
        sums[r] += d * d;
      });
      double count = static_cast<double>(a.size()) / static_cast<double>(out.size());
      for (size_t i = 0; i < out.size(); ++i) {
        REQUIRE(out[i] == doctest::Approx(sums[i] / count).epsilon(1e-6));
      }
    }
  }
}

TEST_CASE("reductions that share a pass give the bits that each gives alone") {
  // sum(a), sum(a * b) in float64, and the mean of b, which is one number for each column.
  ReductionParts of_a = sum_of<float>(), of_product = sum_of<double>(), of_b = sum_of<float>();
  const DType dtypes[] = {DType::kFloat32, DType::kFloat32};
  auto recorded = [&](auto body) { return record({dtypes[0], dtypes[1]}, body); };
  of_a.prepare = record({DType::kFloat32}, [](auto& x) { return x[0]; });
  of_product.prepare = recorded([](auto& x) { return cast(x[0] * x[1], DType::kFloat64); });
  of_b.prepare = record({DType::kFloat32}, [](auto& x) { return x[0]; });
  of_b.finish = record({DType::kFloat32, DType::kFloat64},
                       [](auto& x) { return x[0] / cast(x[1], DType::kFloat32); });
  const auto program_a = compile_reduction(of_a), program_product = compile_reduction(of_product),
             program_b = compile_reduction(of_b);
  for (auto sizes : std::vector<std::vector<int64_t>>{
           {7, 9}, {1000, 3}, {3, 1000}, {300, 700}, {70001, 5}, {5, 70001}, {0, 3}}) {
    const int64_t n = sizes[0] * sizes[1];
    auto a = random_values<float>(n, 1), b = random_values<float>(sizes[1], 2);
    Shape shape = shape_of(sizes), columns{Dim(sizes[1])};
    const StridedInput inputs[] = {{a.data(), &shape}, {b.data(), &columns}};
    for (uint64_t reduced : {1, 2, 3}) {
      const auto size = static_cast<size_t>(results(sizes, reduced));
      std::vector<float> alone_a(size), alone_b(size), sum_a(size), mean_b(size);
      std::vector<double> alone_product(size), product(size);
      REQUIRE(run_reduction(*program_a, {inputs, 1}, shape, reduced, alone_a.data()).ok());
      REQUIRE(run_reduction(*program_product, inputs, shape, reduced, alone_product.data()).ok());
      REQUIRE(run_reduction(*program_b, {inputs + 1, 1}, shape, reduced, alone_b.data()).ok());
      for (int threads : {1, 2}) {
        ThreadPool::shared().set_num_threads(threads);
        constexpr int kFirst[] = {0}, kBoth[] = {0, 1}, kSecond[] = {1};
        const ReductionRoot roots[] = {{program_a.get(), sum_a.data(), kFirst},
                                       {program_product.get(), product.data(), kBoth},
                                       {program_b.get(), mean_b.data(), kSecond}};
        REQUIRE(run_reductions(roots, inputs, shape, reduced).ok());
        INFO(shape.to_text(), " over ", reduced);
        auto same = [](const auto& x, const auto& y) {
          return x.empty() || std::memcmp(x.data(), y.data(), x.size() * sizeof(x[0])) == 0;
        };
        CHECK(same(sum_a, alone_a));
        CHECK(same(product, alone_product));
        CHECK(same(mean_b, alone_b));
      }
      ThreadPool::shared().set_num_threads(0);
    }
  }
}

}  // namespace
}  // namespace graven::engine
