#pragma once
#include <cstddef>

#include "graven/tensor/allocator.h"

namespace graven::engine {

// Memory that a kernel needs while it runs, from the allocator of buffers, so in steady state none
// is taken from the system. get() is null if there is none left.
class ScratchBlock {
 public:
  explicit ScratchBlock(size_t bytes) : bytes_(bytes), block_(Allocator::host().allocate(bytes)) {}
  ~ScratchBlock() {
    if (block_) Allocator::host().free(block_, bytes_);
  }
  ScratchBlock(const ScratchBlock&) = delete;

  void* get() const { return block_; }

 private:
  size_t bytes_;
  void* block_;
};

}  // namespace graven::engine
