#include "graven/optimize/merge_common_subexpressions.h"

#include <doctest/doctest.h>

#include "graven/optimize/pass_test.h"

namespace graven::engine {
namespace {

TEST_CASE("equal nodes, and what becomes equal by it, are one") {
  CHECK(after(R"(graph f(x: float32[n], y: float32[n]) {
  %c: float32[2] = [1, nan]
  %d: float32[2] = [1, nan]
  %a: float32[n] = AddV2(x, y)
  %b: float32[n] = AddV2(x, y)
  %an: float32[n] = Neg(%a)
  %bn: float32[n] = Neg(%b)
  %group = NoOp() ^%bn
  return %an, %bn, %c, %d ^%group
})",
              merge_common_subexpressions) == R"(graph f(x: float32[n], y: float32[n]) {
  %c: float32[2] = [1, nan]
  %a: float32[n] = AddV2(x, y)
  %an: float32[n] = Neg(%a)
  %group = NoOp() ^%an
  return %an, %an, %c, %c ^%group
}
)");
}

TEST_CASE("other attributes, inputs, dtypes, devices or control inputs keep nodes apart") {
  constexpr std::string_view kText = R"(graph f(x: float32[n], y: float32[n], s: string[]) {
  %axes: int32[1] = [0]
  %axes64: int64[1] = [0]
  %zero: float32[] = 0
  %minus_zero: float32[] = -0
  %a: float32[] = Sum(x, %axes)
  %b: float32[1] = Sum(x, %axes) {keep_dims=true}
  %c: float32[] = Sum(y, %axes)
  %d: float32[] = Sum(x, %axes) on "/device:CPU:1"
  %e: float32[] = Sum(x, %axes) {_x=1}
  %print = PrintV2(s)
  %f: float32[] = Sum(x, %axes) ^%print
  %g: float32[n] = AddV2(x, y)
  %h: float32[n] = AddV2(y, x)
  return %a, %b, %c, %d, %e, %f, %zero, %minus_zero, %axes64, %g, %h ^%print
}
)";
  CHECK(after(kText, merge_common_subexpressions) == kText);
}

TEST_CASE("integer sums are one in any order of inputs") {
  CHECK(after(R"(graph f(x: int32[n], y: int32[n]) {
  %a: int32[n] = AddV2(x, y)
  %b: int32[n] = AddV2(y, x)
  %c: int32[n] = Sub(x, y)
  %d: int32[n] = Sub(y, x)
  return %a, %b, %c, %d
})",
              merge_common_subexpressions) == R"(graph f(x: int32[n], y: int32[n]) {
  %a: int32[n] = AddV2(x, y)
  %c: int32[n] = Sub(x, y)
  %d: int32[n] = Sub(y, x)
  return %a, %a, %c, %d
}
)");
}

TEST_CASE("effects, random numbers and captured constants are never merged") {
  constexpr std::string_view kText =
      R"(graph f(w: resource[]<float32[3]>, c: float32[] = 1, d: float32[] = 1, s: string[]) {
  %shape: int32[1] = [2]
  %a: float32[3] = ReadVariableOp(w) {dtype=float32}
  %b: float32[3] = ReadVariableOp(w) {dtype=float32}
  %r: float32[2] = RandomUniform(%shape)
  %t: float32[2] = RandomUniform(%shape)
  %p = PrintV2(s)
  %q = PrintV2(s)
  return %a, %b, %r, %t, c, d ^%p ^%q
}
)";
  CHECK(after(kText, merge_common_subexpressions) == kText);
}

TEST_CASE("a size that only running finds has one name after merging") {
  CHECK(after(R"(graph f(x: float32[n], count: int32[]) {
  %u: float32[k], int32[k] = TopKV2(x, count)
  %v: float32[m], int32[m] = TopKV2(x, count)
  %a: float32[m] = Neg(%v)
  %s: int32[1](m) = Shape(%a)
  return %a, %v:1, %s
})",
              merge_common_subexpressions) == R"(graph f(x: float32[n], count: int32[]) {
  %u: float32[k], int32[k] = TopKV2(x, count)
  %a: float32[k] = Neg(%u)
  %s: int32[1](k) = Shape(%a)
  return %a, %u:1, %s
}
)");
}

}  // namespace
}  // namespace graven::engine
