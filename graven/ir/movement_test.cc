#include "graven/ir/movement.h"

#include <doctest/doctest.h>

#include "graven/ir/testing.h"
#include "graven/ir/verify.h"

namespace graven::engine {
namespace {

// A tensor [6,10], and reads of it and of what is made of it.
const Shape kFrom = {6, 10};
const Read kTransposed{{{0, {{1, 1}}}, {0, {{0, 1}}}}};  // over [10,6]

std::string composed(const Read& outer, const Shape& middle, const Read& inner) {
  auto read = compose(outer, middle, inner, kFrom, DimArithmetic(nullptr));
  return read ? read->to_text() : "none";
}

TEST_CASE("reads follow each other: steps multiply, offsets add up") {
  const Read cut{{{2, {{0, 3}}}, {1, {{1, 2}}}}};
  CHECK(cut.to_text() == "[3*i0 + 2,2*i1 + 1]");
  CHECK(composed(cut, {10, 6}, kTransposed) == "[2*i1 + 1,3*i0 + 2]");
  CHECK(composed(kTransposed, {6, 10}, Read::of_leading_axes(2)) == "[i1,i0]");
}

TEST_CASE("backwards twice is forwards, and an offset counts from the other end then") {
  const Read back{{{0, {{0, 1}}, false, true}, {3, {{1, 2}}, false, true}}};
  CHECK(back.to_text() == "[-1 - i0,-4 - 2*i1]");
  CHECK(composed(back, {6, 10}, Read::of_leading_axes(2)) == "[-1 - i0,-4 - 2*i1]");
  // Of ten elements the fourth last, and every other before it: four.
  const Read turned{{{0, {{0, 1}}, false, true}, {0, {{1, 1}}, false, true}}};
  CHECK(composed(turned, {6, 4}, back) == "[i0,2*i1]");
  // Elements 2, 3, 4 of 6 backwards.
  const Read middle{{{2, {{0, 1}}}, {0, {{1, 1}}}}};
  const Read first_back{{{0, {{0, 1}}, false, true}, {0, {{1, 1}}}}};
  CHECK(composed(first_back, {3, 10}, middle) == "[-2 - i0,i1]");
}

TEST_CASE("an axis that broadcasts is composed with a whole axis only") {
  const Read outer{{{0, {{0, 1}}, true}, {0, {{1, 1}}}}};
  CHECK(composed(outer, {10, 6}, kTransposed) == "[i1,i0?]");
  const Read cut{{{1, {{0, 1}}}, {0, {{1, 1}}}}};
  CHECK(composed(outer, {5, 10}, cut) == "none");
}

TEST_CASE("the last index that is read is told by sizes, and is none where nothing is read") {
  auto last = [](const Read::Axis& axis, const Shape& space) {
    return last_index(axis, space, [](Dim dim) { return dim.number_or_minus_one(); });
  };
  CHECK(last({2, {{0, 3}}}, {4}) == 11);
  CHECK(last({2, {{0, 3}}}, {0}) == std::nullopt);
  CHECK(last({2, {{0, 3}}}, {Dim::unknown()}) == std::nullopt);
}

TEST_CASE("reads are printed and parsed, and what they say of sizes is checked") {
  const char* text = R"(graph f(x: float32[n,8,5], y: float32[3,n]) {
  %z: float32[n,3] = Fusion(x, y) {Tin=[float32, float32], Tout=[float32], fusion=@fused0}
  return %z
}

fusion @fused0 = over [d0,3] {
  x0: float32[d0,8,5] at [-1 - i0,2*i1 + 1,-2 - i1]
  x1: float32[3,d0] at [i1,i0?]
  %0: float32 = AddV2(x0, x1)
  return %0
}
)";
  CHECK(print_graph(*graph_of(text)) == text);
  auto error_with = [&](const char* old, const char* by) {
    std::string changed = text;
    changed.replace(changed.find(old), std::string(old).size(), by);
    auto graph = parse_graph(changed);
    return graph.ok() ? verify_graph(**graph).message() : graph.status().message();
  };
  CHECK(error_with("2*i1 + 1", "4*i1").find("reads index 8 of an axis of size 8") !=
        std::string::npos);
  CHECK(error_with("-2 - i1", "-4 - i1").find("reads index 5 of an axis of size 5") !=
        std::string::npos);
  CHECK(error_with("-1 - i0", "-0 - i0").find("the last index is -1") != std::string::npos);
  CHECK(error_with("i0?", "i0 + 1?").find("read at an index of its own") != std::string::npos);
  CHECK(error_with("y: float32[3,n]", "y: float32[3,m]")
            .find("its inputs and outputs are not those of its fusion") != std::string::npos);
}

}  // namespace
}  // namespace graven::engine
