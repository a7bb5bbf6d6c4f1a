#include "graven/ir/text.h"

#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "graven/ir/body.h"
#include "graven/ir/graph_builder.h"
#include "graven/ir/infer_context.h"
#include "graven/ir/structural_ops.h"
#include "graven/ir/testing.h"
#include "graven/ir/verify.h"
#include "graven/ops/debug_ops.h"
#include "graven/ops/math_ops.h"
#include "graven/ops/reduction_ops.h"
#include "graven/ops/sort_ops.h"

namespace graven::engine {
namespace {

// The text, read and printed again.
std::string again(std::string_view text) {
  auto graph = parse_graph(text);
  if (!graph.ok()) return graph.status().message();
  Status verified = verify_graph(**graph);
  return verified.ok() ? print_graph(**graph) : verified.message();
}

// No real op has attributes of every kind. In the registry of all ops, as the parser looks there.
const OpHandle<AllKindsAttrs> kAllKinds = OpRegistry::global().define<AllKindsAttrs>(
    {.name = "AllKinds",
     .infer = no_outputs,
     .bodies = {BodyRun::kAsTheOpLikes, {{"body"}, {"bodies"}}}});

std::string error_of(std::string_view text) {
  auto graph = parse_graph(text);
  return graph.ok() ? "no error" : graph.status().message();
}

constexpr std::string_view kEverything =
    R"(graph f(x: float32[n,3], w: resource[]<float32[3,4]>, add/y: float32[] = 1, s: string[...]) {
  %axes: int32[1] = [0]
  %shape: int32[2](n,3) = Shape(x)
  %add: float32[n,3] = AddV2(x, add/y) {_user="a \"b\"\n\\\x01"} on "/device:CPU:0"
  %print = PrintV2(s)
  %sum: float32[1,3] = Sum(%add, %axes) {keep_dims=true} ^%print ^x
  %split: float32[1,1], float32[1,2] = Split(%axes_0, %sum) {num_split=2}
  %odd: float32[2*n + 1,floordiv(n + 3, 2)] = Identity(%split:1)
  return %add, %split:1, x ^%print
}
)";

TEST_CASE("a graph is printed as it was written") {
  std::string text(kEverything);
  text.replace(text.find("%axes_0"), 7, "%axes_0");
  text.insert(text.find("  %shape"), "  %axes_0: int32[] = 0\n");
  CHECK(again(text) == text);
}

TEST_CASE("a graph that was traced is printed and read") {
  auto graph = make_ref<Graph>("g");
  GraphBuilder builder(graph);
  Tensor x = builder.add_placeholder(DType::kFloat32, Shape{Dim::unknown(), 3}, "x");
  Tensor y = (*builder.apply(*kAddV2, std::vector{x, Tensor::scalar(2.0f)}, NoAttrs()))[0];
  graph->set_outputs({symbolic(y).output()});
  std::string text = print_graph(*graph);
  CHECK(text ==
        "graph g(x: float32[x.0,3], AddV2/y: float32[] = 2) {\n"
        "  %AddV2: float32[x.0,3] = AddV2(x, AddV2/y)\n"
        "  return %AddV2\n"
        "}\n");
  CHECK(again(text) == text);
}

TEST_CASE("dims that are read back are equal when they were equal") {
  Ref<Graph> graph = graph_of(R"(graph f(x: float32[n,m]) {
    %a: float32[2*n + n,m*n,-n + 7,max(m, n),broadcast(n, m)] = Identity(x)
    %b: float32[3*n,n*m,7 - n,max(n, m),broadcast(m, n)] = Identity(x)
    %c: float32[floordiv(n + 1, 2),ceildiv(n, 2),mod(n, 4),min(n, 5)] = Identity(x)
    return %a
  })");
  CHECK(graph->find("a")->output(0).shape == graph->find("b")->output(0).shape);
  CHECK(print_graph(*graph).find("[3*n,m*n,-n + 7,max(m, n),broadcast(m, n)]") !=
        std::string::npos);
  CHECK(graph->symbols().to_text(graph->find("c")->output(0).shape[0]) == "floordiv(n + 1, 2)");
  std::string text = print_graph(*graph);
  CHECK(again(text) == text);
}

