#include "graven/ir/bodies.h"

#include <doctest/doctest.h>

#include "graven/ir/body.h"
#include "graven/ir/graph_builder.h"
#include "graven/ir/infer_context.h"
#include "graven/ir/structural_ops.h"
#include "graven/ir/testing.h"
#include "graven/ir/text.h"
#include "graven/ir/verify.h"

namespace graven::engine {
namespace {

// An op of the kind of bodies that no real op has yet. In the registry of all ops, as the parser
// looks there.
struct MapAttrs {
  Ref<Body> f;
  std::vector<DType> Targuments;
  static constexpr auto fields() {
    return std::tuple(field("f", &MapAttrs::f), field("Targuments", &MapAttrs::Targuments));
  }
};
OpHandle<MapAttrs> kTestMap;

const bool kDefined = [] {
  OpRegistry& ops = OpRegistry::global();
  ops.define(kTestMap, {.name = "TestMap",
                        .inputs = {"input_dataset: variant", "other_arguments: Targuments"},
                        .outputs = {"handle: variant"},
                        .infer = unknown_outputs,
                        .bodies = {BodyRun::kAsTheOpLikes, {{"f", "other_arguments"}}}});
  return true;
}();

std::string mistake_of(const Graph& graph) {
  Status status = verify_graph(graph);
  return status.ok() ? "none" : status.message();
}

constexpr std::string_view kIfText = R"(graph f(c: bool[], x: float32[n], s: string[]) {
  %y: float32[...] = If(c, x, s) {Tin=[float32, string], Tout=[float32], then_branch=@t, else_branch=@e}
  return %y
}

body @t = graph t(x: float32[n], s: string[]) {
  %p = PrintV2(s)
  return x ^%p
}

body @e = graph e(x: float32[n], s: string[]) {
  %a: float32[n] = Neg(x)
  return %a
}
)";
constexpr std::string_view kWhileText = R"(graph f(i: int32[], r: resource[]) {
  %w: int32[...], resource[...] = While(i, r) {T=[int32, resource], cond=@c, body=@b}
  return %w
}

body @c = graph c(i: int32[], r: resource[]) {
  %go: bool[] = Cast(i) {DstT=bool}
  return %go
}

body @b = graph b(i: int32[], r: resource[]) {
  %v: float32[...] = ReadVariableOp(r) {dtype=float32}
  %a = AssignVariableOp(r, %v)
  return i, r
}
)";
constexpr std::string_view kCall = R"(graph f(x: float32[]) {
  %y: float32[] = PartitionedCall(x) {Tin=[float32], Tout=[float32], f=@g}
  return %y
}

body @g = graph g(x: float32[]) {
  return x
}
)";

void check_range(Op::Range range, int first, int count) {
  CHECK(range.first == first);
  CHECK(range.count == count);
}

TEST_CASE("a call has one body, which takes all its inputs and gives all its outputs") {
  Ref<Graph> graph = graph_of(kCall);
  NodeBodies bodies = bodies_of(*graph->find("y"));
  CHECK((bodies.run == BodyRun::kOnce));
  REQUIRE(bodies.all.size() == 1);
  CHECK(bodies.all[0].body->name() == "g");
  CHECK(bodies.all[0].attribute == "f");
  check_range(bodies.all[0].inputs, 0, 1);
  check_range(bodies.all[0].outputs, 0, 1);
  CHECK(called_body(*graph->find("y")) == bodies.all[0].body);
  CHECK(bodies_of(*graph->find("x")).empty());
  CHECK(!called_body(*graph->find("x")));
}

TEST_CASE("of the bodies of an If the first stands for false, and input 0 is none of theirs") {
  Ref<Graph> graph = graph_of(kIfText);
  CHECK(mistake_of(*graph) == "none");
  NodeBodies bodies = bodies_of(*graph->find("y"));
  CHECK((bodies.run == BodyRun::kOneOf));
  REQUIRE(bodies.all.size() == 2);
  CHECK(bodies.all[0].body->name() == "e");
  CHECK(bodies.all[1].body->name() == "t");
  check_range(bodies.all[1].inputs, 1, 2);
  check_range(bodies.all[1].outputs, 0, 1);
  CHECK(!called_body(*graph->find("y")));
}

