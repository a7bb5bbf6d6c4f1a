#include "graven/function/generalizer.h"

#include <doctest/doctest.h>

namespace graven::engine {
namespace {

using Open = std::vector<ArgumentSize>;

Open choose(Generalizer& generalizer, const std::vector<Shape>& shapes,
            const std::vector<std::vector<Shape>>& traced) {
  return generalizer.choose(shapes, traced);
}

TEST_CASE("only the sizes that differ from a trace's are left open") {
  Generalizer generalizer;
  CHECK(choose(generalizer, {{4, 3}}, {{{2, 3}}}) == Open{{0, 0}});
  CHECK(choose(generalizer, {{2, 3}, {5}}, {{{2, 3}, {4}}}) == Open{{1, 0}});
  CHECK(choose(generalizer, {{2, 3}}, {}).empty());
}

TEST_CASE("of several traces the one that differs in the fewest sizes counts") {
  Generalizer generalizer;
  CHECK(choose(generalizer, {{4, 5}}, {{{2, 3}}, {{4, 3}}}) == Open{{0, 1}});
}

TEST_CASE("what is open in a trace stays open in the next one") {
  Generalizer generalizer;
  CHECK(choose(generalizer, {{4, 5}}, {{{Dim::unknown(), 3}}}) == Open{{0, 0}, {0, 1}});
}

TEST_CASE("a size that was read is never left open again") {
  Generalizer generalizer;
  generalizer.pin({0, 0});
  CHECK(choose(generalizer, {{4, 3}}, {{{2, 3}}}).empty());
  CHECK(choose(generalizer, {{4, 5}}, {{{2, 3}}}) == Open{{0, 1}});
  CHECK(generalizer.pinned() == Open{{0, 0}});
}

TEST_CASE("after eight sets of open sizes all are open that were not read") {
  Generalizer generalizer;
  const Shape before = {1, 1, 1, 1};
  auto chosen = [&](int set) {
    Shape shape;
    for (int d = 0; d < 4; ++d) shape.push_back(Dim(1 + (set >> d & 1)));
    return choose(generalizer, {shape, before}, {{before, before}}).size();
  };
  for (int set = 1; set <= 8; ++set) {
    CHECK(chosen(set) ==
          static_cast<size_t>((set & 1) + (set >> 1 & 1) + (set >> 2 & 1) + (set >> 3 & 1)));
  }
  generalizer.pin({1, 0});
  CHECK(chosen(9) == 7);
}

}  // namespace
}  // namespace graven::engine
