#include "graven/optimize/expand_composites.h"

#include <doctest/doctest.h>

#include "graven/optimize/pass_test.h"

namespace graven::engine {
namespace {

// Of nested composites, of an eager tensor, and with an output that is an input.
const bool kDefinedHere = [] {
  OpRegistry& ops = OpRegistry::global();
  ops.define<NoAttrs>({.name = "TwiceTheFourthPower",
                       .inputs = {"x: T"},
                       .outputs = {"y: T", "same: T"},
                       .types = {{"T", kNumberTypes}},
                       .infer =
                           [](InferContext& c) {
                             c.set_shape(0, c.shape(0));
                             c.set_shape(1, c.shape(0));
                             return Status();
                           },
                       .body = composite([](CompositeContext& e) {
                         Tensor x2 = e(test_ops::kSquare, {e.x(0)});
                         Tensor x4 = e(test_ops::kSquare, {x2});
                         e.set_output(e(test_ops::kMul, {x4, Tensor::scalar(2.0f)}));
                         e.set_output(e.x(0));
                       })});
  ops.define<NoAttrs>(
      {.name = "BrokenComposite",
       .inputs = {"x: T"},
       .outputs = {"y: T"},
       .types = {{"T", kNumberTypes}},
       .infer = same_as_input,
       .body = composite([](CompositeContext& e) { e.fail(value_error("no parts")); })});
  return true;
}();

void expand(Graph& graph) {
  auto changed = expand_composites(graph);
  REQUIRE_MESSAGE(changed.ok(), changed.status().message());
}

TEST_CASE("a composite becomes its parts, and these theirs") {
  CHECK(test_ops::after(R"(graph f(x: float32[n], s: string[]) {
  %p = PrintV2(s)
  %a: float32[n], float32[n] = TwiceTheFourthPower(x) ^%p on "/device:CPU:0"
  %b: float32[n] = Neg(%a)
  %q = PrintV2(s) ^%a
  return %b, %a:1 ^%q
})",
                        expand) == R"(graph f(x: float32[n], s: string[]) {
  %p = PrintV2(s)
  %a/Square/Mul: float32[n] = Mul(x, x) ^%p on "/device:CPU:0"
  %a/Square_1/Mul: float32[n] = Mul(%a/Square/Mul, %a/Square/Mul) ^%p on "/device:CPU:0"
  %a/Const: float32[] = 2 on "/device:CPU:0"
  %a/Mul: float32[n] = Mul(%a/Square_1/Mul, %a/Const) ^%p on "/device:CPU:0"
  %b: float32[n] = Neg(%a/Mul)
  %q = PrintV2(s) ^%a/Mul ^x
  return %b, x ^%q
}
)");
}

TEST_CASE("what was known of the shape of a composite's output is known of the part's") {
  CHECK(test_ops::after(R"(graph f(x: float32[...]) {
  %a: float32[n,3] = Square(x)
  return %a
})",
                        expand) == R"(graph f(x: float32[...]) {
  %a/Mul: float32[n,3] = Mul(x, x)
  return %a/Mul
}
)");
}

TEST_CASE("an error of a composite names it") {
  Ref<Graph> graph = test_ops::graph_of(R"(graph f(x: float32[]) {
  %a: float32[] = BrokenComposite(x)
  return %a
})");
  auto changed = expand_composites(*graph);
  REQUIRE(!changed.ok());
  CHECK(changed.status().message() == "[BrokenComposite] no parts");
}

}  // namespace
}  // namespace graven::engine
