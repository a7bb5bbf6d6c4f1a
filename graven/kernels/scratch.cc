#include "graven/kernels/scratch.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <new>

#include "graven/base/sanitizer.h"
#include "graven/base/strings.h"
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
  Arena arena;
  std::unique_ptr<Level> deeper;
};
thread_local constinit Level outermost;

}  // namespace

std::byte* thread_scratch(size_t bytes) {
  Level* level = &outermost;
  for (int depth = ThreadPool::depth(); depth > 0; --depth) {
    if (!level->deeper) level->deeper.reset(new (std::nothrow) Level());
    if (!level->deeper) return nullptr;
    level = level->deeper.get();
  }
  Arena& arena = level->arena;
  bytes = std::max<size_t>(bytes, 1);  // so null always means that there was no memory
  if (arena.bytes < bytes) {
    arena.release();
    arena.bytes = 0;
    size_t rounded = (bytes + 0xffff) & ~size_t{0xffff};
    arena.memory =
        static_cast<std::byte*>(::operator new (rounded, std::align_val_t{64}, std::nothrow));
    if (!arena.memory) return nullptr;
    arena.bytes = rounded;
  }
  unpoison_memory(arena.memory, bytes);
  poison_memory(arena.memory + bytes, arena.bytes - bytes);
  return arena.memory;
}

Status out_of_scratch(size_t bytes) {
  return Status(Code::kResourceExhausted,
                str_cat("Out of memory when allocating ", bytes,
                        " bytes to compute in. See docs/errors/out-of-memory.md"));
}

Status run_chunks_on_pool(int64_t num_chunks, size_t bytes,
                          FunctionRef<void(int64_t chunk, std::byte* scratch)> body) {
  std::atomic<bool> failed{false};
  auto run_chunk = [&](int64_t chunk) {
    if (std::byte* scratch = thread_scratch(bytes)) {
      body(chunk, scratch);
    } else {
      failed.store(true, std::memory_order_relaxed);
    }
  };
  ThreadPool::shared().run(num_chunks, run_chunk);
  return failed.load(std::memory_order_relaxed) ? out_of_scratch(bytes) : Status();
}

}  // namespace graven::engine