TEST_CASE("symbols of one name are told apart, and odd names are made readable") {
  auto graph = make_ref<Graph>("g");
  Dim a = graph->symbols().new_symbol("n"), b = graph->symbols().new_symbol("n"),
      c = graph->symbols().new_symbol("3 x-y");
  std::vector<OutputType> outputs(1);
  outputs[0] = {DType::kInt32, Shape{b, a, c}, false, nullptr, nullptr};
  Node* node = graph->add({.op = kPlaceholder.op,
                           .attrs = PlaceholderAttrs{DType::kInt32, Shape{1}},
                           .name = graph->unique_name("a b"),
                           .inputs = {},
                           .outputs = std::move(outputs)});
  graph->add_input(node);
  std::string text = print_graph(*graph);
  CHECK(text == "graph g(\"a b\": int32[n,n_1,_3_x_y] {shape=[1]}) {\n}\n");
  CHECK(again(text) == text);
}

TEST_CASE("attributes of every kind are kept") {
  AllKindsAttrs attrs;
  attrs.flag = true;
  attrs.number = std::numeric_limits<int64_t>::min();
  attrs.ratio = 0.1f;
  attrs.text = std::string("quote \" slash \\ zero \0 line\n\xc3\xa9", 28);
  attrs.type = DType::kBFloat16;
  attrs.shape = Shape{2, Dim::unknown()};
  attrs.value = Tensor::scalar(std::complex<float>(-0.0f, -2.5f));
  auto inner = Body::create("inner", graph_of("graph i(x: int32[]) {\n return x\n}"));
  auto inner_too = Body::create("inner", graph_of("graph j() {\n}"));
  attrs.body = inner;
  attrs.numbers = {1, -2};
  attrs.ratios = {1.0, 1e300, -std::numeric_limits<double>::infinity(),
                  std::bit_cast<double>(uint64_t{0xfff8000000000123})};
  attrs.texts = {"", "a"};
  attrs.types = {DType::kResource};
  attrs.shapes = {Shape::unknown_rank(), Shape()};
  attrs.bodies = {inner, inner_too, nullptr};

  auto graph = make_ref<Graph>("with space");
  Node* node = graph->add({.op = kAllKinds.op,
                           .attrs = attrs,
                           .name = graph->unique_name("a"),
                           .inputs = {},
                           .outputs = {}});
  for (const auto& [name, value] : node->attributes()) {
    graph->set_attribute(node, "_" + name, value);
  }
  graph->set_attribute(node, "_nothing", AttrValue());
  graph->set_attribute(node, "_no_tensor", Tensor());
  graph->set_attribute(node, "_no_ints", std::vector<int64_t>());
  std::string text = print_graph(*graph);
  auto read = parse_graph(text);
  REQUIRE_MESSAGE(read.ok(), read.status().message());
  CHECK(print_graph(**read) == text);
  const Node& copy = *(*read)->find("a");
  REQUIRE(copy.extra_attributes().size() == node->extra_attributes().size());
  for (const auto& [name, value] : node->attributes()) {
    AttrValue got = copy.attribute(name);
    CAPTURE(name);
    REQUIRE(got.index() == value.index());
    if (name.find("bod") == std::string::npos) CHECK(equal(got, value));
  }
  const auto& got = copy.attrs().as<AllKindsAttrs>();
  CHECK(got.body->name() == "inner");
  CHECK(got.bodies[0] == got.body);
  CHECK(got.bodies[1] != got.body);
  CHECK(!got.bodies[2]);
  CHECK(got.body->graph()->name() == "i");
}

template <typename T>
void check_constant(std::vector<T> values) {
  auto graph = make_ref<Graph>("g");
  GraphBuilder builder(graph);
  Tensor value = Tensor::vector<T>(values);
  builder.add_constant(value, "c");
  std::string text = print_graph(*graph);
  auto read = parse_graph(text);
  REQUIRE_MESSAGE(read.ok(), read.status().message(), text);
  const Tensor& got = (*read)->find("c")->attrs().as<ConstAttrs>().value;
  CHECK_MESSAGE(equal(got, value), text);
  CHECK(print_graph(**read) == text);
}

