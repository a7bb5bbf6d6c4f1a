#include "graven/runtime/program.h"

#include <algorithm>
#include <atomic>
#include <thread>

#include "graven/base/interrupt.h"
#include "graven/ir/testing.h"
#include "graven/ops/debug_ops.h"
#include "graven/ops/gather_ops.h"
#include "graven/ops/math_ops.h"
#include "graven/ops/movement_ops.h"
#include "graven/ops/random_ops.h"
#include "graven/ops/reduction_ops.h"
#include "graven/ops/shape_ops.h"
#include "graven/runtime/eager_builder.h"
#include "graven/runtime/testing.h"
#include "graven/runtime/variable.h"
#include "graven/tensor/allocator.h"

namespace graven::engine {
namespace {

Tensors outputs_of(const Program& program, std::initializer_list<Tensor> inputs) {
  Tensors outputs;
  Status status = program.run({inputs.begin(), inputs.size()}, outputs);
  INFO(status.message());
  REQUIRE(status.ok());
  return outputs;
}

Status error_of(const Program& program, std::initializer_list<Tensor> inputs) {
  Tensors outputs;
  return program.run({inputs.begin(), inputs.size()}, outputs);
}

TEST_CASE("a program computes what its graph says, any number of times") {
  TestGraph g;
  Tensor x = g.placeholder(DType::kFloat32, {2}, "x"), y = g.placeholder(DType::kFloat32, {2}, "y");
  Tensor sum = run(g.builder, kAddV2, {x, y});
  Tensor two = g.constant(Tensor::scalar(2.0f));
  g.returns({run(g.builder, kMul, {sum, two}), sum});
  Ref<Program> program = plan(g);
  for (int i = 0; i < 3; ++i) {
    Tensors outputs = outputs_of(*program, {floats({1, 2}), floats({3, 4})});
    CHECK(values_of(outputs[0]) == std::vector<float>{8, 12});
    CHECK(values_of(outputs[1]) == std::vector<float>{4, 6});
  }
}

TEST_CASE("shapes that are unknown now are found when the program runs") {
  TestGraph g;
  Tensor x = g.placeholder(DType::kFloat32, {Dim::unknown(), 2}, "x");
  Tensor y = g.placeholder(DType::kFloat32, Shape::unknown_rank(), "y");
  Tensor sum = run(g.builder, kAddV2, {run(g.builder, kTanh, {x}), y});
  g.returns({run(g.builder, kSum, {sum, g.constant(ints({0}))})});
  Ref<Program> program = plan(g);
  for (int n : {3, 1, 5}) {
    std::vector<float> zeros(2 * n, 0);
    Tensors outputs = outputs_of(*program, {floats_of({n, 2}, zeros), floats_of({1, 2}, {1, 10})});
    CHECK(values_of(outputs[0]) == std::vector<float>{1.0f * n, 10.0f * n});
  }
  Status error = error_of(*program, {floats_of({1, 2}, {1, 2}), floats({1, 2, 3})});
  CHECK(error.message() == "[AddV2] Incompatible shapes: [1,2] vs. [3]");
}

TEST_CASE("sizes that inference could not compare are compared when the program runs") {
  // [3] + [n] is [3] in the graph, as nothing else is without an error; n may still be 5.
  TestGraph g;
  Tensor x = g.placeholder(DType::kFloat32, {3}, "x");
  Tensor y = g.placeholder(DType::kFloat32, {Dim::unknown()}, "y");
  Tensor sum = run(g.builder, kAddV2, {x, y});
  CHECK(sum.shape() == Shape{3});
  g.returns({run(g.builder, kMul, {sum, sum})});
  Ref<Program> program = plan(g);
  CHECK(values_of(outputs_of(*program, {floats({1, 2, 3}), floats({1})})[0]) ==
        std::vector<float>{4, 9, 16});
  CHECK(error_of(*program, {floats({1, 2, 3}), floats({1, 2, 3, 4, 5})}).message() ==
        "[AddV2] Incompatible shapes: [3] vs. [5]");
}

TEST_CASE("a shape that the user promised is checked") {
  TestGraph g;
  Tensor x = g.placeholder(DType::kInt32, {3}, "x"), y = g.placeholder(DType::kInt32, {3}, "y");
  Tensor axes = run(g.builder, kBroadcastGradientArgs, {x, y});
  REQUIRE(const_cast<SymbolicTensor&>(symbolic(axes)).set_shape({2}).ok());
  g.returns({run(g.builder, kAddV2, {axes, g.constant(ints({10, 20}))})});
  Ref<Program> program = plan(g);
  Tensor sum = outputs_of(*program, {ints({1, 5, 1}), ints({4, 5, 6})})[0];
  CHECK(sum.data<int32_t>()[0] == 10);
  CHECK(sum.data<int32_t>()[1] == 22);
  CHECK(error_of(*program, {ints({1, 5, 6}), ints({4, 5, 6})}).message() ==
        "[BroadcastGradientArgs] the result was declared to have shape [2], but has [1]");
  TestGraph h;
  Tensor z = h.placeholder(DType::kFloat32, {Dim::unknown()}, "z");
  REQUIRE(const_cast<SymbolicTensor&>(symbolic(z)).set_shape({2}).ok());
  h.returns({run(h.builder, kTanh, {z})});
  CHECK(error_of(*plan(h), {floats({1, 2, 3})}).message() ==
        "'z' was declared to have shape [2], but is fed a tensor of [3]");
}

TEST_CASE("an op on which nothing depends is not run") {
  TestGraph g;
  Tensor x = g.placeholder(DType::kInt32, {2});
  run(g.builder, kInvertPermutation, {x});
  g.returns({run(g.builder, kNeg, {x})});
  Ref<Program> program = plan(g);
  CHECK(program->steps().size() == 1);
  outputs_of(*program, {ints({0, 0})});
}

TEST_CASE("what must run runs, in the order of control edges, unless nothing asks for it") {
  TestGraph g;
  PrintedFile file;
  auto print = [&](const Tensor& text) {
    run(g.builder, kPrintV2, {text}, {.output_stream = PrintedFile::stream()});
    return g.graph->nodes().back();
  };
  Node* first = print(g.placeholder(DType::kString, {}));
  Node* second = print(g.constant(Tensor::string_scalar("2")));
  // Through a NoOp, which is no step.
  Tensors none = *g.builder.apply(*kNoOp, {}, {}, "group");
  Node* group = g.graph->find("group");
  g.graph->add_control_input(group, second);
  Node* third = print(g.constant(Tensor::string_scalar("3")));
  print(g.constant(Tensor::string_scalar("nothing asks for it")));
  g.graph->add_control_input(third, group);
  g.graph->add_control_input(second, first);
  g.graph->set_control_outputs({third});
  Ref<Program> program = plan(g);
  CHECK(outputs_of(*program, {Tensor::string_scalar("1")}).empty());
  CHECK(file.text() == "1\n2\n3\n");
  CHECK(program->to_text() ==
        "step 0: PrintV2 %0 ->\n"
        "step 1: PrintV2 %1 ->, waits for 0\n"
        "step 2: PrintV2 %2 ->, waits for 1\n"
        "return\n");
  CHECK(program->may_block());
}

TEST_CASE("an error carries the node, and the program runs again afterwards") {
  TestGraph g;
  Tensor x = g.placeholder(DType::kFloat32, {3}, "x");
  Tensor indices = g.placeholder(DType::kInt32, {2}, "indices");
  g.returns({run(g.builder, kGather, {x, indices}, {}, "pick")});
  Ref<Program> program = plan(g);
  Status error = error_of(*program, {floats({1, 2, 3}), ints({0, 3})});
  CHECK(error.code() == Code::kInvalidArgument);
  CHECK(error.message() == "[Gather] indices[1] = 3 is not in [0, 3)");
  auto* where = dynamic_cast<ExecutionError*>(error.payload().get());
  REQUIRE(where);
  CHECK(where->node_name == "pick");
  CHECK(values_of(outputs_of(*program, {floats({1, 2, 3}), ints({2, 0})})[0]) ==
        std::vector<float>{3, 1});
}

TEST_CASE("each output is a tensor of its own, and no input is ever overwritten") {
  TestGraph g;
  Tensor x = g.placeholder(DType::kFloat32, {6});
  Tensor y = run(g.builder, kAddV2, {x, x});
  Tensor z = run(g.builder, kMul, {y, y});
  g.returns({x, run(g.builder, kIdentity, {x}), y, y, z});
  Ref<Program> program = plan(g);
  Tensor value = floats({1, 2, 3, 4, 5, 6});
  Tensors outputs = outputs_of(*program, {value});
  CHECK(values_of(value) == std::vector<float>{1, 2, 3, 4, 5, 6});
  CHECK(values_of(outputs[2]) == std::vector<float>{2, 4, 6, 8, 10, 12});
  CHECK(values_of(outputs[4])[5] == 144);
  for (size_t i = 0; i < outputs.size(); ++i) {
    CHECK(!(outputs[i] == value));
    for (size_t j = 0; j < i; ++j) CHECK(!(outputs[i] == outputs[j]));
  }
}

// A number of a stream of its own, the same for each node.
Tensor random_number(TestGraph& g) {
  Tensor scalar = g.constant(ints({}));
  return run(g.builder, kRandomUniform, {scalar},
             {.seed = 1, .seed2 = 2, .dtype = DType::kFloat64});
}

// The first of them.
std::vector<double> first_random_numbers(int count) {
  TestGraph g;
  g.returns({random_number(g)});
  Ref<Program> program = plan(g);
  std::vector<double> numbers;
  for (int i = 0; i < count; ++i) numbers.push_back(outputs_of(*program, {})[0].item<double>());
  return numbers;
}

TEST_CASE("a random op goes on from run to run, for each node by itself") {
  TestGraph g;
  g.returns({random_number(g), random_number(g)});
  Ref<Program> program = plan(g);
  const std::vector<double> expected = first_random_numbers(3);
  CHECK(expected[0] != expected[1]);
  for (double number : expected) {
    Tensors outputs = outputs_of(*program, {});
    CHECK(outputs[0].item<double>() == number);
    CHECK(outputs[1].item<double>() == number);
  }
}

TEST_CASE("a variable is read and updated in the order of control edges") {
  TestGraph g;
  auto v = make_ref<Variable>(DType::kFloat32, Shape{5}, "v");
  REQUIRE(v->assign(floats({1, 2, 3, 4, 5})).ok());
  Tensor handle = g.placeholder(DType::kResource, {}, "v");
  Tensor delta = g.placeholder(DType::kFloat32, {5}, "delta");
  Tensor before = run(g.builder, kReadVariable, {handle}, {DType::kFloat32});
  Tensors none = *g.builder.apply(*kAssignAddVariable, std::vector<Tensor>{handle, delta},
                                  ReadVariableAttrs{DType::kFloat32}, "assign");
  Node* assign = g.graph->find("assign");
  g.graph->add_control_input(assign, &symbolic(before).node());
  Tensor after = run(g.builder, kReadVariable, {handle}, {DType::kFloat32});
  g.graph->add_control_input(&symbolic(after).node(), assign);
  g.returns({before, after});
  g.graph->set_control_outputs({assign});
  Ref<Program> program = plan(g);
  Tensors outputs = outputs_of(*program, {resource_of(v), floats({1, 1, 1, 1, 1})});
  CHECK(values_of(outputs[0]) == std::vector<float>{1, 2, 3, 4, 5});
  CHECK(values_of(outputs[1]) == std::vector<float>{2, 3, 4, 5, 6});
  outputs.clear();
  outputs = outputs_of(*program, {resource_of(v), floats({1, 1, 1, 1, 1})});
  CHECK(values_of(outputs[1]) == std::vector<float>{3, 4, 5, 6, 7});
}

Ref<Body> doubling_body() {
  TestGraph g("double");
  Tensor x = g.placeholder(DType::kFloat32, {Dim::unknown()});
  run(g.builder, kInvertPermutation, {g.constant(ints({7}))}, {}, "would_fail");
  g.returns({run(g.builder, kAddV2, {x, x})});
  return Body::create("double", g.graph);
}

TEST_CASE("a call runs the Program of its body, in a program and eagerly") {
  Ref<Body> body = doubling_body();
  Tensor x = floats({1, 2});
  Tensor eager = run(eager_builder(), kPartitionedCall, {x}, call_attrs(body));
  CHECK(values_of(eager) == std::vector<float>{2, 4});
  TestGraph g;
  Tensor a = g.placeholder(DType::kFloat32, {2});
  Tensor called = run(g.builder, kPartitionedCall, {a}, call_attrs(body));
  g.returns({run(g.builder, kTanh, {called}), called});
  Ref<Program> program = plan(g);
  CHECK(values_of(outputs_of(*program, {x})[1]) == std::vector<float>{2, 4});
  CHECK(program_of(body)->get() == program_of(body)->get());
}

TEST_CASE("an error in a called function names its own node") {
  TestGraph inner("inner");
  Tensor x = inner.placeholder(DType::kInt32, {2});
  inner.returns({run(inner.builder, kInvertPermutation, {x}, {}, "deep")});
  Ref<Body> body = Body::create("inner", inner.graph);
  TestGraph g;
  Tensor a = g.placeholder(DType::kInt32, {2});
  g.returns({run(g.builder, kPartitionedCall, {a}, call_attrs(body), "call")});
  Status error = error_of(*plan(g), {ints({1, 2})});
  CHECK(dynamic_cast<ExecutionError*>(error.payload().get())->node_name == "deep");
}

TEST_CASE("several threads run one program at once") {
  TestGraph g;
  Tensor x = g.placeholder(DType::kFloat32, {Dim::unknown()});
  Tensor y = run(g.builder, kAddV2, {run(g.builder, kMul, {x, x}), x});
  g.returns({run(g.builder, kSum, {y, g.constant(ints({0}))}), random_number(g)});
  Ref<Program> program = plan(g);
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  std::vector<double> numbers[4];
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 300; ++i) {
        Tensor input = floats_of({t + 6}, std::vector<float>(t + 6, 2));
        Tensors outputs;
        if (!program->run({&input, 1}, outputs).ok()) ++wrong;
        wrong += values_of(outputs[0])[0] != 6.0f * (t + 6);
        numbers[t].push_back(outputs[1].item<double>());
      }
    });
  }
  for (auto& thread : threads) thread.join();
  CHECK(wrong == 0);
  // Each number of the stream once.
  for (int t = 1; t < 4; ++t) {
    numbers[0].insert(numbers[0].end(), numbers[t].begin(), numbers[t].end());
  }
  std::vector<double> expected = first_random_numbers(1200);
  std::ranges::sort(numbers[0]);
  std::ranges::sort(expected);
  CHECK(numbers[0] == expected);
}