TEST_CASE("a Case holds a list of bodies, of which there must be one") {
  Ref<Graph> graph = graph_of(kIfText);
  NodeBodies branches = bodies_of(*graph->find("y"));
  Ref<Graph> with_case = graph_of("graph f(i: int32[], x: float32[n], s: string[]) {\n}");
  CaseAttrs attrs{{DType::kFloat32, DType::kString},
                  {DType::kFloat32},
                  {branches.all[0].body, branches.all[1].body, branches.all[0].body},
                  {}};
  std::vector<OutputRef> inputs;
  for (Node* input : with_case->inputs()) inputs.push_back({input, 0});
  std::vector<OutputType> outputs(1);
  outputs[0].dtype = DType::kFloat32;
  Node* node = with_case->add({.op = kCase.op,
                               .attrs = attrs,
                               .name = "c",
                               .inputs = inputs,
                               .outputs = std::move(outputs)});
  CHECK(mistake_of(*with_case) == "none");
  NodeBodies bodies = bodies_of(*node);
  REQUIRE(bodies.all.size() == 3);
  CHECK(bodies.all[2].body == branches.all[0].body);
  check_range(bodies.all[2].inputs, 1, 2);
  attrs.branches.clear();
  with_case->set_attrs(node, attrs);
  CHECK(mistake_of(*with_case) == "Node 'c' (Case): there is no body to choose");
}

TEST_CASE("the condition of a While takes what its body takes, and gives no output of the node") {
  Ref<Graph> graph = graph_of(kWhileText);
  CHECK(mistake_of(*graph) == "none");
  NodeBodies bodies = bodies_of(*graph->find("w"));
  CHECK((bodies.run == BodyRun::kWhile));
  REQUIRE(bodies.all.size() == 2);
  check_range(bodies.all[0].inputs, 0, 2);
  CHECK(!bodies.all[0].gives_outputs);
  check_range(bodies.all[1].outputs, 0, 2);
  CHECK(bodies.all[1].gives_outputs);
}

TEST_CASE("a dataset gives a body its last inputs, and may run it as it likes") {
  Ref<Graph> graph = graph_of(
      "graph f(d: variant[], x: float32[]) {\n"
      "%m: variant[] = TestMap(d, x) {f=@g, Targuments=[float32]}\n}\n"
      "body @g = graph g(element: int32[], x: float32[]) {\nreturn element, x\n}");
  CHECK(mistake_of(*graph) == "none");
  NodeBodies bodies = bodies_of(*graph->find("m"));
  CHECK((bodies.run == BodyRun::kAsTheOpLikes));
  REQUIRE(bodies.all.size() == 1);
  check_range(bodies.all[0].inputs, 1, 1);
  CHECK(!bodies.all[0].gives_outputs);
}

TEST_CASE("numbers and dtypes of a body's inputs and outputs are those of the node") {
  auto with = [](std::string_view text, std::string_view old, std::string_view by) {
    std::string changed(text);
    changed.replace(changed.rfind(old), old.size(), by);
    Status status = parse_graph(changed).status();  // verifies what it reads
    CHECK(!status.ok());
    return status.message().substr(std::string_view("line 2: ").size());
  };
  CHECK(with(kIfText, "e(x: float32[n], s: string[])", "e(x: float32[n])") ==
        "Node 'y' (If): the body 'e' has 1 inputs and 1 outputs, the node has 2 and 1 for it");
  CHECK(with(kIfText, "s: string[]", "s: int32[]") ==
        "Node 'y' (If): input 2 has another dtype in the body 'e'");
  CHECK(with(kIfText, "return %a", "return s") ==
        "Node 'y' (If): output 0 has another dtype in the body 'e'");
  CHECK(with(kWhileText, "return %go", "return %go, %go") ==
        "Node 'w' (While): the condition has 2 outputs");
  CHECK(with(kWhileText, "return i, r", "return i") ==
        "Node 'w' (While): the body 'b' has 2 inputs and 1 outputs, the node has 2 and 2 for "
        "it");
  CHECK(with(kCall, "return x", "return x, x") ==
        "Node 'y' (PartitionedCall): the body 'g' has 1 inputs and 2 outputs, the node has 1 and 1 "
        "for it");
  CHECK(with(kCall, "f=@g", "f=none") ==
        "Node 'y' (PartitionedCall): the attribute 'f' has no body");
}

