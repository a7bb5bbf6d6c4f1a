#include <doctest/doctest.h>

#include "graven/ir/fusion.h"
#include "graven/ir/structural_ops.h"
#include "graven/optimize/fuse.h"
#include "graven/optimize/fuse_test.h"
#include "graven/optimize/pass_test.h"

namespace graven::engine {
namespace {

TEST_CASE("what follows a product is one fusion with it") {
  CHECK(fused(R"(graph f(x: float32[n,4], w: float32[4,3], bias: float32[3]) {
  %y: float32[n,3] = MatMul(x, w)
  %a: float32[n,3] = AddV2(%y, bias)
  %b: float32[n,3] = Mul(%a, %y)
  return %b, %a
})") == R"(graph f(x: float32[n,4], w: float32[4,3], bias: float32[3]) {
  %b_1: float32[n,3], float32[n,3] = Fusion(x, w, bias) {Tin=[float32, float32, float32], Tout=[float32, float32], fusion=@fused0}
  return %b_1:1, %b_1
}

fusion @fused0 = over [d0,3] {
  x0: float32[d0,4] whole
  x1: float32[4,3] whole
  x2: float32[3]
  %0: float32 = MatMul(x0, x1)
  %1: float32 = AddV2(%0, x2)
  %2: float32 = Mul(%1, %0)
  return %1, %2
}
)");
}

TEST_CASE("one op behind a product is enough, and its attributes stay") {
  CHECK(fused(R"(graph f(x: half[2,4], w: half[3,4], s: string[]) {
  %first = PrintV2(s)
  %y: half[2,3] = MatMul(x, w) {transpose_b=true} ^%first
  %a: half[2,3] = Neg(%y)
  %last = PrintV2(s) ^%a
  return %a ^%last
})") == R"(graph f(x: float16[2,4], w: float16[3,4], s: string[]) {
  %first = PrintV2(s)
  %a_1: float16[2,3] = Fusion(x, w) {Tin=[float16, float16], Tout=[float16], fusion=@fused0} ^%first
  %last = PrintV2(s) ^%a_1
  return %a_1 ^%last
}

fusion @fused0 = over [2,3] {
  x0: float16[2,4] whole
  x1: float16[3,4] whole
  %0: float16 = MatMul(x0, x1) {transpose_b=true}
  %1: float16 = Neg(%0)
  return %1
}
)");
}

TEST_CASE("what a product reads whole may be read element by element too") {
  CHECK(fused(R"(graph f(x: float32[n,n]) {
  %y: float32[n,n] = MatMul(x, x)
  %a: float32[n,n] = AddV2(%y, x)
  return %a
})") == R"(graph f(x: float32[n,n]) {
  %a_1: float32[n,n] = Fusion(x, x) {Tin=[float32, float32], Tout=[float32], fusion=@fused0}
  return %a_1
}

fusion @fused0 = over [d0,d0] {
  x0: float32[d0,d0] whole
  x1: float32[d0,d0]
  %0: float32 = MatMul(x0, x0)
  %1: float32 = AddV2(%0, x1)
  return %1
}
)");
}

TEST_CASE("products that are added up one by one each add themselves") {
  CHECK(fused(R"(graph f(x: float32[n,4], y: float32[n,4], z: float32[n,4], w: float32[4,3]) {
  %a: float32[n,3] = MatMul(x, w)
  %b: float32[n,3] = MatMul(y, w)
  %ab: float32[n,3] = AddV2(%a, %b)
  %c: float32[n,3] = MatMul(z, w)
  %abc: float32[n,3] = AddV2(%c, %ab)
  %next: float32[n,3] = Neg(%abc)
  return %next
})") == R"(graph f(x: float32[n,4], y: float32[n,4], z: float32[n,4], w: float32[4,3]) {
  %a: float32[n,3] = MatMul(x, w)
  %ab_1: float32[n,3] = Fusion(y, w, %a) {Tin=[float32, float32, float32], Tout=[float32], fusion=@fused0}
  %next_1: float32[n,3] = Fusion(z, w, %ab_1) {Tin=[float32, float32, float32], Tout=[float32], fusion=@fused1}
  return %next_1
}

fusion @fused0 = over [d0,3] {
  x0: float32[d0,4] whole
  x1: float32[4,3] whole
  x2: float32[d0,3]
  %0: float32 = MatMul(x0, x1)
  %1: float32 = AddV2(x2, %0)
  return %1
}

fusion @fused1 = over [d0,3] {
  x0: float32[d0,4] whole
  x1: float32[4,3] whole
  x2: float32[d0,3]
  %0: float32 = MatMul(x0, x1)
  %1: float32 = AddV2(%0, x2)
  %2: float32 = Neg(%1)
  return %2
}
)");
}

TEST_CASE("of two products that meet, the last one takes along what follows") {
  CHECK(fused(R"(graph f(x: float32[n,4], h: float32[n,5], w: float32[4,3], u: float32[5,3]) {
  %xw: float32[n,3] = MatMul(x, w)
  %hu: float32[n,3] = MatMul(h, u)
  %sum: float32[n,3] = AddV2(%xw, %hu)
  %next: float32[n,3] = Neg(%sum)
  return %next
})") == R"(graph f(x: float32[n,4], h: float32[n,5], w: float32[4,3], u: float32[5,3]) {
  %xw: float32[n,3] = MatMul(x, w)
  %next_1: float32[n,3] = Fusion(h, u, %xw) {Tin=[float32, float32, float32], Tout=[float32], fusion=@fused0}
  return %next_1
}

fusion @fused0 = over [d0,3] {
  x0: float32[d0,5] whole
  x1: float32[5,3] whole
  x2: float32[d0,3]
  %0: float32 = MatMul(x0, x1)
  %1: float32 = AddV2(x2, %0)
  %2: float32 = Neg(%1)
  return %2
}
)");
}

TEST_CASE("products follow each other, each with what is between them") {
  CHECK(fused(R"(graph f(x: int32[2,4], w: int32[4,4]) {
  %y: int32[2,4] = MatMul(x, w)
  %a: int32[2,4] = Neg(%y)
  %z: int32[2,4] = MatMul(%a, w)
  %b: int32[2,4] = Neg(%z)
  return %b
})") == R"(graph f(x: int32[2,4], w: int32[4,4]) {
  %a_1: int32[2,4] = Fusion(x, w) {Tin=[int32, int32], Tout=[int32], fusion=@fused0}
  %b_1: int32[2,4] = Fusion(%a_1, w) {Tin=[int32, int32], Tout=[int32], fusion=@fused1}
  return %b_1
}

fusion @fused0 = over [2,4] {
  x0: int32[2,4] whole
  x1: int32[4,4] whole
  %0: int32 = MatMul(x0, x1)
  %1: int32 = Neg(%0)
  return %1
}

fusion @fused1 = over [2,4] {
  x0: int32[2,4] whole
  x1: int32[4,4] whole
  %0: int32 = MatMul(x0, x1)
  %1: int32 = Neg(%0)
  return %1
}
)");
}

TEST_CASE("a size of the result that no input tells is known from the product") {
  CHECK(fused(R"(graph f(x: float32[n,3], w: float32[3,3]) {
  %y: float32[floordiv(n, 2),3] = MatMul(x, w)
  %a: float32[floordiv(n, 2),3] = Neg(%y)
  return %a
})") == R"(graph f(x: float32[n,3], w: float32[3,3]) {
  %a_1: float32[floordiv(n, 2),3] = Fusion(x, w) {Tin=[float32, float32], Tout=[float32], fusion=@fused0}
  return %a_1
}

fusion @fused0 = over [d0,3] {
  x0: float32[d1,3] whole
  x1: float32[3,3] whole
  %0: float32 = MatMul(x0, x1)
  %1: float32 = Neg(%0)
  return %1
}
)");
}

TEST_CASE("a product that others read, wait for or get, or that broadcasts, stays apart") {
  for (std::string_view text : {
           R"(graph f(x: float32[2,2]) {
  %y: float32[2,2] = MatMul(x, x)
  %a: float32[2,2] = Neg(%y)
  return %a, %y
}
)",
           R"(graph f(x: float32[2,2]) {
  %y: float32[2,2] = MatMul(x, x)
  %a: float32[2,2] = Neg(%y)
  %z: float32[2,2] = MatMul(%y, x)
  return %a, %z
}
)",
           R"(graph f(x: float32[2,2], s: string[]) {
  %y: float32[2,2] = MatMul(x, x)
  %print = PrintV2(s) ^%y
  %a: float32[2,2] = Neg(%y)
  return %a ^%print
}
)",
           R"(graph f(x: float32[2,2]) {
  %y: float32[2,2] = MatMul(x, x)
  %a: float32[2,2] = Neg(%y)
  return %a ^%y
}
)",
           R"(graph f(x: float32[1,2], w: float32[2,2], y: float32[5,2]) {
  %z: float32[1,2] = MatMul(x, w)
  %a: float32[5,2] = AddV2(%z, y)
  return %a
}
)",
           R"(graph f(x: float32[n,2], w: float32[2,2], y: float32[m,2]) {
  %z: float32[n,2] = MatMul(x, w)
  %a: float32[broadcast(m, n),2] = AddV2(%z, y)
  return %a
}
)",
           R"(graph f(x: float32[2,2]) {
  %y: float32[2,2]! = MatMul(x, x)
  %a: float32[2,2] = Neg(%y)
  return %a
}
)",
           R"(graph f(x: float32[?,2], w: float32[2,?]) {
  %y: float32[?,2] = MatMul(x, w)
  %a: float32[?,2] = Neg(%y)
  return %a
}
)"}) {
    CHECK(fused(text) == text);
  }
}

