#include "graven/optimize/fuse.h"

#include <doctest/doctest.h>

#include "graven/base/strings.h"
#include "graven/optimize/fuse_test.h"

namespace graven::engine {
namespace {

TEST_CASE("a chain of one shape becomes one fusion, whose inner values are not seen") {
  CHECK(fused(R"(graph f(x: float32[n,3], bias: float32[3]) {
  %a: float32[n,3] = AddV2(x, bias)
  %b: float32[n,3] = Mul(%a, x)
  %c: float32[n,3] = Neg(%b)
  return %c
})") == R"(graph f(x: float32[n,3], bias: float32[3]) {
  %c_1: float32[n,3] = Fusion(x, bias) {Tin=[float32, float32], Tout=[float32], fusion=@fused0}
  return %c_1
}

fusion @fused0 = over [d0,3] {
  x0: float32[d0,3]
  x1: float32[3]
  %0: float32 = AddV2(x0, x1)
  %1: float32 = Mul(%0, x0)
  %2: float32 = Neg(%1)
  return %2
}
)");
}

TEST_CASE("sizes that might be 1 when it runs broadcast, and give the space its size") {
  CHECK(fused(R"(graph f(x: float32[n], y: float32[m]) {
  %a: float32[broadcast(m, n)] = AddV2(x, y)
  %b: float32[broadcast(m, n)] = Neg(%a)
  return %b
})") == R"(graph f(x: float32[n], y: float32[m]) {
  %b_1: float32[broadcast(m, n)] = Fusion(x, y) {Tin=[float32, float32], Tout=[float32], fusion=@fused0}
  return %b_1
}

fusion @fused0 = over [d0] {
  x0: float32[d1]
  x1: float32[d2]
  %0: float32 = AddV2(x0, x1)
  %1: float32 = Neg(%0)
  return %1
}
)");
}

TEST_CASE("reductions of rows, and what is made of them, are one fusion") {
  CHECK(fused(R"(graph f(x: float32[n,10]) {
  %axes: int32[1] = [1]
  %sum: float32[n,1] = Sum(x, %axes) {keep_dims=true}
  %minus: float32[n,1] = Neg(%sum)
  %y: float32[n,10] = AddV2(x, %minus)
  return %y, %sum
})") == R"(graph f(x: float32[n,10]) {
  %axes: int32[1] = [1]
  %y_1: float32[n,1], float32[n,10] = Fusion(x) {Tin=[float32], Tout=[float32, float32], fusion=@fused0}
  return %y_1:1, %y_1
}

fusion @fused0 = over [d0,10] reducing [1] {
  x0: float32[d0,10]
  %0: float32 = Sum(x0) {keep_dims=true}
  %1: float32 = Neg(%0)
  %2: float32 = AddV2(x0, %1)
  return %0, %2
}
)");
}

TEST_CASE("values of rows that join a reduction take part in what is made of its matrix") {
  CHECK(fused(R"(graph f(x: float32[n,10], z: float32[n,1]) {
  %axes: int32[1] = [1]
  %sum: float32[n,1] = Sum(x, %axes) {keep_dims=true}
  %root: float32[n,1] = Sqrt(z)
  %minus: float32[n,1] = Neg(%root)
  %product: float32[n,1] = Mul(%sum, %minus)
  %y: float32[n,10] = AddV2(x, %product)
  return %y
})") == R"(graph f(x: float32[n,10], z: float32[n,1]) {
  %axes: int32[1] = [1]
  %y_1: float32[n,10] = Fusion(x, z) {Tin=[float32, float32], Tout=[float32], fusion=@fused0}
  return %y_1
}

fusion @fused0 = over [d0,10] reducing [1] {
  x0: float32[d0,10]
  x1: float32[d0,1]
  %0: float32 = Sum(x0) {keep_dims=true}
  %1: float32 = Sqrt(x1)
  %2: float32 = Neg(%1)
  %3: float32 = Mul(%0, %2)
  %4: float32 = AddV2(x0, %3)
  return %4
}
)");
}

TEST_CASE("a value per row without its last axis is read by the leading indices") {
  CHECK(fused(R"(graph f(x: float32[6,10], y: float32[6]) {
  %axes: int32[1] = [1]
  %sum: float32[6] = Sum(x, %axes)
  %z: float32[6] = Mul(%sum, y)
  return %z
})") == R"(graph f(x: float32[6,10], y: float32[6]) {
  %axes: int32[1] = [1]
  %z_1: float32[6] = Fusion(x, y) {Tin=[float32, float32], Tout=[float32], fusion=@fused0}
  return %z_1
}

fusion @fused0 = over [6,10] reducing [1] {
  x0: float32[6,10]
  x1: float32[6] at [i0]
  %0: float32 = Sum(x0)
  %1: float32 = Mul(%0, x1)
  return %1
}
)");
}

TEST_CASE("a reduction of other axes takes in the chain that it alone needs") {
  CHECK(fused(R"(graph f(x: float32[6,10]) {
  %axes: int32[1] = [0]
  %a: float32[6,10] = Mul(x, x)
  %sum: float32[10] = Sum(%a, %axes)
  %b: float32[10] = Neg(%sum)
  return %b
})") == R"(graph f(x: float32[6,10]) {
  %axes: int32[1] = [0]
  %sum_1: float32[10] = Fusion(x) {Tin=[float32], Tout=[float32], fusion=@fused0}
  %b: float32[10] = Neg(%sum_1)
  return %b
}

fusion @fused0 = over [6,10] reducing [0] {
  x0: float32[6,10]
  %0: float32 = Mul(x0, x0)
  %1: float32 = Sum(%0)
  return %1
}
)");
}

TEST_CASE("reductions of one matrix over the same axes share a pass") {
  CHECK(fused(R"(graph f(x: float32[6,10], y: float32[6,10]) {
  %axes: int32[1] = [0]
  %a: float32[6,10] = Mul(x, y)
  %sum: float32[10] = Sum(x, %axes)
  %product: float32[10] = Sum(%a, %axes)
  return %sum, %product
})") == R"(graph f(x: float32[6,10], y: float32[6,10]) {
  %axes: int32[1] = [0]
  %product_1: float32[10], float32[10] = Fusion(x, y) {Tin=[float32, float32], Tout=[float32, float32], fusion=@fused0}
  return %product_1, %product_1:1
}

fusion @fused0 = over [6,10] reducing [0] {
  x0: float32[6,10]
  x1: float32[6,10]
  %0: float32 = Mul(x0, x1)
  %1: float32 = Sum(x0)
  %2: float32 = Sum(%0)
  return %1, %2
}
)");
}

TEST_CASE("no more reductions share a pass than a cache has room for") {
  std::string text = "graph f(x: float32[6,10]) {\n  %axes: int32[1] = [0]\n";
  for (int i = 0; i < 6; ++i) text += str_cat("  %s", i, ": float32[10] = Sum(x, %axes)\n");
  const std::string after = fused(text + "  return %s0, %s1, %s2, %s3, %s4, %s5\n}");
  CHECK(after.find("%s3_1: float32[10], float32[10], float32[10], float32[10] = Fusion(x)") !=
        std::string::npos);
  CHECK(after.find("%s5_1: float32[10], float32[10] = Fusion(x)") != std::string::npos);
}

TEST_CASE("a reduction that waits for another of the same matrix takes a pass of its own") {
  constexpr std::string_view kChained = R"(graph f(x: float32[6,10]) {
  %axes: int32[1] = [0]
  %sum: float32[10] = Sum(x, %axes)
  %a: float32[6,10] = Mul(x, %sum)
  %product: float32[10] = Sum(%a, %axes)
  return %sum, %product
})";
  const std::string text = fused(kChained);
  CHECK(text.find("%sum: float32[10] = Sum(x, %axes)") != std::string::npos);
  CHECK(text.find("Fusion(x, %sum)") != std::string::npos);
}

