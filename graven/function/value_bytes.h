#pragma once
#include <cstdint>

#include "graven/base/heap_bytes.h"
#include "graven/function/trace_type.h"
#include "graven/ir/value.h"

namespace graven::engine {

// Heap memory of values and types that an entry keeps. Objects of front ends and eager tensors are
// not counted: their makers own them.
int64_t heap_bytes_of(const Value& value, ByteCount& count);
int64_t heap_bytes_of(const FunctionType& type, ByteCount& count);

}  // namespace graven::engine
