#include <algorithm>
#include <cstring>
#include <random>

#include "graven/base/strings.h"
#include "graven/base/thread_pool.h"
#include "graven/ops/debug_ops.h"
#include "graven/ops/logical_ops.h"
#include "graven/ops/math_ops.h"
#include "graven/ops/nn_ops.h"
#include "graven/ops/reduction_ops.h"
#include "graven/runtime/eager_builder.h"
#include "graven/runtime/fused_kernels.h"
#include "graven/runtime/fusion_step.h"
#include "graven/runtime/program.h"
#include "graven/runtime/testing.h"
#include "tests/cpp/fused_program.h"

namespace graven::engine {
namespace {

TEST_CASE("a chain of elementwise ops is one step, its inner values are no slots") {
  TestGraph g;
  Tensor a = g.placeholder(DType::kFloat32, {6}, "a"), b = g.placeholder(DType::kFloat32, {6}, "b");
  Tensor sum = run(g.builder, kAddV2, {run(g.builder, kMul, {a, b}), b});
  g.returns({run(g.builder, kMul, {run(g.builder, kTanh, {sum}), run(g.builder, kSqrt, {a})})});
  CHECK(fused_program(g)->to_text() ==
        "step 0: [Mul AddV2 Tanh Sqrt Mul] %0 %1 -> %2\n"
        "return %2\n");
}

TEST_CASE("a value that others need is one more output of the group") {
  TestGraph g;
  Tensor a = g.placeholder(DType::kFloat32, {6}, "a");
  Tensor square = run(g.builder, kMul, {a, a});
  Tensor sum = run(g.builder, kSum, {square, g.constant(ints({0}))});
  g.returns({run(g.builder, kTanh, {square}), sum});
  CHECK(fused_program(g)->to_text() ==
        "step 0: [Mul Tanh] %0 -> %2 %3\n"
        "step 1: Sum %2 %1 -> %4, waits for 0\n"
        "return %3 %4\n");
}

TEST_CASE("a reduction that alone needs a chain computes it while it reduces") {
  TestGraph g;
  Tensor a = g.placeholder(DType::kFloat32, {2, 3}, "a");
  Tensor chain = run(g.builder, kMul, {run(g.builder, kAddV2, {a, a}), a});
  Tensor mean = run(g.builder, kMean, {chain, g.constant(ints({0}))});
  g.returns({run(g.builder, kTanh, {mean}), mean});
  Ref<Program> program = fused_program(g);
  CHECK(program->to_text() ==
        "step 0: [AddV2 Mul Mean] %0 -> %1\n"
        "step 1: Tanh %1 -> %2, waits for 0\n"
        "return %2 %1\n");
  Tensor x = floats_of({2, 3}, {1, 2, 3, 4, 5, 6});
  Tensors outputs;
  REQUIRE(program->run({&x, 1}, outputs).ok());
  CHECK(values_of(outputs[1]) == std::vector<float>{17, 29, 45});
}

TEST_CASE("a reduction computes its chain while sizes are unknown, kept axes or not") {
  for (bool keeps : {false, true}) {
    TestGraph g;
    Tensor a = g.placeholder(DType::kFloat32, {Dim::unknown(), 3}, "a");
    Tensor chain = run(g.builder, kMul, {run(g.builder, kAddV2, {a, a}), a});
    g.returns({run(g.builder, kSum, {chain, g.constant(ints({0}))}, {keeps})});
    Ref<Program> program = fused_program(g);
    CHECK(program->to_text() ==
          "step 0: [AddV2 Mul Sum] %0 -> %1\n"
          "return %1\n");
    Tensor x = floats_of({2, 3}, {1, 2, 3, 4, 5, 6});
    Tensors outputs;
    REQUIRE(program->run({&x, 1}, outputs).ok());
    CHECK(outputs[0].shape() == (keeps ? Shape{1, 3} : Shape{3}));
    CHECK(values_of(outputs[0]) == std::vector<float>{34, 58, 90});
  }
}

TEST_CASE("a fused reduction of many elements gives the bits of the two steps") {
  std::mt19937 random(7);
  for (Shape shape : {Shape{700, 300}, Shape{3, 70000}, Shape{70000, 3}, Shape{40, 50, 60}}) {
    for (int32_t axis = 0; axis < shape.rank(); ++axis) {
      TestGraph g;
      Tensor x = *Tensor::allocate(DType::kFloat32, shape);
      for (float& value : x.mutable_data<float>())
        value = std::normal_distribution<float>()(random);
      Tensor a = g.placeholder(DType::kFloat32, shape, "a");
      Tensor chain = run(g.builder, kMul, {run(g.builder, kTanh, {a}), a});
      g.returns({run(g.builder, kSum, {chain, g.constant(ints({axis}))})});
      Ref<Program> program = fused_program(g);
      REQUIRE(program->steps().size() == 1);
      Tensors outputs;
      REQUIRE(program->run({&x, 1}, outputs).ok());
      Builder& eager = eager_builder();
      Tensor expected = run(eager, kMul, {run(eager, kTanh, {x}), x});
      CHECK(same_bits(outputs[0], run(eager, kSum, {expected, ints({axis})})));
    }
  }
}

// Seen as an error of compilation by a max over a leading axis of size 1.
TEST_CASE("a reduction of an axis of one element computes its chain too") {
  TestGraph g;
  Tensor a = g.placeholder(DType::kFloat32, {1, 3}, "a");
  Tensor chain = run(g.builder, kAddV2, {a, a});
  g.returns({run(g.builder, kSum, {chain, g.constant(ints({0}))})});
  Ref<Program> program = fused_program(g);
  CHECK(program->steps().size() == 1);
  Tensor x = floats_of({1, 3}, {1, 2, 3});
  Tensors outputs;
  REQUIRE(program->run({&x, 1}, outputs).ok());
  CHECK(values_of(outputs[0]) == std::vector<float>{2, 4, 6});
}

TEST_CASE("ops do not fuse around one that needs the first and feeds the last") {
  TestGraph g;
  Tensor a = g.placeholder(DType::kFloat32, {6}, "a");
  Tensor square = run(g.builder, kMul, {a, a});
  Tensor sum = run(g.builder, kSum, {square, g.constant(ints({0}))}, {true});
  g.returns({run(g.builder, kAddV2, {square, sum})});
  CHECK(fused_program(g)->steps().size() == 3);
}

TEST_CASE("ops do not fuse around an effect that stands between them") {
  TestGraph g;
  Tensor a = g.placeholder(DType::kFloat32, {}, "a");
  Tensor first = run(g.builder, kAddV2, {a, a});
  Tensor check = run(g.builder, kCheckNumerics, {first}, {.message = "first"});
  Tensor second = run(g.builder, kMul, {first, a});
  g.graph->add_control_input(&symbolic(second).node(), &symbolic(check).node());
  g.returns({second});
  CHECK(fused_program(g)->to_text() ==
        "step 0: AddV2 %0 %0 -> %1\n"
        "step 1: CheckNumerics %1 -> _, waits for 0\n"
        "step 2: Mul %1 %0 -> %2, waits for 0 1\n"
        "return %2\n");
}

TEST_CASE("different shapes do not fuse, equal unknown ones do") {
  TestGraph g;
  Tensor a = g.placeholder(DType::kFloat32, {Dim::unknown()}, "a");
  Tensor b = g.placeholder(DType::kFloat32, {Dim::unknown()}, "b");
  Tensor x = run(g.builder, kTanh, {run(g.builder, kMul, {a, a})});
  Tensor y = run(g.builder, kTanh, {run(g.builder, kMul, {b, b})});
  g.returns({x, y, run(g.builder, kAddV2, {x, y})});
  CHECK(fused_program(g)->steps().size() == 3);
}

TEST_CASE("an error of shapes inside a group names the op that the user wrote") {
  TestGraph g;
  Tensor a = g.placeholder(DType::kFloat32, {Dim::unknown()}, "a");
  Tensor b = g.placeholder(DType::kFloat32, {Dim::unknown()}, "b");
  Tensor product = run(g.builder, kMul, {a, b}, {}, "product");
  g.returns({run(g.builder, kTanh, {run(g.builder, kAddV2, {product, product})})});
  Ref<Program> program = fused_program(g);
  CHECK(program->steps().size() == 1);
  Tensor inputs[] = {floats({1, 2}), floats({1, 2, 3})};
  Tensors outputs;
  Status error = program->run(inputs, outputs);
  CHECK(error.message() == "[Mul] Incompatible shapes: [2] vs. [3]");
  CHECK(dynamic_cast<ExecutionError*>(error.payload().get())->node_name == "product");
}

// What running says, and of which node.
std::string error_of(const Program& program, std::span<const Tensor> inputs) {
  Tensors outputs;
  Status status = program.run(inputs, outputs);
  if (status.ok()) return "ok";
  CHECK(outputs.empty());
  auto* where = dynamic_cast<ExecutionError*>(status.payload().get());
  REQUIRE(where);
  return where->node_name + ": " + status.message();
}

TEST_CASE("a division of integers fuses like others, and its error names it") {
  TestGraph g;
  Tensor a = g.placeholder(DType::kInt32, {2}, "a");
  Tensor quotient = run(g.builder, kDiv, {run(g.builder, kAddV2, {a, a}), a}, {}, "half");
  g.returns({run(g.builder, kMul, {quotient, a})});
  Ref<Program> program = fused_program(g);
  CHECK(program->steps().size() == 1);
  Tensor zero = ints({1, 0}), good = ints({3, 4});
  CHECK(error_of(*program, {&zero, 1}) == "half: [Div] Integer division by zero");
  Tensors outputs;
  REQUIRE(program->run({&good, 1}, outputs).ok());
  CHECK(std::ranges::equal(outputs[0].data<int32_t>(), std::vector{6, 8}));
}

TEST_CASE("a constant divisor other than zero traps nothing, zero does") {
  for (int32_t divisor : {3, 0}) {
    TestGraph g;
    Tensor x = g.placeholder(DType::kInt32, {2}, "a");
    for (int i = 0; i < 3; ++i) {
      x = run(g.builder, kAddV2,
              {run(g.builder, kDiv, {x, g.constant(Tensor::scalar<int32_t>(divisor))}, {},
                   str_cat("divide", i)),
               g.constant(Tensor::scalar<int32_t>(1))});
    }
    g.returns({x});
    Ref<Program> program = fused_program(g);
    REQUIRE(program->steps().size() == 1);
    const auto* step = dynamic_cast<const FusionStep*>(program->steps()[0].get());
    REQUIRE(step);
    Expression fused = fused_expression(step->fusion(), step->fusion().outputs());
    CHECK(fused.traps().size() == (divisor == 0 ? 3 : 0));
    Tensor given = ints({100, -100});
    if (divisor == 0) {
      CHECK(error_of(*program, {&given, 1}) == "divide0: [Div] Integer division by zero");
      continue;
    }
    Tensors outputs;
    REQUIRE(program->run({&given, 1}, outputs).ok());
    CHECK(std::ranges::equal(outputs[0].data<int32_t>(), std::vector{5, -2}));
  }
}

TEST_CASE(
    "of several traps the first in the order of nodes is reported, by any number of threads") {
  constexpr int64_t kElements = 400'000;
  TestGraph g;
  Tensor a = g.placeholder(DType::kInt32, {kElements}, "a");
  Tensor b = g.placeholder(DType::kInt32, {kElements}, "b");
  Tensor c = g.placeholder(DType::kInt32, {kElements}, "c");
  Tensor first = run(g.builder, kDiv, {a, b}, {}, "first");
  Tensor second = run(g.builder, kDiv, {first, c}, {}, "second");
  g.returns({run(g.builder, kAddV2, {second, a})});
  Ref<Program> program = fused_program(g);
  REQUIRE(program->steps().size() == 1);
  auto with_zero_at = [&](int64_t place) {
    Tensor x = *Tensor::allocate(DType::kInt32, {kElements});
    std::ranges::fill(x.mutable_data<int32_t>(), 7);
    if (place >= 0) x.mutable_data<int32_t>()[static_cast<size_t>(place)] = 0;
    return x;
  };
  Tensor ones = with_zero_at(-1), at_first = with_zero_at(0), at_last = with_zero_at(kElements - 1);
  for (int threads : {1, 2, 4}) {
    ThreadPool::shared().set_num_threads(threads);
    Tensor both[] = {ones, at_last, at_first}, one[] = {ones, ones, at_first};
    CHECK(error_of(*program, both) == "first: [Div] Integer division by zero");
    CHECK(error_of(*program, one) == "second: [Div] Integer division by zero");
  }
  ThreadPool::shared().set_num_threads(0);
}

TEST_CASE("what a reduction reduces may trap") {
  for (Shape shape : {Shape{4, 5}, Shape{300, 700}}) {
    TestGraph g;
    Tensor a = g.placeholder(DType::kInt32, shape, "a");
    Tensor b = g.placeholder(DType::kInt32, shape, "b");
    Tensor quotient = run(g.builder, kDiv, {a, b}, {}, "quotient");
    g.returns({run(g.builder, kSum, {quotient, g.constant(ints({0}))})});
    Ref<Program> program = fused_program(g);
    REQUIRE(program->steps().size() == 1);
    Tensor inputs[] = {*Tensor::allocate(DType::kInt32, shape),
                       *Tensor::allocate(DType::kInt32, shape)};
    for (Tensor& x : inputs) std::ranges::fill(x.mutable_data<int32_t>(), 2);
    CHECK(error_of(*program, inputs) == "ok");
    inputs[1].mutable_data<int32_t>().back() = 0;
    CHECK(error_of(*program, inputs) == "quotient: [Div] Integer division by zero");
  }
}

TEST_CASE("reductions that share a pass report the first of their traps") {
  const Shape shape{300, 700};
  TestGraph g;
  Tensor a = g.placeholder(DType::kInt32, shape, "a");
  Tensor b = g.placeholder(DType::kInt32, shape, "b");
  Tensor c = g.placeholder(DType::kInt32, shape, "c");
  auto sum_of = [&](const Tensor& x) { return run(g.builder, kSum, {x, g.constant(ints({0}))}); };
  Tensor first = sum_of(run(g.builder, kDiv, {a, b}, {}, "first"));
  g.returns({first, sum_of(run(g.builder, kDiv, {a, c}, {}, "second"))});
  Ref<Program> program = fused_program(g);
  REQUIRE(program->steps().size() == 1);
  Tensor inputs[] = {*Tensor::allocate(DType::kInt32, shape),
                     *Tensor::allocate(DType::kInt32, shape),
                     *Tensor::allocate(DType::kInt32, shape)};
  for (Tensor& x : inputs) std::ranges::fill(x.mutable_data<int32_t>(), 2);
  Tensors outputs;
  REQUIRE(program->run(inputs, outputs).ok());
  CHECK(outputs[0].data<int32_t>()[699] == 300);
  CHECK(outputs[1].data<int32_t>()[0] == 300);
  inputs[2].mutable_data<int32_t>().front() = 0;
  CHECK(error_of(*program, inputs) == "second: [Div] Integer division by zero");
  inputs[1].mutable_data<int32_t>().back() = 0;
  CHECK(error_of(*program, inputs) == "first: [Div] Integer division by zero");
}

TEST_CASE("a trapping division that nobody reads is asked as long as somebody waits for it") {
  TestGraph g;
  Tensor a = g.placeholder(DType::kInt32, {3}, "a");
  Tensor sum = run(g.builder, kAddV2, {a, a});
  Tensor quotient = run(g.builder, kDiv, {sum, a}, {}, "quotient");
  g.graph->set_control_outputs({&symbolic(quotient).node()});
  g.returns({sum});
  Tensor zero = ints({1, 0, 2});
  CHECK(error_of(*fused_program(g), {&zero, 1}) == "quotient: [Div] Integer division by zero");
}

TEST_CASE("a wide group is cut, so that what lives at once stays in the first cache") {
  TestGraph g;
  Tensor a = g.placeholder(DType::kFloat32, {4096}, "a");
  std::vector<Tensor> alive;
  for (int i = 0; i < 64; ++i) {
    alive.push_back(run(g.builder, kLeakyRelu, {a}, {static_cast<float>(i)}));
  }
  Tensor sum = alive[0];
  for (int i = 1; i < 64; ++i) sum = run(g.builder, kAddV2, {sum, alive[i]});
  g.returns({sum});
  Ref<Program> program = fused_program(g);
  CHECK(program->steps().size() > 1);
  CHECK(program->steps().size() < 64);
  Tensor x = floats_of({4096}, std::vector<float>(4096, -1));
  Tensors outputs;
  REQUIRE(program->run({&x, 1}, outputs).ok());
  CHECK(values_of(outputs[0])[4095] == -63 * 32);
}

// --- Random graphs, run as a Program and op by op.

struct RandomGraph {
  RandomGraph(uint64_t seed, DType dtype, bool unknown_sizes, bool many)
      : random(seed), dtype(dtype) {
    for (int i = 0; i < 4; ++i) {
      int64_t rows = i == 1 ? 1 : many ? 40 : 3, columns = i == 2 ? 1 : many ? 70 : 5;
      Tensor value = *Tensor::allocate(DType::kFloat32, {rows, columns});
      for (float& x : value.mutable_data<float>())
        x = std::uniform_real_distribution(0.1f, 2.f)(random);
      Shape shape{rows, columns};
      if (unknown_sizes && i != 3) shape = {Dim::unknown(), Dim::unknown()};
      Tensor traced = g.placeholder(DType::kFloat32, shape);
      inputs.push_back(value);
      both(traced, value);
    }
    int nodes = 10 + static_cast<int>(random() % 60);
    for (int i = 0; i < nodes; ++i) add_node();
    std::vector<OutputRef> outputs;
    for (size_t i = 0; i < values.size(); ++i) {
      if (random() % 4 && i + 1 < values.size()) continue;
      outputs.push_back(symbolic(traced[i]).output());
      expected.push_back(values[i]);
    }
    g.graph->set_outputs(outputs);
  }