TEST_CASE(
    "a reduction waits for another one in a roundabout way, through a group with an early node") {
  const std::string text = fused(R"(graph f(m: float32[6,10], a: float32[10]) {
  %axes: int32[1] = [0]
  %first_axis: int32[] = 0
  %y: float32[10] = Neg(a)
  %early: float32[10] = Cumsum(%y, %first_axis)
  %first: float32[10] = Sum(m, %axes)
  %z: float32[10] = AddV2(%y, %first)
  %product: float32[6,10] = Mul(m, %early)
  %second: float32[10] = Sum(%product, %axes)
  return %z, %second
})");
  CHECK(text.find("%first: float32[10] = Sum(m, %axes)") != std::string::npos);
  CHECK(text.find("%second_1: float32[10] = Fusion(m, %early)") != std::string::npos);
}

TEST_CASE("a reduction over no axes stays a node of its own") {
  const std::string text = fused(R"(graph f(x: float32[6,10], s: float32[]) {
  %axes: int32[0] = []
  %a: float32[6,10] = Mul(x, x)
  %sum: float32[6,10] = Sum(%a, %axes)
  %b: float32[] = Mul(s, s)
  %all: float32[] = L2Loss(%b)
  return %sum, %all
})");
  CHECK(text.find("%sum: float32[6,10] = Sum(%a, %axes)") != std::string::npos);
  CHECK(text.find("%all: float32[] = L2Loss(%b)") != std::string::npos);
}

