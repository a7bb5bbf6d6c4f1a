#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "graven/base/export.h"
#include "graven/base/status.h"
#include "graven/function/cache_info.h"
#include "graven/function/miss.h"
#include "graven/ir/location.h"

// What Functions have traced and why, and what a call would do: plain data, which both front ends
// give to programs, and its forms as text, JSON and HTML. Made when a program asks for it; between
// times a call pays nothing for it.
namespace graven::engine {

class Cache;
class Entry;

// A line of a graph's text, and the line of the program that made its node.
struct ExplainedLine {
  std::string text = {};
  SourceFrame source = {};  // line 0: unknown
  int kernel = -1;          // of ExplainedTrace::kernels: the one that computes the node
};

// A step of the Program of a trace.
struct ExplainedKernel {
  // A node that the kernel computes: several are fused.
  struct Member {
    std::string op = {}, node = {};
    SourceFrame source = {};  // line 0: unknown
  };
  std::string text = {};  // "[Mul AddV2]"
  double nanoseconds = 0;
  std::vector<Member> members = {};
};

struct ExplainedTrace {
  int64_t number = 0;          // "f#2" is the second trace of f
  std::string name = {};       // of its graph, in errors and dumps: "__inference_f_12"
  std::string signature = {};  // "(x: float32[2, None])"
  int64_t hits = 0;
  double trace_ms = 0;
  int64_t bytes = 0, captured_bytes = 0;
  double age_seconds = 0;
  double traced_at = 0;        // seconds since 1970
  Miss miss = {};              // why it was traced
  SourceFrame called_at = {};  // the call that traced; line 0: unknown
  std::vector<std::string> captures = {};
  std::vector<ExplainedLine> graph = {};
  std::vector<ExplainedKernel> kernels = {};  // none before the first run
  double nanoseconds = 0;                     // of a run, estimated; 0 before the first
};

// What a call would do.
struct ExplainedCall {
  std::string signature = {};  // of the call
  // The trace that it would find; 0: it would trace.
  int64_t number = 0;
  std::string entry_signature = {};
  std::optional<Miss> miss = {};  // why it would trace
  // What the nearest trace cost; 0 if there is none.
  double usual_ms = 0;
  int64_t usual_bytes = 0;
};

struct ExplainedFunction {
  std::string name = {};
  int64_t traces = 0, hits = 0, misses = 0, evictions = 0;
  int64_t bytes = 0, captured_bytes = 0;
  CacheBudget budget = {};
  double trace_ms = 0;  // of all traces, those that went too as far as they are remembered
  std::vector<ExplainedTrace> entries = {};  // that live, in the order of tracing
  std::vector<GoneTrace> gone = {};
  std::vector<CacheEvent> events = {};  // the oldest first
  std::vector<std::string> facts = {};  // such as sizes that its traces depend on
  std::optional<ExplainedCall> call = {};
};

struct GRAVEN_API Explanation {
  std::vector<ExplainedFunction> functions = {};
  bool is_of_process = false;  // of all Functions that live
  int64_t limit = 0;           // of the process: set_trace_cache_bytes

  std::string to_text() const;
  std::string to_json() const;  // one line: an object with a list of `functions`
  // A page that needs no other file.
  std::string to_html() const;
  // Writes the page. An error if the file cannot be written.
  Status write_html(const std::string& path) const;
};

GRAVEN_API ExplainedFunction explain(Cache& cache);
// All Functions of the process, in the order in which they were made.
GRAVEN_API Explanation explain_process();

// What a trace uses beside its arguments: "w: variable float32[2, 1]". Watched values of the
// program belong here too.
std::vector<std::string> captures_of(const Entry& entry);
// The innermost line of a place; line 0 if it is null.
SourceFrame innermost(const Ref<Location>& location);
// "program.py:12 in main"; empty if it is not known.
std::string place_text(const SourceFrame& frame);

}  // namespace graven::engine
