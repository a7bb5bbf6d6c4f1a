#include <cstdio>

#include "graven/base/strings.h"
#include "graven/function/explain.h"

namespace graven::engine {
namespace {

// Functions of which a text lists the traces; a page has them all.
constexpr size_t kMaxTraces = 40;

std::string counted(int64_t number, std::string_view one, std::string_view many) {
  return str_cat(number, " ", number == 1 ? one : many);
}

std::string cost_text(double ms, int64_t bytes) {
  return str_cat(milliseconds_text(ms), " and ", bytes_text(bytes));
}

void add_reason(std::string& text, const std::string& function, const Miss& miss) {
  const bool is_compared =
      miss.cause == Miss::Cause::kDiffers || miss.cause == Miss::Cause::kObject;
  if (is_compared) {
    const std::string differs = str_cat(miss.path, ": ", miss.now, ", was ", miss.before);
    text += str_cat("\n     why     ", miss.cause == Miss::Cause::kObject ? "another object, " : "",
                    differs, " in ", function, "#", miss.nearest);
    if (miss.num_more > 0) text += str_cat(", and ", miss.num_more, " more");
  } else {
    text += str_cat("\n     why     ", miss.text);
  }
  if (!miss.advice.empty()) text += str_cat("\n     advice  ", miss.advice);
}

void add_call(std::string& text, const std::string& function, const ExplainedCall& call) {
  if (!call.miss) {
    text += str_cat("\nA call ", function, call.signature, " finds ", function, "#", call.number,
                    call.entry_signature);
    return;
  }
  text += str_cat("\nA call ", function, call.signature, " finds no trace, and would make one");
  add_reason(text, function, *call.miss);
  if (call.usual_bytes > 0) {
    text += str_cat("\n     price   about ", cost_text(call.usual_ms, call.usual_bytes), ", as ",
                    function, "#", call.miss->nearest);
  }
}

void add_trace(std::string& text, const std::string& function, const ExplainedTrace& trace) {
  text += str_cat("\n", function, "#", trace.number, trace.signature, ": ",
                  counted(trace.hits, "hit", "hits"));
  add_reason(text, function, trace.miss);
  text += str_cat("\n     price   ", cost_text(trace.trace_ms, trace.bytes));
  const std::string place = place_text(trace.called_at);
  if (!place.empty()) text += str_cat(", for the call at ", place);
  for (const std::string& capture : trace.captures) text += str_cat("\n     uses    ", capture);
}

std::string text_of(const ExplainedFunction& f) {
  std::string text =
      str_cat(f.name, ": ", counted(static_cast<int64_t>(f.entries.size()), "trace", "traces"),
              " of ", f.traces, " ever made, ", counted(f.hits, "hit", "hits"), ", ",
              counted(f.misses, "miss", "misses"), ", ", counted(f.evictions, "trace", "traces"),
              " gone; ", cost_text(f.trace_ms, f.bytes));
  if (f.call) add_call(text, f.name, *f.call);
  for (const std::string& fact : f.facts) text += str_cat("\n", fact);
  const size_t skipped = f.entries.size() > kMaxTraces ? f.entries.size() - kMaxTraces : 0;
  if (skipped > 0) text += str_cat("\n... ", skipped, " traces before these");
  for (size_t i = skipped; i < f.entries.size(); ++i) add_trace(text, f.name, f.entries[i]);
  for (const GoneTrace& gone : f.gone) {
    text += str_cat("\n", f.name, "#", gone.number, " went: ", gone.why, ", after ",
                    counted(gone.hits, "hit", "hits"));
  }
  return text;
}

}  // namespace

std::string Explanation::to_text() const {
  std::vector<std::string> texts;
  if (is_of_process) {
    int64_t bytes = 0;
    for (const ExplainedFunction& f : functions) bytes += f.bytes;
    texts.push_back(
        str_cat(counted(static_cast<int64_t>(functions.size()), "Function", "Functions"), ", ",
                bytes_text(bytes), " of traces, of at most ", bytes_text(limit)));
  }
  for (const ExplainedFunction& f : functions) texts.push_back(text_of(f));
  return str_join(texts, "\n\n");
}

}  // namespace graven::engine
