#pragma once

#include "graven/base/export.h"

namespace graven::engine {
class Graph;

// A graph does not keep the one around it alive, and a tensor that leaks from it may be used when
// that one is gone. So graphs are registered while they live. Any thread may call these.

void register_graph(const Graph* graph);
void unregister_graph(const Graph* graph);

// How a graph stands to another.
enum class Nesting {
  kApart,   // it was not built inside of the other
  kInside,  // it was
  kUnknown  // a graph around it is gone
};
GRAVEN_API Nesting nesting_of(const Graph& graph, const Graph* in);

}  // namespace graven::engine
