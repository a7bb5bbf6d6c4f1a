#pragma once
#include <utility>

#include "graven/base/export.h"
#include "graven/base/ref.h"
#include "graven/base/status.h"
#include "graven/runtime/program.h"

namespace graven::engine {

// The error of a run in which a function of the program failed (HostError), with the exception.
class GRAVEN_API HostExecutionError final : public ExecutionError {
 public:
  explicit HostExecutionError(Ref<Payload> cause) : cause_(std::move(cause)) {}
  const Ref<Payload>& cause() const { return cause_; }

 private:
  const Ref<Payload> cause_;
};

}  // namespace graven::engine