  void both(Tensor symbolic_one, Tensor value) {
    traced.push_back(std::move(symbolic_one));
    values.push_back(std::move(value));
  }
  template <typename A>
  void apply_both(const OpHandle<A>& op, std::vector<size_t> from, const A& attrs = {}) {
    std::vector<Tensor> a, b;
    for (size_t i : from) {
      a.push_back(traced[i]);
      b.push_back(values[i]);
    }
    auto y = g.builder.apply(*op, a, attrs), z = eager_builder().apply(*op, b, attrs);
    if (!z.ok()) return;  // shapes that do not broadcast
    REQUIRE(y.ok());
    if (previous && random() % 6 == 0) {
      g.graph->add_control_input(&symbolic((*y)[0]).node(), previous);
    }
    previous = &symbolic((*y)[0]).node();
    both((*y)[0], (*z)[0]);
  }
  void add_node() {
    size_t a = pick(), b = pick();
    switch (random() % 8) {
      case 0:
        return apply_both(kTanh, {a});
      case 1:
        return apply_both(kLeakyRelu, {a}, {static_cast<float>(random() % 3)});
      case 2: {
        int32_t axis = random() % 4 ? 1 : 0;
        both(g.constant(ints({axis})), ints({axis}));
        const auto& op = random() % 2 ? kSum : kMean;
        return apply_both(op, {a, values.size() - 1}, {true});
      }
      case 3: {
        size_t before = values.size();
        apply_both(kLess, {a, b});
        if (values.size() > before) apply_both(kSelectV2, {before, a, b});
        return;
      }
      case 4:
        return apply_both(kAddV2, {a, b});
      case 5:
        return apply_both(kIdentity, {a});
      default:
        return apply_both(kMul, {a, b});
    }
  }
  size_t pick() {
    for (;;) {
      // Rather a late one, so that chains get long.
      size_t i = values.size() - 1 - std::min<size_t>(random() % 12, values.size() - 1);
      if (values[i].dtype() == dtype) return i;
      i = random() % 4;
      return i;
    }
  }

