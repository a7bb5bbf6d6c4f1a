#include "graven/optimize/choose_branches.h"

#include <doctest/doctest.h>

#include "graven/optimize/pass_test.h"

namespace graven::engine {
namespace {

std::string chosen(std::string_view before) {
  return after(before, [](Graph& graph) {
    auto changed = choose_branches(graph);
    REQUIRE(changed.ok());
  });
}

constexpr char kBranches[] = R"(
body @t = graph t(x: float32[2], y: float32[2]) {
  %r: float32[2] = Neg(x)
  return %r
}
body @e = graph e(x: float32[2], y: float32[2]) {
  %r: float32[2] = Exp(y)
  return %r
})";

TEST_CASE("a branch with a constant predicate takes the place of its If") {
  CHECK(chosen(std::string(R"(graph f(x: float32[2], y: float32[2]) {
  %p: bool[] = true
  %y_1: float32[2] = If(%p, x, y) {Tin=[float32, float32], Tout=[float32], then_branch=@t, else_branch=@e}
  return %y_1
}
)") + kBranches) == R"(graph f(x: float32[2], y: float32[2]) {
  %p: bool[] = true
  %y_1/r: float32[2] = Neg(x)
  return %y_1/r
}
)");
}

TEST_CASE("a number out of range chooses the last branch") {
  CHECK(chosen(std::string(R"(graph f(x: float32[2], y: float32[2]) {
  %p: int32[] = -1
  %c: float32[2] = Case(%p, x, y) {Tin=[float32, float32], Tout=[float32], branches=[@e, @e, @t]}
  return %c
}
)") + kBranches) == R"(graph f(x: float32[2], y: float32[2]) {
  %p: int32[] = -1
  %c/r: float32[2] = Neg(x)
  return %c/r
}
)");
}

TEST_CASE("a choice that only running finds, and one of a wrong shape, stay") {
  for (std::string_view predicate : {"%q: bool[] = Identity(p)", "%q: bool[1] = [true]"}) {
    const std::string before = str_cat(R"(graph f(p: bool[], x: float32[2], y: float32[2]) {
  )",
                                       predicate, R"(
  %r: float32[2] = If(%q, x, y) {Tin=[float32, float32], Tout=[float32], else_branch=@e, then_branch=@t}
  return %r
}
)",
                                       kBranches);
    CHECK(chosen(before).find("If(%q, x, y)") != std::string::npos);
  }
}

}  // namespace
}  // namespace graven::engine