TEST_CASE("nodes of all kinds print their bodies, and are read back") {
  for (std::string_view text : {kIfText, kWhileText, kCall}) {
    Ref<Graph> graph = graph_of(text);
    std::string printed = print_graph(*graph);
    CHECK(print_graph(*graph_of(printed)) == printed);
    for (const NodeBody& one : bodies_of(*graph->nodes().back()).all) {
      CHECK(printed.find("body @" + one.body->name()) != std::string::npos);
    }
  }
}

TEST_CASE("the effects of a node are those of all its bodies, on the inputs of the node") {
  Ref<Graph> graph = graph_of(kIfText);
  const Node* node = graph->find("y");
  Effects effects = effects_of_bodies(node->op(), node->attrs());
  CHECK(effects.stateful);
  CHECK(effects.ordered);
  CHECK(effects.must_run);
  CHECK(effects.writes.empty());
  graph = graph_of(kWhileText);
  node = graph->find("w");
  effects = effects_of_bodies(node->op(), node->attrs());
  CHECK(effects.writes == std::vector<int>{1});
  CHECK(effects.reads.empty());
}

TEST_CASE("other bodies bring the types of their inputs and outputs along") {
  Ref<Graph> graph = graph_of(kIfText);
  const Node* node = graph->find("y");
  Ref<Body> more = Body::create("m", graph_of("graph m(x: float32[n], s: string[]) {\n"
                                              "return x, s\n}"));
  Attrs attrs = with_bodies(node->op(), node->attrs(), std::vector{more, more});
  const auto& made = AttrsRef(attrs).as<IfAttrs>();
  CHECK(made.then_branch == more);
  CHECK(made.else_branch == more);
  CHECK(made.Tin == std::vector{DType::kFloat32, DType::kString});
  CHECK(made.Tout == std::vector{DType::kFloat32, DType::kString});
  CHECK(node->attrs().as<IfAttrs>().then_branch->name() == "t");
}

TEST_CASE("a record whose bodies do not fit its attributes and arguments is a mistake") {
  auto define = [](OpRecord record) {
    OpRegistry ops;
    ops.define<IfAttrs>(std::move(record));
    REQUIRE(ops.errors().size() == 1);
    return ops.errors().back();
  };
  OpRecord good{.name = "A",
                .inputs = {"cond: bool", "input: Tin"},
                .outputs = {"output: Tout"},
                .bodies = OpRegistry::global().find("If")->record().bodies};
  OpRecord record = good;
  record.bodies.fields[0].attribute = "Tin";
  CHECK(define(record) == "A: bodies: 'Tin' is no attribute that is a Body");
  record = good;
  record.bodies.fields[0].inputs = "inputs";
  CHECK(define(record) == "A: bodies: 'else_branch' has arguments that the op has not");
  record = good;
  record.bodies.fields[0].inputs = "cond";
  CHECK(define(record) == "A: bodies: input 0 chooses, and is no input of 'else_branch'");
  record = good;
  record.bodies.fields.pop_back();
  CHECK(define(record) == "A: bodies: not every attribute that is a Body is named once");
  record = good;
  record.bodies.run = BodyRun::kOnce;
  CHECK(define(record) == "A: bodies: their number does not fit how they run");
}

