#include "graven/api/explain.h"

#include "graven/api/error.h"
#include "graven/function/logs.h"

namespace graven {

Explanation explain() { return engine::explain_process(); }

void write_html(const Explanation& explanation, const std::string& path,
                std::source_location location) {
  throw_if_error(explanation.write_html(path), location);
}

void trace_lock(const std::string& path, TraceLockMode mode, std::source_location location) {
  throw_if_error(engine::begin_trace_lock(path, mode), location);
}

void end_trace_lock(std::source_location location) {
  throw_if_error(engine::end_trace_lock(), location);
}

namespace logging {

void set_logs(std::string_view topics, std::source_location location) {
  throw_if_error(engine::set_logs(topics), location);
}

std::string get_logs() { return engine::logs(); }

}  // namespace logging
}  // namespace graven
