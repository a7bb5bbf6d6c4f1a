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
// For a call that differs from all before in sizes only, which its trace would leave open.
std::string advice_for_open_sizes();
// For get_concrete_function, where a trace of this number serves calls of all sizes.
std::string advice_beside_open_sizes(int64_t number);
// For a value of the program's that has changed.
std::string advice_for_watched(Language language);
std::string advice_for_objects(Language language);
// For values of a class that has a TraceType of the program's own.
std::string advice_for_own_types(Language language);
std::string advice_for_read_sizes(Language language);

}  // namespace graven::engine
