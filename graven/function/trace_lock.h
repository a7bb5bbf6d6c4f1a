#pragma once
#include <string>

#include "graven/base/export.h"
#include "graven/base/status.h"
#include "graven/function/trace_type.h"
#include "graven/function/type_text.h"

// A trace lock is a file that lists which traces a program makes, for review and for production,
// where a type that was never tried must not be traced unnoticed. One run records it, later runs
// are held to it.
//
//   {"graven_trace_lock": 1}
//   {"function": "model.step", "arguments": {"x": "float32[None, 2]", "config": "an object ..."},
//    "watched": {"rate": "0.1"}}
//
// JSON lines, sorted: each trace once, by the Function's qualified name, with the path and the type
// of each leaf and container of its arguments. Objects are named by their class. The types are
// those that the trace serves: a size is None only if the trace left it open and its body did not
// read it. Beside them the plain values (numbers, text) that it has read and watches, if there are
// any.
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

// The refusal (kFailedPrecondition), if a lock does not list the type, or lists it with other
// values than those that are watched, by name. A listed type with open sizes covers all of them.
// An empty name is the engine's own Function, which no lock holds.
Status check_trace_lock(const std::string& function, const FunctionType& type,
                        const Leaves& watched);
void record_in_trace_lock(const std::string& function, const FunctionType& type,
                          const Leaves& watched);
// True if traces are checked or recorded, so that what they watch is of interest.
GRAVEN_API bool has_trace_lock();

// The trace that goes on on this thread, for front ends that know before it runs what it reads.
class GRAVEN_API TraceLockScope {
 public:
  TraceLockScope(const std::string& function, const FunctionType& type);
  ~TraceLockScope();
  TraceLockScope(const TraceLockScope&) = delete;
  // As check_trace_lock, for the innermost; OK if there is none.
  static Status check(const Leaves& watched);

 private:
  const std::string& function_;
  const FunctionType& type_;
  TraceLockScope* const outer_;
};

}  // namespace graven::engine
