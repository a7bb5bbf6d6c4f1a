#include "graven/optimize/inline_calls.h"

#include <doctest/doctest.h>

#include "graven/ir/bodies.h"
#include "graven/ir/structural_ops.h"
#include "graven/optimize/pass_test.h"

namespace graven::engine {
namespace {

std::string inlined(std::string_view before, int max_nodes = 20000) {
  return after(before, [&](Graph& graph) {
    auto changed = inline_calls(graph, max_nodes);
    REQUIRE(changed.ok());
  });
}

TEST_CASE("a body takes the place of its call, and its dimensions become the caller's") {
  CHECK(inlined(R"(graph f(x: float32[k,3], count: int32[]) {
  %a: float32[k,3] = Neg(x)
  %call: float32[call.0] = PartitionedCall(%a, count) {Tin=[float32, int32], Tout=[float32], f=@g}
  %b: float32[2*call.0] = Neg(%call)
  return %b
}
body @g = graph g(y: float32[n,m], count: int32[]) {
  %u: float32[n,u.1], int32[n,u.1] = TopKV2(y, count)
  %shape: int32[2](n,m) = Shape(y)
  %sum: float32[broadcast(n, m)] = Sum(%u, %shape) {_note="kept"}
  return %sum
})") == R"(graph f(x: float32[k,3], count: int32[]) {
  %a: float32[k,3] = Neg(x)
  %call/u: float32[k,u.1], int32[k,u.1] = TopKV2(%a, count)
  %call/shape: int32[2](k,3) = Shape(%a)
  %call/sum: float32[3] = Sum(%call/u, %call/shape) {_note="kept"}
  %b: float32[6] = Neg(%call/sum)
  return %b
}
)");
}

TEST_CASE("each call has sizes of its own that only running finds") {
  CHECK(inlined(R"(graph f(x: float32[k], y: float32[2], count: int32[]) {
  %a: float32[a.0] = PartitionedCall(x, count) {Tin=[float32, int32], Tout=[float32], f=@g}
  %b: float32[b.0] = PartitionedCall(y, count) {Tin=[float32, int32], Tout=[float32], f=@g}
  return %a, %b
}
body @g = graph g(y: float32[n], count: int32[]) {
  %u: float32[size], int32[size] = TopKV2(y, count)
  return %u
})") == R"(graph f(x: float32[k], y: float32[2], count: int32[]) {
  %a/u: float32[size], int32[size] = TopKV2(x, count)
  %b/u: float32[size_1], int32[size_1] = TopKV2(y, count)
  return %a/u, %b/u
}
)");
}

TEST_CASE("the body waits for what the call waited for, and its control outputs are waited for") {
  CHECK(inlined(R"(graph f(x: float32[], s: string[]) {
  %before = PrintV2(s)
  %call: float32[] = StatefulPartitionedCall(x, s) {Tin=[float32, string], Tout=[float32], f=@g} ^%before on "/device:CPU:1"
  %after = PrintV2(s) ^%call
  return %call ^%call ^%after
}
body @g = graph g(y: float32[], t: string[]) {
  %c: float32[] = 2
  %a: float32[] = Neg(y)
  %b: float32[] = Mul(%a, %c)
  %p = PrintV2(t)
  %q = PrintV2(t) ^%p
  %first: float32[] = Neg(%c)
  return %b ^%p ^%q
})") == R"(graph f(x: float32[], s: string[]) {
  %before = PrintV2(s)
  %call/c: float32[] = 2 on "/device:CPU:1"
  %call/a: float32[] = Neg(x) ^%before on "/device:CPU:1"
  %call/b: float32[] = Mul(%call/a, %call/c) on "/device:CPU:1"
  %call/p = PrintV2(s) ^%before on "/device:CPU:1"
  %call/q = PrintV2(s) ^%call/p on "/device:CPU:1"
  %call/first: float32[] = Neg(%call/c) ^%before on "/device:CPU:1"
  %after = PrintV2(s) ^%call/p ^%call/q
  return %call/b ^%call/p ^%call/q ^%after
}
)");
}

TEST_CASE("who waits for a pure call waits for its outputs, or for what it waited for") {
  CHECK(inlined(R"(graph f(x: int32[2], s: string[]) {
  %p = PrintV2(s)
  %call: int32[2] = PartitionedCall(x) {Tin=[int32], Tout=[int32], f=@g}
  %same: int32[2] = PartitionedCall(x) {Tin=[int32], Tout=[int32], f=@identity} ^%p
  %q = PrintV2(s) ^%call
  %r = PrintV2(s) ^%same
  return %same ^%q ^%r
}
body @g = graph g(y: int32[2]) {
  %a: int32[2] = InvertPermutation(y)
  return %a
}
body @identity = graph identity(y: int32[2]) {
  return y
})") == R"(graph f(x: int32[2], s: string[]) {
  %p = PrintV2(s)
  %call/a: int32[2] = InvertPermutation(x)
  %q = PrintV2(s) ^%call/a
  %r = PrintV2(s) ^x ^%p
  return x ^%q ^%r
}
)");
}

TEST_CASE("many control outputs are gathered in a NoOp") {
  CHECK(inlined(R"(graph f(s: string[]) {
  %call = StatefulPartitionedCall(s) {Tin=[string], f=@g}
  %a = PrintV2(s) ^%call
  %b = PrintV2(s) ^%call
  return ^%a ^%b
}
body @g = graph g(t: string[]) {
  %p1 = PrintV2(t)
  %p2 = PrintV2(t)
  %p3 = PrintV2(t)
  %p4 = PrintV2(t)
  %p5 = PrintV2(t)
  return ^%p1 ^%p2 ^%p3 ^%p4 ^%p5
})") == R"(graph f(s: string[]) {
  %call/p1 = PrintV2(s)
  %call/p2 = PrintV2(s)
  %call/p3 = PrintV2(s)
  %call/p4 = PrintV2(s)
  %call/p5 = PrintV2(s)
  %call/done = NoOp() ^%call/p1 ^%call/p2 ^%call/p3 ^%call/p4 ^%call/p5
  %a = PrintV2(s) ^%call/done
  %b = PrintV2(s) ^%call/done
  return ^%a ^%b
}
)");
}

TEST_CASE("calls within bodies go in too, and a captured constant is what the call gives") {
  CHECK(inlined(R"(graph f(x: float32[], two: float32[] = 2, s: string[]) {
  %a: float32[] = StatefulPartitionedCall(x, two, s) {Tin=[float32, float32, string], Tout=[float32], f=@g}
  %b: float32[] = StatefulPartitionedCall(%a, two, s) {Tin=[float32, float32, string], Tout=[float32], f=@g}
  return %b ^%a ^%b
}
body @g = graph g(y: float32[], captured: float32[] = 7, s: string[]) {
  %h: float32[] = StatefulPartitionedCall(y, s) {Tin=[float32, string], Tout=[float32], f=@h}
  %a: float32[] = Mul(%h, captured) ^%h
  return %a ^%h
}
body @h = graph h(z: float32[], s: string[]) {
  %p = PrintV2(s)
  return z ^%p
})") == R"(graph f(x: float32[], two: float32[] = 2, s: string[]) {
  %a/h/p = PrintV2(s)
  %a/a: float32[] = Mul(x, two) ^%a/h/p
  %b/h/p = PrintV2(s)
  %b/a: float32[] = Mul(%a/a, two) ^%b/h/p
  return %b/a ^%a/h/p ^%b/h/p
}
)");
}

TEST_CASE("a call that asks for it stays, and one that would make the graph too large") {
  constexpr std::string_view kNoinline = R"(graph f(x: float32[]) {
  %a: float32[] = PartitionedCall(x) {Tin=[float32], Tout=[float32], f=@g, _noinline=true}
  return %a
}

body @g = graph g(y: float32[]) {
  %a: float32[] = Neg(y)
  return %a
}
)";
  CHECK(inlined(kNoinline) == kNoinline);
  std::string text(kNoinline);
  text.replace(text.find("=true"), 5, "=false");
  CHECK(inlined(text, 3) == text);
  CHECK(inlined(text, 4) != text);
}

