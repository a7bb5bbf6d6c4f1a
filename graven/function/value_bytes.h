#pragma once
#include <cstdint>

#include "graven/base/heap_bytes.h"
#include "graven/function/trace_type.h"
#include "graven/ir/value.h"

namespace graven::engine {

// What values and types take beside themselves, where an entry keeps them. Objects of front ends
// are their own, and eager tensors of whoever made them.
int64_t heap_bytes_of(const Value& value, ByteCount& count);
int64_t heap_bytes_of(const FunctionType& type, ByteCount& count);

}  // namespace graven::engine
