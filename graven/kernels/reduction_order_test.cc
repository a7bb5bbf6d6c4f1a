// Each order of reduction_order.h written out in plain C++, and every kernel held to its bits.
#include "graven/kernels/reduction_order.h"

#include <doctest/doctest.h>

#include <cmath>
#include <complex>
#include <functional>

#include "graven/base/denormals.h"
#include "graven/base/thread_pool.h"
#include "graven/kernels/reduce.h"
#include "graven/kernels/row_program.h"
#include "graven/kernels/simd_target.h"
#include "graven/kernels/testing.h"

namespace graven::engine {
namespace {

template <typename T>
struct Monoid {
  T identity;
  T (*combine)(T, T);
};

template <typename T>
T as_a_tree(const Monoid<T>& m, std::vector<T> partials) {
  while (partials.size() > 1) {
    std::vector<T> next;
    for (size_t i = 0; i < partials.size(); i += 2) {
      bool has_neighbour = i + 1 < partials.size();
      next.push_back(has_neighbour ? m.combine(partials[i], partials[i + 1]) : partials[i]);
    }
    partials = std::move(next);
  }
  return partials[0];
}

template <typename T>
T in_row_order(const Monoid<T>& m, const std::vector<T>& x) {
  size_t num_lanes = 1;
  while (num_lanes < x.size() && num_lanes < 256 / sizeof(T)) num_lanes *= 2;
  std::vector<T> partials;
  for (size_t begin = 0; begin < std::max<size_t>(x.size(), 1); begin += 16384) {
    std::vector<T> lanes(num_lanes, m.identity);
    for (size_t i = 0; i < 16384 && begin + i < x.size(); ++i) {
      lanes[i % num_lanes] = m.combine(lanes[i % num_lanes], x[begin + i]);
    }
    for (size_t half = num_lanes / 2; half > 0; half /= 2) {
      for (size_t i = 0; i < half; ++i) lanes[i] = m.combine(lanes[i], lanes[i + half]);
    }
    partials.push_back(lanes[0]);
  }
  return as_a_tree(m, partials);
}

template <typename T>
T in_column_order(const Monoid<T>& m, const std::vector<T>& x) {
  std::vector<T> partials;
  for (size_t begin = 0; begin < std::max<size_t>(x.size(), 1); begin += 128) {
    T sum = m.identity;
    for (size_t i = begin; i < std::min(begin + 128, x.size()); ++i) sum = m.combine(sum, x[i]);
    partials.push_back(sum);
  }
  return as_a_tree(m, partials);
}

// The values of each result, in row-major order of the reduced axes.
template <typename T>
std::vector<std::vector<T>> values_of_results(const std::vector<T>& x,
                                              const std::vector<int64_t>& sizes, uint64_t reduced) {
  int64_t results = 1;
  for (size_t axis = 0; axis < sizes.size(); ++axis) {
    if (!(reduced >> axis & 1)) results *= sizes[axis];
  }
  std::vector<std::vector<T>> values(results);
  for (size_t flat = 0; flat < x.size(); ++flat) {
    size_t rest = flat, result = 0, stride = 1;
    for (size_t axis = sizes.size(); axis-- > 0;) {
      if (!(reduced >> axis & 1)) {
        result += rest % sizes[axis] * stride;
        stride *= sizes[axis];
      }
      rest /= sizes[axis];
    }
    values[result].push_back(x[flat]);
  }
  return values;
}

template <typename T>
std::vector<T> expected(const Monoid<T>& m, const std::vector<T>& x,
                        const std::vector<int64_t>& sizes, uint64_t reduced) {
  FlushDenormals flush;
  const bool is_row_order = sizes.empty() || (reduced >> (sizes.size() - 1) & 1);
  std::vector<T> results;
  for (const auto& values : values_of_results(x, sizes, reduced)) {
    results.push_back(is_row_order ? in_row_order(m, values) : in_column_order(m, values));
  }
  return results;
}

template <typename T>
bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() &&
         (a.empty() || !std::memcmp(a.data(), b.data(), a.size() * sizeof(T)));
}

// Stored elements x, and what the accumulators are given of them.
template <typename T, typename A>
void check(const ReductionParts& parts, const Monoid<A>& m, const std::vector<T>& x,
           const std::vector<A>& values, const std::vector<int64_t>& sizes, uint64_t reduced) {
  const std::vector<A> right = expected(m, values, sizes, reduced);
  const Shape shape{std::span<const int64_t>(sizes)};
  const StridedInput inputs[] = {{x.data(), &shape}};
  INFO(shape.to_text(), " over ", reduced);
  for_each_target([&] {
    auto program = ReductionProgram::compile(parts);
    REQUIRE(program.ok());
    for (int threads : {1, 2}) {
      ThreadPool::shared().set_num_threads(threads);
      std::vector<A> results(right.size());
      REQUIRE(run_reduction(**program, inputs, shape, reduced, results.data()).ok());
      CHECK(same_bits(results, right));
    }
    ThreadPool::shared().set_num_threads(0);
  });
}

const std::vector<std::vector<int64_t>> kShapes = {
    // n elements in all, n rows, n columns, n of a middle axis
    {},
    {0},
    {1},
    {2},
    {3},
    {5},
    {63},
    {64},
    {65},
    {127},
    {128},
    {129},
    {1000},
    {16383},
    {16384},
    {16385},
    {40000},
    {100000},
    {200, 1},
    {40000, 1},
    {130, 2},
    {1000, 3},
    {9, 4},
    {1000, 5},
    {77, 7},
    {35, 8},
    {50, 9},
    {33, 15},
    {600, 16},
    {50, 17},
    {300, 31},
    {129, 32},
    {40, 33},
    {30, 63},
    {21, 64},
    {20, 65},
    {9, 100},
    {300, 127},
    {5, 128},
    {6, 129},
    {5, 255},
    {7, 256},
    {5, 257},
    {3, 513},
    {260, 600},
    {4, 1000},
    {3, 2047},
    {3, 2049},
    {2, 16385},
    {3, 70000},
    {20000, 6},
    {0, 5},
    {5, 0},
    {6, 40, 3},
    {6, 3, 40},
    {3, 200, 70},
    {40, 7, 1},
    {2, 90, 1},
    {1, 1, 1},
    {4, 5, 6, 7},
    {3, 150, 2, 65},
    {2, 3, 1, 1},
    {2, 130, 3, 5}};

std::vector<uint64_t> reductions_of(const std::vector<int64_t>& sizes) {
  std::vector<uint64_t> all;
  for (uint64_t reduced = 0; reduced < uint64_t{1} << sizes.size(); ++reduced) {
    all.push_back(reduced);
  }
  return all;
}

// Zeros of both signs and numbers of all sizes among the others, so that another order shows.
template <typename T>
std::vector<T> numbers(int64_t n, uint64_t seed) {
  auto x = random_values<T>(n, seed);
  if constexpr (!std::is_integral_v<T>) {
    for (size_t i = 0; i < x.size(); i += 7) x[i] = x[i] * static_cast<T>(1e5f);
    for (size_t i = 3; i < x.size(); i += 11) x[i] = static_cast<T>(i % 2 ? 0.0f : -0.0f);
  }
  return x;
}

int64_t product(const std::vector<int64_t>& sizes) {
  int64_t n = 1;
  for (int64_t size : sizes) n *= size;
  return n;
}

// A reduction of T's that are combined as they are.
template <typename T>
void check_all(Scalar (*combine)(Scalar, Scalar), double identity, const Monoid<T>& m,
               size_t every = 1) {
  ReductionParts parts = reduction(kDTypeOf<T>, combine, identity);
  for (size_t i = 0; i < kShapes.size(); i += every) {
    auto x = numbers<T>(product(kShapes[i]), i + 1);
    for (uint64_t reduced : reductions_of(kShapes[i])) check(parts, m, x, x, kShapes[i], reduced);
  }
}

template <typename T>
T add(T a, T b) {
  return static_cast<T>(a + b);
}
template <typename T>
T multiply(T a, T b) {
  return static_cast<T>(a * b);
}
template <typename T>
T greater(T a, T b) {
  return a > b || a != a ? a : b;
}
template <typename T>
T smaller(T a, T b) {
  return a < b || a != a ? a : b;
}

TEST_CASE("sums have the bits of the written order") {
  check_all<float>(operator+, 0, {0, add});
  check_all<double>(operator+, 0, {0, add}, 2);
  check_all<std::complex<float>>(operator+, 0, {0, add}, 2);
  check_all<std::complex<double>>(operator+, 0, {0, add}, 3);
  check_all<int64_t>(operator+, 0,
                     {0,
                      [](int64_t a, int64_t b) {
                        return static_cast<int64_t>(static_cast<uint64_t>(a) +
                                                    static_cast<uint64_t>(b));
                      }},
                     3);
  check_all<uint8_t>(operator+, 0, {0, add}, 3);
}

TEST_CASE("minima, maxima and products have the bits of the written order") {
  const double infinity = std::numeric_limits<double>::infinity();
  check_all<float>(max, -infinity, {-std::numeric_limits<float>::infinity(), greater});
  check_all<double>(min, infinity, {infinity, smaller}, 3);
  check_all<int32_t>(max, std::numeric_limits<int32_t>::min(),
                     {std::numeric_limits<int32_t>::min(), greater}, 3);
  check_all<int16_t>(min, 32767, {32767, smaller}, 3);
  check_all<float>(operator*, 1, {1, multiply}, 3);
}

TEST_CASE("extremes of zeros, denormals, NaN and some ones have the bits of the written order") {
  const double infinity = std::numeric_limits<double>::infinity();
  const float nan = std::nanf(""), values[] = {0.0f, -0.0f, 1e-40f, -1e-40f, nan, -nan};
  const ReductionParts parts[] = {reduction(DType::kFloat32, max, -infinity),
                                  reduction(DType::kFloat32, min, infinity)};
  const Monoid<float> monoids[] = {{-std::numeric_limits<float>::infinity(), greater},
                                   {std::numeric_limits<float>::infinity(), smaller}};
  for (size_t i = 0; i < kShapes.size(); i += 2) {
    const std::vector<uint32_t> random = random_values<uint32_t>(product(kShapes[i]), i + 1);
    std::vector<float> x;
    for (uint32_t r : random) x.push_back(values[r % 16 == 0 ? 4 + r / 16 % 2 : r / 16 % 4]);
    for (size_t k = 0; k < x.size(); ++k) {
      if (i % 4 == 0 && std::isnan(x[k])) x[k] = 0;
      if (i % 3 == 0 && k % 50 == 3) x[k] = k % 100 < 50 ? 1.0f : -1.0f;
    }
    for (uint64_t reduced : reductions_of(kShapes[i])) {
      for (int k : {0, 1}) check(parts[k], monoids[k], x, x, kShapes[i], reduced);
    }
  }
}

TEST_CASE("products of complex numbers have the bits of the written order") {
  auto product = [](std::complex<float> a, std::complex<float> b) {
    return std::complex<float>(a.real() * b.real() - a.imag() * b.imag(),
                               a.real() * b.imag() + a.imag() * b.real());
  };
  ReductionParts parts = reduction(DType::kComplex64, operator*, 1);
  for (size_t i = 1; i < kShapes.size(); i += 2) {
    const auto& sizes = kShapes[i];
    auto x = random_values<std::complex<float>>(graven::engine::product(sizes), 2);
    for (auto& value : x) value /= std::abs(value) + 1e-3f;  // no overflow
    for (uint64_t reduced : reductions_of(sizes)) {
      check<std::complex<float>, std::complex<float>>(parts, {1, product}, x, x, sizes, reduced);
    }
  }
}

TEST_CASE("a combination that is no single instruction has the same order") {
  auto combine = [](Scalar a, Scalar b) { return a * b + a; };
  ReductionParts parts = reduction(DType::kFloat32, combine, 1);
  for (size_t i = 1; i < kShapes.size(); i += 2) {
    const auto& sizes = kShapes[i];
    auto x = random_values<float>(graven::engine::product(sizes), 2);
    for (auto& value : x) value = 0.5f * value / (std::abs(value) + 1);  // no overflow
    for (uint64_t reduced : reductions_of(sizes)) {
      check<float, float>(parts, {1, [](float a, float b) { return a * b + a; }}, x, x, sizes,
                          reduced);
    }
  }
}

template <typename T>
void check_converted() {
  ReductionParts parts = reduction(kDTypeOf<T>, operator+, 0);
  parts.finish = record({DType::kFloat32, DType::kFloat64}, [](auto& x) { return x[0]; });
  for (size_t i = 0; i < kShapes.size(); i += 2) {
    const auto& sizes = kShapes[i];
    auto x = random_values<T>(product(sizes), 6);
    std::vector<float> values;
    for (T value : x) values.push_back(static_cast<float>(value));
    for (uint64_t reduced : reductions_of(sizes)) {
      check<T, float>(parts, {0, add}, x, values, sizes, reduced);
    }
  }
}

TEST_CASE("sums of half and bfloat16 have the bits of sums of float32") {
  check_converted<Half>();
  check_converted<BFloat16>();
}

TEST_CASE("broadcasting operands change no order") {
  // The sum of (a - b)^2, where b has any of these shapes.
  ReductionParts parts = reduction(DType::kFloat32, operator+, 0);
  parts.prepare = record({DType::kFloat32, DType::kFloat32},
                         [](auto& x) { return (x[0] - x[1]) * (x[0] - x[1]); });
  const Monoid<float> sum = {0, add};
  for (const auto& sizes : std::vector<std::vector<int64_t>>{
           {40, 6, 10}, {3, 200, 9}, {2, 5, 700}, {3, 1, 3000}, {300, 4, 1}, {1, 2, 20000}}) {
    auto a = numbers<float>(product(sizes), 1);
    for (uint64_t kept = 0; kept < 8; ++kept) {
      std::vector<int64_t> small;
      for (int axis = 0; axis < 3; ++axis) small.push_back(kept >> axis & 1 ? sizes[axis] : 1);
      auto b = numbers<float>(product(small), 2);
      std::vector<float> values;
      for (int64_t flat = 0; flat < product(sizes); ++flat) {
        const int64_t index[] = {flat / sizes[2] / sizes[1], flat / sizes[2] % sizes[1],
                                 flat % sizes[2]};
        int64_t at = 0;
        for (int axis = 0; axis < 3; ++axis) {
          at = at * small[axis] + (small[axis] == 1 ? 0 : index[axis]);
        }
        const float difference = a[flat] - b[at];
        values.push_back(difference * difference);
      }
      const Shape shape{std::span<const int64_t>(sizes)}, of_b{std::span<const int64_t>(small)};
      const StridedInput inputs[] = {{a.data(), &shape}, {b.data(), &of_b}};
      for (uint64_t reduced : reductions_of(sizes)) {
        INFO(shape.to_text(), " and ", of_b.to_text(), " over ", reduced);
        const auto right = expected(sum, values, sizes, reduced);
        for_each_target([&] {
          std::vector<float> results(right.size());
          REQUIRE(run_reduction(**ReductionProgram::compile(parts), inputs, shape, reduced,
                                results.data())
                      .ok());
          CHECK(same_bits(results, right));
        });
      }
    }
  }
}

TEST_CASE("fused rows have the bits of the written order") {
  using Source = RowStage::Source;
  // The sum of x, and of the squares of what is left of x without its largest element.
  std::vector<RowStage> stages(3);
  const double lowest = -std::numeric_limits<double>::infinity();
  stages[0].reduction = reduction(DType::kFloat32, operator+, 0);
  stages[0].sources = {Source{-1, 0}};
  stages[1].reduction = reduction(DType::kFloat32, max, lowest);
  stages[1].sources = {Source{-1, 0}};
  stages[2].reduction = reduction(DType::kFloat32, operator+, 0);
  stages[2].reduction->prepare = record({DType::kFloat32, DType::kFloat32},
                                        [](auto& x) { return (x[0] - x[1]) * (x[0] - x[1]); });
  stages[2].sources = {Source{-1, 0}, Source{1, 0}};
  const RowInput row_inputs[] = {{DType::kFloat32, RowExtent::kMatrix}};
  const Source row_outputs[] = {{0, 0}, {2, 0}};
  const Monoid<float> sum = {0, add};
  const std::vector<int64_t> lengths = {1,    2,     3,     5,     7,     8,     10,   63,   64,
                                        65,   127,   128,   160,   161,   511,   513,  1000, 2049,
                                        5000, 16383, 16384, 16385, 40000, 65536, 65537};
  for (int64_t columns : lengths) {
    const int64_t rows = columns < 200 ? 333 : 5;
    auto x = numbers<float>(rows * columns, 3);
    std::vector<float> squares;
    for (int64_t r = 0; r < rows; ++r) {
      float largest = *std::max_element(x.begin() + r * columns, x.begin() + (r + 1) * columns);
      for (int64_t c = 0; c < columns; ++c) {
        const float difference = x[r * columns + c] - largest;
        squares.push_back(difference * difference);
      }
    }
    const auto sums = expected(sum, x, {rows, columns}, 2);
    const auto sums_of_squares = expected(sum, squares, {rows, columns}, 2);
    for_each_target([&] {
      auto program = RowProgram::compile(row_inputs, stages, row_outputs);
      REQUIRE(program.ok());
      for (int threads : {1, 2}) {
        ThreadPool::shared().set_num_threads(threads);
        std::vector<float> first(rows), second(rows);
        const void* from[] = {x.data()};
        void* to[] = {first.data(), second.data()};
        REQUIRE(run_rows(**program, rows, columns, from, to).ok());
        INFO(rows, " rows of ", columns);
        CHECK(same_bits(first, sums));
        CHECK(same_bits(second, sums_of_squares));
      }
      ThreadPool::shared().set_num_threads(0);
    });
  }
}

TEST_CASE("one NaN makes the extreme of its row and of its column NaN") {
  const double infinity = std::numeric_limits<double>::infinity();
  for (int64_t rows : {1, 3, 8, 20, 200}) {
    for (int64_t columns : {1, 2, 3, 9, 70, 300}) {
      for_each_target([&] {
        for (bool is_max : {false, true}) {
          auto parts =
              reduction(DType::kFloat32, is_max ? max : min, is_max ? -infinity : infinity);
          auto program = ReductionProgram::compile(parts);
          std::vector<float> x(rows * columns, 1);
          const int64_t row = rows / 2, column = columns / 2;
          x[row * columns + column] = std::nanf("");
          const Shape shape{Dim(rows), Dim(columns)};
          const StridedInput inputs[] = {{x.data(), &shape}};
          std::vector<float> of_rows(rows), of_columns(columns);
          REQUIRE(run_reduction(**program, inputs, shape, 2, of_rows.data()).ok());
          REQUIRE(run_reduction(**program, inputs, shape, 1, of_columns.data()).ok());
          for (int64_t r = 0; r < rows; ++r) CHECK(std::isnan(of_rows[r]) == (r == row));
          for (int64_t c = 0; c < columns; ++c) CHECK(std::isnan(of_columns[c]) == (c == column));
        }
      });
    }
  }
}

TEST_CASE("the sum of negative zeros is zero, and of denormals too") {
  for (int64_t n : {1, 2, 3, 64, 65, 1000}) {
    for (float value : {-0.0f, 1e-40f}) {
      for (uint64_t reduced : {1, 2}) {
        std::vector<float> x(2 * n, value);
        const std::vector<int64_t> sizes =
            reduced == 1 ? std::vector<int64_t>{n, 2} : std::vector<int64_t>{2, n};
        check<float, float>(reduction(DType::kFloat32, operator+, 0), {0, add}, x, x, sizes,
                            reduced);
      }
    }
  }
}

TEST_CASE("lanes are as many as values, and at most 256 bytes") {
  CHECK(row_order_lanes(0, 4) == 1);
  CHECK(row_order_lanes(1, 4) == 1);
  CHECK(row_order_lanes(3, 4) == 4);
  CHECK(row_order_lanes(64, 4) == 64);
  CHECK(row_order_lanes(100000, 4) == 64);
  CHECK(row_order_lanes(100000, 8) == 32);
  CHECK(row_order_lanes(100000, 16) == 16);
  CHECK(row_order_lanes(100000, 1) == 256);
}

}  // namespace
}  // namespace graven::engine
