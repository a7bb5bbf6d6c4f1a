#include "graven/optimize/simplify.h"

#include <doctest/doctest.h>

#include "graven/optimize/pass_test.h"

namespace graven::engine {
namespace {

TEST_CASE("x * 1, 1 * x, x - 0 and x + -0.0 are x") {
  CHECK(after(R"(graph f(x: float32[n], y: float32[...]) {
  %one: float32[] = 1
  %ones: float32[1] = [1]
  %zero: float32[] = 0
  %minus_zero: float32[] = -0
  %a: float32[n] = Mul(x, %one)
  %b: float32[n] = Mul(%ones, %a)
  %c: float32[n] = Sub(%b, %zero)
  %d: float32[n] = AddV2(%c, %minus_zero)
  %e: float32[n] = Neg(%d)
  %f: float32[...] = Mul(y, %one)
  return %e, %f
})",
              simplify) == R"(graph f(x: float32[n], y: float32[...]) {
  %one: float32[] = 1
  %ones: float32[1] = [1]
  %zero: float32[] = 0
  %minus_zero: float32[] = -0
  %e: float32[n] = Neg(x)
  return %e, y
}
)");
}

TEST_CASE("x + 0 is x for integers, of each width") {
  CHECK(after(R"(graph f(x: int32[n], y: uint8[2]) {
  %zero: int32[] = 0
  %zeros: uint8[2] = [0, 0]
  %a: int32[n] = AddV2(x, %zero)
  %b: uint8[2] = AddV2(%zeros, y)
  return %a, %b
})",
              simplify) == R"(graph f(x: int32[n], y: uint8[2]) {
  %zero: int32[] = 0
  %zeros: uint8[2] = [0, 0]
  return x, y
}
)");
}

TEST_CASE("what could change a bit or a shape stays") {
  constexpr std::string_view kText =
      R"(graph f(x: float32[n], y: float32[...], c: complex64[], one_more: float32[] = 1) {
  %one: float32[] = 1
  %ones: float32[2] = [1, 1]
  %mixed: float32[2] = [1, 2]
  %zero: float32[] = 0
  %minus_zero: float32[] = -0
  %complex_one: complex64[] = 1+0i
  %x_plus_zero: float32[n] = AddV2(x, %zero)
  %x_minus_minus_zero: float32[n] = Sub(x, %minus_zero)
  %zero_minus_x: float32[n] = Sub(%zero, x)
  %scalar: float32[2] = Mul(%ones, %one_scalar)
  %broadcast: float32[2] = Mul(x, %ones)
  %other: float32[2] = Mul(x, %mixed)
  %unknown: float32[...] = Mul(y, %ones)
  %complex: complex64[] = Mul(c, %complex_one)
  %captured: float32[n] = Mul(x, one_more)
}
)";
  std::string text(kText);
  text.replace(text.find("  %scalar: float32[2] = Mul(%ones, %one_scalar)\n"), 48, "");
  CHECK(after(text, simplify) == text);
}

TEST_CASE("Identity, StopGradient, AddN of one and Cast to the same dtype go") {
  CHECK(after(R"(graph f(x: float32[...], s: string[]) {
  %a: float32[...] = Identity(x)
  %b: float32[...] = StopGradient(%a)
  %c: float32[...] = AddN(%b)
  %d: float32[...] = Cast(%c) {DstT=float32}
  %e: float64[...] = Cast(%d) {DstT=float64}
  %f: float32[...] = AddN(%d, x)
  %print = PrintV2(s) ^%d
  %g: float32[...] = Identity(x) ^%print
  return %e, %f, %g, %d ^%print
})",
              simplify) == R"(graph f(x: float32[...], s: string[]) {
  %e: float64[...] = Cast(x) {DstT=float64}
  %f: float32[...] = AddN(x, x)
  %print = PrintV2(s) ^x
  %g: float32[...] = Identity(x) ^%print
  return %e, %f, %g, x ^%print
}
)");
}

TEST_CASE("a Reshape of views is one of the whole, and none if the shape is the same") {
  CHECK(after(
            R"(graph f(x: float32[n,6], u: float32[?,2], shape: int32[2], flat: int32[1]) {
  %a: float32[6*n] = Reshape(x, flat)
  %b: float32[2*n,3] = Reshape(%a, shape)
  %c: float32[n,6] = Reshape(%b, shape)
  %d: float32[?,2] = Reshape(u, shape)
  return %b, %c, %d
})",
            simplify) ==
        R"(graph f(x: float32[n,6], u: float32[?,2], shape: int32[2], flat: int32[1]) {
  %a: float32[6*n] = Reshape(x, flat)
  %b: float32[2*n,3] = Reshape(x, shape)
  %d: float32[?,2] = Reshape(u, shape)
  return %b, x, %d
}
)");
}

}  // namespace
}  // namespace graven::engine
