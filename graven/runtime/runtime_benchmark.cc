// Times the overhead of the runtime over kernels: an eager op, a program of one step and one of
// many small steps. Run it alone on the machine. Fused graphs are timed by ./dev bench.
#include <benchmark/benchmark.h>

#include <cstdlib>

#include "graven/ir/graph_builder.h"
#include "graven/ir/infer_context.h"
#include "graven/ir/structural_ops.h"
#include "graven/runtime/eager_builder.h"
#include "graven/runtime/program.h"

namespace graven::engine {
namespace {

template <typename Body>
OpHandle<NoAttrs> define(const char* name, std::vector<std::string> inputs, Body body) {
  return OpRegistry::global().define<NoAttrs>({.name = name,
                                               .inputs = std::move(inputs),
                                               .outputs = {"z: T"},
                                               .types = {{"T", kFloatTypes}},
                                               .infer = broadcast_inputs,
                                               .body = elementwise(body)});
}

struct Ops {
  OpHandle<NoAttrs> add =
      define("BenchAdd", {"x: T", "y: T"}, [](auto x, auto y) { return x + y; });
  OpHandle<NoAttrs> mul =
      define("BenchMul", {"x: T", "y: T"}, [](auto x, auto y) { return x * y; });
};

const Ops& ops() {
  static const Ops* ops = [] {
    OpRegistry::global().define(kPlaceholder, {.name = "Placeholder",
                                               .outputs = {"output: dtype"},
                                               .types = {{"dtype", kAllTypes}},
                                               .infer = unknown_outputs});
    return new Ops();
  }();
  return *ops;
}

Tensor filled(const Shape& shape, float value) {
  Tensor tensor = *Tensor::allocate(DType::kFloat32, shape);
  for (float& element : tensor.mutable_data<float>()) element = value;
  return tensor;
}

void check(const Status& status) {
  if (status.ok()) return;
  std::fprintf(stderr, "%s\n", status.message().c_str());
  std::exit(1);
}

Tensor apply_op(Builder& builder, const Op& op, std::initializer_list<Tensor> inputs) {
  auto outputs = builder.apply(op, {inputs.begin(), inputs.size()}, {});
  check(outputs.status());
  return (*outputs)[0];
}

void eager_add(benchmark::State& state) {
  Tensor inputs[] = {filled({state.range(0)}, 1), filled({state.range(0)}, 2)};
  const Op& add = *ops().add;
  for (auto _ : state) {
    auto outputs = apply(add, inputs, {});
    benchmark::DoNotOptimize(outputs);
  }
}
BENCHMARK(eager_add)->Arg(4)->Arg(512)->Arg(1 << 20);

void run_program(benchmark::State& state, const Ref<Graph>& graph, std::vector<Tensor> inputs) {
  auto program = plan_program(graph);
  check(program.status());
  for (auto _ : state) {
    Tensors outputs;
    check((*program)->run(inputs, outputs));
    benchmark::DoNotOptimize(outputs);
  }
}

void one_op_program(benchmark::State& state) {
  ops();
  auto graph = make_ref<Graph>("f");
  GraphBuilder builder(graph);
  Tensor x = builder.add_placeholder(DType::kFloat32, {}, "x");
  graph->set_outputs({symbolic(apply_op(builder, *ops().add, {x, x})).output()});
  run_program(state, graph, {filled({}, 1)});
}
BENCHMARK(one_op_program);

void program_of_1000_steps(benchmark::State& state) {
  ops();
  auto graph = make_ref<Graph>("f");
  GraphBuilder builder(graph);
  Tensor x = builder.add_placeholder(DType::kFloat32, {16}, "x"), y = x;
  for (int i = 0; i < 500; ++i) {
    y = apply_op(builder, *ops().mul, {apply_op(builder, *ops().add, {y, x}), x});
  }
  graph->set_outputs({symbolic(y).output()});
  run_program(state, graph, {filled({16}, 0.5f)});
}
BENCHMARK(program_of_1000_steps)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace graven::engine

BENCHMARK_MAIN();
