#include "graven/ir/numerics_checks.h"

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <vector>

#include "graven/base/strings.h"
#include "graven/ir/order_effects.h"
#include "graven/ir/structural_ops.h"
#include "graven/ir/testing.h"
#include "graven/ir/verify.h"

namespace graven::engine {
namespace {

const auto kDefault = std::make_shared<const NumericsChecks>();

// The nodes behind the inputs in order, each with what it waits for.
std::string order_of(const Graph& graph) {
  std::string text;
  for (const Node* node : graph.nodes()) {
    if (graph.is_input(node)) continue;
    text += node->name();
    for (const Node* before : node->control_inputs()) text += str_cat(" ^", before->name());
    text += "\n";
  }
  return text;
}

const std::string& message_of(const Graph& graph, std::string_view check) {
  return graph.find(check)->attrs().as<CheckNumericsAttrs>().message;
}

constexpr std::string_view kText = R"(graph f(x: float32[2], s: string[]) {
  %a: float32[2] = Log(x)
  %b: float32[2] = Identity(%a)
  %i: int32[2] = Cast(%a) {DstT=int32}
  %c: complex64[2] = Cast(%a) {DstT=complex64}
  %p = PrintV2(s)
  %d: float32[2] = Div(%a, x)
  %q = PrintV2(s)
  return %b, %i, %c ^%p ^%q
}
)";

TEST_CASE("a check follows each node that makes floating numbers, and comes before later effects") {
  Ref<Graph> graph = graph_of(kText);
  add_numerics_checks(*graph, kDefault, /*num_arguments=*/1);
  CHECK(order_of(*graph) ==
        "a\na/CheckNumericsV2\nb\ni\nc\np ^a/CheckNumericsV2\nd\n"
        "d/CheckNumericsV2 ^a/CheckNumericsV2\nq ^d/CheckNumericsV2\n");
  CHECK(graph->control_outputs().size() == 4);
  order_effects(*graph);
  CHECK(verify_graph(*graph).ok());
  CHECK(numerics_checks_of(*graph)->stack_height_limit == 30);
}

TEST_CASE("inputs beyond the arguments are captures, which are checked") {
  Ref<Graph> graph = graph_of(R"(graph f(x: float32[], y: float32[]) {
  %a: float32[] = Identity(x)
  return %a
}
)");
  Ref<Graph> all = graph->clone();
  add_numerics_checks(*graph, kDefault, 1);
  CHECK(graph->find("y/CheckNumericsV2"));
  CHECK_FALSE(graph->find("x/CheckNumericsV2"));
  add_numerics_checks(*all, kDefault, 2);
  CHECK(order_of(*all) == "a\n");
  CHECK(numerics_checks_of(*all) == nullptr);
}

TEST_CASE("nodes before the first new one keep the checks that they have") {
  Ref<Graph> graph = graph_of(kText);
  const int first_new = graph->find("d")->id();
  add_numerics_checks(*graph, kDefault, 1, first_new);
  CHECK(graph->find("d/CheckNumericsV2"));
  CHECK_FALSE(graph->find("a/CheckNumericsV2"));
}

TEST_CASE("the message says what TensorFlow's says, and limits are kept with the check") {
  Ref<Graph> graph = graph_of(kText);
  add_numerics_checks(*graph, std::make_shared<const NumericsChecks>(NumericsChecks{{}, 7}), 1);
  CHECK(message_of(*graph, "d/CheckNumericsV2") ==
        "\n\n!!! Detected Infinity or NaN in output 0 of graph op \"Div\" (# of outputs: 1) !!!\n"
        "  dtype: <dtype: 'float32'>\n  shape: (2,)\n"
        "\n  Input tensors (2):\n"
        "         0: Tensor(\"a:0\", shape=(2,), dtype=float32)\n"
        "         1: Tensor(\"x:0\", shape=(2,), dtype=float32)\n"
        "  Graph name: \"f\"\n\n");
  const auto kept = numerics_checks_of(*graph->clone());
  CHECK(kept->stack_height_limit == std::nullopt);
  CHECK(kept->path_length_limit == 7);
}

}  // namespace
}  // namespace graven::engine