TEST_CASE("constants keep their bits: NaNs, infinities, signs of zero, complex, large") {
  float inf = std::numeric_limits<float>::infinity();
  float nan = std::numeric_limits<float>::quiet_NaN();
  check_constant<float>({0.0f, -0.0f, inf, -inf, nan, -nan, 1e-45f, 3.4028235e38f, 0.1f});
  check_constant<float>({std::bit_cast<float>(0x7fc00123u)});
  check_constant<double>({0.1, -std::numeric_limits<double>::quiet_NaN(), 5e-324});
  check_constant<Half>({Half(1.5f), Half::from_bits(0x7e01), Half(-0.0f)});
  check_constant<BFloat16>({BFloat16(inf), BFloat16::from_bits(0x7f81)});
  check_constant<std::complex<float>>({{1, -0.0f}, {-inf, inf}});
  check_constant<std::complex<double>>({{std::nan(""), 1}, {1, -std::nan("")}});
  check_constant<uint64_t>({0, std::numeric_limits<uint64_t>::max()});
  check_constant<int8_t>({-128, 127});
  check_constant<int64_t>(std::vector<int64_t>(1000, -7));
  check_constant<float>({});
}

TEST_CASE("constants of strings and bools are read") {
  std::string text =
      "graph g() {\n"
      "  %s: string[2] = [\"a\\nb\", \"\"]\n"
      "  %t: string[] = \"x\"\n"
      "  %b: bool[2,1] = [true, false]\n"
      "  %e: int32[0] = []\n"
      "}\n";
  CHECK(again(text) == text);
}

TEST_CASE("bodies are read, shared, and found within bodies") {
  std::string text =
      "graph f(x: float32[n]) {\n"
      "  %a: float32[n] = PartitionedCall(x) {Tin=[float32], Tout=[float32], f=@g}\n"
      "  %b: float32[n] = PartitionedCall(%a) {Tin=[float32], Tout=[float32], f=@g}\n"
      "  return %b\n"
      "}\n"
      "\n"
      "body @g = graph inner(y: float32[...]) {\n"
      "  %a: float32[...] = PartitionedCall(y) {Tin=[float32], Tout=[float32], f=@\"h h\"}\n"
      "  return %a\n"
      "}\n"
      "\n"
      "body @\"h h\" = graph h(z: float32[...]) {\n"
      "  return z\n"
      "}\n";
  CHECK(again(text) == text);
  Ref<Graph> graph = graph_of(text);
  CHECK(graph->find("a")->attrs().as<CallAttrs>().f == graph->find("b")->attrs().as<CallAttrs>().f);
}

TEST_CASE("many inputs stand on lines of their own, and comments are skipped") {
  std::string head = "graph f(\n";
  for (int i = 0; i < 8; ++i) {
    head += "    argument_" + std::to_string(i) + ": float32[3]" + (i < 7 ? ",\n" : ") {\n");
  }
  CHECK(again(head + "}\n") == head + "}\n");
  CHECK(again("# first\ngraph f() { # more\n}\n# last") == "graph f() {\n}\n");
}

