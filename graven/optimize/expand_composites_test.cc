#include "graven/optimize/expand_composites.h"

#include <doctest/doctest.h>

#include "graven/ir/emitter.h"
#include "graven/ir/infer_context.h"
#include "graven/ops/math_ops.h"
#include "graven/ops/movement_ops.h"
#include "graven/optimize/pass_test.h"

namespace graven::engine {
namespace {

// Of a nested composite, of an eager tensor, and with an output that is an input.
const bool kDefinedHere = [] {
  OpRegistry& ops = OpRegistry::global();
  ops.define<NoAttrs>({.name = "TwiceTheTranspose",
                       .inputs = {"x: T", "perm: int32"},
                       .outputs = {"y: T", "same: T"},
                       .types = {{"T", kNumberTypes}},
                       .infer = unknown_outputs,
                       .body = composite([](CompositeContext& e) {
                         Tensor transposed = e(kConjugateTranspose, {e.x(0), e.x(1)});
                         e.set_output(e(kMul, {transposed, Tensor::scalar(2.0f)}));
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
  CHECK(after(R"(graph f(x: float32[n,m], s: string[]) {
  %perm: int32[2] = [1, 0]
  %p = PrintV2(s)
  %a: float32[m,n], float32[n,m] = TwiceTheTranspose(x, %perm) ^%p on "/device:CPU:0"
  %b: float32[m,n] = Neg(%a)
  %q = PrintV2(s) ^%a
  return %b, %a:1 ^%q
})",
              expand) == R"(graph f(x: float32[n,m], s: string[]) {
  %perm: int32[2] = [1, 0]
  %p = PrintV2(s)
  %a/ConjugateTranspose/transpose: float32[m,n] = Transpose(x, %perm) ^%p on "/device:CPU:0"
  %a/Const: float32[] = 2 on "/device:CPU:0"
  %a/Mul: float32[m,n] = Mul(%a/ConjugateTranspose/transpose, %a/Const) ^%p on "/device:CPU:0"
  %b: float32[m,n] = Neg(%a/Mul)
  %q = PrintV2(s) ^%a/Mul ^x
  return %b, x ^%q
}
)");
}

TEST_CASE("what was known of the shape of a composite's output is known of the part's") {
  CHECK(after(R"(graph f(x: float32[...], perm: int32[2]) {
  %a: float32[n,3] = ConjugateTranspose(x, perm)
  return %a
})",
              expand) == R"(graph f(x: float32[...], perm: int32[2]) {
  %a/transpose: float32[n,3] = Transpose(x, perm)
  return %a/transpose
}
)");
}

TEST_CASE("an error of a composite names it") {
  Ref<Graph> graph = graph_of(R"(graph f(x: float32[]) {
  %a: float32[] = BrokenComposite(x)
  return %a
})");
  auto changed = expand_composites(*graph);
  REQUIRE(!changed.ok());
  CHECK(changed.status().message() == "[BrokenComposite] no parts");
}

}  // namespace
}  // namespace graven::engine
