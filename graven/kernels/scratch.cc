#include "graven/kernels/scratch.h"

#include <new>

#include "graven/base/sanitizer.h"

namespace graven::engine {
namespace {

struct Arena {
  std::byte* memory = nullptr;
  size_t bytes = 0;
  constexpr Arena() = default;
  ~Arena() { release(); }
  void release() {
    if (memory) ::operator delete (memory, std::align_val_t{64});
    memory = nullptr;
  }
};
thread_local constinit Arena arenas[2];

}  // namespace

std::byte* thread_scratch(ScratchUse use, size_t bytes) {
  Arena& arena = arenas[static_cast<int>(use)];
  if (arena.bytes < bytes) {
    arena.release();
    arena.bytes = 0;
    size_t rounded = (bytes + 0xffff) & ~size_t{0xffff};
    arena.memory = static_cast<std::byte*>(::operator new (rounded, std::align_val_t{64}));
    arena.bytes = rounded;
  }
  unpoison_memory(arena.memory, bytes);
  poison_memory(arena.memory + bytes, arena.bytes - bytes);
  return arena.memory;
}

}  // namespace graven::engine
