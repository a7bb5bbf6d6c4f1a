#include "graven/ir/graph.h"

#include <doctest/doctest.h>

#include "graven/ir/body.h"
#include "graven/ir/testing.h"
#include "graven/ir/text.h"
#include "graven/ir/verify.h"
#include "graven/ops/math_ops.h"
#include "graven/ops/sort_ops.h"

namespace graven::engine {
namespace {

TEST_CASE("names are unique whatever their case, and keep their own") {
  auto owner = make_ref<Graph>("g");
  Graph& graph = *owner;
  CHECK(graph.unique_name("q") == "q");
  CHECK(graph.unique_name("Q") == "Q_1");
  CHECK(graph.unique_name("q") == "q_2");
  CHECK(graph.unique_name("x_1") == "x_1");
  CHECK(graph.unique_name("x") == "x");
  CHECK(graph.unique_name("x") == "x_2");
  CHECK(graph.unique_name("x_1") == "x_1_1");
}

constexpr std::string_view kText = R"(graph f(x: float32[n], s: string[]) {
  %a: float32[n] = Neg(x)
  %b: float32[n] = AddV2(%a, %a)
  %p = PrintV2(s) ^%b
  %q = PrintV2(s) ^%p ^%a
  return %b, %a ^%p ^%q
}
)";

TEST_CASE("a clone is equal and independent") {
  Ref<Graph> graph = graph_of(kText);
  graph->set_attribute(graph->find("a"), "_x", true);
  std::vector<Node*> map;
  Ref<Graph> copy = graph->clone(&map);
  CHECK(print_graph(*copy) == print_graph(*graph));
  CHECK(map[graph->find("b")->id()] == copy->find("b"));
  CHECK(verify_graph(*copy).ok());
  copy->set_input_of(copy->find("b"), 0, {copy->find("x"), 0});
  copy->symbols().new_symbol("m");
  CHECK(graph->find("b")->inputs()[0].node == graph->find("a"));
  CHECK(copy->unique_name("a") == "a_1");
  CHECK(graph->symbols().num_symbols() == 1);
}

TEST_CASE("a clone of a graph that lost nodes and was put in another order is right") {
  Ref<Graph> graph = graph_of(kText);
  graph->set_outputs({{graph->find("a"), 0}});
  graph->set_control_outputs({});
  graph->remove(std::vector{graph->find("q"), graph->find("p"), graph->find("b")});
  Ref<Graph> copy = graph->clone();
  CHECK(verify_graph(*copy).ok());
  CHECK(print_graph(*copy) == print_graph(*graph));
  CHECK(graph->find("b") == nullptr);
}

TEST_CASE("sorting puts inputs and control inputs first, else keeps the order of creation") {
  Ref<Graph> graph = graph_of(kText);
  std::string before = print_graph(*graph);
  std::vector<Node*> order(graph->nodes().rbegin(), graph->nodes().rend());
  graph->set_order(order);
  CHECK(!verify_graph(*graph).ok());
  graph->sort();
  CHECK(verify_graph(*graph).ok());
  CHECK(print_graph(*graph) == before);
}

TEST_CASE("sorting puts an edge to a later node right") {
  Ref<Graph> graph = graph_of(kText);
  graph->set_control_inputs(graph->find("q"), {});
  graph->add_control_input(graph->find("p"), graph->find("q"));
  graph->add_control_input(graph->find("p"), graph->find("q"));
  CHECK(graph->find("p")->control_inputs().size() == 2);
  graph->sort();
  CHECK(verify_graph(*graph).ok());
  CHECK(graph->nodes().back() == graph->find("p"));
}

TEST_CASE("uses of a value and of a node as a control input are replaced") {
  Ref<Graph> graph = graph_of(kText);
  Node *x = graph->find("x"), *a = graph->find("a"), *p = graph->find("p"), *q = graph->find("q");
  graph->replace_uses({a, 0}, {x, 0});
  graph->replace_control_uses(a, p);
  graph->replace_control_uses(graph->find("b"), nullptr);
  CHECK(print_graph(*graph) == R"(graph f(x: float32[n], s: string[]) {
  %a: float32[n] = Neg(x)
  %b: float32[n] = AddV2(x, x)
  %p = PrintV2(s)
  %q = PrintV2(s) ^%p
  return %b, x ^%p ^%q
}
)");
  graph->replace_control_uses(p, q);
  CHECK(graph->control_outputs().size() == 1);
}

TEST_CASE("a node becomes a constant in its place") {
  Ref<Graph> graph = graph_of(kText);
  graph->make_constant(graph->find("b"), Tensor::scalar(2.0f));
  CHECK(verify_graph(*graph).ok());
  CHECK(print_graph(*graph).find("  %b: float32[] = 2\n") != std::string::npos);
}

