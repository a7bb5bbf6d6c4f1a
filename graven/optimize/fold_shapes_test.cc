#include "graven/optimize/fold_shapes.h"

#include <doctest/doctest.h>

#include "graven/optimize/pass_test.h"

namespace graven::engine {
namespace {

TEST_CASE("sizes that are known become a constant; those with a symbol, or of an input, stay") {
  CHECK(after(R"(graph f(x: float32[2,3], y: float32[n], s: int32[2](4,5), t: int64[]) {
  %a: int32[2](2,3) = Shape(x)
  %b: int32[1](n) = Shape(y)
  %c: int64[](6) = Identity(t)
  %d: int32[2](2,3) = Shape(x) ^%b
  %e: int32[1](3000000000) = Identity(%b)
  return %a, %b, %c, %d, %e, s
})",
              fold_shapes) ==
        R"(graph f(x: float32[2,3], y: float32[n], s: int32[2](4,5), t: int64[]) {
  %a: int32[2] = [2, 3]
  %b: int32[1](n) = Shape(y)
  %c: int64[] = 6
  %d: int32[2](2,3) = Shape(x) ^%b
  %e: int32[1](3000000000) = Identity(%b)
  return %a, %b, %c, %d, %e, s
}
)");
}

TEST_CASE("one known output of a node with several becomes a constant, once") {
  auto fold_twice = [](Graph& graph) {
    CHECK(fold_shapes(graph));
    CHECK(!fold_shapes(graph));
  };
  CHECK(after(R"(graph f(axis: int32[], x: int32[2]) {
  %a: int32[1](7), int32[1] = Split(axis, x) {num_split=2}
  return %a, %a:1
})",
              fold_twice) == R"(graph f(axis: int32[], x: int32[2]) {
  %a: int32[1], int32[1] = Split(axis, x) {num_split=2}
  %a_1: int32[1] = [7]
  return %a_1, %a:1
}
)");
}

TEST_CASE("what was computed of unknown elements stays, as an op may refuse these") {
  constexpr std::string_view kStays = R"(graph f(x: int32[2], axis: int32[]) {
  %q: int32[2](?,3) = Square(x)
  %a: int32[1](?), int32[1](3) = Split(axis, %q) {num_split=2}
  %b: int32[1](3) = Identity(%a:1)
  %c: int32[0]() = Identity(%q)
  %d: int32[0]() = Neg(%c)
  return %b, %d
}
)";
  CHECK(after(kStays, fold_shapes) == kStays);
}

}  // namespace
}  // namespace graven::engine