TEST_CASE("mistakes in a text are named with their line") {
  CHECK(error_of("") == "line 1: expected 'graph', got the end of the text");
  CHECK(error_of("graph f(x: float32[]) {\n  %a: float32[] = Nope(x)\n}") ==
        "line 2: there is no op named Nope");
  CHECK(error_of("graph f(x: float32[]) {\n  %a: float32[] = Neg(y)\n}") ==
        "line 2: there is no node 'y' above");
  CHECK(error_of("graph f(x: float32[]) {\n  %X: float32[] = Neg(x)\n}") ==
        "line 2: there is another node of the name 'X'");
  CHECK(error_of("graph f(x: float33[]) {\n}") == "line 1: 'float33' is no dtype");
  CHECK(error_of("graph f(x: float32[n*]) {\n}") == "line 1: expected a dimension, got ']) {'");
  CHECK(error_of("graph f(x: float32[]) {\n  return x:1\n}") == "line 2: node 'x' has no output 1");
  CHECK(error_of("graph f() {\n %a: float32[2] = [1]\n}") ==
        "line 2: the type has 2 elements, got 1");
  CHECK(error_of("graph f() {\n %a: float32[1000000000000000] = [1]\n}") ==
        "line 2: the type has 1000000000000000 elements, got 1");
  CHECK(error_of("graph f() {\n %a: int8[] = 1000\n}") == "line 2: the number is out of range");
  CHECK(error_of("graph f(x: float32[]) {\n %a: int32[] = Neg(x)\n}")
            .find("line 2: Node 'a' (Neg): output 0 is int32, the op's is float32") == 0);
  CHECK(error_of("graph f(x: float32[]) {\n %a: float32[] = Neg(x, x)\n}").find("takes 1 inputs") !=
        std::string::npos);
  CHECK(error_of("graph f() {\n %a = AllKinds() {body=@b}\n}") == "line 2: there is no body @b");
  CHECK(error_of("graph f() {\n %a = AllKinds() {body=@b}\n}\n"
                 "body @b = graph b() {\n %a = AllKinds() {body=@b}\n}") ==
        "line 5: the body @b holds itself");
  CHECK(error_of("graph f() {\n}\nbody @b = graph b() {\n} body @b = graph b() {\n}") ==
        "line 4: the body @b is there twice");
  CHECK(error_of("graph f() {\n %a = AllKinds() {number=true}\n}") ==
        "line 2: expected a number, got 'true}'");
  CHECK(error_of("graph f() {\n}\ngarbage").find("line 3: expected 'body @'") == 0);
}

// A random graph.
Ref<Graph> random_graph(std::mt19937& random, int depth) {
  auto pick = [&](size_t n) { return static_cast<size_t>(random() % n); };
  auto graph = make_ref<Graph>("f" + std::to_string(pick(100)));
  GraphBuilder builder(graph);
  std::vector<Tensor> floats;
  for (size_t i = 0; i <= pick(3); ++i) {
    floats.push_back(builder.add_placeholder(
        DType::kFloat32, Shape{pick(2) ? Dim(3) : Dim::unknown(), Dim::unknown()}, "x"));
  }
  std::vector<Node*> effects;
  auto add = [&](const Op& op, std::vector<Tensor> inputs, AttrsRef attrs) -> Tensor {
    builder.control_inputs.clear();
    if (!effects.empty() && pick(4) == 0) builder.control_inputs = {effects[pick(effects.size())]};
    auto outputs = builder.apply(op, inputs, attrs);
    if (!outputs.ok()) return {};  // Shapes that do not fit are no part of this test.
    if (!outputs->empty() && outputs->size() < 3) return (*outputs)[outputs->size() - 1];
    return {};
  };
  Tensor text = builder.add_constant(Tensor::string_scalar("t\"\n"), "text");
  Tensor number = builder.add_placeholder(DType::kInt32, Shape(), "k");
  for (int i = 0; i < 20; ++i) {
    const Tensor& a = floats[pick(floats.size())];
    const Tensor& b = floats[pick(floats.size())];
    Tensor made;
    switch (pick(9)) {
      case 0:
        made = add(*kAddV2, {a, b}, NoAttrs());
        break;
      case 1:
        made = add(*kSquare, {a}, NoAttrs());
        break;
      case 2: {
        int32_t axis = static_cast<int32_t>(pick(2));
        made = add(*kSum, {a, Tensor::vector<int32_t>(std::span(&axis, 1))}, ReductionAttrs{true});
        break;
      }
      case 3: {
        Tensor shape = add(*kShape, {a}, ShapeAttrs{});
        if (shape) made = add(*kReshape, {b, shape}, NoAttrs());
        break;
      }
      case 4: {
        (void)add(*kPrintV2, {text}, PrintAttrs{});
        effects.push_back(graph->nodes().back());
        break;
      }
      case 5:
        made = add(*kMul, {a, Tensor::scalar(0.1f * static_cast<float>(i))}, NoAttrs());
        break;
      case 6: {
        auto largest = builder.apply(*kTopKV2, std::vector{a, number}, TopKV2Attrs{});
        if (largest.ok()) made = (*largest)[0];
        break;
      }
      case 7: {
        if (depth == 0) break;
        Ref<Graph> inner = random_graph(random, depth - 1);
        std::vector<Tensor> inputs;
        for (const Node* input : inner->inputs()) {
          if (input->output(0).dtype == DType::kFloat32) inputs.push_back(a);
        }
        if (inputs.size() != inner->inputs().size()) break;
        auto body = Body::create("body", inner);
        auto called = builder.apply(*call_op(*body).op, inputs, call_attrs(body));
        if (called.ok() && !called->empty()) made = (*called)[0];
        graph->set_attribute(graph->nodes().back(), "_noinline", pick(2) == 0);
        break;
      }
      default:
        made = add(*kNeg, {a}, NoAttrs());
        break;
    }
    if (made && made.dtype() == DType::kFloat32) floats.push_back(made);
  }
  graph->set_outputs({symbolic(floats.back()).output(), symbolic(floats[0]).output()});
  graph->set_control_outputs(effects);
  return graph;
}

