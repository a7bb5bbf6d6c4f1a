#pragma once
#include <string>

#include "graven/base/ref.h"
#include "graven/base/status.h"
#include "graven/function/trace_type.h"
#include "graven/ir/location.h"

namespace graven::engine {

// One trace of a Function, while it lives: a link in the chain of the traces that go on inside each
// other on this thread.
class TraceLink {
 public:
  // Function and type are borrowed. `function` tells it from others.
  TraceLink(const void* function, const std::string& name, const FunctionType& type);
  ~TraceLink();
  TraceLink(const TraceLink&) = delete;

  // A RecursionError that lists the chain if the Function traces itself, with an equal type, more
  // than kMaxSelfTraces deep: then nothing ends it.
  Status check() const;

  // One level is not enough to know. What ends the recursion may be in no type, a counter of the
  // user's, say; TensorFlow lets such a program go as deep as Python's recursion limit does, which
  // by default is less than this.
  static constexpr int kMaxSelfTraces = 64;

 private:
  friend Status trace_too_deep();
  Status error(const std::string& why) const;
  const void* const function_;
  const std::string& name_;
  const FunctionType& type_;
  const TraceLink* const outer_;
  const Ref<Location> called_at_;  // null if that is not known
};

// The error where a trace would leave too little of the stack (Stack::is_short), with the chain.
Status trace_too_deep();

}  // namespace graven::engine
