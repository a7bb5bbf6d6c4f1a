// The page of an explanation: one card for each Function, with figures, a timeline, advice, and a
// part that opens for each trace. All texts of the program are escaped; the page loads nothing and
// runs no script.
#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstdio>
#include <initializer_list>
#include <map>
#include <utility>

#include "graven/base/strings.h"
#include "graven/function/explain.h"
#include "graven/function/explain_style.h"
#include "graven/function/type_text.h"

namespace graven::engine {
namespace {

// A part of the page: a text or a number. The page has hundreds of ways to put parts together, and
// a template for each would be most of its code.
struct Part {
  Part(std::string_view part) : text(part) {}
  Part(const char* part) : text(part) {}
  Part(std::string part) : text(std::move(part)) {}
  template <std::integral T>
  Part(T number) : text(std::to_string(number)) {}
  std::string text;
};

std::string joined(std::initializer_list<Part> parts) {
  std::string out;
  for (const Part& part : parts) out += part.text;
  return out;
}

std::string escaped(std::string_view text) {
  std::string out;
  for (char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string code(std::string_view text) { return joined({"<code>", escaped(text), "</code>"}); }

std::string digits(double value, int number) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.*f", number, value);
  return text;
}

std::string nanoseconds_text(double ns) {
  if (ns < 1000) return digits(ns, 0) + " ns";
  if (ns < 1e6) return digits(ns / 1000, 1) + " us";
  return milliseconds_text(ns / 1e6);
}

std::string counted(int64_t number, std::string_view one, std::string_view many) {
  return joined({number, " ", number == 1 ? one : many});
}

std::string file_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

// "program.py:12  the line"
std::string place_html(const SourceFrame& frame) {
  if (frame.line <= 0) return "";
  std::string html = joined({"<span title=\"", escaped(place_text(frame)), "\">",
                             escaped(file_name(frame.file)), ":", frame.line, "</span>"});
  return frame.text.empty() ? html : joined({html, "  <b>", escaped(frame.text), "</b>"});
}

// Kernels that follow each other have colours that differ.
std::string chip(int kernel, std::string_view text) {
  return joined(
      {"<span class=\"chip\" style=\"--hue:", (kernel * 67 + 210) % 360, "\">", text, "</span>"});
}

std::string tile(std::string_view value, std::string_view label) {
  return joined({"<div class=\"tile\"><b>", value, "</b><span>", label, "</span></div>"});
}

std::string percent(int64_t part, int64_t whole) {
  return whole > 0
             ? digits(100.0 * static_cast<double>(part) / static_cast<double>(whole), 1) + " %"
             : "-";
}

std::string tiles(const ExplainedFunction& f) {
  std::string traces = std::to_string(f.entries.size());
  if (f.budget.max_traces) traces += joined({" of ", *f.budget.max_traces});
  std::string bytes = bytes_text(f.bytes);
  if (f.budget.max_bytes) bytes += joined({" of ", bytes_text(*f.budget.max_bytes)});
  return joined({"<div class=\"tiles\">", tile(traces, "traces now"),
                 tile(std::to_string(f.traces), "ever made"),
                 tile(percent(f.hits, f.hits + f.misses), "of calls hit"),
                 tile(joined({f.hits, " / ", f.misses}), "hits / misses"),
                 tile(std::to_string(f.evictions), "traces gone"),
                 tile(milliseconds_text(f.trace_ms), "spent tracing"), tile(bytes, "memory"),
                 "</div>\n"});
}

std::string why_html(const std::string& function, const Miss& miss) {
  const bool is_compared =
      miss.cause == Miss::Cause::kDiffers || miss.cause == Miss::Cause::kObject;
  if (!is_compared) return escaped(miss.text);
  std::string html = joined({code(miss.path), ": <code class=\"now\">", escaped(miss.now),
                             "</code>, <code class=\"was\">", escaped(miss.before), "</code> in ",
                             escaped(function), "#", miss.nearest});
  if (miss.cause == Miss::Cause::kObject) html = "another object, " + html;
  if (miss.num_more > 0) html += joined({", and ", miss.num_more, " more"});
  return html;
}

std::string call_html(const std::string& function, const ExplainedCall& call) {
  const std::string asked = joined({"A call ", code(function + call.signature)});
  if (!call.miss) {
    return joined({"<div class=\"call hit\">", asked, " finds ",
                   code(joined({function, "#", call.number, call.entry_signature})), ".</div>\n"});
  }
  std::string html =
      joined({"<div class=\"call\">", asked,
              " finds no trace, and would make one: ", why_html(function, *call.miss), "."});
  if (call.usual_bytes > 0) {
    html += joined({" That takes about ", milliseconds_text(call.usual_ms), " and ",
                    bytes_text(call.usual_bytes), "."});
  }
  if (!call.miss->advice.empty()) {
    html += joined({"<div class=\"advice\">", escaped(call.miss->advice), "</div>"});
  }
  return html + "</div>\n";
}

// --- The timeline: a place for each event, and between two of them a bar of the hits.

constexpr int kStep = 58, kLeft = 34, kAxis = 96, kHeight = 150;

std::string seconds_text(double seconds) {
  if (seconds < 0.9995) return digits(seconds * 1000, seconds < 0.01 ? 1 : 0) + " ms";
  if (seconds < 600) return digits(seconds, seconds < 10 ? 1 : 0) + " s";
  return digits(seconds / 60, 0) + " min";
}

std::string marker(const CacheEvent& event, int x, double begin) {
  const std::string what = event.kind == CacheEvent::Kind::kTraced ? "traced"
                           : event.kind == CacheEvent::Kind::kFailed
                               ? joined({"a trace failed: ", event.text})
                               : joined({"went: ", event.text});
  std::string svg = joined({"<g><title>", event.number > 0 ? joined({"#", event.number, " "}) : "",
                            escaped(what), "</title>"});
  switch (event.kind) {
    case CacheEvent::Kind::kTraced:
      svg += joined({"<circle cx=\"", x, "\" cy=\"", kAxis, "\" r=\"7\" fill=\"var(--traced)\"/>"});
      break;
    case CacheEvent::Kind::kFailed:
      svg += joined({"<path d=\"M", x - 6, " ", kAxis - 6, " l12 12 m0 -12 l-12 12\" stroke=\"",
                     "var(--failed)\" stroke-width=\"3\" stroke-linecap=\"round\"/>"});
      break;
    case CacheEvent::Kind::kWent:
      svg +=
          joined({"<circle cx=\"", x, "\" cy=\"", kAxis,
                  "\" r=\"6\" fill=\"var(--card)\" stroke=\"var(--went)\" stroke-width=\"2.5\"/>"});
      break;
  }
  if (event.number > 0) {
    svg += joined({"<text class=\"id\" x=\"", x, "\" y=\"", kAxis + 24,
                   "\" text-anchor=\"middle\">#", event.number, "</text>"});
  }
  return joined({svg, "<text x=\"", x, "\" y=\"", kAxis + 40, "\" text-anchor=\"middle\">",
                 seconds_text(event.time - begin), "</text></g>\n"});
}

// From the place of the last event that counted to this one's.
std::string hits_bar(int from, int to, int64_t hits) {
  if (hits <= 0) return "";
  const int height =
      std::min(68, 10 + static_cast<int>(12 * std::log10(static_cast<double>(hits))));
  const int width = to - from - 26;
  return joined({"<g><title>", counted(hits, "hit", "hits"), "</title><rect x=\"", from + 13,
                 "\" y=\"", kAxis - 4 - height, "\" width=\"", width, "\" height=\"", height,
                 "\" rx=\"4\" fill=\"var(--hits)\" opacity=\"0.85\"/><text x=\"",
                 from + 13 + width / 2, "\" y=\"", kAxis - 9 - height, "\" text-anchor=\"middle\">",
                 hits, "</text></g>\n"});
}

std::string timeline(const ExplainedFunction& f) {
  if (f.events.empty()) return "";
  const int end = kLeft + kStep * static_cast<int>(f.events.size());
  std::string svg = joined({"<line x1=\"10\" x2=\"", end + 24, "\" y1=\"", kAxis, "\" y2=\"", kAxis,
                            "\" stroke=\"var(--line)\" stroke-width=\"2\"/>\n"});
  int64_t counted_hits = 0;
  int from = kLeft - kStep;
  for (size_t i = 0; i < f.events.size(); ++i) {
    const CacheEvent& event = f.events[i];
    const int x = kLeft + kStep * static_cast<int>(i);
    if (event.hits >= 0) {
      // What came before the oldest event that is remembered is not between two.
      if (i > 0) svg += hits_bar(from, x, event.hits - counted_hits);
      counted_hits = event.hits;
      from = x;
    }
    svg += marker(event, x, f.events.front().time);
  }
  svg += hits_bar(from, end, f.hits - counted_hits);
  svg +=
      joined({"<text x=\"", end, "\" y=\"", kAxis + 24, "\" text-anchor=\"middle\">now</text>\n"});
  return joined({"<h3>Timeline</h3><div class=\"scroll\"><svg width=\"", end + 30, "\" height=\"",
                 kHeight, "\" role=\"img\">\n", svg, "</svg></div>\n",
                 "<div class=\"key\"><span><i style=\"background:var(--traced)\"></i>traced</span>",
                 "<span><i style=\"background:var(--failed)\"></i>a trace that failed</span>",
                 "<span><i style=\"border:2px solid var(--went)\"></i>a trace went</span>",
                 "<span><i style=\"background:var(--hits);border-radius:2px\"></i>hits between",
                 "</span></div>\n"});
}

// --- Advice, once for all traces that it would have saved.

std::string advice(const ExplainedFunction& f) {
  std::vector<std::string> order;
  std::map<std::string, std::pair<double, int>> saved;  // milliseconds, traces
  for (const ExplainedTrace& trace : f.entries) {
    if (trace.miss.advice.empty()) continue;
    auto [at, is_new] = saved.try_emplace(trace.miss.advice, 0.0, 0);
    if (is_new) order.push_back(trace.miss.advice);
    at->second.first += trace.trace_ms;
    ++at->second.second;
  }
  if (order.empty()) return "";
  std::ranges::stable_sort(order, std::greater(),
                           [&](const auto& text) { return saved[text].first; });
  std::string html = "<h3>Advice</h3>\n";
  for (const std::string& text : order) {
    const auto& [ms, traces] = saved[text];
    html += joined(
        {"<div class=\"advice\">", escaped(text), " <span class=\"faint\">It would have saved ",
         counted(traces, "trace", "traces"), ", ", milliseconds_text(ms), ".</span></div>\n"});
  }
  return html;
}

// --- One trace.

std::string kernels(const ExplainedTrace& trace) {
  if (trace.kernels.empty()) {
    return "<p class=\"faint\">It has not run by itself yet, so nothing is fused.</p>\n";
  }
  double most = 1;
  for (const ExplainedKernel& kernel : trace.kernels) most = std::max(most, kernel.nanoseconds);
  std::string html =
      "<table class=\"kernels\"><tr><th></th><th>nodes that it computes</th><th>"
      "from the lines</th><th class=\"number\">estimate</th><th></th></tr>\n";
  for (size_t k = 0; k < trace.kernels.size(); ++k) {
    const ExplainedKernel& kernel = trace.kernels[k];
    const int number = static_cast<int>(k);
    std::vector<std::string> nodes, places;
    for (const ExplainedKernel::Member& member : kernel.members) {
      nodes.push_back(
          joined({"<span title=\"", escaped(member.node), "\">", escaped(member.op), "</span>"}));
      std::string place = place_html(member.source);
      if (!place.empty() && std::ranges::find(places, place) == places.end()) {
        places.push_back(std::move(place));
      }
    }
    html +=
        joined({"<tr><td>", chip(number, joined({"k", k})), "</td><td><code>",
                str_join(nodes, " + "), "</code></td><td class=\"code\">", str_join(places, "<br>"),
                "</td><td class=\"number\">", nanoseconds_text(kernel.nanoseconds),
                "</td><td style=\"width:120px\"><div class=\"bar\" style=\"--hue:",
                (number * 67 + 210) % 360, ";width:", digits(100 * kernel.nanoseconds / most, 0),
                "%\"></div></td></tr>\n"});
  }
  return html + "</table>\n";
}

std::string graph(const ExplainedTrace& trace) {
  std::string html = "<div class=\"graph code\"><table>\n", before;
  for (const ExplainedLine& line : trace.graph) {
    const std::string place = place_html(line.source);
    html += joined({"<tr><td class=\"place\">", place == before ? "" : place, "</td><td>",
                    line.kernel < 0 ? "" : chip(line.kernel, joined({"k", line.kernel})),
                    "</td><td>", escaped(line.text), "</td></tr>\n"});
    if (!place.empty()) before = place;
  }
  return html + "</table></div>\n";
}

std::string trace_html(const std::string& function, const ExplainedTrace& trace, bool is_open) {
  std::string html = joined(
      {"<details class=\"trace\"", is_open ? " open" : "", "><summary><b>#", trace.number,
       "</b><code class=\"signature\">", escaped(trace.signature), "</code><span class=\"facts\">",
       counted(trace.hits, "hit", "hits"), " &middot; ", milliseconds_text(trace.trace_ms),
       " &middot; ", bytes_text(trace.bytes), "</span></summary><div class=\"inside\">\n"});
  html += joined({"<h3>Why it was traced</h3><p>", why_html(function, trace.miss), "</p>\n"});
  if (trace.called_at.line > 0) {
    html += joined({"<p class=\"faint\">For the call at <span class=\"code\">",
                    place_html(trace.called_at), "</span></p>\n"});
  }
  if (!trace.miss.advice.empty()) {
    html += joined({"<div class=\"advice\">", escaped(trace.miss.advice), "</div>\n"});
  }
  html += "<h3>What it uses beside its arguments</h3>\n";
  if (trace.captures.empty()) html += "<p class=\"faint\">Nothing.</p>\n";
  for (const std::string& capture : trace.captures)
    html += joined({"<p>", code(capture), "</p>\n"});
  if (!trace.graph.empty()) {
    html +=
        joined({"<details class=\"part\" open><summary>Kernels",
                trace.nanoseconds > 0
                    ? joined({"<span>about ", nanoseconds_text(trace.nanoseconds), " a run</span>"})
                    : "",
                "</summary>\n", kernels(trace),
                "</details>\n<details class=\"part\" open><summary>Graph<span>",
                escaped(trace.name), "</span></summary>\n", graph(trace), "</details>\n"});
  }
  return html + "</div></details>\n";
}

std::string gone(const ExplainedFunction& f) {
  if (f.gone.empty()) return "";
  std::string html =
      "<h3>Gone</h3><table><tr><th></th><th>why</th><th class=\"number\">hits</th>"
      "<th class=\"number\">traced in</th><th>signature</th></tr>\n";
  for (const GoneTrace& trace : f.gone) {
    html += joined({"<tr><td>#", trace.number, "</td><td>", escaped(trace.why),
                    "</td><td class=\"number\">", trace.hits, "</td><td class=\"number\">",
                    milliseconds_text(trace.trace_ms), "</td><td>",
                    code(with_short_types(trace.signature)), "</td></tr>\n"});
  }
  return html + "</table>\n";
}

std::string function_html(const ExplainedFunction& f, size_t number) {
  std::string html = joined(
      {"<section class=\"card\" id=\"f", number, "\"><h2>", code(f.name), "</h2>\n", tiles(f)});
  if (f.call) html += call_html(f.name, *f.call);
  for (const std::string& fact : f.facts) html += joined({"<p>", escaped(fact), "</p>\n"});
  html += timeline(f);
  html += advice(f);
  if (!f.entries.empty()) html += "<h3>Traces</h3>\n";
  for (const ExplainedTrace& trace : f.entries) {
    html += trace_html(f.name, trace, f.entries.size() == 1);
  }
  return joined({html, gone(f), "</section>\n"});
}

std::string overview(const Explanation& all) {
  std::string html =
      "<section class=\"card\"><table><tr><th>Function</th><th class=\"number\">traces"
      "</th><th class=\"number\">hits</th><th class=\"number\">misses</th>"
      "<th class=\"number\">gone</th><th class=\"number\">spent tracing</th>"
      "<th class=\"number\">memory</th></tr>\n";
  for (size_t i = 0; i < all.functions.size(); ++i) {
    const ExplainedFunction& f = all.functions[i];
    html +=
        joined({"<tr><td><a href=\"#f", i, "\">", code(f.name), "</a></td><td class=\"number\">",
                f.entries.size(), "</td><td class=\"number\">", f.hits,
                "</td><td class=\"number\">", f.misses, "</td><td class=\"number\">", f.evictions,
                "</td><td class=\"number\">", milliseconds_text(f.trace_ms),
                "</td><td class=\"number\">", bytes_text(f.bytes), "</td></tr>\n"});
  }
  return html + "</table></section>\n";
}

}  // namespace

std::string Explanation::to_html() const {
  int64_t bytes = 0;
  for (const ExplainedFunction& f : functions) bytes += f.bytes;
  const std::string title =
      is_of_process || functions.empty() ? "All Functions" : functions.front().name;
  std::string html = joined({"<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">",
                             "<meta name=\"viewport\" content=\"width=device-width\"><title>",
                             escaped(title), " - Graven</title><style>", kExplainStyle,
                             "</style></head><body><main>\n<h1>What was traced, and why</h1>\n"});
  if (is_of_process) {
    html += joined({"<p class=\"faint\">",
                    counted(static_cast<int64_t>(functions.size()), "Function", "Functions"), ", ",
                    bytes_text(bytes), " of traces, of at most ", bytes_text(limit), "</p>\n",
                    overview(*this)});
  }
  for (size_t i = 0; i < functions.size(); ++i) html += function_html(functions[i], i);
  return html + "</main></body></html>\n";
}

}  // namespace graven::engine
