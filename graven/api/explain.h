#pragma once
#include <source_location>
#include <string>
#include <string_view>

#include "graven/base/export.h"
#include "graven/function/explain.h"
#include "graven/function/trace_lock.h"

namespace graven {

using engine::Explanation;
using engine::TraceLockMode;

// What all functions of the process have traced, and why.
GRAVEN_API Explanation explain();
// Writes a page that shows an explanation and needs no other file. An Error if the file cannot be
// written.
GRAVEN_API void write_html(const Explanation& explanation, const std::string& path,
                           std::source_location location = std::source_location::current());

// Records which traces the process makes from now on, in a file that is written when it exits or
// calls end_trace_lock(); or holds it to such a file: a trace that it does not list is a
// TraceLockError before the body runs. Functions are told apart by FunctionOptions::name. An Error
// if the file cannot be written, is missing, damaged or of another version, or if there is a lock
// already. GRAVEN_TRACE_LOCK=record:PATH or locked:PATH does the same for a program as it is.
GRAVEN_API void trace_lock(const std::string& path, TraceLockMode mode = TraceLockMode::kRecord,
                           std::source_location location = std::source_location::current());
GRAVEN_API void end_trace_lock(std::source_location location = std::source_location::current());

namespace logging {

// Logs traces with their reasons ("trace"), traces that go ("cache"), and what traces use beside
// their arguments ("captures") to standard error: "trace,cache", as GRAVEN_LOGS does. Empty ends
// it. A ValueError for another name.
GRAVEN_API void set_logs(std::string_view topics,
                         std::source_location location = std::source_location::current());
GRAVEN_API std::string get_logs();

}  // namespace logging
}  // namespace graven