TEST_CASE("a run in steady state takes no memory from the system") {
  TestGraph g;
  Shape shape{64, 64};
  Tensor x = g.placeholder(DType::kFloat32, shape);
  Tensor y = x;
  for (int i = 0; i < 20; ++i) {
    y = run(g.builder, kAddV2, {run(g.builder, kTanh, {y}), x});
    y = run(g.builder, kAddV2, {y, run(g.builder, kSum, {y, g.constant(ints({0}))}, {true})});
  }
  g.returns({y});
  Ref<Program> program = plan(g);
  Tensor input = floats_of(shape, std::vector<float>(64 * 64, 0.5f));
  for (int i = 0; i < 3; ++i) outputs_of(*program, {input});
  auto before = Allocator::host().stats();
  Allocator::host().reset_peak();
  for (int i = 0; i < 10; ++i) outputs_of(*program, {input});
  auto after = Allocator::host().stats();
  CHECK(after.num_system_allocations == before.num_system_allocations);
  CHECK(after.in_use == before.in_use);
  // Buffers are given back at their last use, and reused in place.
  CHECK(after.peak_in_use - before.in_use <= 4 * 64 * 64 * 4 + 65536);
}

TEST_CASE("a program is printed with the slots of each step, and the steps that it waits for") {
  TestGraph g;
  Tensor x = g.placeholder(DType::kFloat32, {2}, "x");
  Tensor y = run(g.builder, kTanh, {x}, {}, "y");
  Tensor z = run(g.builder, kMul, {y, y}, {}, "z");
  Tensor sum = run(g.builder, kSum, {y, g.constant(ints({0}))}, {}, "sum");
  g.graph->add_control_input(&symbolic(sum).node(), &symbolic(z).node());
  Tensor last = run(g.builder, kAddV2, {run(g.builder, kMul, {z, y}, {}, "p"), sum}, {}, "last");
  g.returns({last, x});
  CHECK(plan(g)->to_text() ==
        "step 0: Tanh %0 -> %2\n"
        "step 1: Mul %2 %2 -> %3, waits for 0\n"
        "step 2: Sum %2 %1 -> %4, waits for 0 1\n"
        "step 3: Mul %3 %2 -> %5, waits for 0 1 2\n"  // 2 reads what it may overwrite
        "step 4: AddV2 %5 %4 -> %6, waits for 2 3\n"
        "return %6 %0\n");
}

std::atomic<int> g_asked{0};
Status interrupt_third() {
  if (++g_asked < 3) return {};
  return Status(Code::kCancelled, "interrupted", ErrorKind::kKeyboardInterrupt);
}

TEST_CASE("a long run is interrupted between steps") {
  TestGraph g;
  Tensor x = g.placeholder(DType::kFloat32, {1 << 20});
  Tensor y = x;
  for (int i = 0; i < 6; ++i) {
    y = run(g.builder, kAddV2, {x, run(g.builder, kSum, {y, g.constant(ints({0}))}, {true})});
  }
  g.returns({y});
  Ref<Program> program = plan(g);
  Tensor input = *Tensor::allocate(DType::kFloat32, {1 << 20});
  set_interrupt_check(interrupt_third);
  Status error = error_of(*program, {input});
  set_interrupt_check(nullptr);
  CHECK(error.kind() == ErrorKind::kKeyboardInterrupt);
  CHECK(g_asked == 3);
}

}  // namespace
}  // namespace graven::engine