TEST_CASE("random graphs are right, and their text is read and printed the same") {
  std::mt19937 random(1);
  for (int i = 0; i < 200; ++i) {
    Ref<Graph> graph = random_graph(random, 2);
    Status verified = verify_graph(*graph);
    REQUIRE_MESSAGE(verified.ok(), verified.message(), print_graph(*graph));
    std::string text = print_graph(*graph);
    auto read = parse_graph(text);
    REQUIRE_MESSAGE(read.ok(), read.status().message(), text);
    REQUIRE(print_graph(**read) == text);
    Status read_verified = verify_graph(**read);
    REQUIRE_MESSAGE(read_verified.ok(), read_verified.message());
    REQUIRE(print_graph(*graph->clone()) == text);
  }
}

TEST_CASE("texts with random changes are read or refused, and what is read is a right graph") {
  std::mt19937 random(2);
  std::vector<std::string> texts = {std::string(kEverything)};
  for (int i = 0; i < 10; ++i) texts.push_back(print_graph(*random_graph(random, 2)));
  constexpr std::string_view kPieces[] = {"%",       "^",     "[",      "]", "(",
                                          ")",       "{",     "}",      ",", "\"",
                                          "\\",      "\n",    "@",      "=", "?",
                                          "*",       "+",     "...",    "0", "-",
                                          "none",    "hex",   "body @", "n", "99999999999999999999",
                                          "float32", "return"};
  int num_read = 0, num_refused = 0;
  for (int i = 0; i < 20000; ++i) {
    std::string text = texts[random() % texts.size()];
    for (uint32_t changes = 1 + random() % 3; changes > 0; --changes) {
      size_t at = random() % text.size(), count = random() % 8;
      switch (random() % 4) {
        case 0:
          text.erase(at, count);
          break;
        case 1:
          text[at] = static_cast<char>(random());
          break;
        case 2:
          text.insert(at, kPieces[random() % std::size(kPieces)]);
          break;
        default:
          text.insert(at, text.substr(random() % text.size(), random() % 60));
          break;
      }
      if (text.empty()) text = " ";
    }
    auto read = parse_graph(text);
    if (!read.ok()) {
      ++num_refused;
      REQUIRE(read.status().message().find("line ") == 0);
      continue;
    }
    ++num_read;
    std::string printed = print_graph(**read);
    REQUIRE(again(printed) == printed);
  }
  CHECK(num_read > 500);
  CHECK(num_refused > 1000);
}

TEST_CASE("each line of a graph knows the node that it prints") {
  auto graph = parse_graph(R"(graph f(x: float32[n,3]) {
  %axes: int32[1] = [0]
  %sum: float32[1,3] = Sum(x, %axes) {keep_dims=true}
  return %sum
}
)");
  REQUIRE(graph.ok());
  std::string text;
  std::vector<std::string> names;
  for (const PrintedLine& line : print_lines(**graph)) {
    text += line.text + "\n";
    names.push_back(line.node ? line.node->name() : "");
  }
  CHECK(text == print_graph(**graph));
  CHECK(names == std::vector<std::string>{"", "axes", "sum", "", ""});
}

}  // namespace
}  // namespace graven::engine
