#pragma once
#include <string>

#include "graven/base/ref.h"
#include "graven/base/status.h"
#include "graven/function/trace_type.h"
#include "graven/ir/location.h"

namespace graven::engine {

// One running trace of a Function: a link in the chain of traces that run inside each other on this
// thread.
class TraceLink {
 public:
  // Function and type are borrowed. `function` is an address that identifies the Function.
  TraceLink(const void* function, const std::string& name, const FunctionType& type);
  ~TraceLink();
  TraceLink(const TraceLink&) = delete;

  // A RecursionError that lists the chain if the Function traces itself, with an equal type, more
  // than kMaxSelfTraces deep: such a recursion would not end.
  Status check() const;

  // One level is not enough to know. The recursion may end by a value that is in no type, a counter
  // of the user's, say. TensorFlow lets such a program go as deep as Python's recursion limit,
  // which by default is less than this.
  static constexpr int kMaxSelfTraces = 64;

 private:
  friend Status trace_too_deep();
  Status error(const std::string& why) const;
  const void* const function_;
  const std::string& name_;
  const FunctionType& type_;
  const TraceLink* const outer_;
  const Ref<Location> called_at_;  // null if unknown
};

// The error for a trace that would leave too little of the stack (Stack::is_short), with the chain.
Status trace_too_deep();

}  // namespace graven::engine
