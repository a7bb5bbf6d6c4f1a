#include "graven/kernels/row_program.h"

#include <doctest/doctest.h>

#include <cmath>

#include "graven/base/thread_pool.h"
#include "graven/kernels/elementwise.h"
#include "graven/kernels/testing.h"

namespace graven::engine {
namespace {

using Source = RowStage::Source;

std::shared_ptr<const RowProgram> compile_rows(std::vector<RowInput> inputs,
                                               const std::vector<RowStage>& stages,
                                               std::vector<Source> outputs) {
  auto program = RowProgram::compile(inputs, stages, outputs);
  REQUIRE(program.ok());
  return *program;
}

// The stages of softmax one by one, over the whole matrix.
template <typename T>
std::vector<T> softmax_by_stages(const std::vector<T>& x, int64_t rows, int64_t columns) {
  constexpr DType kType = kDTypeOf<T>;
  auto stages = softmax_stages(kType);
  Shape matrix{Dim(rows), Dim(columns)}, column{Dim(rows), Dim(1)};
  std::vector<T> largest(rows), powers(x.size()), sums(rows), out(x.size());
  auto reduce = [&](const RowStage& stage, const std::vector<T>& from, std::vector<T>& to) {
    const StridedInput operands[] = {{from.data(), &matrix}};
    REQUIRE(
        run_reduction(**ReductionProgram::compile(*stage.reduction), operands, matrix, 2, to.data())
            .ok());
  };
  auto apply = [&](const RowStage& stage, const std::vector<T>& a, const std::vector<T>& b,
                   std::vector<T>& to) {
    const StridedInput operands[] = {{a.data(), &matrix}, {b.data(), &column}};
    void* outputs[] = {to.data()};
    REQUIRE(run_elementwise(*compile(*stage.expression), operands, matrix, outputs).ok());
  };
  reduce(stages[0], x, largest);
  apply(stages[1], x, largest, powers);
  reduce(stages[2], powers, sums);
  apply(stages[3], powers, sums, out);
  return out;
}

template <typename T>
void check_softmax(int64_t rows, int64_t columns) {
  auto program = compile_rows({{kDTypeOf<T>, RowExtent::kMatrix}}, softmax_stages(kDTypeOf<T>),
                              {{3, 0}, {2, 0}, {3, 0}});
  auto x = random_values<T>(rows * columns, 5);
  auto expected = softmax_by_stages(x, rows, columns);
  for (int threads : {1, 2}) {
    ThreadPool::shared().set_num_threads(threads);
    std::vector<T> out(x.size()), again(x.size()), sums(rows);
    const void* inputs[] = {x.data()};
    void* outputs[] = {out.data(), sums.data(), again.data()};
    REQUIRE(run_rows(*program, rows, columns, inputs, outputs).ok());
    INFO(rows, " rows of ", columns);
    if (out.empty()) continue;
    CHECK(std::memcmp(out.data(), expected.data(), out.size() * sizeof(T)) == 0);
    CHECK(std::memcmp(again.data(), expected.data(), out.size() * sizeof(T)) == 0);
  }
  ThreadPool::shared().set_num_threads(0);
}

TEST_CASE("fused rows give the bits of the stages run one by one") {
  for (int64_t columns : {1, 2, 10, 100, 255, 256, 257, 511, 512, 513, 1000, 1024, 1025, 5000}) {
    check_softmax<float>(37, columns);
    check_softmax<double>(5, columns);
    check_softmax<Half>(5, columns);
    check_softmax<BFloat16>(5, columns);
  }
  check_softmax<float>(2000, 300);
  check_softmax<float>(50000, 3);
  check_softmax<float>(3, 65536);
  check_softmax<float>(5, 65537);  // too long
  check_softmax<float>(1, 20000);  // too few
  check_softmax<float>(0, 10);
}

TEST_CASE("values per row and per column take part: layer normalisation") {
  std::vector<RowStage> stages(4);
  DType f32 = DType::kFloat32;
  auto mean = reduction(f32, operator+, 0);
  mean.finish =
      record({f32, DType::kFloat64}, [](auto& x) { return x[0] / cast(x[1], DType::kFloat32); });
  auto variance = mean;
  variance.prepare = record({f32, f32}, [](auto& x) { return (x[0] - x[1]) * (x[0] - x[1]); });
  stages[0].reduction = mean;
  stages[0].sources = {{-1, 0}};
  stages[1].reduction = variance;
  stages[1].sources = {{-1, 0}, {0, 0}};
  stages[2].expression = record({f32, f32}, [](auto& x) { return rsqrt(x[0] + x[1]); });
  stages[2].sources = {{1, 0}, {-1, 3}};
  stages[3].expression =
      record({f32, f32, f32, f32, f32}, [](auto& x) { return (x[0] - x[1]) * x[2] * x[3] + x[4]; });
  stages[3].sources = {{-1, 0}, {0, 0}, {2, 0}, {-1, 1}, {-1, 2}};
  auto program = compile_rows({{f32, RowExtent::kMatrix},
                               {f32, RowExtent::kPerColumn},
                               {f32, RowExtent::kPerColumn},
                               {f32, RowExtent::kScalar}},
                              stages, {{3, 0}, {2, 0}});
  const int64_t rows = 50;
  for (int64_t columns : {1100, 768, 100, 7}) {
    auto x = random_values<float>(rows * columns, 1), gamma = random_values<float>(columns, 2),
         beta = random_values<float>(columns, 3);
    float epsilon = 1e-3f;
    std::vector<float> before = x, scales(rows);
    const void* inputs[] = {x.data(), gamma.data(), beta.data(), &epsilon};
    void* outputs[] = {x.data(), scales.data()};  // in place
    REQUIRE(run_rows(*program, rows, columns, inputs, outputs).ok());
    for (int64_t r = 0; r < rows; ++r) {
      const float* row = before.data() + r * columns;
      double sum = 0, squares = 0;
      for (int64_t c = 0; c < columns; ++c) sum += row[c];
      double center = sum / columns;
      for (int64_t c = 0; c < columns; ++c) squares += (row[c] - center) * (row[c] - center);
      double scale = 1 / std::sqrt(squares / columns + epsilon);
      REQUIRE(scales[r] == doctest::Approx(scale).epsilon(1e-5));
      for (int64_t c = 0; c < columns; ++c) {
        double expected = (row[c] - center) * scale * gamma[c] + beta[c];
        REQUIRE(std::fabs(x[r * columns + c] - expected) < 1e-4);
      }
    }
  }
}

TEST_CASE("an input is no output of a row program") {
  const RowInput inputs[] = {{DType::kFloat32, RowExtent::kMatrix}};
  const Source outputs[] = {{-1, 0}};
  auto program = RowProgram::compile(inputs, {}, outputs);
  CHECK(program.status().code() == Code::kInternal);
}

}  // namespace
}  // namespace graven::engine