TEST_CASE("attributes of a node are those of the op, its types, counts, and its own") {
  Ref<Graph> graph = graph_of(R"(graph f(x: float32[], y: float32[]) {
  %pack: float32[2] = Pack(x, y) {axis=1, _own="v"}
  %addn: float32[] = AddN(x, y, x)
})");
  const Node& pack = *graph->find("pack");
  CHECK(std::get<int64_t>(pack.attribute("axis")) == 1);
  CHECK(std::get<DType>(pack.attribute("T")) == DType::kFloat32);
  CHECK(std::get<std::string>(pack.attribute("_own")) == "v");
  CHECK(!has_value(pack.attribute("nope")));
  std::string names;
  for (const auto& [name, value] : pack.attributes()) names += name + " ";
  CHECK(names == "N T _own axis ");
  CHECK(std::get<int64_t>(graph->find("addn")->attribute("N")) == 3);
}

TEST_CASE("the memory of a graph counts its constants") {
  Ref<Graph> small = graph_of("graph f() {\n %c: float32[1] = [1]\n}");
  Ref<Graph> large = small->clone();
  large->make_constant(large->find("c"), *Tensor::allocate(DType::kFloat32, Shape{1000}));
  // With the buffer's own object, in a block of the allocator.
  const int64_t more = large->bytes() - small->clone()->bytes();
  CHECK(more >= 4000);
  CHECK(more < 4000 + 200);
}

TEST_CASE("the effects of a body are those of its nodes on its inputs") {
  auto effects = [](std::string_view text) { return Body::create("b", graph_of(text))->effects(); };
  Effects pure = effects("graph f(x: float32[]) {\n %a: float32[] = Neg(x)\n return %a\n}");
  CHECK((!pure.stateful && !pure.ordered && !pure.must_run && pure.reads.empty()));
  Effects print = effects("graph f(s: string[]) {\n %p = PrintV2(s)\n}");
  CHECK((print.stateful && print.ordered && print.must_run));
  Effects random = effects(
      "graph f(s: int32[1]) {\n"
      " %r: float32[...] = RandomUniform(s) {dtype=float32}\n return %r\n}");
  CHECK((random.stateful && !random.ordered && !random.must_run));
  Effects both = effects(R"(graph f(x: float32[], v: resource[], w: resource[], u: resource[]) {
  %a: float32[] = ReadVariableOp(v) {dtype=float32}
  %b: float32[] = ReadVariableOp(w) {dtype=float32}
  %c: float32[] = ReadVariableOp(v) {dtype=float32}
  %d = AssignVariableOp(w, x) {dtype=float32}
})");
  CHECK((both.stateful && both.must_run && !both.ordered));
  CHECK(both.reads == std::vector{1});
  CHECK(both.writes == std::vector{2});
  // Through a call: its inputs are the caller's.
  Effects called = effects(R"(graph f(w: resource[], x: float32[], v: resource[]) {
  %c = StatefulPartitionedCall(x, v, w) {Tin=[float32, resource, resource], f=@g}
}
body @g = graph g(x: float32[], v: resource[], w: resource[]) {
  %a: float32[] = ReadVariableOp(v) {dtype=float32}
  %d = AssignVariableOp(w, x) {dtype=float32}
})");
  CHECK(called.reads == std::vector{2});
  CHECK(called.writes == std::vector{0});
}

TEST_CASE("a node becomes one of another op with other inputs in its place") {
  Ref<Graph> graph = graph_of(R"(graph f(x: float32[n], y: float32[n], s: string[]) {
  %p = PrintV2(s)
  %a: float32[n] = Neg(x) {_kept=true} ^%p
  %b: float32[n] = Neg(%a)
  return %b ^%a
})");
  Node* node = graph->find("a");
  std::vector<OutputRef> inputs = {{graph->find("y"), 0}, {graph->find("x"), 0}};
  std::vector<OutputType> more(1);
  more[0].dtype = DType::kInt32;
  graph->replace_op(node, *kAddV2, node->attrs(), inputs, {});
  CHECK(print_graph(*graph) == R"(graph f(x: float32[n], y: float32[n], s: string[]) {
  %p = PrintV2(s)
  %a: float32[n] = AddV2(y, x) {_kept=true} ^%p
  %b: float32[n] = Neg(%a)
  return %b ^%a
}
)");
  CHECK(verify_graph(*graph).ok());
  // With more outputs than before.
  graph->replace_op(node, *kTopKV2, TopKV2Attrs{}, inputs, std::move(more));
  CHECK(node->num_outputs() == 2);
  CHECK(graph->find("b")->inputs()[0] == OutputRef{node, 0});
}

}  // namespace
}  // namespace graven::engine
