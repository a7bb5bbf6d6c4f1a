#pragma once
#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "graven/ir/body.h"
#include "graven/ir/text.h"

// Helpers of this room's tests, and of those of `optimize`.
namespace graven::engine {

// A graph of a text that must be right.
inline Ref<Graph> graph_of(std::string_view text) {
  auto graph = parse_graph(text);
  REQUIRE_MESSAGE(graph.ok(), graph.status().message(), "\n", std::string(text));
  return *graph;
}

// One attribute of each kind.
struct AllKindsAttrs {
  bool flag = false;
  int64_t number = 0;
  float ratio = 0;
  std::string text;
  DType type = DType::kInvalid;
  Shape shape;
  Tensor value;
  Ref<Body> body;
  std::vector<int64_t> numbers;
  std::vector<double> ratios;
  std::vector<std::string> texts;
  std::vector<DType> types;
  std::vector<Shape> shapes;
  std::vector<Ref<Body>> bodies;
  static constexpr auto fields() {
    using A = AllKindsAttrs;
    return std::tuple(field("flag", &A::flag), field("number", &A::number),
                      field("ratio", &A::ratio), field("text", &A::text), field("type", &A::type),
                      field("shape", &A::shape), field("value", &A::value), field("body", &A::body),
                      field("numbers", &A::numbers), field("ratios", &A::ratios),
                      field("texts", &A::texts), field("types", &A::types),
                      field("shapes", &A::shapes), field("bodies", &A::bodies));
  }
};

}  // namespace graven::engine
