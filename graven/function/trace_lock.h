#pragma once
#include <string>

#include "graven/base/export.h"
#include "graven/base/status.h"
#include "graven/function/trace_type.h"

// A trace lock is a file that lists which traces a program makes, for review and for production,
// where a type that was never tried must not be traced unnoticed. One run records it, later runs
// are held to it.
//
//   {"graven_trace_lock": 1}
//   {"function": "model.step", "arguments": {"x": "float32[None, 2]", "config": "an object ..."}}
//
// JSON lines, sorted: each trace once, by the Function's qualified name, with the path and the type
// of each leaf and container of its arguments. Objects are named by their class.
namespace graven::engine {

enum class TraceLockMode : uint8_t { kRecord, kLocked };

// The payload of the refusal of a trace, so that front ends give it a class of its own.
class GRAVEN_API TraceLockRefusal : public Payload {};

// Begins a lock of the process, for traces that are made from now on. kRecord: the file is written
// when end_trace_lock is called, else when the process exits. kLocked: a trace that the file does
// not list is refused before the body runs; a missing or damaged file, or one of another version,
// is an error now. One lock at a time: a second is a kFailedPrecondition error.
GRAVEN_API Status begin_trace_lock(const std::string& path, TraceLockMode mode);
// Ends it, and writes what was recorded. Without effect if there is none.
GRAVEN_API Status end_trace_lock();

// At the first trace, GRAVEN_TRACE_LOCK=record:traces.jsonl or locked:traces.jsonl begins a lock.
// If that fails each trace does, with the reason.

// The refusal (kFailedPrecondition), if a lock does not list the type. An empty name is the
// engine's own Function, which no lock holds.
Status check_trace_lock(const std::string& function, const FunctionType& type);
void record_in_trace_lock(const std::string& function, const FunctionType& type);

}  // namespace graven::engine
