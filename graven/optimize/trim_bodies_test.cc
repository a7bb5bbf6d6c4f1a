#include "graven/optimize/trim_bodies.h"

#include <doctest/doctest.h>

#include "graven/optimize/pass_test.h"

namespace graven::engine {
namespace {

std::string trimmed(std::string_view before) {
  return after(before, [](Graph& graph) { trim_bodies(graph); });
}

TEST_CASE("outputs of branches that nothing reads go, and the inputs that only they need") {
  CHECK(trimmed(R"(graph f(p: bool[], x: float32[2], y: float32[2], z: float32[2]) {
  %if: float32[2], float32[2] = If(p, x, y, z) {Tin=[float32, float32, float32], Tout=[float32, float32], else_branch=@e, then_branch=@t}
  return %if:1
}
body @t = graph t(x: float32[2], y: float32[2], z: float32[2]) {
  %a: float32[2] = Exp(x)
  %b: float32[2] = Neg(y)
  return %a, %b
}
body @e = graph e(x: float32[2], y: float32[2], z: float32[2]) {
  return x, y
})") == R"(graph f(p: bool[], x: float32[2], y: float32[2], z: float32[2]) {
  %if_1: float32[2] = StatelessIf(p, y) {Tin=[float32], Tout=[float32], then_branch=@t, else_branch=@e}
  return %if_1
}

body @t = graph t(y: float32[2]) {
  %b: float32[2] = Neg(y)
  return %b
}

body @e = graph e(y: float32[2]) {
  return y
}
)");
}

TEST_CASE("what a branch does stays") {
  CHECK(trimmed(R"(graph f(p: bool[], s: string[], x: float32[2]) {
  %if: float32[2] = If(p, s, x) {Tin=[string, float32], Tout=[float32], else_branch=@e, then_branch=@t}
  return ^%if
}
body @t = graph t(s: string[], x: float32[2]) {
  %print = PrintV2(s)
  return x ^%print
}
body @e = graph e(s: string[], x: float32[2]) {
  return x
})") == R"(graph f(p: bool[], s: string[], x: float32[2]) {
  %if_1 = If(p, s) {Tin=[string], then_branch=@t, else_branch=@e}
  return ^%if_1
}

body @t = graph t(s: string[]) {
  %print = PrintV2(s)
  return ^%print
}

body @e = graph e(s: string[]) {
}
)");
}

TEST_CASE("variables that only feed themselves go, with what computes them") {
  CHECK(trimmed(R"(graph f(i: int32[], n: int32[], x: float32[2], y: float32[2]) {
  %w: int32[], int32[], float32[2], float32[2], float32[2] = While(i, n, x, y, y) {T=[int32, int32, float32, float32, float32], body=@b, cond=@c}
  return %w:2, %w:1
}
body @c = graph c(i: int32[], n: int32[], x: float32[2], y: float32[2], z: float32[2]) {
  %go: bool[] = Less(i, n)
  return %go
}
body @b = graph b(i: int32[], n: int32[], x: float32[2], y: float32[2], z: float32[2]) {
  %one: int32[] = 1
  %next: int32[] = AddV2(i, %one)
  %u: float32[2] = Mul(x, z)
  %v: float32[2] = Exp(y)
  return %next, n, %u, %v, z
})") == R"(graph f(i: int32[], n: int32[], x: float32[2], y: float32[2]) {
  %w_1: int32[], int32[], float32[2], float32[2] = StatelessWhile(i, n, x, y) {T=[int32, int32, float32, float32], cond=@c, body=@b}
  return %w_1:2, n
}

body @c = graph c(i: int32[], n: int32[], x: float32[2], z: float32[2]) {
  %go: bool[] = Less(i, n)
  return %go
}

body @b = graph b(i: int32[], n: int32[], x: float32[2], z: float32[2]) {
  %one: int32[] = 1
  %next: int32[] = AddV2(i, %one)
  %u: float32[2] = Mul(x, z)
  return %next, n, %u, z
}
)");
}

TEST_CASE("an input that alone says a size stays") {
  const std::string before = R"(graph f(p: bool[], x: float32[n], s: int32[1](n)) {
  %if: float32[n] = If(p, x, s) {Tin=[float32, int32], Tout=[float32], then_branch=@t, else_branch=@e}
  return %if
}

body @t = graph t(x: float32[n], s: int32[1](n)) {
  %two: float32[] = 2
  %r: float32[n] = Fill(s, %two)
  return %r
}

body @e = graph e(x: float32[n], s: int32[1](n)) {
  %one: float32[] = 1
  %r: float32[n] = Fill(s, %one)
  return %r
}
)";
  CHECK(trimmed(before) == before);
}

}  // namespace
}  // namespace graven::engine
