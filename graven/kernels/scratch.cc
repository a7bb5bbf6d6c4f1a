#include "graven/kernels/scratch.h"

#include <memory>
#include <new>

#include "graven/base/sanitizer.h"
#include "graven/base/thread_pool.h"

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

// One for each chunk that the thread is in: a kernel that a chunk starts takes nothing from the
// kernels around it.
struct Level {
  Arena arenas[2];
  std::unique_ptr<Level> deeper;
};
thread_local constinit Level outermost;

}  // namespace

std::byte* thread_scratch(ScratchUse use, size_t bytes) {
  Level* level = &outermost;
  for (int depth = ThreadPool::depth(); depth > 0; --depth) {
    if (!level->deeper) level->deeper = std::make_unique<Level>();
    level = level->deeper.get();
  }
  Arena& arena = level->arenas[static_cast<int>(use)];
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