TEST_CASE("a reduction without axes, of all elements, takes in what it alone needs") {
  CHECK(fused(R"(graph f(x: float32[n,10]) {
  %a: float32[n,10] = Mul(x, x)
  %sum: float32[] = L2Loss(%a)
  return %sum
})") == R"(graph f(x: float32[n,10]) {
  %sum_1: float32[] = Fusion(x) {Tin=[float32], Tout=[float32], fusion=@fused0}
  return %sum_1
}

fusion @fused0 = over [d0,10] reducing [0,1] {
  x0: float32[d0,10]
  %0: float32 = Mul(x0, x0)
  %1: float32 = L2Loss(%0)
  return %1
}
)");
}

TEST_CASE("a lone node, a promised shape, an unknown one and an effect in between stay apart") {
  constexpr std::string_view kText = R"(graph f(x: float32[2], y: float32[?], s: string[]) {
  %a: float32[2] = Neg(x)
  %print = PrintV2(s) ^%a
  %promised: float32[2]! = Neg(y)
  %b: float32[2] = AddV2(%a, %promised) ^%print
  %c: float32[...] = Neg(y)
  %d: float32[...] = Neg(%c)
  return %b, %d
}
)";
  CHECK(fused(kText) == kText);
}

TEST_CASE("who waits for a member waits for the fusion, which waits for what its members do") {
  CHECK(fused(R"(graph f(x: float32[2], s: string[]) {
  %first = PrintV2(s)
  %a: float32[2] = Neg(x) ^%first
  %b: float32[2] = Neg(%a)
  %last = PrintV2(s) ^%a
  return %b ^%last
})") == R"(graph f(x: float32[2], s: string[]) {
  %first = PrintV2(s)
  %b_1: float32[2] = Fusion(x) {Tin=[float32], Tout=[float32], fusion=@fused0} ^%first
  %last = PrintV2(s) ^%b_1
  return %b_1 ^%last
}

fusion @fused0 = over [2] {
  x0: float32[2]
  %0: float32 = Neg(x0)
  %1: float32 = Neg(%0)
  return %1
}
)");
}

TEST_CASE("a text of a fusion that does not fit together says what is wrong") {
  auto error = [](std::string_view fusion) {
    std::string text = R"(graph f(x: float32[2]) {
  %a: float32[2] = Fusion(x) {Tin=[float32], Tout=[float32], fusion=@f}
  return %a
}
fusion @f = )" + std::string(fusion);
    auto graph = parse_graph(text);
    return graph.ok() ? std::string() : graph.status().message();
  };
  CHECK(error("over [2] {\n  x0: float32[2]\n  %0: float32 = Neg(x0)\n  return %0\n}\n") == "");
  CHECK(error("over [2] {\n  x0: float32[2]\n  return x0\n}\n") ==
        "line 7: a fusion returns members only");
  CHECK(error("over [2] {\n  %0: float32 = Neg(%0)\n  return %0\n}\n") ==
        "line 8: member 0 of a fusion reads what is not there");
  CHECK(error("over [2] {\n  x0: float32[2]\n  %0: float32 = PrintV2(x0)\n  return %0\n}\n")
            .find("PrintV2") != std::string::npos);
  CHECK(error("over [d1] {\n  x0: float32[d1]\n  %0: float32 = Neg(x0)\n  return %0\n}\n") ==
        "line 9: the symbols of a fusion are numbered as they appear first");
  CHECK(error("over [2] {\n  x0: float32[2]\n  %0: float32 = Sum(x0)\n  return %0\n}\n") ==
        "line 9: a fusion with a reduction has axes that are reduced");
  CHECK(error("over [2] {\n  x0: float32[3]\n  %0: float32 = Neg(x0)\n  return %0\n}\n") ==
        "line 6: the input does not broadcast: say how it is read");
}

}  // namespace
}  // namespace graven::engine
