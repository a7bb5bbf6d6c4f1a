#include "graven/ops/reduction_ops.h"

#include <functional>
#include <limits>
#include <set>

#include "graven/ops/testing.h"

namespace graven::engine {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

using Fold = std::function<double(const std::vector<double>&)>;

// f of the elements along the axes, one after another in row-major order.
Tensor naive_reduction(const Tensor& x, const std::set<int>& axes, bool keep_dims, const Fold& f) {
  Shape kept, out;
  for (int i = 0; i < x.rank(); ++i) {
    kept.push_back(axes.contains(i) ? Dim(1) : x.shape()[i]);
    if (keep_dims || !axes.contains(i)) out.push_back(kept[i]);
  }
  std::vector<std::vector<double>> groups(kept.num_elements());
  for (int64_t at = 0; at < x.num_elements(); ++at) {
    int64_t rest = at, group = 0, stride = 1;
    for (int i = x.rank() - 1; i >= 0; --i) {
      if (!axes.contains(i)) group += rest % x.shape().size(i) * stride;
      rest /= x.shape().size(i);
      stride *= kept.size(i);
    }
    groups[group].push_back(x.data<double>()[at]);
  }
  std::vector<double> values;
  for (const auto& group : groups) values.push_back(f(group));
  return tensor_of(out, values);
}

double fold(const std::vector<double>& x, double start, double (*f)(double, double)) {
  for (double value : x) start = f(start, value);
  return start;
}

}  // namespace

TEST_CASE("reductions over all kinds of axes") {
  const std::pair<const OpHandle<ReductionAttrs>&, Fold> rows[] = {
      {kSum, [](auto& x) { return fold(x, 0, [](double a, double b) { return a + b; }); }},
      {kMean,
       [](auto& x) {
         return fold(x, 0, [](double a, double b) { return a + b; }) /
                static_cast<double>(x.size());
       }},
      {kProd, [](auto& x) { return fold(x, 1, [](double a, double b) { return a * b; }); }},
      {kMax,
       [](auto& x) {
         return fold(x, -kInfinity, [](double a, double b) { return a > b ? a : b; });
       }},
      {kMin,
       [](auto& x) {
         return fold(x, kInfinity, [](double a, double b) { return a < b ? a : b; });
       }},
      {kEuclideanNorm,
       [](auto& x) { return std::sqrt(fold(x, 0, [](double a, double b) { return a + b * b; })); }},
  };
  const std::pair<std::vector<int64_t>, std::set<int>> axes[] = {
      {{0}, {0}},       {{1}, {1}},        {{-1}, {2}},
      {{0, 2}, {0, 2}}, {{-3, 1}, {0, 1}}, {{0, 1, 2}, {0, 1, 2}},
      {{}, {}}};
  for (const Shape& shape : {Shape{3, 4, 5}, Shape{2, 1, 40}, Shape{2, 0, 3}}) {
    Tensor x = random_tensor(shape);
    for (const auto& [op, f] : rows) {
      for (const auto& [given, normal] : axes) {
        for (bool keep_dims : {false, true}) {
          INFO(op.op->name(), " ", shape.to_text(), " over ", given.size(), " axes");
          Tensor expected = naive_reduction(x, normal, keep_dims, f);
          check_near(run(op, {x, vector_of(given)}, {keep_dims}), expected);
          std::vector<int32_t> small(given.begin(), given.end());
          check_near(run(op, {x, vector_of(small)}, {keep_dims}), expected);
          if (small.size() != 1) continue;
          check_near(run(op, {x, Tensor::scalar(small[0])}, {keep_dims}), expected);
        }
      }
    }
  }
}

TEST_CASE("integers, booleans and NaN are reduced as they should be") {
  Tensor x = vector_of<int32_t>({1, 2, -4, -5}), first = Tensor::scalar<int32_t>(0);
  CHECK(run(kMean, {x, first}).item<int32_t>() == -1);
  CHECK(run(kEuclideanNorm, {vector_of<int32_t>({3, 4}), first}).item<int32_t>() == 5);
  CHECK(run(kMax, {vector_of<uint8_t>({3, 200}), first}).item<uint8_t>() == 200);
  CHECK(run(kSum, {vector_of<uint8_t>({100, 200}), first}).item<uint8_t>() == 44);
  CHECK(run(kMax, {vector_of<int32_t>({}), first}).item<int32_t>() ==
        std::numeric_limits<int32_t>::min());
  CHECK(std::isnan(run(kMax, {vector_of<double>({1, kNaN, 3}), first}).item<double>()));
  CHECK(std::isnan(run(kMean, {vector_of<double>({}), first}).item<double>()));
  Tensor mixed = tensor_of<bool>({2, 2}, {true, false, true, true});
  CHECK(values_of<bool>(run(kAll, {mixed, Tensor::scalar<int32_t>(1)})) ==
        std::vector<bool>{false, true});
  CHECK(values_of<bool>(run(kAny, {mixed, Tensor::scalar<int32_t>(1)})) ==
        std::vector<bool>{true, true});
}

