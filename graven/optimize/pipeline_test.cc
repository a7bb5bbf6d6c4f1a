#include "graven/optimize/pipeline.h"

#include <doctest/doctest.h>

#include <cmath>
#include <ctime>
#include <limits>
#include <numeric>
#include <random>
#include <set>
#include <string>

#include "graven/ir/graph_builder.h"
#include "graven/ir/structural_ops.h"
#include "graven/ops/debug_ops.h"
#include "graven/ops/math_ops.h"
#include "graven/ops/movement_ops.h"
#include "graven/optimize/pass_test.h"
#include "graven/runtime/eager_builder.h"
#include "graven/runtime/program.h"

namespace graven::engine {
namespace {

// The verifier between all passes.
Status verify_after(const PassDone& pass, const Graph& graph) {
  Status verified = verify_graph(graph);
  return verified.ok() ? verified : verified.with_prefix(str_cat("after ", pass.name, ": "));
}

std::string optimized(std::string_view before) {
  return after(before, [&](Graph& graph) {
    Status status = optimize(graph, eager_builder(), verify_after);
    REQUIRE_MESSAGE(status.ok(), status.message());
  });
}

TEST_CASE("passes find what the others leave") {
  CHECK(optimized(R"(graph f(x: float32[2,3], s: string[]) {
  %shape: int32[2](2,3) = Shape(x)
  %perm: int32[2] = [0, 1]
  %call: float32[...] = StatefulPartitionedCall(x, %shape, s) {Tin=[float32, int32, string], Tout=[float32], f=@g}
  %again: float32[2,3] = ConjugateTranspose(x, %perm)
  %dead: float32[2,3] = Neg(%again)
  %id: float32[...] = Identity(%call)
  %id_too: float32[2,3] = Identity(%again)
  return %id, %id_too ^%call
}
body @g = graph g(y: float32[n,m], shape: int32[2](n,m), s: string[]) {
  %perm: int32[2] = [0, 1]
  %a: float32[n,m] = ConjugateTranspose(y, %perm)
  %one: float32[] = 1
  %two: float32[] = AddV2(%one, %one)
  %half: float32[] = Sub(%two, %one)
  %b: float32[n,m] = Mul(%a, %half)
  %c: float32[n,m] = Reshape(%b, shape)
  %p = PrintV2(s)
  %group = NoOp() ^%p
  return %c ^%group
})") == R"(graph f(x: float32[2,3], s: string[]) {
  %perm: int32[2] = [0, 1]
  %call/a/transpose: float32[2,3] = Transpose(x, %perm)
  %call/p = PrintV2(s)
  return %call/a/transpose, %call/a/transpose ^%call/p
}
)");
}

// Runs a graph, and notes what it prints.
struct Run {
  Tensors outputs;
  std::string printed;
};
Run run(const Graph& graph, const std::vector<Tensor>& inputs, PrintedFile& file) {
  auto program = plan_program(graph.clone());
  REQUIRE_MESSAGE(program.ok(), program.status().message());
  Run result;
  file.clear();
  Status status = (*program)->run(inputs, result.outputs);
  REQUIRE_MESSAGE(status.ok(), status.message());
  result.printed = file.text();
  return result;
}

// A random graph over float32 vectors and scalars, with prints in a chain and calls.
Ref<Graph> random_graph(std::mt19937& random, int depth, int num_nodes, int x_rank = 1,
                        int y_rank = 1) {
  auto pick = [&](size_t n) { return static_cast<size_t>(random() % n); };
  auto graph = make_ref<Graph>("f");
  GraphBuilder builder(graph);
  Tensor text_input = builder.add_placeholder(DType::kString, Shape(), "s");
  std::vector<Tensor> floats;
  for (int rank : {x_rank, y_rank}) {
    Shape shape = rank == 0 ? Shape() : Shape{Dim::unknown()};
    floats.push_back(builder.add_placeholder(DType::kFloat32, shape, "x"));
  }
  constexpr float kConstants[] = {0.0f, -0.0f, 1.0f, 2.0f, -1.5f};
  std::vector<Node*> effects;
  auto add = [&](const Op& op, std::vector<Tensor> inputs, AttrsRef attrs) {
    auto outputs = builder.apply(op, inputs, attrs);
    REQUIRE_MESSAGE(outputs.ok(), outputs.status().message());
    return *outputs;
  };
  for (int i = 0; i < num_nodes; ++i) {
    const Tensor a = floats[pick(floats.size())], b = floats[pick(floats.size())];
    builder.control_inputs.clear();
    switch (pick(10)) {
      case 0:
        floats.push_back(builder.add_constant(Tensor::scalar(kConstants[pick(5)])));
        break;
      case 1:
        floats.push_back(add(*kSquare, {a}, NoAttrs())[0]);
        break;
      case 2:
        floats.push_back(add(*kSub, {a, b}, NoAttrs())[0]);
        break;
      case 3:
        floats.push_back(add(*kMul, {a, b}, NoAttrs())[0]);
        break;
      case 4:
        floats.push_back(add(*kIdentity, {a}, NoAttrs())[0]);
        break;
      case 5: {
        if (!effects.empty()) builder.control_inputs = {effects.back()};
        Tensor text = builder.add_constant(Tensor::string_scalar(std::to_string(i)));
        add(*kPrintV2, {text}, PrintAttrs{.output_stream = PrintedFile::stream()});
        effects.push_back(graph->nodes().back());
        break;
      }
      case 6: {
        if (depth == 0) break;
        if (!effects.empty()) builder.control_inputs = {effects.back()};
        auto body = Body::create(
            "body", random_graph(random, depth - 1, num_nodes / 2, a.rank(), b.rank()));
        for (int call = 0; call < 2; ++call) {
          floats.push_back(add(*call_op(*body), {text_input, a, b}, call_attrs(body))[0]);
          if (!body->effects().stateful) continue;
          effects.push_back(graph->nodes().back());
          builder.control_inputs = {effects.back()};
        }
        break;
      }
      case 7: {
        builder.control_inputs.assign(effects.begin(), effects.end());
        add(*kNoOp, {}, NoAttrs());
        if (!effects.empty()) effects.push_back(graph->nodes().back());
        break;
      }
      case 8: {  // a composite
        std::vector<int32_t> axes(a.rank());
        std::iota(axes.begin(), axes.end(), 0);
        Tensor perm = builder.add_constant(Tensor::vector<int32_t>(axes));
        floats.push_back(add(*kConjugateTranspose, {a, perm}, NoAttrs())[0]);
        break;
      }
      default:
        floats.push_back(add(*kAddV2, {a, b}, NoAttrs())[0]);
        break;
    }
  }
  graph->set_outputs(
      {symbolic(floats.back()).output(), symbolic(floats[pick(floats.size())]).output()});
  graph->set_control_outputs(effects);
  return graph;
}

TEST_CASE("random graphs compute the same bits and print the same, optimised or not") {
  std::mt19937 random(3);
  float nan = std::numeric_limits<float>::quiet_NaN();
  float inf = std::numeric_limits<float>::infinity();
  const std::vector<float> x = {-0.0f, 0.0f, 1.5f, nan, inf}, y = {3.0f, -0.0f, -inf, 0.25f, 1.0f};
  const std::vector<Tensor> inputs = {Tensor::string_scalar("s"), Tensor::vector<float>(x),
                                      Tensor::vector<float>(y)};
  PrintedFile file;
  size_t nodes_before = 0, nodes_after = 0;
  for (int i = 0; i < 300; ++i) {
    Ref<Graph> graph = random_graph(random, 2, 30), copy = graph->clone();
    Status status = optimize(*copy, eager_builder(), verify_after);
    REQUIRE_MESSAGE(status.ok(), status.message(), print_graph(*graph));
    nodes_before += graph->nodes().size();
    nodes_after += copy->nodes().size();
    Run expected = run(*graph, inputs, file), got = run(*copy, inputs, file);
    REQUIRE(expected.outputs.size() == got.outputs.size());
    for (size_t k = 0; k < got.outputs.size(); ++k) {
      INFO(print_graph(*graph), "\nbecame\n", print_graph(*copy));
      REQUIRE(equal(AttrValue(got.outputs[k]), AttrValue(expected.outputs[k])));
    }
    REQUIRE(got.printed == expected.printed);
    std::string text = print_graph(*copy);
    auto read = parse_graph(text);
    REQUIRE_MESSAGE(read.ok(), read.status().message());
    REQUIRE(print_graph(**read) == text);
  }
  MESSAGE("nodes before: ", nodes_before, ", after: ", nodes_after);
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr double kSlowdown = 20;  // of code under a sanitizer
#else
constexpr double kSlowdown = 1;
#endif

TEST_CASE("optimising 1000 nodes takes a few milliseconds") {
  for (int size : {200, 1000}) {
    std::mt19937 random(4);
    Ref<Graph> graph = random_graph(random, 0, size);
    std::vector<OutputRef> all;
    for (Node* node : graph->nodes()) {
      if (node->num_outputs() == 1) all.push_back({node, 0});
    }
    graph->set_outputs(all);
    double best = 1e9;
    for (int i = 0; i < 10; ++i) {
      Ref<Graph> copy = graph->clone();
      std::clock_t start = std::clock();  // of the process, whatever else the machine does
      REQUIRE(optimize(*copy, eager_builder()).ok());
      best = std::min(best, 1e3 * static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
    }
    MESSAGE(size, " nodes: ", best, " ms");
    // Ten times what it takes, so that only a pass that grew out of proportion fails.
    CHECK(best < 0.05 * size * kSlowdown);
  }
}

TEST_CASE("a pass that only saves time can be left out") {
  std::mt19937 random(4);
  auto passes_run = [&] {
    Ref<Graph> graph = random_graph(random, 0, 20);
    std::set<std::string> names;
    REQUIRE(optimize(*graph, eager_builder(), [&](const PassDone& pass, const Graph&) {
              names.emplace(pass.name);
              CHECK(pass.microseconds >= 0);
              return Status();
            }).ok());
    return names;
  };
  CHECK(passes_run().contains("fold_constants"));
  CHECK(set_pass_enabled("fold_constants", false));
  CHECK(!passes_run().contains("fold_constants"));
  CHECK(set_pass_enabled("fold_constants", true));
  CHECK(passes_run().contains("fold_constants"));
  CHECK(!set_pass_enabled("remove_dead_nodes", false));
  CHECK(passes_run().contains("remove_dead_nodes"));
}

}  // namespace
}  // namespace graven::engine
