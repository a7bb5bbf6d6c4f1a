#include "graven/kernels/lapack/working_memory.h"

#include <sys/mman.h>

#include <cstddef>

// OpenBLAS hands out its working memory from one table for all threads. Debian builds it for one
// thread without a lock around that table (0.3.21, USE_LOCKING), so that two callers may get the
// same memory. The linker's --wrap puts these functions in place of it: memory of each thread's
// own.

namespace graven::engine {
namespace {

// BUFFER_SIZE in OpenBLAS. Only pages that are used take memory.
constexpr size_t kBytes = size_t{128} << 20;

// The blocks of a thread that are not in use. A call of OpenBLAS takes one, and none inside of it
// another.
class Blocks {
 public:
  ~Blocks() {
    while (first_) munmap(take(), kBytes);
  }
  bool is_empty() const { return first_ == nullptr; }
  void* take() {
    if (!first_) return map();
    void* block = first_;
    first_ = *static_cast<void**>(block);
    return block;
  }
  void give(void* block) {
    *static_cast<void**>(block) = first_;
    first_ = block;
  }
  static void* map() {
    void* block = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return block == MAP_FAILED ? nullptr : block;
  }

 private:
  void* first_ = nullptr;
};

thread_local Blocks blocks;

}  // namespace

bool prepare_working_memory() {
  if (!blocks.is_empty()) return true;
  void* block = Blocks::map();
  if (block) blocks.give(block);
  return block != nullptr;
}

extern "C" {

// NOLINTNEXTLINE(bugprone-reserved-identifier): the linker's name
void* __wrap_blas_memory_alloc(int) { return blocks.take(); }
// NOLINTNEXTLINE(bugprone-reserved-identifier)
void __wrap_blas_memory_free(void* block) { blocks.give(block); }

}  // extern "C"

}  // namespace graven::engine
