#include "graven/base/json.h"
#include "graven/function/explain.h"

namespace graven::engine {
namespace {

Json to_json(const SourceFrame& frame) {
  if (frame.line <= 0) return {};
  return Json::Object{{"file", frame.file},
                      {"line", frame.line},
                      {"function", frame.function},
                      {"text", frame.text}};
}

Json to_json(const std::vector<std::string>& texts) {
  return Json::Array(texts.begin(), texts.end());
}

Json to_json(Miss::Cause cause) {
  constexpr const char* kNames[] = {"first",     "differs",    "object",   "parameters",
                                    "variables", "made again", "all gone", "unfinished",
                                    "watched",   "other"};
  return kNames[static_cast<size_t>(cause)];
}

Json to_json(const Miss& miss) {
  Json::Object all{{"cause", to_json(miss.cause)}, {"text", miss.text}};
  if (miss.nearest > 0) all.emplace_back("nearest", miss.nearest);
  if (!miss.path.empty()) {
    all.emplace_back("path", miss.path);
    all.emplace_back("now", miss.now);
    all.emplace_back("before", miss.before);
    all.emplace_back("more", miss.num_more);
  }
  all.emplace_back("advice", miss.advice);
  return all;
}

Json to_json(const ExplainedKernel& kernel) {
  Json::Array members;
  for (const ExplainedKernel::Member& member : kernel.members) {
    members.push_back(
        Json::Object{{"op", member.op}, {"node", member.node}, {"source", to_json(member.source)}});
  }
  return Json::Object{
      {"text", kernel.text}, {"ns", kernel.nanoseconds}, {"nodes", std::move(members)}};
}

Json to_json(const ExplainedTrace& trace) {
  Json::Array graph, kernels;
  for (const ExplainedLine& line : trace.graph) {
    graph.push_back(Json::Object{{"text", line.text},
                                 {"source", to_json(line.source)},
                                 {"kernel", line.kernel < 0 ? Json() : Json(line.kernel)}});
  }
  for (const ExplainedKernel& kernel : trace.kernels) kernels.push_back(to_json(kernel));
  return Json::Object{{"number", trace.number},
                      {"name", trace.name},
                      {"signature", trace.signature},
                      {"hits", trace.hits},
                      {"trace_ms", trace.trace_ms},
                      {"bytes", trace.bytes},
                      {"captured_bytes", trace.captured_bytes},
                      {"age", trace.age_seconds},
                      {"traced_at", trace.traced_at},
                      {"why", to_json(trace.miss)},
                      {"called_at", to_json(trace.called_at)},
                      {"captures", to_json(trace.captures)},
                      {"graph", std::move(graph)},
                      {"kernels", std::move(kernels)},
                      {"run_ns", trace.nanoseconds}};
}

Json to_json(const ExplainedCall& call) {
  Json::Object all{{"signature", call.signature}, {"is_hit", !call.miss}};
  if (!call.miss) {
    all.emplace_back("trace", call.number);
    all.emplace_back("trace_signature", call.entry_signature);
    return all;
  }
  all.emplace_back("why", to_json(*call.miss));
  all.emplace_back("usual_ms", call.usual_ms);
  all.emplace_back("usual_bytes", call.usual_bytes);
  return all;
}

Json to_json(const GoneTrace& gone) {
  return Json::Object{{"number", gone.number}, {"signature", gone.signature},
                      {"hits", gone.hits},     {"time", gone.time},
                      {"why", gone.why},       {"trace_ms", gone.trace_ms}};
}

Json to_json(const CacheEvent& event) {
  constexpr const char* kNames[] = {"traced", "failed", "went"};
  Json::Object all{{"event", kNames[static_cast<size_t>(event.kind)]}, {"time", event.time}};
  if (event.number > 0) all.emplace_back("trace", event.number);
  if (event.hits >= 0) all.emplace_back("hits", event.hits);
  if (!event.text.empty()) all.emplace_back("why", event.text);
  return all;
}

Json to_json(const ExplainedFunction& f);

Json optional(const std::optional<int64_t>& number) { return number ? Json(*number) : Json(); }

template <typename T>
Json list(const std::vector<T>& items) {
  Json::Array all;
  for (const T& item : items) all.push_back(to_json(item));
  return all;
}

Json to_json(const ExplainedFunction& f) {
  return Json::Object{{"name", f.name},
                      {"call", f.call ? to_json(*f.call) : Json()},
                      {"traces_ever", f.traces},
                      {"hits", f.hits},
                      {"misses", f.misses},
                      {"gone_ever", f.evictions},
                      {"bytes", f.bytes},
                      {"captured_bytes", f.captured_bytes},
                      {"trace_ms", f.trace_ms},
                      {"max_traces", optional(f.budget.max_traces)},
                      {"max_bytes", optional(f.budget.max_bytes)},
                      {"facts", to_json(f.facts)},
                      {"traces", list(f.entries)},
                      {"gone", list(f.gone)},
                      {"events", list(f.events)}};
}

}  // namespace

std::string Explanation::to_json() const {
  Json::Object all{{"functions", list(functions)}};
  if (is_of_process) all.emplace_back("limit", limit);
  return Json(std::move(all)).to_text();
}

}  // namespace graven::engine