// A graph that calls a body of the given size.
std::string with_calls(int num_calls, int size) {
  std::string text = "graph f(x: float32[]) {\n";
  for (int i = 0; i < num_calls; ++i) {
    text += str_cat("%a", i, ": float32[] = PartitionedCall(x) {Tin=[float32], Tout=[float32], ",
                    "f=@g}\n");
  }
  text += "}\nbody @g = graph g(y: float32[]) {\n%n0: float32[] = Neg(y)\n";
  for (int i = 1; i < size; ++i) text += str_cat("%n", i, ": float32[] = Neg(%n", i - 1, ")\n");
  return text + str_cat("return %n", size - 1, "\n}");
}

TEST_CASE("a large body goes in where it is called once, a small one everywhere") {
  auto has_call = [](const std::string& text) {
    return text.find("PartitionedCall") != std::string::npos;
  };
  CHECK(!has_call(inlined(with_calls(1, 500))));
  CHECK(has_call(inlined(with_calls(2, 500))));
  CHECK(!has_call(inlined(with_calls(2, 20))));
}

TEST_CASE("a body that calls itself goes in once") {
  Ref<Graph> graph = graph_of(R"(graph f(x: float32[]) {
  %call: float32[] = PartitionedCall(x) {Tin=[float32], Tout=[float32], f=@g}
  return %call
}
body @g = graph g(y: float32[]) {
  %again: float32[] = PartitionedCall(y) {Tin=[float32], Tout=[float32], f=@h}
  return %again
}
body @h = graph h(y: float32[]) {
  return y
})");
  Ref<Body> body = called_body(*graph->find("call"));
  Node* again = body->graph()->find("again");
  Ref<Body> good = called_body(*again);
  body->graph()->set_attrs(again, call_attrs(body));
  auto changed = inline_calls(*graph);
  REQUIRE(changed.ok());
  CHECK(*changed);
  CHECK(verify_graph(*graph).ok());
  CHECK(called_body(*graph->outputs()[0].node) == body);
  body->graph()->set_attrs(again, call_attrs(good));  // a circle does not end by itself
}

}  // namespace
}  // namespace graven::engine
