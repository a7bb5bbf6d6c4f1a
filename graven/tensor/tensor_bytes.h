#pragma once
#include <cstdint>

#include "graven/base/export.h"
#include "graven/base/heap_bytes.h"
#include "graven/tensor/tensor.h"

namespace graven::engine {

// The bytes of an eager tensor: its object, and its elements, which others may share. 0 for an
// empty handle, for a symbolic tensor, and for parts that `count` has counted before.
GRAVEN_API int64_t bytes_of_tensor(const Tensor& tensor, ByteCount& count);

}  // namespace graven::engine
