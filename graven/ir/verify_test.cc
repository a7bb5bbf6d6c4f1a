#include "graven/ir/verify.h"

#include <doctest/doctest.h>

#include "graven/ir/graph_builder.h"
#include "graven/ir/structural_ops.h"
#include "graven/ir/testing.h"
#include "graven/ops/math_ops.h"
#include "graven/ops/reduction_ops.h"

namespace graven::engine {
namespace {

std::string mistake_of(const Graph& graph) {
  Status status = verify_graph(graph);
  if (status.ok()) return "none";
  CHECK(status.code() == Code::kInternal);
  return status.message();
}

constexpr std::string_view kGood = R"(graph f(x: float32[n], s: string[]) {
  %a: float32[n] = Neg(x)
  %b: float32[n] = AddV2(%a, x)
  %p = PrintV2(s) ^%b
  return %b ^%p
})";

OutputType type_of(DType dtype, Shape shape = {}) {
  return {dtype, std::move(shape), false, {}, {}};
}

Node* add(Graph& graph, const Op& op, std::vector<OutputRef> inputs, DType dtype, std::string name,
          AttrsRef attrs = NoAttrs()) {
  std::vector<OutputType> outputs;
  if (dtype != DType::kInvalid) outputs.push_back(type_of(dtype));
  return graph.add({.op = &op,
                    .attrs = attrs,
                    .name = std::move(name),
                    .inputs = inputs,
                    .outputs = std::move(outputs)});
}

TEST_CASE("a right graph passes") { CHECK(mistake_of(*graph_of(kGood)) == "none"); }

TEST_CASE("an input that comes later is a mistake") {
  Ref<Graph> graph = graph_of(kGood);
  graph->set_input_of(graph->find("a"), 0, {graph->find("b"), 0});
  CHECK(mistake_of(*graph) == "Node 'a' (Neg): an input does not come before it");
}

TEST_CASE("an input of another graph, or of a removed node, is a mistake") {
  Ref<Graph> graph = graph_of(kGood), other = graph_of(kGood);
  graph->set_input_of(graph->find("b"), 0, {other->find("a"), 0});
  CHECK(mistake_of(*graph) == "Node 'b' (AddV2): an input does not come before it");
  graph = graph_of(kGood);
  std::vector<Node*> removed = {graph->find("a")};
  graph->remove(removed);
  CHECK(mistake_of(*graph) == "Node 'b' (AddV2): an input does not come before it");
}

TEST_CASE("an output that does not exist is a mistake as an input and as an output") {
  Ref<Graph> graph = graph_of(kGood);
  graph->set_input_of(graph->find("b"), 0, {graph->find("a"), 1});
  CHECK(mistake_of(*graph) == "Node 'b' (AddV2): an input is an output that does not exist");
  graph = graph_of(kGood);
  graph->set_outputs({{graph->find("a"), 2}});
  CHECK(mistake_of(*graph) == "Node 'a' (Neg): the graph returns output 2, which does not exist");
  graph->set_outputs({OutputRef{}});
  CHECK(mistake_of(*graph) == "An output of the graph belongs to none of its nodes");
}

TEST_CASE("a control input that comes later or twice is a mistake") {
  Ref<Graph> graph = graph_of(kGood);
  graph->add_control_input(graph->find("a"), graph->find("p"));
  CHECK(mistake_of(*graph) == "Node 'a' (Neg): a control input does not come before it");
  graph = graph_of(kGood);
  graph->set_control_inputs(graph->find("p"), {graph->find("b"), graph->find("b")});
  CHECK(mistake_of(*graph) == "Node 'p' (PrintV2): the control input 'b' stands twice");
}

TEST_CASE("numbers and dtypes of inputs and outputs must fit the record") {
  Ref<Graph> graph = graph_of(kGood);
  OutputRef x{graph->find("x"), 0}, s{graph->find("s"), 0};
  Node* node = add(*graph, *kAddV2, {x}, DType::kFloat32, "c");
  CHECK(mistake_of(*graph) == "Node 'c' (AddV2): AddV2 takes 2 inputs, got 1");
  graph->remove(std::vector{node});
  node = add(*graph, *kAddV2, {x, s}, DType::kFloat32, "c");
  CHECK(mistake_of(*graph).find("has type string that does not match type float32") !=
        std::string::npos);
  graph->remove(std::vector{node});
  node = add(*graph, *kAddV2, {x, x}, DType::kFloat64, "c");
  CHECK(mistake_of(*graph) == "Node 'c' (AddV2): output 0 is float64, the op's is float32");
  graph->remove(std::vector{node});
  add(*graph, *kAddV2, {x, x}, DType::kInvalid, "c");
  CHECK(mistake_of(*graph) == "Node 'c' (AddV2): the op has 1 outputs, the node 0");
}

TEST_CASE("attributes of another op, or set twice, are a mistake") {
  Ref<Graph> graph = graph_of(kGood);
  OutputRef x{graph->find("x"), 0};
  Node* node = add(*graph, *kNeg, {x}, DType::kFloat32, "c", ReductionAttrs{});
  CHECK(mistake_of(*graph) == "Node 'c' (Neg): the attributes are those of another op");
  graph->remove(std::vector{node});
  node = add(*graph, *kCast, {x}, DType::kInt32, "c", CastAttrs{DType::kInt32});
  CHECK(mistake_of(*graph) == "none");
  graph->set_attribute(node, "Truncate", true);
  CHECK(mistake_of(*graph) ==
        "Node 'c' (Cast): attribute 'Truncate' of the op is set a second time");
}

