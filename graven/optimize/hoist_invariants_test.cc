#include "graven/optimize/hoist_invariants.h"

#include <doctest/doctest.h>

#include "graven/optimize/pass_test.h"
#include "graven/runtime/eager_builder.h"

namespace graven::engine {
namespace {

std::string hoisted(std::string_view before) {
  return after(before, [](Graph& graph) { hoist_invariants(graph, eager_builder()); });
}

// A loop of `count` iterations whose body has this line, which gives %v, and returns `next`.
std::string loop_with(std::string_view line, std::string_view from = "0") {
  return str_cat(R"(graph f(i: int32[], w: float32[256,256], x: float32[256,256], d: int32[2]) {
  %from: int32[] = )",
                 from, R"(
  %l: int32[], float32[256,256], float32[256,256], int32[2] = While(%from, w, x, d) {T=[int32, float32, float32, int32], body=@b, cond=@c}
  return %l:2
}
body @c = graph c(i: int32[], w: float32[256,256], x: float32[256,256], d: int32[2]) {
  %ten: int32[] = 10
  %go: bool[] = Less(i, %ten)
  return %go
}
body @b = graph b(i: int32[], w: float32[256,256], x: float32[256,256], d: int32[2]) {
  %one: int32[] = 1
  %next: int32[] = AddV2(i, %one)
  )",
                 line, R"(
  %y: float32[256,256] = Mul(x, %v)
  return %next, w, %y, d
})");
}

bool moves(std::string_view line, std::string_view from = "0") {
  return hoisted(loop_with(line, from)).find("%l/v: float32[256,256] = ") != std::string::npos;
}

TEST_CASE("what a loop does not change is computed once, before it") {
  CHECK(hoisted(R"(graph f(n: int32[], w: float32[3], x: float32[3]) {
  %zero: int32[] = 0
  %l: int32[], int32[], float32[3], float32[3] = While(%zero, n, w, x) {T=[int32, int32, float32, float32], body=@b, cond=@c}
  return %l:3
}
body @c = graph c(i: int32[], n: int32[], w: float32[3], x: float32[3]) {
  %one: int32[] = 1
  %last: int32[] = Sub(n, %one)
  %go: bool[] = Less(i, %last)
  return %go
}
body @b = graph b(i: int32[], n: int32[], w: float32[3], x: float32[3]) {
  %one: int32[] = 1
  %next: int32[] = AddV2(i, %one)
  %two: float32[] = 2
  %double: float32[3] = Mul(w, %two)
  %exp: float32[3] = Exp(%double)
  %y: float32[3] = Mul(x, %exp)
  return %next, n, w, %y
})") == R"(graph f(n: int32[], w: float32[3], x: float32[3]) {
  %zero: int32[] = 0
  %l_1: int32[] = 1
  %l/last: int32[] = Sub(n, %l_1)
  %l_2: float32[] = 2
  %l/double: float32[3] = Mul(w, %l_2)
  %l/exp: float32[3] = Exp(%l/double)
  %l_3: int32[], int32[], float32[3], float32[3], int32[], float32[3] = StatelessWhile(%zero, n, w, x, %l/last, %l/exp) {T=[int32, int32, float32, float32, int32, float32], cond=@c, body=@b}
  return %l_3:3
}

body @c = graph c(i: int32[], n: int32[], w: float32[3], x: float32[3], last_1: int32[], exp: float32[3]) {
  %go: bool[] = Less(i, last_1)
  return %go
}

body @b = graph b(i: int32[], n: int32[], w: float32[3], x: float32[3], last: int32[], exp_1: float32[3]) {
  %one: int32[] = 1
  %next: int32[] = AddV2(i, %one)
  %y: float32[3] = Mul(x, exp_1)
  return %next, n, w, %y, last, exp_1
}
)");
}

TEST_CASE("dear work moves out of a body only if the loop surely runs once") {
  constexpr char kDear[] =
      "%v: float32[256,256] = MatMul(w, w) {transpose_a=false, transpose_b=false}";
  CHECK(moves(kDear));
  CHECK(!moves(kDear, "10"));
  CHECK(!moves(kDear, "Identity(i)"));
}

TEST_CASE("what may fail, and what is larger than its operands, stays in the loop") {
  CHECK(moves("%v: float32[256,256] = Neg(w)"));
  CHECK(!moves("%v: float32[256,256] = Reshape(w, d)"));
  CHECK(
      !moves("%z: float32[] = 0\n  %s: int32[2] = [256, 256]\n"
             "  %v: float32[256,256] = Fill(%s, %z)"));
}

}  // namespace
}  // namespace graven::engine
