#pragma once
#include <string>
#include <string_view>

#include "graven/ir/testing.h"
#include "graven/ir/verify.h"

namespace graven::engine {

// The graph of a text after a pass, as text; the error message if the pass leaves a broken graph.
template <typename Pass>
std::string after(std::string_view before, Pass&& pass) {
  Ref<Graph> graph = graph_of(before);
  pass(*graph);
  Status verified = verify_graph(*graph);
  if (!verified.ok()) return verified.message();
  std::string text = print_graph(*graph);
  auto read = parse_graph(text);  // Finds names and symbols that only a broken graph has.
  return read.ok() ? text : read.status().message();
}

}  // namespace graven::engine
