#include "graven/optimize/copy_operands.h"

#include <doctest/doctest.h>

#include "graven/optimize/pass_test.h"

namespace graven::engine {
namespace {

std::string copied(std::string_view before) {
  return after(before, [](Graph& graph) {
    Status status = copy_operands(graph).status();
    REQUIRE_MESSAGE(status.ok(), status.message());
  });
}

TEST_CASE("a reduction of columns gets a copy of what is read again behind it") {
  CHECK(copied(R"(graph f(x: float32[n,10], mean: float32[10]) {
  %axes: int32[1] = [0]
  %from_mean: float32[n,10] = AddV2(x, mean)
  %square: float32[n,10] = Mul(%from_mean, %from_mean)
  %sum: float32[10] = Sum(%square, %axes)
  %y: float32[n,10] = Mul(%from_mean, %sum)
  return %y
})") == R"(graph f(x: float32[n,10], mean: float32[10]) {
  %axes: int32[1] = [0]
  %from_mean: float32[n,10] = AddV2(x, mean)
  %from_mean_1: float32[n,10] = AddV2(x, mean)
  %square_1: float32[n,10] = Mul(%from_mean_1, %from_mean_1)
  %sum: float32[10] = Sum(%square_1, %axes)
  %y: float32[n,10] = Mul(%from_mean, %sum)
  return %y
}
)");
}

TEST_CASE("no copy is made where it would save nothing") {
  // Nobody who reads it waits for the sum.
  constexpr std::string_view kBeside = R"(graph f(x: float32[n,10], y: float32[10]) {
  %axes: int32[1] = [0]
  %a: float32[n,10] = AddV2(x, y)
  %sum: float32[10] = Sum(%a, %axes)
  %b: float32[n,10] = Mul(%a, x)
  return %b, %sum
}
)";
  CHECK(copied(kBeside) == kBeside);
  // It is stored anyway.
  constexpr std::string_view kReturned = R"(graph f(x: float32[n,10], y: float32[10]) {
  %axes: int32[1] = [0]
  %a: float32[n,10] = AddV2(x, y)
  %sum: float32[10] = Sum(%a, %axes)
  %b: float32[n,10] = Mul(%a, %sum)
  return %b, %a
}
)";
  CHECK(copied(kReturned) == kReturned);
  // Rows share a kernel with what reads them again.
  constexpr std::string_view kRows = R"(graph f(x: float32[n,10], y: float32[10]) {
  %axes: int32[1] = [1]
  %a: float32[n,10] = AddV2(x, y)
  %sum: float32[n,1] = Sum(%a, %axes) {keep_dims=true}
  %b: float32[n,10] = Mul(%a, %sum)
  return %b
}
)";
  CHECK(copied(kRows) == kRows);
  // More would be read again than is saved.
  constexpr std::string_view kWide =
      R"(graph f(x: float32[n,10], y: float32[n,10], z: float32[n,10], w: float32[n,10]) {
  %axes: int32[1] = [0]
  %a: float32[n,10] = AddV2(x, y)
  %plus: float32[n,10] = AddV2(z, w)
  %b: float32[n,10] = AddV2(%a, %plus)
  %sum: float32[10] = Sum(%b, %axes)
  %c: float32[n,10] = Mul(%b, %sum)
  return %c
}
)";
  CHECK(copied(kWide) == kWide);
}

TEST_CASE("an operand that only the reduction needs is computed once") {
  constexpr std::string_view kAlone = R"(graph f(x: float32[n,10], y: float32[10]) {
  %axes: int32[1] = [0]
  %a: float32[n,10] = AddV2(x, y)
  %sum: float32[10] = Sum(%a, %axes)
  return %sum
}
)";
  CHECK(copied(kAlone) == kAlone);
}

}  // namespace
}  // namespace graven::engine
