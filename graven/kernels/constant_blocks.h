#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>

#include "graven/base/export.h"

namespace graven::engine {

// kRowBlockElements copies of one value, which block instructions read in place of an input. The
// process keeps one block for each value and element size, while a program holds it. Bodies are
// full of 0.5 and 1, and blocks of their own would be most of a small program's memory.
using ConstantBlock = std::shared_ptr<const void>;  // 64-byte aligned

// bits: the value's, in the lowest bytes. Any thread.
ConstantBlock constant_block(size_t element_size, uint64_t bits);

// The bytes of all blocks that exist now.
GRAVEN_API int64_t constant_block_bytes();

}  // namespace graven::engine
