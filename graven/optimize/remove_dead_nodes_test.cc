#include "graven/optimize/remove_dead_nodes.h"

#include <doctest/doctest.h>

#include "graven/optimize/pass_test.h"

namespace graven::engine {
namespace {

TEST_CASE("what no output needs goes, what must run and its inputs stay") {
  CHECK(after(R"(graph f(x: int32[n], s: string[], unused: int32[]) {
  %dead: int32[n] = InvertPermutation(x)
  %dead_too: int32[n] = Neg(%dead)
  %waited_for: int32[n] = InvertPermutation(x)
  %a: int32[n] = Neg(x) ^%waited_for
  %text: string[] = Identity(s)
  %print = PrintV2(%text)
  %group = NoOp() ^%a
  return x ^%group
})",
              remove_dead_nodes) ==
        R"(graph f(x: int32[n], s: string[], unused: int32[]) {
  %waited_for: int32[n] = InvertPermutation(x)
  %a: int32[n] = Neg(x) ^%waited_for
  %text: string[] = Identity(s)
  %print = PrintV2(%text)
  %group = NoOp() ^%a
  return x ^%group
}
)");
}

TEST_CASE("a read or a random number that nobody uses goes") {
  CHECK(after(R"(graph f(w: resource[]<float32[3]>, shape: int32[1]) {
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
