#include "graven/function/logs.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <iterator>

#include "graven/base/strings.h"
#include "graven/function/explain.h"
#include "graven/function/function.h"
#include "graven/function/type_text.h"

namespace graven::engine {
namespace {

std::atomic<LogSink> g_sink{nullptr};

constexpr uint32_t bit_of(size_t topic) { return uint32_t{1} << topic; }

// The topics as bits.
Result<uint32_t> parse(std::string_view topics) {
  uint32_t bits = 0;
  while (!topics.empty()) {
    const size_t end = std::min(topics.find(','), topics.size());
    std::string_view name = topics.substr(0, end);
    topics.remove_prefix(std::min(end + 1, topics.size()));
    while (name.starts_with(' ')) name.remove_prefix(1);
    while (name.ends_with(' ')) name.remove_suffix(1);
    if (name.empty()) continue;
    const auto* at = std::ranges::find(kTopicNames, name);
    if (at == std::end(kTopicNames)) {
      return value_error("There is no log of ", name, ": there are ", str_join(kTopicNames, ", "));
    }
    bits |= bit_of(static_cast<size_t>(at - std::begin(kTopicNames)));
  }
  return bits;
}

std::atomic<uint32_t>& g_topics() {
  static std::atomic<uint32_t> topics{[] {
    const char* wanted = std::getenv("GRAVEN_LOGS");
    auto parsed = parse(wanted ? wanted : "");
    if (parsed.ok()) return *parsed;
    std::fprintf(stderr, "graven: GRAVEN_LOGS=%s: %s. Nothing is logged.\n", wanted,
                 parsed.status().message().c_str());
    return uint32_t{0};
  }()};
  return topics;
}

std::string id(const std::string& function, int64_t number) {
  return str_cat(function, "#", number, ": ");
}

}  // namespace

bool is_logged(Topic topic) {
  return g_topics().load(std::memory_order_relaxed) & bit_of(static_cast<size_t>(topic));
}

Status set_logs(std::string_view topics) {
  ASSIGN_OR_RETURN(uint32_t bits, parse(topics));
  g_topics().store(bits, std::memory_order_relaxed);
  return {};
}

std::string logs() {
  std::vector<std::string_view> on;
  for (size_t i = 0; i < std::size(kTopicNames); ++i) {
    if (is_logged(static_cast<Topic>(i))) on.push_back(kTopicNames[i]);
  }
  return str_join(on, ",");
}

void set_log_sink(LogSink sink) { g_sink = sink; }

void log_line(Topic topic, const std::string& line) {
  if (const LogSink sink = g_sink.load()) {
    sink(topic, line);
    return;
  }
  const std::string_view name = kTopicNames[static_cast<size_t>(topic)];
  std::fprintf(stderr, "graven.%.*s: %s\n", static_cast<int>(name.size()), name.data(),
               line.c_str());
}

void log_traced(const std::string& function, const Entry& entry) {
  const std::string place = place_text(innermost(entry.called_at()));
  std::string line =
      str_cat(id(function, entry.number()), "traced ", signature_text(entry.type()), " in ",
              milliseconds_text(entry.trace_milliseconds()), ", ", bytes_text(entry.bytes()));
  if (!place.empty()) line += str_cat(", for a call at ", place);
  line += str_cat(". Why: ", entry.miss().text);
  if (entry.miss().nearest > 0) line += str_cat(". Nearest: ", function, "#", entry.miss().nearest);
  if (!entry.miss().advice.empty()) line += str_cat(". Advice: ", entry.miss().advice);
  log_line(Topic::kTrace, line);
}

void log_failed(const std::string& function, const std::string& error) {
  log_line(Topic::kTrace, str_cat(function, ": a trace failed: ", error));
}

void log_captures(const std::string& function, const Entry& entry) {
  const std::vector<std::string> captures = captures_of(entry);
  log_line(Topic::kCaptures, str_cat(id(function, entry.number()), "captures ",
                                     captures.empty() ? "nothing" : str_join(captures, "; ")));
}

void log_gone(const std::string& function, const GoneTrace& gone) {
  log_line(Topic::kCache, str_cat(id(function, gone.number), "went: ", gone.why, ". It had ",
                                  gone.hits, gone.hits == 1 ? " hit" : " hits", " and took ",
                                  milliseconds_text(gone.trace_ms), " to trace"));
}

}  // namespace graven::engine
