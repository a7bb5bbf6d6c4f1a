#include "graven/function/explain.h"

#include <algorithm>
#include <chrono>
#include <span>
#include <unordered_map>

#include "graven/base/files.h"
#include "graven/base/heap_bytes.h"
#include "graven/base/strings.h"
#include "graven/function/advice.h"
#include "graven/function/cache.h"
#include "graven/function/function.h"
#include "graven/function/process_budget.h"
#include "graven/function/type_text.h"
#include "graven/function/watched_values.h"
#include "graven/ir/text.h"
#include "graven/runtime/fusion_step.h"
#include "graven/runtime/variable.h"

namespace graven::engine {
namespace {

// Beyond these a page would not be read: GRAVEN_DUMP writes whole graphs.
constexpr size_t kMaxGraphs = 100, kMaxGraphsOfProcess = 1000, kMaxLines = 2000, kMaxLine = 400;

// The name by which the program may know a capture: a variable's own, or that of its node.
std::string name_of(const GraphBuilder::Capture& capture, const Node& inner) {
  const Tensor& outer = capture.external;
  if (outer.is_symbolic() || outer.dtype() != DType::kResource) return inner.name();
  const auto* variable = dynamic_cast<const Variable*>(outer.resource().get());
  return variable ? variable->name() : inner.name();
}

std::string type_of(const OutputType& type) {
  if (!type.handle_data || type.handle_data->components.empty()) {
    return type_text(TensorType(type.shape, type.dtype));
  }
  const HeldType& held = type.handle_data->components.front();
  return str_cat("variable ", type_text(TensorType(held.shape, held.dtype)));
}

// The line of the first node that uses the output.
SourceFrame first_use(const Graph& graph, OutputRef output) {
  for (const Node* node : graph.nodes()) {
    if (std::ranges::find(node->inputs(), output) == node->inputs().end()) continue;
    if (SourceFrame frame = innermost(node->location()); frame.line > 0) return frame;
  }
  return {};
}

ExplainedKernel explain_step(const Step& step) {
  ExplainedKernel kernel{.text = step.text(), .nanoseconds = step.cost};
  const auto* fusion_step = dynamic_cast<const FusionStep*>(&step);
  if (!fusion_step) {
    kernel.members.push_back(
        {step.node->op().name(), step.node->name(), innermost(step.node->location())});
    return kernel;
  }
  const FusionParts& parts = fusion_step->fusion().parts();
  for (size_t i = 0; i < parts.members.size(); ++i) {
    ExplainedKernel::Member member{.op = parts.members[i].op->name()};
    if (i < parts.origins.size()) {
      member.node = parts.origins[i].node;
      member.source = innermost(parts.origins[i].location);
    }
    kernel.members.push_back(std::move(member));
  }
  return kernel;
}

void explain_graph(const Graph& graph, ExplainedTrace& trace) {
  std::unordered_map<std::string, int> kernel_of;
  for (size_t k = 0; k < trace.kernels.size(); ++k) {
    for (const auto& member : trace.kernels[k].members)
      kernel_of[member.node] = static_cast<int>(k);
  }
  for (PrintedLine& line : print_lines(graph)) {
    if (trace.graph.size() == kMaxLines) {
      trace.graph.push_back({.text = "... GRAVEN_DUMP=folder writes the rest"});
      return;
    }
    ExplainedLine explained{.text = std::move(line.text)};
    if (explained.text.size() > kMaxLine) {
      explained.text = explained.text.substr(0, kMaxLine) + "...";
    }
    if (line.node) {
      explained.source = innermost(line.node->location());
      const bool is_outer = &line.node->graph() == &graph;
      const auto at = is_outer ? kernel_of.find(line.node->name()) : kernel_of.end();
      if (at != kernel_of.end()) explained.kernel = at->second;
    }
    trace.graph.push_back(std::move(explained));
  }
}

// The graph and its kernels are left out of traces that a page would not show.
ExplainedTrace explain_entry(const Entry& entry, bool with_graph) {
  const auto age = std::chrono::steady_clock::now() - entry.made_at();
  ExplainedTrace trace{.number = entry.number(),
                       .name = entry.name(),
                       .signature = signature_text(entry.type()),
                       .hits = entry.hits(),
                       .trace_ms = entry.trace_milliseconds(),
                       .age_seconds = std::chrono::duration<double>(age).count(),
                       .miss = entry.miss(),
                       .called_at = innermost(entry.called_at()),
                       .captures = captures_of(entry)};
  trace.traced_at = seconds_since_1970() - trace.age_seconds;
  if (!with_graph) return trace;
  if (Ref<Program> program = entry.program_if_made()) {
    for (const auto& step : program->steps()) trace.kernels.push_back(explain_step(*step));
    trace.nanoseconds = program->cost();
  }
  explain_graph(*entry.graph(), trace);
  return trace;
}

// The advice for a trace of sizes of its own changes once calls are served by a trace that leaves
// these open. Runs no code of the program: types that such code compares have no skeleton.
void advise_beside(std::span<const Ref<Entry>> entries, const Entry& entry, Miss& miss) {
  if (!miss.is_of_sizes || entry.has_open_sizes() || !entry.type().skeleton()) return;
  for (const Ref<Entry>& other : entries) {
    if (!other->has_open_sizes() || !other->type().skeleton()) continue;
    if (entry.type().is_subtype_of(other->type())) {
      miss.advice = advice_beside_open_sizes(other->number());
    }
  }
}

// `graphs`: of so many traces, the last ones, the graphs may be shown.
ExplainedFunction explain_with(Cache& cache, size_t graphs) {
  const CacheInfo info = cache.info();
  ExplainedFunction function{.name = cache.name(),
                             .traces = info.traces,
                             .hits = info.hits,
                             .misses = info.misses,
                             .evictions = info.evictions,
                             .bytes = info.bytes,
                             .captured_bytes = info.captured_bytes,
                             .budget = info.budget,
                             .gone = info.gone,
                             .events = cache.events(),
                             .facts = cache.facts()};
  for (const GoneTrace& gone : function.gone) function.trace_ms += gone.trace_ms;
  ByteCount shared;  // what entries share counts once
  const std::vector<Ref<Entry>> entries = cache.index().entries();
  for (const Ref<Entry>& entry : entries) {
    const size_t later = entries.size() - function.entries.size();
    ExplainedTrace trace = explain_entry(*entry, /*with_graph=*/later <= graphs);
    advise_beside(entries, *entry, trace.miss);
    trace.captured_bytes = entry->captured_bytes();
    trace.bytes = trace.captured_bytes + entry->bytes();
    function.trace_ms += trace.trace_ms;
    function.entries.push_back(std::move(trace));
  }
  return function;
}

}  // namespace

SourceFrame innermost(const Ref<Location>& location) {
  if (!location) return {};
  std::vector<SourceFrame> frames = location->frames();
  return frames.empty() ? SourceFrame() : std::move(frames.back());
}

std::string place_text(const SourceFrame& frame) {
  if (frame.line <= 0) return "";
  std::string text = str_cat(frame.file, ":", frame.line);
  return frame.function.empty() ? text : str_cat(text, " in ", frame.function);
}

std::vector<std::string> captures_of(const Entry& entry) {
  std::vector<std::string> lines;
  for (const GraphBuilder::Capture& capture : entry.captures()) {
    const OutputRef inner = symbolic(capture.internal).output();
    const OutputType& type = inner.node->output(inner.index);
    std::string line = str_cat(name_of(capture, *inner.node), ": ", type_of(type));
    if (capture.external.is_symbolic()) {
      line += " of the graph around";
    } else if (type.dtype != DType::kResource) {
      line += str_cat(" by value, ", bytes_text(static_cast<int64_t>(capture.external.bytes())));
    }
    const std::string place = place_text(first_use(*entry.graph(), inner));
    if (!place.empty()) line += str_cat(", used at ", place);
    lines.push_back(std::move(line));
  }
  if (const auto* watches = dynamic_cast<const HasWatchedValues*>(entry.watches())) {
    for (const std::string& value : watches->watched_values()) {
      lines.push_back(str_cat("watches ", value));
    }
  }
  return lines;
}

ExplainedFunction explain(Cache& cache) { return explain_with(cache, kMaxGraphs); }

Explanation explain_process() {
  Explanation all{.is_of_process = true, .limit = trace_cache_bytes()};
  size_t graphs = kMaxGraphsOfProcess;
  for (const auto& cache : live_caches()) {
    all.functions.push_back(explain_with(*cache, std::min(graphs, kMaxGraphs)));
    graphs -= std::min(graphs, all.functions.back().entries.size());
  }
  return all;
}

Status Explanation::write_html(const std::string& path) const {
  return write_file(path, to_html());
}

}  // namespace graven::engine
