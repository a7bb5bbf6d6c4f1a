#include "graven/optimize/unify_sizes.h"

#include <doctest/doctest.h>

#include "graven/optimize/pass_test.h"

namespace graven::engine {
namespace {

std::string unified(std::string_view before) {
  return after(before, [](Graph& graph) { unify_sizes(graph); });
}

// A loop over h, of the size that x has, whose body has this line; it gives %y.
std::string loop_with(std::string_view line) {
  return str_cat(R"(graph f(go: bool[], x: float32[b,3], h: float32[b,3]) {
  %w: bool[], float32[b,3], float32[w.0,3] = While(go, x, h) {T=[bool, float32, float32], cond=@c, body=@b}
  return %w:2
}

body @c = graph c(go: bool[], x: float32[b,3], h: float32[h.0,3]) {
  return go
}

body @b = graph b(go: bool[], x: float32[b,3], h: float32[h.0,3]) {
  )",
                 line, R"(
  return go, x, %y
}
)");
}

TEST_CASE("variables that enter with one size, and keep it, have one size in the body") {
  CHECK(unified(loop_with("%y: float32[broadcast(b, h.0),3] = AddV2(h, x)")) ==
        R"(graph f(go: bool[], x: float32[b,3], h: float32[b,3]) {
  %w_1: bool[], float32[b,3], float32[w.0,3] = StatelessWhile(go, x, h) {T=[bool, float32, float32], cond=@c, body=@b}
  return %w_1:2
}

body @c = graph c(go: bool[], x: float32[b,3], h: float32[b,3]) {
  return go
}

body @b = graph b(go: bool[], x: float32[b,3], h: float32[b,3]) {
  %y: float32[b,3] = AddV2(h, x)
  return go, x, %y
}
)");
}

TEST_CASE("a size that an iteration changes stays a size of its own") {
  for (std::string_view line : {"%axis: int32[] = 0\n"
                                "  %y: float32[b + h.0,3] = ConcatV2(h, x, %axis)",
                                "%y: float32[...] = Neg(h)"}) {
    CHECK(unified(loop_with(line)) == after(loop_with(line), [](Graph&) {}));
  }
}

TEST_CASE("a size that is a number on entry is one in the body") {
  CHECK(unified(R"(graph f(go: bool[], h: float32[4,3]) {
  %w: bool[], float32[w.0,3] = While(go, h) {T=[bool, float32], cond=@c, body=@b}
  return %w:1
}
body @c = graph c(go: bool[], h: float32[n,3]) {
  return go
}
body @b = graph b(go: bool[], h: float32[n,3]) {
  %y: float32[n,3] = Neg(h)
  return go, %y
})") == R"(graph f(go: bool[], h: float32[4,3]) {
  %w_1: bool[], float32[w.0,3] = StatelessWhile(go, h) {T=[bool, float32], cond=@c, body=@b}
  return %w_1:1
}

body @c = graph c(go: bool[], h: float32[4,3] {shape=[?,3]}) {
  return go
}

body @b = graph b(go: bool[], h: float32[4,3] {shape=[?,3]}) {
  %y: float32[4,3] = Neg(h)
  return go, %y
}
)");
}

}  // namespace
}  // namespace graven::engine
