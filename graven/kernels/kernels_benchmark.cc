// What block instructions, elementwise chains and reductions cost. Figures are nanoseconds per
// element ("per_element"), but for the calls on four floats.
#define DOCTEST_CONFIG_IMPLEMENT  // the helpers of the tests check what they do
#include <benchmark/benchmark.h>
#include <doctest/doctest.h>

#include <cstdio>
#include <cstdlib>

#include "graven/base/thread_pool.h"
#include "graven/kernels/reduce.h"
#include "graven/kernels/row_program.h"
#include "graven/kernels/testing.h"

namespace graven::engine {
namespace {

void run_chain(benchmark::State& state, const Expression& expression) {
  auto program = compile(expression);
  int64_t n = state.range(0);
  ThreadPool::shared().set_num_threads(static_cast<int>(state.range(1)));
  size_t num_inputs = expression.inputs().size();
  std::vector<std::vector<float>> x;
  for (size_t i = 0; i < num_inputs; ++i) x.push_back(random_values<float>(n, i + 1));
  std::vector<float> out(n);
  Shape shape{Dim(n)};
  std::vector<StridedInput> inputs;
  for (auto& values : x) inputs.push_back({values.data(), &shape});
  void* outputs[] = {out.data()};
  for (auto _ : state)
    benchmark::DoNotOptimize(run_elementwise(*program, inputs, shape, outputs).ok());
  state.counters["per_element"] = benchmark::Counter(
      static_cast<double>(n) * 1e-9,
      benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

void add(benchmark::State& state) {
  run_chain(state, record({DType::kFloat32, DType::kFloat32}, [](auto& x) { return x[0] + x[1]; }));
}
void chain(benchmark::State& state) {
  run_chain(state, record({DType::kFloat32, DType::kFloat32, DType::kFloat32},
                          [](auto& x) { return tanh(x[0] * x[1] + x[2]) * sigmoid(x[0]); }));
}
template <Scalar (*kFunction)(Scalar)>
void function(benchmark::State& state) {
  run_chain(state, record({DType::kFloat32}, [](auto& x) { return kFunction(x[0]); }));
}
void add_one(benchmark::State& state) {
  run_chain(state, record({DType::kFloat32}, [](auto& x) { return x[0] + 1; }));
}
// What memory allows: the same reads and writes by loops that do nothing else, a part a thread.
void add_one_by_plain_loops(benchmark::State& state) {
  const int64_t n = state.range(0), threads = state.range(1), part = n / threads;
  ThreadPool::shared().set_num_threads(static_cast<int>(threads));
  std::vector<float> x = random_values<float>(n, 1), out(n);
  for (auto _ : state) {
    ThreadPool::shared().run(threads, [&](int64_t thread) {
      const float* from = x.data() + thread * part;
      float* to = out.data() + thread * part;
      for (int64_t i = 0; i < part; ++i) to[i] = from[i] + 1;
    });
    benchmark::ClobberMemory();
  }
  state.counters["per_element"] = benchmark::Counter(
      static_cast<double>(n) * 1e-9,
      benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}
void power(benchmark::State& state) {
  run_chain(state,
            record({DType::kFloat32, DType::kFloat32}, [](auto& x) { return pow(x[0], x[1]); }));
}
void sizes(benchmark::internal::Benchmark* benchmark) {
  benchmark->Args({4, 1})
      ->Args({4096, 1})
      ->Args({1 << 20, 1})
      ->Args({1 << 24, 1})
      ->Args({1 << 24, 2});
}
void one_size(benchmark::internal::Benchmark* benchmark) { benchmark->Args({4096, 1}); }
BENCHMARK(add)->Apply(sizes);
BENCHMARK(chain)->Apply(sizes);
BENCHMARK(add_one)->Args({1 << 24, 1})->Args({1 << 24, 2})->UseRealTime();
BENCHMARK(add_one_by_plain_loops)->Args({1 << 24, 1})->Args({1 << 24, 2})->UseRealTime();
BENCHMARK_TEMPLATE(function, exp)->Apply(one_size);
BENCHMARK_TEMPLATE(function, log)->Apply(one_size);
BENCHMARK_TEMPLATE(function, log1p)->Apply(one_size);
BENCHMARK_TEMPLATE(function, tanh)->Apply(one_size);
BENCHMARK_TEMPLATE(function, sigmoid)->Apply(one_size);
BENCHMARK_TEMPLATE(function, softplus)->Apply(one_size);
BENCHMARK_TEMPLATE(function, erf)->Apply(one_size);
BENCHMARK_TEMPLATE(function, erfc)->Apply(one_size);
BENCHMARK_TEMPLATE(function, sin)->Apply(one_size);
BENCHMARK_TEMPLATE(function, cos)->Apply(one_size);
BENCHMARK_TEMPLATE(function, atan)->Apply(one_size);
BENCHMARK_TEMPLATE(function, sqrt)->Apply(one_size);
BENCHMARK_TEMPLATE(function, rsqrt)->Apply(one_size);
BENCHMARK(power)->Apply(one_size);

template <typename T, Scalar (*kCombine)(Scalar, Scalar)>
void reduce(benchmark::State& state) {
  int64_t rows = state.range(0), columns = state.range(1);
  uint64_t reduced = static_cast<uint64_t>(state.range(2));
  ThreadPool::shared().set_num_threads(1);
  const DType dtype = kDTypeOf<T>;
  auto program = *ReductionProgram::compile(reduction(dtype, kCombine, 0));
  auto x = random_values<T>(rows * columns, 1);
  std::vector<Stored<T>> out(rows * columns);
  Shape shape{Dim(rows), Dim(columns)};
  const StridedInput inputs[] = {{x.data(), &shape}};
  for (auto _ : state)
    benchmark::DoNotOptimize(run_reduction(*program, inputs, shape, reduced, out.data()).ok());
  state.counters["per_element"] = benchmark::Counter(
      static_cast<double>(rows * columns) * 1e-9,
      benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}
void all_shapes(benchmark::internal::Benchmark* benchmark) {
  for (int columns : {1000, 4096}) benchmark->Args({1000, columns, 3});
  for (int columns : {2, 3, 4, 7, 8, 10, 16, 33, 64, 100, 300, 1000, 30000}) {
    benchmark->Args({3000000 / columns, columns, 2});
  }
  for (int columns : {1, 3, 8, 32, 100, 1000, 30000}) {
    benchmark->Args({3000000 / columns, columns, 1});
  }
}
void short_rows(benchmark::internal::Benchmark* benchmark) {
  for (int columns : {2, 3, 10, 100}) benchmark->Args({3000000 / columns, columns, 2});
  benchmark->Args({1000, 1000, 3})->Args({1000, 1000, 1});
}
BENCHMARK_TEMPLATE(reduce, float, operator+)->Apply(all_shapes);
BENCHMARK_TEMPLATE(reduce, float, max)->Apply(short_rows);
BENCHMARK_TEMPLATE(reduce, double, operator+)->Apply(short_rows);
BENCHMARK_TEMPLATE(reduce, BFloat16, operator+)->Apply(short_rows);
BENCHMARK_TEMPLATE(reduce, bool, operator|)->Apply(short_rows);
BENCHMARK_TEMPLATE(reduce, std::complex<float>, operator+)->Apply(short_rows);
BENCHMARK_TEMPLATE(reduce, std::complex<float>, operator*)->Apply(short_rows);

void softmax(benchmark::State& state) {
  int64_t rows = state.range(0), columns = state.range(1);
  ThreadPool::shared().set_num_threads(static_cast<int>(state.range(2)));
  const RowInput input[] = {{DType::kFloat32, RowExtent::kMatrix}};
  const RowStage::Source output[] = {{3, 0}};
  auto program = *RowProgram::compile(input, softmax_stages(DType::kFloat32), output);
  auto x = random_values<float>(rows * columns, 1);
  std::vector<float> out(rows * columns);
  const void* inputs[] = {x.data()};
  void* outputs[] = {out.data()};
  for (auto _ : state) (void)run_rows(*program, rows, columns, inputs, outputs);
  state.counters["per_element"] = benchmark::Counter(
      static_cast<double>(rows * columns) * 1e-9,
      benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}
BENCHMARK(softmax)
    ->Args({4096, 1000, 1})
    ->Args({4096, 1000, 2})
    ->Args({32, 10, 1})
    ->Args({1000000, 2, 1})
    ->Args({100000, 10, 1})
    ->Args({20000, 100, 1});

}  // namespace
}  // namespace graven::engine

int main(int argc, char** argv) {
  doctest::Context checks;
  checks.setAsDefaultForAssertsOutOfTestCases();
  checks.setAssertHandler([](const doctest::AssertData& failed) {
    std::fprintf(stderr, "%s:%d: %s\n", failed.m_file, failed.m_line, failed.m_expr);
    std::exit(1);
  });
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