  TestGraph g;
  std::mt19937_64 random;
  DType dtype;
  Node* previous = nullptr;
  std::vector<Tensor> inputs, traced, values, expected;
};

TEST_CASE("random graphs give the same bits fused and op by op") {
  int fused = 0, by_rows = 0;
  for (uint64_t seed = 0; seed < 300; ++seed) {
    CAPTURE(seed);
    RandomGraph random(seed, DType::kFloat32, seed % 2, seed % 5 == 0);
    Ref<Program> program = fused_program(random.g);
    for (const auto& step : program->steps()) {
      const auto* fusion = dynamic_cast<const FusionStep*>(step.get());
      fused += fusion != nullptr;
      by_rows += fusion && !fusion->fusion().parts().reduced.empty();
    }
    for (int again = 0; again < 2; ++again) {
      Tensors outputs;
      Status status = program->run(random.inputs, outputs);
      INFO(status.message());
      REQUIRE(status.ok());
      REQUIRE(outputs.size() == random.expected.size());
      for (size_t i = 0; i < outputs.size(); ++i) {
        REQUIRE(same_bits(outputs[i], random.expected[i]));
      }
    }
  }
  CHECK(fused > 300);
  CHECK(by_rows > 100);
}

TEST_CASE("more groups than bits are told apart, and the steps stay in a valid order") {
  TestGraph g;
  Tensor x = g.placeholder(DType::kFloat32, {8}, "x");
  std::vector<Tensor> heads, tails;
  for (int i = 0; i < 150; ++i) {
    Tensor y = run(g.builder, kLeakyRelu, {x}, {static_cast<float>(i)});
    heads.push_back(y);
    Tensor sum = run(g.builder, kSum, {y, g.constant(ints({0}))}, {true});
    tails.push_back(run(g.builder, kAddV2, {y, sum}));
  }
  Tensor all = tails[0];
  for (int i = 1; i < 150; ++i) {
    all = run(g.builder, kAddV2, {run(g.builder, kMul, {all, heads[i]}), tails[150 - i]});
    all = run(g.builder, kTanh, {all});
  }
  g.returns({all});
  Ref<Program> program = fused_program(g);
  for (size_t s = 0; s < program->steps().size(); ++s) {
    for (int before : program->steps()[s]->waits_for) CHECK(before < static_cast<int>(s));
  }
}

}  // namespace
}  // namespace graven::engine
