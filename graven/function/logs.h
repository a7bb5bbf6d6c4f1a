#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "graven/base/export.h"
#include "graven/base/status.h"
#include "graven/function/cache_info.h"

// Logs that a program or its user asks for, by GRAVEN_LOGS=trace,cache,captures or set_logs. A line
// begins with the trace that it is about, "f#2: ". Without them a call pays nothing: lines are
// about traces that are made or go.
namespace graven::engine {

class Entry;

enum class Topic : uint8_t { kTrace, kCache, kCaptures };
inline constexpr std::string_view kTopicNames[] = {"trace", "cache", "captures"};

// Any thread; at the start, what GRAVEN_LOGS says.
GRAVEN_API bool is_logged(Topic topic);
// "trace,cache"; empty switches all off. A ValueError that lists the topics if one is not known.
GRAVEN_API Status set_logs(std::string_view topics);
GRAVEN_API std::string logs();

// Where lines go: without a sink to standard error, as "graven.trace: f#2: ...". A sink may run
// code of the program; it is called with no lock held but a tracing claim.
using LogSink = void (*)(Topic topic, const std::string& line);
GRAVEN_API void set_log_sink(LogSink sink);
void log_line(Topic topic, const std::string& line);

// The lines; called only if their topic is logged.
void log_traced(const std::string& function, const Entry& entry);
void log_failed(const std::string& function, const std::string& error);
void log_captures(const std::string& function, const Entry& entry);
void log_gone(const std::string& function, const GoneTrace& gone);

}  // namespace graven::engine
