#include "graven/optimize/remove_dead_nodes.h"

#include <doctest/doctest.h>

#include "graven/optimize/pass_test.h"

namespace graven::engine {
namespace {

TEST_CASE("what no output needs goes, what must run and its inputs stay") {
  CHECK(test_ops::after(R"(graph f(x: float32[n], s: string[], unused: int32[]) {
  %dead: float32[n] = Fail(x)
  %dead_too: float32[n] = Neg(%dead)
  %waited_for: float32[n] = Fail(x)
  %a: float32[n] = Neg(x) ^%waited_for
  %text: string[] = Identity(s)
  %print = PrintV2(%text)
  %group = NoOp() ^%a
  return x ^%group
})",
                        remove_dead_nodes) ==
        R"(graph f(x: float32[n], s: string[], unused: int32[]) {
  %waited_for: float32[n] = Fail(x)
  %a: float32[n] = Neg(x) ^%waited_for
  %text: string[] = Identity(s)
  %print = PrintV2(%text)
  %group = NoOp() ^%a
  return x ^%group
}
)");
}

TEST_CASE("a read or a random number that nobody uses goes") {
  CHECK(test_ops::after(R"(graph f(w: resource[]<float32[3]>, shape: int32[1]) {
  %read: float32[3] = ReadVariableOp(w) {dtype=float32}
  %random: float32[?] = RandomUniform(shape)
})",
                        remove_dead_nodes) ==
        R"(graph f(w: resource[]<float32[3]>, shape: int32[1]) {
}
)");
}

}  // namespace
}  // namespace graven::engine
