// Times the overhead of the runtime over kernels: an eager op, a program of one step and one of
// many small steps, an iteration of a loop. Run it alone on the machine. Fused graphs are timed by
// ./dev bench.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <limits>

#include "graven/ir/graph_builder.h"
#include "graven/ir/infer_bodies.h"
#include "graven/ir/infer_context.h"
#include "graven/ir/kernel.h"
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

// The elements from the last to the first: an op with a kernel of its own, which does not fuse. The
// second input is a number that the kernel reads, as axes are.
Status reversed(KernelContext& c) {
  const std::span<const float> x = c.in<float>(0);
  const std::span<float> y = c.out<float>(0);
  for (size_t i = 0; i < x.size(); ++i) y[i] = x[x.size() - 1 - i];
  return c.input(1).item<int32_t>() == 0 ? Status() : internal_error("the axis is not 0");
}

OpHandle<NoAttrs> define_reversed() {
  return OpRegistry::global().define<NoAttrs>({.name = "BenchReverse",
                                               .inputs = {"x: T", "axis: int32"},
                                               .outputs = {"z: T"},
                                               .types = {{"T", kFloatTypes}},
                                               .infer =
                                                   [](InferContext& c) {
                                                     c.set_shape(0, c.shape(0));
                                                     return Status();
                                                   },
                                               .body = kernel(reversed)});
}

struct Ops {
  OpHandle<NoAttrs> add =
      define("BenchAdd", {"x: T", "y: T"}, [](auto x, auto y) { return x + y; });
  OpHandle<NoAttrs> mul =
      define("BenchMul", {"x: T", "y: T"}, [](auto x, auto y) { return x * y; });
  OpHandle<NoAttrs> reverse = define_reversed();
  OpHandle<NoAttrs> less = OpRegistry::global().define<NoAttrs>(
      {.name = "BenchLess",
       .inputs = {"x: T", "y: T"},
       .outputs = {"z: bool"},
       .types = {{"T", kFloatTypes}},
       .infer = broadcast_inputs,
       .body = elementwise([](auto x, auto y) { return x < y; })});
};

const Ops& ops() {
  static const Ops* ops = [] {
    OpRegistry::global().define(kPlaceholder, {.name = "Placeholder",
                                               .outputs = {"output: dtype"},
                                               .types = {{"dtype", kAllTypes}},
                                               .infer = unknown_outputs});
    OpRegistry::global().define(kConst, {.name = "Const",
                                         .outputs = {"output: dtype"},
                                         .types = {{"dtype", kAllTypes}},
                                         .infer = unknown_outputs});
    OpRegistry::global().define(
        kStatelessWhile,
        {.name = "StatelessWhile",
         .inputs = {"input: T"},
         .outputs = {"output: T"},
         .infer = infer_loop,
         .bodies = {BodyRun::kWhile, {{"cond", "input"}, {"body", "input", "output"}}}});
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

constexpr int kIterations = 10'000;

// x reversed so many times in each of kIterations; f32 counts them.
Ref<Graph> loop_of_reversals(int num_ops, const Shape& shape) {
  auto part = [&](std::string name, auto returned) {
    auto graph = make_ref<Graph>(name);
    GraphBuilder builder(graph);
    const Tensor i = builder.add_placeholder(DType::kFloat32, {}, "i");
    const Tensor x = builder.add_placeholder(DType::kFloat32, shape, "x");
    std::vector<OutputRef> outputs;
    for (const Tensor& output : returned(builder, i, x)) {
      outputs.push_back(symbolic(output).output());
    }
    graph->set_outputs(std::move(outputs));
    return Body::create(std::move(name), graph);
  };
  const Ref<Body> condition =
      part("condition", [](GraphBuilder& b, const Tensor& i, const Tensor&) {
        const Tensor end = b.add_constant(Tensor::scalar<float>(kIterations));
        return std::vector{apply_op(b, *ops().less, {i, end})};
      });
  const Ref<Body> body = part("body", [&](GraphBuilder& b, const Tensor& i, Tensor x) {
    const Tensor axis = b.add_constant(Tensor::scalar<int32_t>(0));
    for (int k = 0; k < num_ops; ++k) x = apply_op(b, *ops().reverse, {x, axis});
    return std::vector{apply_op(b, *ops().add, {i, b.add_constant(Tensor::scalar(1.0f))}), x};
  });
  auto graph = make_ref<Graph>("f");
  GraphBuilder builder(graph);
  const Tensor x = builder.add_placeholder(DType::kFloat32, shape, "x");
  const Tensor start = builder.add_constant(Tensor::scalar(0.0f));
  WhileAttrs attrs;
  attrs.T = {DType::kFloat32, DType::kFloat32};
  attrs.cond = condition;
  attrs.body = body;
  auto outputs = builder.apply(*kStatelessWhile, {{start, x}}, AttrsRef(attrs));
  check(outputs.status());
  graph->set_outputs({symbolic((*outputs)[1]).output()});
  return graph;
}

// The kernels of a body alone, on buffers that stay: as many reversals of x, one after the other.
class Reversals {
 public:
  Reversals(int num_ops, const Shape& shape) {
    for (int k = 0; k <= num_ops; ++k) buffers_.push_back(filled(shape, 0.5f));
  }
  void run() {
    for (size_t k = 0; k + 1 < buffers_.size(); ++k) {
      const Tensor inputs[] = {buffers_[k], axis_};
      Tensors outputs = {buffers_[k + 1]};
      KernelContext context(*ops().reverse, {}, inputs, outputs, /*state=*/nullptr);
      for (int i = 0; i < kIterations; ++i) check(kernel_(context));
    }
  }

 private:
  const KernelFunction kernel_ = (*ops().reverse).record().body.kernel();
  const Tensor axis_ = Tensor::scalar<int32_t>(0);
  std::vector<Tensor> buffers_;
};

template <typename F>
double nanoseconds_of(const F& f) {
  const auto start = std::chrono::steady_clock::now();
  f();
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count();
}

// An iteration of a loop over so many ops that do not fuse, by the fastest of many runs of the
// loop. beside: without the time of the kernels, which are run alone in turn with it.
void loop_iteration(benchmark::State& state) {
  ops();
  const int num_ops = static_cast<int>(state.range(0));
  const Shape shape = {Dim(state.range(1))};
  auto program = plan_program(loop_of_reversals(num_ops, shape));
  check(program.status());
  Reversals alone(num_ops, shape);
  const Tensor x = filled(shape, 0.5f);
  double loop = std::numeric_limits<double>::infinity(), kernels = loop;
  for (auto _ : state) {
    loop = std::min(loop, nanoseconds_of([&] {
                      Tensors outputs;
                      check((*program)->run({&x, 1}, outputs));
                    }));
    kernels = std::min(kernels, nanoseconds_of([&] { alone.run(); }));
  }
  state.counters["ns_iteration"] = loop / kIterations;
  state.counters["ns_kernels"] = kernels / kIterations;
  state.counters["ns_beside"] = (loop - kernels) / kIterations;
}
BENCHMARK(loop_iteration)
    ->ArgNames({"ops", "elements"})
    ->ArgsProduct({{1, 2, 5, 10}, {1, 64}})
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace graven::engine

BENCHMARK_MAIN();