TEST_CASE("wrong axes say what is wrong") {
  Tensor x = random_tensor({2, 3});
  CHECK(error_of(kMean, {x, vector_of<int32_t>({3})}) ==
        "[Mean] Invalid reduction dimension: axis 3 is out of valid range [-2, 2)");
  CHECK(error_of(kMean, {x, vector_of<int32_t>({0, -2})}) ==
        "[Mean] Invalid reduction arguments: Axes contains duplicate dimension: 0");
  CHECK(error_of(kArgMax, {x, Tensor::scalar<int32_t>(2)}) ==
        "[ArgMax] Expected dimension in the range [-2, 2), but got 2");
  CHECK(error_of(kArgMax, {random_tensor({2, 0}), Tensor::scalar<int32_t>(1)}) ==
        "[ArgMax] Reduction axis 1 is empty in shape [2,0]");
  CHECK(error_of(kArgMax, {x, vector_of<int32_t>({0})}) ==
        "[ArgMax] dim must be a scalar, but received tensor of shape: [1]");
}

TEST_CASE("the place of the first largest or smallest element, for long and short axes") {
  for (const Shape& shape : {Shape{1, 7, 1}, Shape{3, 40, 1}, Shape{5, 3, 300}, Shape{1, 100000, 1},
                             Shape{2, 5000, 1}}) {
    Tensor x = random_tensor<double>(shape);
    // Few different values, so that extrema occur again.
    for (double& value : x.mutable_data<double>()) value = std::round(value * 8);
    const int64_t n = shape.size(1), inner = shape.size(2);
    Tensor axis = Tensor::scalar<int32_t>(-2);
    auto most = values_of<int64_t>(run(kArgMax, {x, axis}));
    Tensor least = run(kArgMin, {x, axis}, {.output_type = DType::kInt32});
    for (int64_t i = 0; i < shape.size(0) * inner; ++i) {
      const double* column = x.data<double>().data() + i / inner * n * inner + i % inner;
      int64_t first_most = 0, first_least = 0;
      for (int64_t k = 1; k < n; ++k) {
        if (column[k * inner] > column[first_most * inner]) first_most = k;
        if (column[k * inner] < column[first_least * inner]) first_least = k;
      }
      CHECK(most[i] == first_most);
      CHECK(least.data<int32_t>()[i] == first_least);
    }
  }
}

TEST_CASE("the place of NaN is that of the first one") {
  std::vector<float> x(100, 1.0f);
  x[50] = x[70] = std::numeric_limits<float>::quiet_NaN();
  x[20] = std::numeric_limits<float>::infinity();
  CHECK(run(kArgMax, {vector_of(x), Tensor::scalar<int32_t>(0)}).item<int64_t>() == 50);
  CHECK(run(kArgMin, {vector_of(x), Tensor::scalar<int32_t>(0)}).item<int64_t>() == 50);
  CHECK(run(kArgMax, {vector_of<Half>({Half(1.0f), Half(3.0f)}), Tensor::scalar<int16_t>(0)},
            {.output_type = DType::kUInt16})
            .item<uint16_t>() == 1);
  CHECK(run(kArgMax, {tensor_of<bool>({3}, {false, true, true}), Tensor::scalar<int32_t>(0)})
            .item<int64_t>() == 1);
}

namespace {

// Of each row, where the first extremum or the first NaN stands.
template <typename Stored>
std::vector<int64_t> naive_places(const std::vector<Stored>& stored, int64_t n, bool is_max) {
  using T = std::conditional_t<std::is_arithmetic_v<Stored>, Stored, float>;
  std::vector<T> x;
  for (const Stored& element : stored) x.push_back(static_cast<T>(element));
  std::vector<int64_t> places;
  for (auto row = x.begin(); row != x.end(); row += n) {
    int64_t best = 0;
    for (int64_t i = 1; i < n && row[best] == row[best]; ++i) {
      const bool is_better = is_max ? row[i] > row[best] : row[i] < row[best];
      if (is_better || row[i] != row[i]) best = i;
    }
    places.push_back(best);
  }
  return places;
}

template <typename T>
void check_places(int64_t rows, int64_t n) {
  std::mt19937_64 generator(static_cast<uint64_t>(rows * n));
  std::vector<T> x;
  // Ties, and negative numbers where there are some.
  for (int64_t i = 0; i < rows * n; ++i) {
    const auto number = static_cast<float>(generator() % 50);
    x.push_back(static_cast<T>(std::is_unsigned_v<T> ? number : number - 25));
  }
  if constexpr (is_floating(kDTypeOf<T>)) {
    for (size_t i = 0; i < x.size(); i += 337) {
      x[i] = static_cast<T>(std::numeric_limits<float>::quiet_NaN());
    }
  }
  Tensor rows_of_n = tensor_of<T>({Dim(rows), Dim(n)}, x), axis = Tensor::scalar<int32_t>(1);
  INFO(rows, " rows of ", n);
  CHECK(values_of<int64_t>(run(kArgMax, {rows_of_n, axis})) == naive_places(x, n, true));
  CHECK(values_of<int64_t>(run(kArgMin, {rows_of_n, axis}, {.output_type = DType::kInt64})) ==
        naive_places(x, n, false));
}

}  // namespace

