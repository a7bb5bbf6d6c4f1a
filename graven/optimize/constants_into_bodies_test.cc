#include "graven/optimize/constants_into_bodies.h"

#include <doctest/doctest.h>

#include "graven/optimize/pass_test.h"

namespace graven::engine {
namespace {

std::string passed(std::string_view before) {
  return after(before, [](Graph& graph) { constants_into_bodies(graph); });
}

TEST_CASE("branches hold the constants that they are given, and sizes become numbers") {
  CHECK(passed(R"(graph f(p: bool[], x: float32[2]) {
  %two: float32[2] = [2, 2]
  %y: float32[...] = If(p, x, %two) {Tin=[float32, float32], Tout=[float32], else_branch=@e, then_branch=@t}
  return %y
}
body @t = graph t(x: float32[2], c: float32[n]) {
  %r: float32[n] = Neg(c)
  return %r
}
body @e = graph e(x: float32[2], c: float32[n]) {
  return x
})") == R"(graph f(p: bool[], x: float32[2]) {
  %two: float32[2] = [2, 2]
  %y_1: float32[...] = StatelessIf(p, x) {Tin=[float32], Tout=[float32], then_branch=@t, else_branch=@e}
  return %y_1
}

body @t = graph t(x: float32[2]) {
  %c: float32[2] = [2, 2]
  %r: float32[2] = Neg(%c)
  return %r
}

body @e = graph e(x: float32[2]) {
  return x
}
)");
}

TEST_CASE("a loop holds the constants that it does not change, and keeps its other variables") {
  CHECK(passed(R"(graph f(x: float32[2]) {
  %zero: int32[] = 0
  %n: int32[] = 10
  %w: int32[], int32[], float32[2] = While(%zero, %n, x) {T=[int32, int32, float32], body=@b, cond=@c}
  return %w:1, %w:2
}
body @c = graph c(i: int32[], n: int32[], x: float32[2]) {
  %go: bool[] = Less(i, n)
  return %go
}
body @b = graph b(i: int32[], n: int32[], x: float32[2]) {
  %one: int32[] = 1
  %next: int32[] = AddV2(i, %one)
  %y: float32[2] = Neg(x)
  return %next, n, %y
})") == R"(graph f(x: float32[2]) {
  %zero: int32[] = 0
  %n: int32[] = 10
  %w_1: int32[], float32[2] = StatelessWhile(%zero, x) {T=[int32, float32], cond=@c, body=@b}
  return %n, %w_1:1
}

body @c = graph c(i: int32[], x: float32[2]) {
  %n: int32[] = 10
  %go: bool[] = Less(i, %n)
  return %go
}

body @b = graph b(i: int32[], x: float32[2]) {
  %one: int32[] = 1
  %next: int32[] = AddV2(i, %one)
  %y: float32[2] = Neg(x)
  return %next, %y
}
)");
}

TEST_CASE("a constant that the loop changes, and one of another shape than declared, stay inputs") {
  CHECK(passed(R"(graph f(x: float32[2]) {
  %zero: int32[] = 0
  %n: float32[3] = [1, 2, 3]
  %w: int32[], float32[3] = While(%zero, %n) {T=[int32, float32], body=@b, cond=@c}
  return %w:1
}
body @c = graph c(i: int32[], n: float32[2]) {
  %ten: int32[] = 10
  %go: bool[] = Less(i, %ten)
  return %go
}
body @b = graph b(i: int32[], n: float32[2]) {
  %one: int32[] = 1
  %next: int32[] = AddV2(i, %one)
  return %next, n
})") == R"(graph f(x: float32[2]) {
  %zero: int32[] = 0
  %n: float32[3] = [1, 2, 3]
  %w: int32[], float32[3] = While(%zero, %n) {T=[int32, float32], cond=@c, body=@b}
  return %w:1
}

body @c = graph c(i: int32[], n: float32[2]) {
  %ten: int32[] = 10
  %go: bool[] = Less(i, %ten)
  return %go
}

body @b = graph b(i: int32[], n: float32[2]) {
  %one: int32[] = 1
  %next: int32[] = AddV2(i, %one)
  return %next, n
}
)");
}

}  // namespace
}  // namespace graven::engine
