#include "graven/ir/graph_def.h"

#include <doctest/doctest.h>

#include "graven/ir/frame.h"
#include "graven/ir/graph_builder.h"
#include "graven/ir/import_graph_def.h"
#include "graven/ir/structural_ops.h"
#include "graven/ir/testing.h"

namespace graven::engine {
namespace {

// The text of the graph that a function as data becomes.
std::string text_after(const Graph& graph) {
  const FunctionAndLibrary data = function_def_of(graph.name(), graph);
  auto made = graph_of(data.function, data.library);
  return made.ok() ? print_graph(**made) : made.status().message();
}

void check_stays(std::string_view text) { CHECK(text_after(*graph_of(text)) == text); }

std::string mistake_of(const GraphDef& graph_def, const ImportOptions& options = {}) {
  GraphBuilder builder(make_ref<Graph>("f"));
  Frame frame(&builder);
  return import_graph_def(graph_def, options, builder).status().message();
}

TEST_CASE("a graph that was data has the same text") {
  check_stays(R"(graph f(x: float32[x.0,3], n: int32[], handle: resource[]<float32[3]>) {
  %axis: int32[] = 1
  %sizes: int32[2] = [1, 2]
  %text: string[] = "a\n\"\\"
  %print = PrintV2(%text) {output_stream="stdout"}
  %read: float32[3] = ReadVariableOp(handle) {dtype=float32} ^%print
  %add: float32[x.0,3] = AddV2(x, %read)
  %sum: float32[x.0,1] = Sum(%add, %axis) {keep_dims=true} on "/device:CPU:0"
  %split: float32[x.0,1], float32[x.0,2] = SplitV(%add, %sizes, %axis) {num_split=2, _note="x"}
  return %sum, %split:1 ^%print
}
)");
}

TEST_CASE("bodies are functions of the data, each once") {
  auto graph = graph_of(R"(graph f(p: bool[], x: float32[2]) {
  %call: float32[2] = PartitionedCall(x) {Tin=[float32], Tout=[float32], f=@g}
  %if: float32[2] = StatelessIf(p, %call) {Tin=[float32], Tout=[float32], else_branch=@g, output_shapes=[[2]], then_branch=@h}
  return %if
}

body @g = graph g(a: float32[2]) {
  %n: float32[2] = Neg(a)
  return %n
}

body @h = graph h(a: float32[2]) {
  %c: float32[2] = PartitionedCall(a) {Tin=[float32], Tout=[float32], f=@g}
  return %c
}
)");
  const GraphDef data = graph_def_of(*graph);
  REQUIRE(data.functions.size() == 2);
  CHECK(data.functions[0].name == "g");
  CHECK(data.functions[1].nodes[0].inputs == std::vector<std::string>{"a"});
  CHECK(data.functions[1].results.at("c") == "c:output:0");
  CHECK(data.min_consumer == 12);
  CHECK(text_after(*graph).find("f=@g") != std::string::npos);
}

TEST_CASE("different bodies of one name get numbers, equal ones are one function") {
  const auto body = [](std::string_view op) {
    return Body::create("g", graph_of(str_cat("graph g(a: float32[2]) {\n  %n: float32[2] = ", op,
                                              "(a)\n  return %n\n}\n")));
  };
  auto graph = graph_of("graph f(x: float32[2]) {\n}\n");
  GraphBuilder builder(graph);
  Frame frame(&builder);
  const Tensor x = symbolic_tensor(graph, {graph->inputs()[0], 0});
  for (std::string_view op : {"Neg", "Abs", "Neg"}) {
    REQUIRE(builder.apply(*kPartitionedCall, std::span(&x, 1), call_attrs(body(op))).ok());
  }
  const GraphDef data = graph_def_of(*graph);
  REQUIRE(data.functions.size() == 2);
  CHECK(data.functions[0].name == "g");
  CHECK(data.functions[1].name == "g_1");
  CHECK(std::get<FunctionName>(data.nodes[3].attributes.at("f")).name == "g");
}

TEST_CASE("the text of data says what a graph says") {
  const auto text = [](std::string_view add) {
    return to_text(function_def_of(
        "f", *graph_of(str_cat("graph f(x: float32[2]) {\n  %p = NoOp()\n  %y: float32[2] = ", add,
                               "\n  return %y\n}\n"))));
  };
  const std::string plain = text("AddV2(x, x)");
  CHECK(plain ==
        "function f {}\n"
        "  input x: float32[2] {}\n"
        "  p = NoOp() on \"\" {}\n"
        "  y = AddV2(x, x) on \"\" {T=float32}\n"
        "  output y: float32 = y:z:0\n");
  for (std::string_view other :
       {"Mul(x, x)", "AddV2(x, x) ^%p", "AddV2(x, x) on \"/cpu:0\"", "AddV2(x, x) {_n=1}"}) {
    CHECK(text(other) != plain);
  }
}

TEST_CASE("names of arguments have small letters, digits and underscores") {
  CHECK(argument_name("cond/Add:0") == "cond_add_0");
  CHECK(argument_name("_1x") == "x");
  CHECK(argument_name("12") == "unknown");
}

TEST_CASE("nodes are added in an order in which inputs come first") {
  auto graph = make_ref<Graph>("f");
  GraphBuilder builder(graph);
  Frame frame(&builder);
  frame.name_scope = "scope/";
  const GraphDef data{.nodes = {{.name = "b", .op = "NoOp", .inputs = {"^a"}},
                                {.name = "a", .op = "NoOp"},
                                {.name = "c", .op = "NoOp", .device = "/device:CPU:0"}}};
  auto made = import_graph_def(data, {.prefix = "p", .return_elements = {"b"}}, builder);
  REQUIRE(made.ok());
  CHECK(std::get<Node*>((*made)[0])->name() == "p/b");
  CHECK(graph->nodes()[0]->name() == "p/a");
  CHECK(graph->nodes()[2]->device() == "/device:CPU:0");
  CHECK(frame.name_scope == "scope/");
  CHECK(frame.device.empty());
}

TEST_CASE("what does not hold together names the node") {
  CHECK(mistake_of({.nodes = {{.name = "a", .op = "Nonsense"}}}).find("Op type not registered") ==
        0);
  CHECK(mistake_of({.nodes = {{.name = "a", .op = "NoOp", .inputs = {"^b"}},
                              {.name = "b", .op = "NoOp", .inputs = {"^a"}}}}) ==
        "2 nodes in a cycle, or behind one; the first is 'a'");
  CHECK(mistake_of({.nodes = {{.name = "a", .op = "Placeholder"}}}).find("missing attr 'dtype'") !=
        std::string::npos);
  CHECK(mistake_of({}, {.return_elements = {"a:0"}}) ==
        "Requested return tensor 'a:0' not found in graph def");
}

TEST_CASE("without a graph there is nothing to add nodes to") {
  GraphBuilder builder(make_ref<Graph>("f"));
  const Status status = import_graph_def({}, {}, builder).status();
  CHECK(status.kind() == ErrorKind::kRuntimeError);
}

}  // namespace
}  // namespace graven::engine
