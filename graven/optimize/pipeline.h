#pragma once
#include <functional>
#include <span>
#include <string_view>

#include "graven/base/export.h"
#include "graven/base/status.h"
#include "graven/ir/builder.h"
#include "graven/ir/graph.h"

namespace graven::engine {

// Rewrites a copy of a traced graph so that it runs faster and computes the same bits. The list of
// passes, in order, is in pipeline.cc; each is a file. evaluate: an eager Builder, for folding.
// after_pass, if given, sees the graph after each pass (tests verify it there, dumps print it).
struct PassDone {
  std::string_view name;
  bool has_changed;     // whether the pass changed anything
  double microseconds;  // the time of the pass
};
using AfterPass = std::function<Status(const PassDone& pass, const Graph& graph)>;
GRAVEN_API Status optimize(Graph& graph, Builder& evaluate, const AfterPass& after_pass = {});

// The passes that programs can do without, by name.
GRAVEN_API std::span<const std::string_view> optional_passes();

// Disables a pass that only saves time for later optimisations of this process, or enables it
// again. False if there is no such pass. Any thread.
GRAVEN_API bool set_pass_enabled(std::string_view pass, bool enabled);

}  // namespace graven::engine
