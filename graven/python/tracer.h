#pragma once
#include "graven/function/function.h"
#include "graven/python/function_object.h"

namespace graven::python {

// Runs the Python function of a Function object to trace it. Belongs to that object, whose
// references it uses and does not own.
class PythonTracer final : public engine::Tracer {
 public:
  explicit PythonTracer(FunctionObject* owner) : owner_(owner) {}
  engine::Result<engine::Value> trace(const engine::FunctionType& type,
                                      std::span<const engine::Value> arguments) override;
  engine::Ref<engine::Watches> take_watches() override;

 private:
  FunctionObject* owner_;
};

// The Function whose Python function this thread is tracing, the innermost; or null.
FunctionObject* tracing_function();

// Makes a Function the tracing_function() while it lives.
class TracingFunction {
 public:
  explicit TracingFunction(FunctionObject* function);
  ~TracingFunction();
  TracingFunction(const TracingFunction&) = delete;

 private:
  FunctionObject* outer_;
};

}  // namespace graven::python