TEST_CASE("a body is counted once, for the first node that holds it, unless something owns it") {
  Ref<Graph> graph = graph_of(kCall);
  Ref<Body> body = called_body(*graph->find("y"));
  const int64_t with_body = graph->bytes();
  Ref<Graph> copy = graph->clone();
  CHECK(graph->bytes() == with_body);
  const int64_t without_body = copy->bytes();
  CHECK(with_body == without_body + body->bytes());
  // When the first goes, the next takes over.
  graph = nullptr;
  CHECK(copy->bytes() == with_body);
  int owner = 0;
  Ref<Body> owned = Body::create("o", graph_of("graph g(x: float32[]) {\n return x\n}"));
  CHECK(owned->charge_to(&owner));
  copy->set_attrs(copy->find("y"), call_attrs(owned));
  CHECK(copy->bytes() == without_body);
}

TEST_CASE("the bytes of what is made of a body are those that it has when they are asked for") {
  struct Growing : RefCounted {
    int64_t bytes() const { return size; }
    int64_t size = 100;
  };
  Ref<Body> body = Body::create("o", graph_of("graph g(x: float32[]) {\n return x\n}"));
  const int64_t before = body->bytes();
  auto made = body->get_or_make<Growing>(
      Body::kProgram, []() -> Result<Ref<Growing>> { return make_ref<Growing>(); });
  REQUIRE(made.ok());
  CHECK(body->bytes() == before + 100);
  (*made)->size = 1000;
  CHECK(body->bytes() == before + 1000);
}

TEST_CASE("a chain of bodies of any length is freed") {
  Ref<Body> body = Body::create("o", graph_of("graph g(x: float32[]) {\n return x\n}"));
  for (int i = 0; i < 100'000; ++i) {
    auto graph = make_ref<Graph>("caller");
    GraphBuilder builder(graph);
    Tensor x = builder.add_placeholder(DType::kFloat32, Shape(), "x");
    auto called = builder.call(body, {&x, 1});
    REQUIRE(called.ok());
    graph->set_outputs({symbolic((*called)[0]).output()});
    body = Body::create("caller", graph);
  }
  body = nullptr;  // used to need some stack for each of them
}

TEST_CASE("bodies that hold each other in a circle are verified, printed and counted") {
  auto calling = [](const char* name) {
    return Body::create(name, graph_of("graph a(x: float32[]) {\n"
                                       "%y: float32[] = StatefulPartitionedCall(x) "
                                       "{Tin=[float32], Tout=[float32], f=@g}\n"
                                       "return %y\n}\n"
                                       "body @g = graph g(x: float32[]) {\nreturn x\n}"));
  };
  Ref<Body> a = calling("a"), b = calling("b");
  auto call = [](const Ref<Body>& from, const Ref<Body>& to) {
    from->graph()->set_attrs(from->graph()->find("y"), call_attrs(to));
  };
  CHECK(!holds_itself(*a));
  const int64_t one = b->bytes() - called_body(*b->graph()->find("y"))->bytes();
  call(a, b);
  CHECK(!holds_itself(*a));
  call(b, a);
  CHECK(holds_itself(*a));
  CHECK(holds_itself(*b));
  CHECK(mistake_of(*a->graph()) == "none");
  CHECK(a->bytes() == 2 * one);
  std::string text = print_graph(*a->graph());
  CHECK(text.find("body @a = ") != std::string::npos);
  CHECK(text.find("body @b = ") != std::string::npos);
  CHECK(Body::create("c", a->graph())->effects().stateful);
  CHECK(hash_of(AttrValue(a)) != hash_of(AttrValue(b)));
  Ref<Graph> copy = a->graph()->clone();
  CHECK(print_graph(*copy) == text);
  call(a, a);
  CHECK(holds_itself(*a));
  // A circle does not end by itself.
  call(a, Body::create("e", graph_of("graph e(x: float32[]) {\n return x\n}")));
  call(b, called_body(*a->graph()->find("y")));
}

}  // namespace
}  // namespace graven::engine
