#include "graven/ir/live_graphs.h"

#include <unordered_set>

#include "graven/base/mutex.h"
#include "graven/ir/graph.h"

namespace graven::engine {
namespace {

// Never destroyed: graphs of other static objects may go later.
struct LiveGraphs {
  Mutex mutex;
  std::unordered_set<const Graph*> graphs GUARDED_BY(mutex);

  static LiveGraphs& all() {
    static auto* graphs = new LiveGraphs();
    return *graphs;
  }
};

}  // namespace

void register_graph(const Graph* graph) {
  LiveGraphs& live = LiveGraphs::all();
  MutexLock lock(live.mutex);
  live.graphs.insert(graph);
}

void unregister_graph(const Graph* graph) {
  LiveGraphs& live = LiveGraphs::all();
  MutexLock lock(live.mutex);
  live.graphs.erase(graph);
}

Nesting nesting_of(const Graph& graph, const Graph* in) {
  LiveGraphs& live = LiveGraphs::all();
  MutexLock lock(live.mutex);
  for (const Graph* g = graph.outer(); g; g = g->outer()) {
    if (g == in) return Nesting::kInside;
    if (!live.graphs.contains(g)) return Nesting::kUnknown;
  }
  return Nesting::kApart;
}

}  // namespace graven::engine
