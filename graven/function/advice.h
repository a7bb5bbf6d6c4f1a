#pragma once
#include <string>

#include "graven/function/miss.h"
#include "graven/function/trace_type.h"

namespace graven::engine {

// How to make one trace serve calls of both types, which differ first in the leaf at `path`: `now`
// and `before` there. In the words of the language, with specs that can be copied into a program.
std::string advice_for(const std::string& path, const TraceType& now, const TraceType& before,
                       const FunctionType& call, const FunctionType& entry, Language language);
// The same for leaves that are objects, and for tensors whose sizes the body reads as numbers.
std::string advice_for_objects(Language language);
std::string advice_for_read_sizes(Language language);

}  // namespace graven::engine
