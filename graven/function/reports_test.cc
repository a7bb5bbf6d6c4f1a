// What reports say, from data as caches give it: each number and text in its place.
#include <doctest/doctest.h>

#include <algorithm>
#include <string_view>

#include "graven/function/explain.h"

namespace graven::engine {
namespace {

TEST_CASE("sizes and times are told in units that keep them short") {
  CHECK(bytes_text(0) == "0 B");
  CHECK(bytes_text(1023) == "1023 B");
  CHECK(bytes_text(1024) == "1.0 KiB");
  CHECK(bytes_text(1536 << 10) == "1.5 MiB");
  CHECK(bytes_text(int64_t{3} << 30) == "3.0 GiB");
  CHECK(bytes_text(int64_t{5} << 40) == "5.0 TiB");
  CHECK(milliseconds_text(9.994) == "9.99 ms");
  CHECK(milliseconds_text(10) == "10.0 ms");
  CHECK(milliseconds_text(99.94) == "99.9 ms");
  CHECK(milliseconds_text(100) == "100 ms");
}

CacheInfo info_of_two_traces() {
  CacheInfo info;
  info.entries = 2;
  info.traces = 12;
  info.bytes = 3 << 10;
  info.hits = 31;
  info.misses = 1;
  info.evictions = 10;
  info.signatures = {{.signature = "(x: TensorSpec(shape=(2, None), dtype=tf.float32, name=None))",
                      .hits = 30,
                      .trace_ms = 1.25,
                      .bytes = 2 << 10,
                      .age_seconds = 119.96,
                      .why_traced = "the first trace"},
                     {.signature = std::string(101, 's'),
                      .hits = 1,
                      .trace_ms = 12.5,
                      .bytes = 1 << 10,
                      .age_seconds = 120,
                      .why_traced = std::string(100, 'w')}};
  return info;
}

TEST_CASE("a cache is told as a table of its traces") {
  CacheInfo info = info_of_two_traces();
  CHECK(info.to_text() ==
        "2 traces of 12 ever made, 3.0 KiB; 31 hits, 1 miss, 10 traces gone\n"
        "  hits      age  trace ms    bytes  signature" +
            std::string(91, ' ') + "  why traced\n" +
            "    30  120.0 s      1.25  2.0 KiB  (x: float32[2, None])" + std::string(79, ' ') +
            "  the first trace\n" + "     1  2.0 min     12.50  1.0 KiB  " + std::string(97, 's') +
            "...  " + std::string(100, 'w'));
}

TEST_CASE("a cache tells its budget, what is captured, and the last eight traces that went") {
  CacheInfo info;
  info.entries = info.traces = info.hits = 1;
  info.bytes = 100;
  info.captured_bytes = 40;
  info.budget = {.max_traces = 3, .max_bytes = 5000};
  const double now = seconds_since_1970();
  for (int i = 0; i < 9; ++i) {
    info.gone.push_back(
        {.signature = "()", .hits = i, .time = now - 1000.0 * i, .why = "cleared", .number = i});
  }
  info.gone.back().time = now + 5;
  CHECK(info.to_text() ==
        "1 trace of 1 ever made, 100 B (40 B of captured tensors); 1 hit, 0 misses, 0 traces gone; "
        "max_traces=3; max_bytes=5000\n"
        "Gone, the last 8:\n"
        "  hits   gone for  signature  why\n"
        "     1   16.7 min  ()         cleared\n"
        "     2   33.3 min  ()         cleared\n"
        "     3   50.0 min  ()         cleared\n"
        "     4   66.7 min  ()         cleared\n"
        "     5   83.3 min  ()         cleared\n"
        "     6  100.0 min  ()         cleared\n"
        "     7  116.7 min  ()         cleared\n"
        "     8      0.0 s  ()         cleared");
}

TEST_CASE("the caches of a process are told as a table of Functions, and what is beside them") {
  ProcessCacheInfo info;
  CHECK(info.to_text() == "0 Functions, 0 B of at most 0 B\nBeside them: nothing");
  info.limit = 1 << 20;
  info.bytes = 300;
  info.captured_bytes = 20;
  info.functions = {{"f", 1, 2, 300, 20, 40, 5, 6}, {"longer", 10, 20, 0, 0, 0, 0, 0}};
  info.beside = {{"locations", 2048}, {"histories", 7}};
  CHECK(info.to_text() ==
        "2 Functions, 300 B of at most 1.0 MiB (20 B of captured tensors)\n"
        "  entries  traces  bytes  hits  misses  gone  function\n"
        "        1       2  300 B    40       5     6  f\n"
        "       10      20    0 B     0       0     0  longer\n"
        "Beside them:\n"
        "  2.0 KiB  locations\n"
        "      7 B  histories");
}

const SourceFrame kLine{.file = "/a/b.py", .line = 12, .function = "main", .text = "f(x < 1)"};

Miss other_size() {
  return {.cause = Miss::Cause::kDiffers,
          .text = "x: long",
          .nearest = 1,
          .path = "x",
          .now = "float32[3]",
          .before = "float32[2]",
          .num_more = 2,
          .advice = "Leave it open."};
}

ExplainedFunction function_of_two_traces() {
  ExplainedFunction f{.name = "f", .traces = 4, .hits = 9, .misses = 3, .evictions = 2};
  f.bytes = 3000;
  f.captured_bytes = 16;
  f.budget = {.max_traces = 2, .max_bytes = 4096};
  f.trace_ms = 7.5;
  f.facts = {"pinned: x"};
  ExplainedTrace first{.number = 1, .name = "__inference_f_1", .signature = "(x: float32[2])"};
  first.hits = 1;
  first.trace_ms = 2.5;
  first.bytes = 1000;
  first.miss = {.cause = Miss::Cause::kFirst, .text = "the first trace"};
  ExplainedTrace second{.number = 3, .name = "__inference_f_3", .signature = "(x: float32[3])"};
  second.hits = 8;
  second.trace_ms = 1.5;
  second.bytes = 2000;
  second.captured_bytes = 16;
  second.age_seconds = 2;
  second.traced_at = 1000;
  second.miss = other_size();
  second.called_at = kLine;
  second.captures = {"w: variable float32[2]"};
  second.graph = {{"%y = Neg(x)", kLine, 0}, {"return %y", {}, -1}};
  second.kernels = {{"[Neg]", 150, {{"Neg", "y", kLine}}}};
  second.nanoseconds = 1500;
  f.entries = {first, second};
  f.gone = {{.signature = "(x)",
             .hits = 5,
             .time = 990,
             .why = "max_traces=2",
             .number = 2,
             .trace_ms = 3.5}};
  f.events = {{CacheEvent::Kind::kTraced, 1, 900, 0, ""},
              {CacheEvent::Kind::kFailed, 0, 910, -1, "no"},
              {CacheEvent::Kind::kWent, 2, 990, -1, "max_traces=2"},
              {CacheEvent::Kind::kTraced, 3, 1000.5, 6, ""}};
  return f;
}

ExplainedCall call_that_would_trace() {
  ExplainedCall call{.signature = "(x: float32[3])"};
  call.miss = other_size();
  call.usual_ms = 2.5;
  call.usual_bytes = 1000;
  return call;
}

TEST_CASE("an explanation as a text") {
  ExplainedFunction f = function_of_two_traces();
  f.call = call_that_would_trace();
  CHECK(Explanation{.functions = {f}}.to_text() ==
        R"(f: 2 traces of 4 ever made, 9 hits, 3 misses, 2 traces gone; 7.50 ms and 2.9 KiB
A call f(x: float32[3]) finds no trace, and would make one
     why     x: float32[3], was float32[2] in f#1, and 2 more
     advice  Leave it open.
     price   about 2.50 ms and 1000 B, as f#1
pinned: x
f#1(x: float32[2]): 1 hit
     why     the first trace
     price   2.50 ms and 1000 B
f#3(x: float32[3]): 8 hits
     why     x: float32[3], was float32[2] in f#1, and 2 more
     advice  Leave it open.
     price   1.50 ms and 2.0 KiB, for the call at /a/b.py:12 in main
     uses    w: variable float32[2]
f#2 went: max_traces=2, after 5 hits)");
}

TEST_CASE("an explanation of a process tells what all hold, and the last forty traces of each") {
  ExplainedFunction f{.name = "f", .bytes = 1024}, g{.name = "g", .bytes = 1024};
  const Miss other{
      .cause = Miss::Cause::kObject, .nearest = 1, .path = "x", .now = "A", .before = "B"};
  for (int i = 1; i <= 41; ++i) f.entries.push_back({.number = i, .miss = other});
  g.call = ExplainedCall{.signature = "(1)", .number = 7, .entry_signature = "(n)"};
  const std::string text =
      Explanation{.functions = {f, g}, .is_of_process = true, .limit = 4096}.to_text();
  CHECK(
      text.starts_with("2 Functions, 2.0 KiB of traces, of at most 4.0 KiB\n\n"
                       "f: 41 traces of 0 ever made, 0 hits, 0 misses, 0 traces gone; 0.00 ms "
                       "and 1.0 KiB\n"
                       "... 1 traces before these\n"
                       "f#2: 0 hits\n"
                       "     why     another object, x: A, was B in f#1\n"));
  CHECK(
      text.ends_with("\n\ng: 0 traces of 0 ever made, 0 hits, 0 misses, 0 traces gone; 0.00 ms "
                     "and 1.0 KiB\n"
                     "A call g(1) finds g#7(n)"));
}

TEST_CASE("an explanation as JSON") {
  ExplainedFunction f = function_of_two_traces();
  f.entries.erase(f.entries.begin());
  f.call = call_that_would_trace();
  CHECK(Explanation{.functions = {f}, .is_of_process = true, .limit = 5}.to_json() ==
        R"j({"functions": [{"name": "f", "call": {"signature": "(x: float32[3])", )j"
        R"j("is_hit": false, "why": {"cause": "differs", "text": "x: long", "nearest": 1, )j"
        R"j("path": "x", "now": "float32[3]", "before": "float32[2]", "more": 2, )j"
        R"j("advice": "Leave it open."}, "usual_ms": 2.5, "usual_bytes": 1000}, )j"
        R"j("traces_ever": 4, "hits": 9, "misses": 3, "gone_ever": 2, "bytes": 3000, )j"
        R"j("captured_bytes": 16, "trace_ms": 7.5, "max_traces": 2, "max_bytes": 4096, )j"
        R"j("facts": ["pinned: x"], "traces": [{"number": 3, "name": "__inference_f_3", )j"
        R"j("signature": "(x: float32[3])", "hits": 8, "trace_ms": 1.5, "bytes": 2000, )j"
        R"j("captured_bytes": 16, "age": 2, "traced_at": 1000, )j"
        R"j("why": {"cause": "differs", "text": "x: long", "nearest": 1, "path": "x", )j"
        R"j("now": "float32[3]", "before": "float32[2]", "more": 2, )j"
        R"j("advice": "Leave it open."}, "called_at": {"file": "/a/b.py", "line": 12, )j"
        R"j("function": "main", "text": "f(x < 1)"}, )j"
        R"j("captures": ["w: variable float32[2]"], "graph": [{"text": "%y = Neg(x)", )j"
        R"j("source": {"file": "/a/b.py", "line": 12, "function": "main", )j"
        R"j("text": "f(x < 1)"}, "kernel": 0}, {"text": "return %y", "source": null, )j"
        R"j("kernel": null}], "kernels": [{"text": "[Neg]", "ns": 150, )j"
        R"j("nodes": [{"op": "Neg", "node": "y", "source": {"file": "/a/b.py", )j"
        R"j("line": 12, "function": "main", "text": "f(x < 1)"}}]}], "run_ns": 1500}], )j"
        R"j("gone": [{"number": 2, "signature": "(x)", "hits": 5, "time": 990, )j"
        R"j("why": "max_traces=2", "trace_ms": 3.5}], "events": [{"event": "traced", )j"
        R"j("time": 900, "trace": 1, "hits": 0}, {"event": "failed", "time": 910, )j"
        R"j("why": "no"}, {"event": "went", "time": 990, "trace": 2, )j"
        R"j("why": "max_traces=2"}, {"event": "traced", "time": 1000.5, "trace": 3, )j"
        R"j("hits": 6}]}], "limit": 5})j");
}

// The texts of a page: a line for each part of it, words with one space between them.
std::string without_tags(const std::string& html) {
  constexpr std::string_view kInLine[] = {"</",  "<a ",   "<b>", "<code",
                                          "<i ", "<span", "<td", "<th"};
  std::string out;
  auto add = [&](char c) {
    const bool is_space = c == ' ' || c == '\n';
    if (is_space && (out.empty() || out.back() == '\n')) return;
    if (is_space && out.back() == ' ') out.pop_back();
    out += c;
  };
  for (size_t at = html.find("<h1>"); at < html.size();) {
    const std::string_view rest = std::string_view(html).substr(at);
    const bool is_tag = rest.front() == '<';
    const bool is_in_line =
        std::ranges::any_of(kInLine, [&](auto tag) { return rest.starts_with(tag); });
    add(is_tag ? (is_in_line ? ' ' : '\n') : rest.front() == '\n' ? ' ' : rest.front());
    at += is_tag ? rest.find('>') + 1 : 1;
  }
  out.erase(out.find_last_not_of(" \n") + 1);
  return out;
}

TEST_CASE("an explanation as a page") {
  ExplainedFunction f = function_of_two_traces();
  f.call = call_that_would_trace();
  CHECK(without_tags(Explanation{.functions = {f}, .is_of_process = true, .limit = 5}.to_html()) ==
        R"page(What was traced, and why
1 Function, 2.9 KiB of traces, of at most 5 B
Function traces hits misses gone spent tracing memory
f 2 9 3 2 7.50 ms 2.9 KiB
f
2 of 2 traces now
4 ever made
75.0 % of calls hit
9 / 3 hits / misses
2 traces gone
7.50 ms spent tracing
2.9 KiB of 4.0 KiB memory
A call f(x: float32[3]) finds no trace, and would make one: x : float32[3] , float32[2] in f#1, and 2 more. That takes about 2.50 ms and 1000 B.
Leave it open.
pinned: x
Timeline
#1 traced
#1
0.0 ms
a trace failed: no
10 s
#2 went: max_traces=2
#2
90 s
6 hits
6
#3 traced
#3
100 s
3 hits
3
now
traced a trace that failed a trace went hits between
Advice
Leave it open. It would have saved 1 trace, 1.50 ms.
Traces
#1 (x: float32[2]) 1 hit &middot; 2.50 ms &middot; 1000 B
Why it was traced
the first trace
What it uses beside its arguments
Nothing.
#3 (x: float32[3]) 8 hits &middot; 1.50 ms &middot; 2.0 KiB
Why it was traced
x : float32[3] , float32[2] in f#1, and 2 more
For the call at b.py:12 f(x &lt; 1)
Leave it open.
What it uses beside its arguments
w: variable float32[2]
Kernels about 1.5 us a run
nodes that it computes from the lines estimate
k0 Neg b.py:12 f(x &lt; 1) 150 ns
Graph __inference_f_3
b.py:12 f(x &lt; 1) k0 %y = Neg(x)
return %y
Gone
why hits traced in signature
#2 max_traces=2 5 3.50 ms (x))page");
}

TEST_CASE("what is nothing is left out of a text and of a page") {
  ExplainedFunction never_called{.name = "f"}, g{.name = "g", .hits = 5};
  never_called.call = ExplainedCall{.signature = "(1)", .miss = other_size()};
  never_called.call->miss->num_more = 0;
  never_called.call->miss->advice = "";
  g.events = {{CacheEvent::Kind::kTraced, 7, 900, 5, ""},  // hits before all that is remembered
              {CacheEvent::Kind::kTraced, 8, 900, 5, ""}};
  const Explanation all{.functions = {never_called, g}};
  CHECK(all.to_text() ==
        R"(f: 0 traces of 0 ever made, 0 hits, 0 misses, 0 traces gone; 0.00 ms and 0 B
A call f(1) finds no trace, and would make one
     why     x: float32[3], was float32[2] in f#1

g: 0 traces of 0 ever made, 5 hits, 0 misses, 0 traces gone; 0.00 ms and 0 B)");
  CHECK(without_tags(all.to_html()) == R"page(What was traced, and why
f
0 traces now
0 ever made
- of calls hit
0 / 0 hits / misses
0 traces gone
0.00 ms spent tracing
0 B memory
A call f(1) finds no trace, and would make one: x : float32[3] , float32[2] in f#1.
g
0 traces now
0 ever made
100.0 % of calls hit
5 / 0 hits / misses
0 traces gone
0.00 ms spent tracing
0 B memory
Timeline
#7 traced
#7
0.0 ms
#8 traced
#8
0.0 ms
now
traced a trace that failed a trace went hits between)page");
}

}  // namespace
}  // namespace graven::engine
