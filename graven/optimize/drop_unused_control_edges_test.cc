#include "graven/optimize/drop_unused_control_edges.h"

#include <doctest/doctest.h>

#include "graven/optimize/pass_test.h"

namespace graven::engine {
namespace {

TEST_CASE("edges that say nothing go, edges that make something run stay") {
  CHECK(after(R"(graph f(x: int32[n], s: string[]) {
  %c: float32[] = 1
  %p = PrintV2(s) ^x ^%c
  %q = PrintV2(s) ^%p
  %r = PrintV2(s) ^%p ^%q
  %may_fail: int32[n] = InvertPermutation(x)
  %a: int32[n] = Neg(%may_fail) ^%may_fail ^%q
  %b: int32[n] = Neg(x) ^%may_fail
  return %a, %b ^%p ^%q ^%r ^x
})",
              drop_unused_control_edges) == R"(graph f(x: int32[n], s: string[]) {
  %c: float32[] = 1
  %p = PrintV2(s)
  %q = PrintV2(s) ^%p
  %r = PrintV2(s) ^%q
  %may_fail: int32[n] = InvertPermutation(x)
  %a: int32[n] = Neg(%may_fail) ^%q
  %b: int32[n] = Neg(x) ^%may_fail
  return %a, %b ^%r
}
)");
}

TEST_CASE("who waits for a NoOp or an Identity waits for what these wait for") {
  CHECK(after(R"(graph f(x: int32[n], s: string[]) {
  %p = PrintV2(s)
  %q = PrintV2(s)
  %group = NoOp() ^%p ^%q
  %fail: int32[n] = InvertPermutation(x)
  %same: int32[n] = Identity(%fail) ^%group
  %a: int32[n] = Neg(x) ^%same
  %empty = NoOp()
  %b: int32[n] = Neg(x) ^%empty
  return %a, %b ^%group
})",
              drop_unused_control_edges) == R"(graph f(x: int32[n], s: string[]) {
  %p = PrintV2(s)
  %q = PrintV2(s)
  %group = NoOp() ^%p ^%q
  %fail: int32[n] = InvertPermutation(x)
  %same: int32[n] = Identity(%fail) ^%p ^%q
  %a: int32[n] = Neg(x) ^%fail ^%p ^%q
  %empty = NoOp()
  %b: int32[n] = Neg(x)
  return %a, %b ^%p ^%q
}
)");
}

TEST_CASE("a NoOp that gathers many is kept") {
  constexpr std::string_view kText = R"(graph f(s: string[]) {
  %a = PrintV2(s)
  %b = PrintV2(s)
  %c = PrintV2(s)
  %d = PrintV2(s)
  %e = PrintV2(s)
  %group = NoOp() ^%a ^%b ^%c ^%d ^%e
  return ^%group
}
)";
  CHECK(after(kText, drop_unused_control_edges) == kText);
}

}  // namespace
}  // namespace graven::engine
