#include "graven/optimize/accumulate_products.h"

#include <doctest/doctest.h>

#include "graven/optimize/pass_test.h"

namespace graven::engine {
namespace {

std::string accumulated(std::string_view before) {
  return after(before, [](Graph& graph) {
    Status status = accumulate_products(graph).status();
    REQUIRE_MESSAGE(status.ok(), status.message());
  });
}

TEST_CASE("each product that a sum alone reads is added as soon as it is there") {
  CHECK(accumulated(R"(graph f(a: float32[n,8], b: float32[n,1024]) {
  %first: float32[8,1024] = MatMul(a, b) {transpose_a=true}
  %b2: float32[n,1024] = Exp(b)
  %second: float32[8,1024] = MatMul(a, %b2) {transpose_a=true}
  %b3: float32[n,1024] = Exp(%b2)
  %third: float32[8,1024] = MatMul(a, %b3) {transpose_a=true}
  %b4: float32[n,1024] = Exp(%b3)
  %fourth: float32[8,1024] = MatMul(a, %b4) {transpose_a=true}
  %sum: float32[8,1024] = AddN(%first, %second, %third, %fourth)
  return %sum
})") == R"(graph f(a: float32[n,8], b: float32[n,1024]) {
  %first: float32[8,1024] = MatMul(a, b) {transpose_a=true}
  %b2: float32[n,1024] = Exp(b)
  %second: float32[8,1024] = MatMul(a, %b2) {transpose_a=true}
  %sum_1: float32[8,1024] = AddN(%first, %second)
  %b3: float32[n,1024] = Exp(%b2)
  %third: float32[8,1024] = MatMul(a, %b3) {transpose_a=true}
  %sum_2: float32[8,1024] = AddN(%sum_1, %third)
  %b4: float32[n,1024] = Exp(%b3)
  %fourth: float32[8,1024] = MatMul(a, %b4) {transpose_a=true}
  %sum: float32[8,1024] = AddN(%sum_2, %fourth)
  return %sum
}
)");
}

TEST_CASE("what stands between products keeps its place in the sum") {
  CHECK(accumulated(R"(graph f(a: float32[n,8], b: float32[n,1024], c: float32[8,1024]) {
  %first: float32[8,1024] = MatMul(a, b) {transpose_a=true}
  %b2: float32[n,1024] = Exp(b)
  %second: float32[8,1024] = MatMul(a, %b2) {transpose_a=true}
  %d: float32[8,1024] = Exp(c)
  %third: float32[8,1024] = MatMul(a, %b2) {transpose_a=true}
  %sum: float32[8,1024] = AddN(c, %first, c, %second, %third, %d)
  return %sum
})") == R"(graph f(a: float32[n,8], b: float32[n,1024], c: float32[8,1024]) {
  %first: float32[8,1024] = MatMul(a, b) {transpose_a=true}
  %sum_1: float32[8,1024] = AddN(c, %first)
  %b2: float32[n,1024] = Exp(b)
  %second: float32[8,1024] = MatMul(a, %b2) {transpose_a=true}
  %sum_2: float32[8,1024] = AddN(%sum_1, c, %second)
  %d: float32[8,1024] = Exp(c)
  %third: float32[8,1024] = MatMul(a, %b2) {transpose_a=true}
  %sum_3: float32[8,1024] = AddN(%sum_2, %third)
  %sum: float32[8,1024] = AddN(%sum_3, %d)
  return %sum
}
)");
}

TEST_CASE("a sum stays as it is where a chain would save nothing, or change bits") {
  // A product that is read elsewhere, returned or waited for is stored in any case.
  constexpr std::string_view kRead = R"(graph f(a: float32[n,8], b: float32[n,1024], s: string[]) {
  %first: float32[8,1024] = MatMul(a, b) {transpose_a=true}
  %read: float32[8,1024] = MatMul(a, b) {transpose_a=true}
  %elsewhere: float32[8,1024] = Exp(%read)
  %returned: float32[8,1024] = MatMul(a, b) {transpose_a=true}
  %waited: float32[8,1024] = MatMul(a, b) {transpose_a=true}
  %print = PrintV2(s) ^%waited
  %last: float32[8,1024] = MatMul(a, b) {transpose_a=true}
  %sum: float32[8,1024] = AddN(%first, %read, %returned, %waited, %last)
  return %sum, %elsewhere, %returned ^%print
}
)";
  CHECK(accumulated(kRead) == kRead);
  // The parts would wait for the first one all the same.
  constexpr std::string_view kReversed = R"(graph f(a: float32[n,8], b: float32[n,1024]) {
  %third: float32[8,1024] = MatMul(a, b) {transpose_a=true}
  %second: float32[8,1024] = MatMul(a, b) {transpose_a=true}
  %first: float32[8,1024] = MatMul(a, b) {transpose_a=true}
  %sum: float32[8,1024] = AddN(%first, %second, %third)
  return %sum
}
)";
  CHECK(accumulated(kReversed) == kReversed);
  // Small.
  constexpr std::string_view kSmall = R"(graph f(a: float32[n,8], b: float32[n,511]) {
  %first: float32[8,511] = MatMul(a, b) {transpose_a=true}
  %second: float32[8,511] = MatMul(a, b) {transpose_a=true}
  %third: float32[8,511] = MatMul(a, b) {transpose_a=true}
  %sum: float32[8,511] = AddN(%first, %second, %third)
  return %sum
}
)";
  CHECK(accumulated(kSmall) == kSmall);
  // The sum is computed in float32 and rounded once.
  constexpr std::string_view kShort = R"(graph f(a: float16[n,8], b: float16[n,1024]) {
  %first: float16[8,1024] = MatMul(a, b) {transpose_a=true}
  %second: float16[8,1024] = MatMul(a, b) {transpose_a=true}
  %third: float16[8,1024] = MatMul(a, b) {transpose_a=true}
  %sum: float16[8,1024] = AddN(%first, %second, %third)
  return %sum
}
)";
  CHECK(accumulated(kShort) == kShort);
  // Only running shows whether the shapes agree.
  constexpr std::string_view kUnsure =
      R"(graph f(a: float32[n,8], b: float32[n,1024], c: float32[m,1024]) {
  %first: float32[8,1024] = MatMul(a, b) {transpose_a=true}
  %second: float32[8,1024] = MatMul(a, b) {transpose_a=true}
  %third: float32[8,1024] = MatMul(a, b) {transpose_a=true}
  %sum: float32[8,1024] = AddN(%first, %second, %third, c)
  return %sum
}
)";
  CHECK(accumulated(kUnsure) == kUnsure);
}

}  // namespace
}  // namespace graven::engine