TEST_CASE("places of extrema in rows of all lengths are those of a plain loop") {
  for (int64_t n : {1, 2, 3, 7, 16, 31, 32, 33, 100, 127, 128, 129, 300, 1025}) {
    for (int64_t rows : {1, 15, 16, 17, 50}) {
      check_places<float>(rows, n);
      check_places<double>(rows, n);
      check_places<Half>(rows, n);
      check_places<BFloat16>(rows, n);
      check_places<int8_t>(rows, n);
      check_places<uint8_t>(rows, n);
      check_places<int16_t>(rows, n);
      check_places<uint16_t>(rows, n);
      check_places<int32_t>(rows, n);
      check_places<uint32_t>(rows, n);
      check_places<int64_t>(rows, n);
      check_places<uint64_t>(rows, n);
    }
  }
}

TEST_CASE("running sums and products, from either end, with and without the own element") {
  Tensor x = tensor_of<double>({2, 3}, {1, 2, 3, 4, 5, 6});
  Tensor rows = Tensor::scalar<int32_t>(-1), columns = Tensor::scalar<int64_t>(0);
  CHECK(values_of<double>(run(kCumsum, {x, rows})) == std::vector<double>{1, 3, 6, 4, 9, 15});
  CHECK(values_of<double>(run(kCumsum, {x, columns})) == std::vector<double>{1, 2, 3, 5, 7, 9});
  CHECK(values_of<double>(run(kCumsum, {x, rows}, {.exclusive = true})) ==
        std::vector<double>{0, 1, 3, 0, 4, 9});
  CHECK(values_of<double>(run(kCumprod, {x, rows}, {.reverse = true})) ==
        std::vector<double>{6, 6, 3, 120, 30, 6});
  CHECK(values_of<double>(run(kCumprod, {x, rows}, {.exclusive = true, .reverse = true})) ==
        std::vector<double>{6, 3, 1, 30, 6, 1});
  CHECK(values_of<uint8_t>(run(kCumprod, {vector_of<uint8_t>({200, 2, 3}), rows})) ==
        std::vector<uint8_t>{200, 144, 176});
  CHECK(values_of<int16_t>(run(kCumprod, {vector_of<int16_t>({-300, 300, 300}), rows})) ==
        std::vector<int16_t>{-300, static_cast<int16_t>(-90000), static_cast<int16_t>(-27000000)});
  check_near(run(kCumulativeLogsumexp, {x, rows}),
             tensor_of<double>({2, 3}, {1, std::log(std::exp(1) + std::exp(2)),
                                        std::log(std::exp(1) + std::exp(2) + std::exp(3)), 4,
                                        std::log(std::exp(4) + std::exp(5)),
                                        std::log(std::exp(4) + std::exp(5) + std::exp(6))}));
  CHECK(values_of<double>(run(kCumulativeLogsumexp, {x, columns}, {.exclusive = true}))[0] ==
        -kInfinity);
  CHECK(run(kCumsum, {random_tensor({2, 0}), rows}).shape() == Shape{2, 0});
  CHECK(error_of(kCumsum, {x, Tensor::scalar<int32_t>(2)}) ==
        "[Cumsum] ScanOp: Expected scan axis in the range [-2, 2), but got 2");
}

TEST_CASE("a running sum over many columns and rows") {
  Tensor x = random_tensor({3, 50, 700});
  Tensor y = run(kCumsum, {x, Tensor::scalar<int32_t>(1)}, {.reverse = true});
  for (int64_t matrix = 0; matrix < 3; ++matrix) {
    for (int64_t column = 0; column < 700; column += 13) {
      double sum = 0;
      for (int64_t row = 49; row >= 0; --row) {
        const int64_t at = (matrix * 50 + row) * 700 + column;
        sum += x.data<double>()[at];
        CHECK(y.data<double>()[at] == sum);
      }
    }
  }
}

}  // namespace graven::engine
