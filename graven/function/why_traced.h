#pragma once
#include <span>
#include <string>

#include "graven/base/ref.h"
#include "graven/function/trace_type.h"

namespace graven::engine {

class Entry;

// Why arguments of this type had to be traced, beside these entries of the Function: the argument
// that differs from the nearest entry's, as "x[1]['mask']: TensorSpec(...), was TensorSpec(...)".
// Runs no code of the program: objects that such code compares
// are only named. Never empty.
std::string why_traced(const FunctionType& type, std::span<const Ref<Entry>> entries);

}  // namespace graven::engine