TEST_CASE("a reduction that takes in what follows a product leaves the product apart") {
  const std::string text = fused(R"(graph f(x: float32[2,2]) {
  %axes: int32[1] = [1]
  %y: float32[2,2] = MatMul(x, x)
  %a: float32[2,2] = Mul(%y, %y)
  %sum: float32[2] = Sum(%a, %axes)
  return %sum
})");
  CHECK(text.find("%y: float32[2,2] = MatMul(x, x)") != std::string::npos);
  CHECK(text.find("whole") == std::string::npos);
}

TEST_CASE("a text of a fusion with a library member that is wrong says why") {
  auto error = [](std::string_view fusion) {
    std::string text = R"(graph f(x: float32[2,2], y: float32[2,2]) {
  %a: float32[2,2] = Fusion(x, y) {Tin=[float32, float32], Tout=[float32], fusion=@f}
  return %a
}
fusion @f = )" + std::string(fusion);
    auto graph = parse_graph(text);
    return graph.ok() ? std::string() : graph.status().message();
  };
  const std::string whole = "  x0: float32[2,2] whole\n  x1: float32[2,2] whole\n";
  CHECK(error("over [2,2] {\n" + whole +
              "  %0: float32 = MatMul(x0, x1)\n  %1: float32 = Neg(%0)\n  return %1\n}\n") == "");
  CHECK(error("over [2,2] {\n" + whole + "  %0: float32 = MatMul(x0, x1)\n  return %0\n}\n") ==
        "line 10: a fusion does not return its library member");
  CHECK(error("over [2,2] {\n" + whole + "  %0: float32 = AddV2(x0, x1)\n  return %0\n}\n") ==
        "line 10: [AddV2] does not tell of panels, so no fusion has it as its library member");
  CHECK(error("over [2,2] {\n  x0: float32[2,2] whole\n  x1: float32[2,2]\n"
              "  %0: float32 = MatMul(x0, x1)\n  %1: float32 = Neg(%0)\n  return %1\n}\n") ==
        "line 11: [MatMul] in a fusion reads an input whole, which only member 0 may do, of all "
        "its inputs");
  CHECK(error("over [2,2] {\n" + whole +
              "  %0: float32 = MatMul(x0, x1)\n  %1: float32 = AddV2(%0, x1)\n  return %1\n}\n") ==
        "line 11: [AddV2] in a fusion reads an input whole, which only member 0 may do, of all its "
        "inputs");
  CHECK(error("over [2,2] {\n  x0: float32[2,2]\n  x1: float32[2,2]\n"
              "  %0: float32 = MatMul(x0, x1)\n  %1: float32 = Neg(%0)\n  return %1\n}\n") ==
        "line 11: [MatMul] is not computed element by element");
  CHECK(error("over [2,2] {\n" + whole + "  %0: float64 = MatMul(x0, x1)\n" +
              "  %1: float64 = Neg(%0)\n  return %1\n}\n") ==
        "line 11: [MatMul] in a fusion does not give one float64");
  CHECK(error("over [2,2] reducing [1] {\n" + whole + "  %0: float32 = MatMul(x0, x1)\n" +
              "  %1: float32 = Sum(%0)\n  return %1\n}\n") ==
        "line 11: a fusion with a library member is over at least one axis and reduces none");
  CHECK(error("over [2,2] {\n  x0: float32[2,2]\n  x1: float32[2,2] whole\n"
              "  %0: float32 = Neg(x0)\n  return %0\n}\n") ==
        "line 10: an input of a fusion that nobody reads is not read whole");
}

TEST_CASE("fusions differ if an input is read whole, or the library member has other attributes") {
  auto fusion_of = [](std::string_view member) {
    const std::string text = str_cat(R"(graph f(x: float32[2,2]) {
  %a: float32[2,2] = Fusion(x) {Tin=[float32], Tout=[float32], fusion=@f}
  return %a
}
fusion @f = over [2,2] {
  x0: float32[2,2] whole
  %0: float32 = )",
                                     member, "\n  %1: float32 = Neg(%0)\n  return %1\n}\n");
    Ref<Graph> graph = graph_of(text);
    return graph->outputs()[0].node->attrs().as<FusionAttrs>().fusion;
  };
  const auto one = fusion_of("MatMul(x0, x0)"), same = fusion_of("MatMul(x0, x0)");
  const auto other = fusion_of("MatMul(x0, x0) {transpose_b=true}");
  CHECK((*one == *same));
  CHECK(one->hash() == same->hash());
  CHECK_FALSE((*one == *other));
  CHECK(one->hash() != other->hash());
  CHECK(one->has_library());
}

}  // namespace
}  // namespace graven::engine
