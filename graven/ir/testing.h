#pragma once
#include <doctest/doctest.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "graven/base/strings.h"
#include "graven/ir/body.h"
#include "graven/ir/text.h"

// Helpers of this room's tests, and of those of rooms above.
namespace graven::engine {

// A graph of a text that must be right.
inline Ref<Graph> graph_of(std::string_view text) {
  auto graph = parse_graph(text);
  REQUIRE_MESSAGE(graph.ok(), graph.status().message(), "\n", std::string(text));
  return *graph;
}

// A file that PrintV2 prints to, and what it holds.
class PrintedFile {
 public:
  PrintedFile() { clear(); }
  ~PrintedFile() { clear(); }
  static std::string stream() { return "file://" + path().string(); }
  std::string text() const {
    std::ifstream file(path());
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void clear() { std::filesystem::remove(path()); }

 private:
  static std::filesystem::path path() {
    return std::filesystem::temp_directory_path() / str_cat("graven_printed_", getpid());
  }
};

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