TEST_CASE("names are unique whatever their case") {
  Ref<Graph> graph = graph_of(kGood);
  Node* node = add(*graph, *kNoOp, {}, DType::kInvalid, "A");
  CHECK(mistake_of(*graph) == "Node 'A' (NoOp): another node has this name");
  graph->remove(std::vector{node});
  node = add(*graph, *kNoOp, {}, DType::kInvalid, "a");
  CHECK(mistake_of(*graph) == "Node 'a' (NoOp): another node is found by its name");
  graph->remove(std::vector{node});
  add(*graph, *kNoOp, {}, DType::kInvalid, "");
  CHECK(mistake_of(*graph) == "Node '' (NoOp): it has no name");
}

TEST_CASE("dims belong to the table of the graph") {
  Ref<Graph> graph = graph_of(kGood);
  Node* a = graph->find("a");
  a->output(0).shape = Shape{Dim::term(7)};
  CHECK(mistake_of(*graph) == "Node 'a' (Neg): a dimension is a term of another graph");
  a->output(0).shape = Shape{3};
  a->output(0).sizes = std::make_unique<SymbolicValue>();
  CHECK(mistake_of(*graph) == "Node 'a' (Neg): output 0 holds sizes, but is float32[3]");
  a->output(0).sizes.reset();
  a->output(0).handle_data = std::make_unique<HandleData>();
  CHECK(mistake_of(*graph) == "Node 'a' (Neg): output 0 has handle data, but is float32");

  graph = graph_of("graph f(x: float32[n,m]) {\n %s: int32[2](n,m) = Shape(x)\n}");
  graph->find("s")->output(0).sizes->push_back(Dim(3));
  CHECK(mistake_of(*graph) == "Node 's' (Shape): output 0 has 2 elements, but 3 sizes are known");
  *graph->find("s")->output(0).sizes = {Dim::term(9), Dim(1)};
  CHECK(mistake_of(*graph) == "Node 's' (Shape): a size is a term of another graph");
}

TEST_CASE("what is fed is a node without inputs, and once") {
  Ref<Graph> graph = graph_of(kGood);
  graph->add_input(graph->find("a"));
  CHECK(mistake_of(*graph) ==
        "Node 'a' (Neg): an input of the graph has inputs, or not one output");
  graph = graph_of(kGood);
  graph->add_input(graph->find("x"));
  CHECK(mistake_of(*graph) == "Node 'x' (Placeholder): it is an input twice");
  graph = graph_of(kGood);
  Ref<Graph> other = graph_of(kGood);
  graph->set_inputs({other->find("x")});
  CHECK(mistake_of(*graph) == "An input of the graph is none of its nodes");
  graph = graph_of(kGood);
  graph->set_control_outputs({nullptr});
  CHECK(mistake_of(*graph) == "A control output of the graph is none of its nodes");
}

TEST_CASE("a node stands once in the order") {
  Ref<Graph> graph = graph_of(kGood);
  std::vector<Node*> order(graph->nodes().begin(), graph->nodes().end());
  order.push_back(order.back());
  graph->set_order(order);
  CHECK(mistake_of(*graph) == "Node 'p' (PrintV2): it stands twice in the order");
}

TEST_CASE("a constant is of its output's type, and a call fits its body") {
  Ref<Graph> graph = graph_of("graph f() {\n %c: float32[2] = [1, 2]\n}");
  graph->find("c")->output(0).shape = Shape{3};
  CHECK(mistake_of(*graph) == "Node 'c' (Const): the value is float32[2], the output float32[3]");
  graph->set_attrs(graph->find("c"), ConstAttrs{{}, DType::kFloat32});
  CHECK(mistake_of(*graph) == "Node 'c' (Const): a constant has no value");

  graph = graph_of(
      "graph f(x: float32[]) {\n"
      "%c: float32[] = PartitionedCall(x) {Tin=[float32], Tout=[float32], f=@g}\n}\n"
      "body @g = graph g(x: float32[]) {\nreturn x\n}");
  CallAttrs attrs = graph->find("c")->attrs().as<CallAttrs>();
  attrs.f = Body::create("h", graph_of("graph h(x: int32[]) {\n return x\n}"));
  graph->set_attrs(graph->find("c"), attrs);
  CHECK(mistake_of(*graph) ==
        "Node 'c' (PartitionedCall): input 0 has another dtype in the body 'h'");
  attrs.f = Body::create("h", graph_of("graph h(x: float32[]) {\n}"));
  graph->set_attrs(graph->find("c"), attrs);
  CHECK(mistake_of(*graph) ==
        "Node 'c' (PartitionedCall): the body 'h' has 1 inputs and 0 outputs, the node has 1 and 1 "
        "for it");
  attrs.f = nullptr;
  graph->set_attrs(graph->find("c"), attrs);
  CHECK(mistake_of(*graph) == "Node 'c' (PartitionedCall): the attribute 'f' has no body");
}

}  // namespace
}  // namespace graven::engine
