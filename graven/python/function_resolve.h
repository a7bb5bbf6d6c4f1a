#pragma once
#include <Python.h>

#include <memory>
#include <vector>

#include "graven/base/status.h"
#include "graven/function/function.h"
#include "graven/python/function_arguments.h"
#include "graven/python/function_object.h"

// The entry for arguments whose row is not known: they are described by values and types, by which
// an entry is found or traced.
namespace graven::python {

// The arguments of a call as the engine takes them.
struct Described {
  // Null if words cannot describe the arguments. Not on the stack, which holds one for each trace
  // that goes on inside another.
  std::unique_ptr<ArgumentRow> arguments;
  engine::CallRow row;  // of the arguments
  engine::FunctionType type;
  std::vector<engine::Value> values;
  // Those that are in the row by their code.
  std::span<const FunctionsInRow::Added> functions() const {
    return arguments ? arguments->functions() : std::span<const FunctionsInRow::Added>();
  }
};

// Makes values and types of the arguments. An exception of Python's may be pending when it fails.
engine::Result<Described> describe(FunctionObject* self, const Arguments& bound, bool allow_specs);

// The use that an entry is resolved for.
enum class Purpose { kCall, kConcreteFunction, kInitialization };

// The result of resolve: the entry, and the flat tensors of the arguments.
struct Resolved {
  engine::Ref<engine::Entry> entry;
  std::vector<engine::Tensor> tensors;
  bool has_traced = false;
};

// Finds or traces the entry. An exception of Python's may be pending when it fails with it.
engine::Result<Resolved> resolve(FunctionObject* self, const Arguments& bound, Purpose purpose);

// Notes which trace functions have run that are in the row by their code.
void note_use(FunctionObject* self, const ArgumentRow& row, const engine::Entry& entry);

}  // namespace graven::python
