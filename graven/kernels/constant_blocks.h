#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>

#include "graven/base/export.h"

namespace graven::engine {

// kRowBlockElements copies of one value, which block instructions read in place of an input: kept
// once in the process for each value and element size, while some program holds it. Bodies are
// full of 0.5 and 1, and a block of its own for each would be most of what a small program takes.
using ConstantBlock = std::shared_ptr<const void>;  // 64-byte aligned

// bits: those of the value, in the lowest bytes. Any thread.
ConstantBlock constant_block(size_t element_size, uint64_t bits);

// Of all there are now.
GRAVEN_API int64_t constant_block_bytes();

}  // namespace graven::engine
