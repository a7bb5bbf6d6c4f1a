#include "graven/tensor/allocator.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdlib>
#include <fstream>
#include <string>
#include <utility>

#include "graven/base/mutex.h"
#include "graven/base/sanitizer.h"

namespace graven::engine {
namespace {

constexpr size_t kSmallest = 64;
// Bytes behind each block that the address sanitizer does not let anyone touch; no block ends
// without.
constexpr size_t kRedZone = kAddressSanitizer ? 16 : 0;
constexpr int kNumClasses = 4 * 42;
constexpr size_t kArenaBytes = 1 << 20;
constexpr size_t kLargestInArena = 128 << 10;
// Scalars, shapes and axes: the engine itself needs them to report that there is no memory.
constexpr size_t kNeverRefused = 4096;
// Free blocks of large classes beyond this many bytes go back to the system.
constexpr int64_t kMaxIdleBytes = int64_t{1} << 30;

// Class c holds blocks of (4 + c % 4) * 2^(c / 4) * 16 bytes: 64, 80, 96, 112, 128, 160, ...
constexpr size_t class_bytes(int c) { return (4 + c % 4) * (size_t{16} << (c / 4)); }

constexpr int class_of(size_t bytes) {
  if (bytes <= kSmallest) return 0;
  int power = std::bit_width(bytes - 1) - 7;  // class_bytes(4 * power) < bytes <= twice that
  size_t step = size_t{16} << power;
  int quarter = static_cast<int>((bytes + step - 1) / step) - 4;
  return 4 * power + quarter;
}
static_assert(class_of(64) == 0 && class_of(65) == 1 && class_of(80) == 1 && class_of(128) == 4 &&
              class_of(129) == 5 && class_bytes(5) == 160);

// Rounded up to a multiple of 64, so that neighbours in an arena stay aligned.
constexpr size_t block_bytes(int c) { return (class_bytes(c) + 63) / 64 * 64; }

struct FreeBlock {
  FreeBlock* next;
};

// Of a block's `size` bytes, `bytes` were asked for.
void mark_in_use(void* block, size_t bytes, size_t size) {
  unpoison_memory(block, bytes);
  poison_memory(static_cast<char*>(block) + bytes, size - bytes);
}

int64_t read_limit_file(const char* path) {
  std::ifstream file(path);
  std::string text;
  if (!(file >> text) || text == "max") return -1;
  return std::strtoll(text.c_str(), nullptr, 10);
}

int64_t limit_of_container() {
  int64_t machine = int64_t{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGE_SIZE);
  for (const char* path :
       {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}) {
    int64_t limit = read_limit_file(path);
    if (limit > 0) return std::min(limit, machine);
  }
  return machine;
}

}  // namespace

struct Allocator::State {
  struct Class {
    Mutex mutex;
    FreeBlock* free GUARDED_BY(mutex) = nullptr;
  };
  Class classes[kNumClasses];
  Mutex arena_mutex;
  char* arena GUARDED_BY(arena_mutex) = nullptr;
  size_t arena_left GUARDED_BY(arena_mutex) = 0;
  std::atomic<int64_t> in_use{0}, peak{0}, held{0}, idle_large{0}, allocations{0}, system{0};
  std::atomic<int64_t> limit{limit_of_container()};

  void* from_system(size_t bytes) {
    void* block = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (block == MAP_FAILED) return nullptr;
    // Large pages save most of the page faults of a fresh buffer.
    if (bytes >= (4u << 20)) madvise(block, bytes, MADV_HUGEPAGE);
    held += static_cast<int64_t>(bytes);
    ++system;
    return block;
  }

  void to_system(void* block, int64_t bytes) {
    unpoison_memory(block, bytes);  // the next owner of these addresses knows nothing of us
    munmap(block, bytes);
    held -= bytes;
  }

  void* from_arena(size_t bytes) {
    MutexLock lock(arena_mutex);
    if (arena_left < bytes) {
      auto* fresh = static_cast<char*>(from_system(kArenaBytes));
      if (!fresh) return nullptr;
      arena = fresh;  // the rest of the old one is at most one block of the largest class
      arena_left = kArenaBytes;
    }
    void* block = arena;
    arena += bytes;
    arena_left -= bytes;
    return block;
  }
};

Allocator& Allocator::host() {
  static Allocator* allocator = new Allocator();
  return *allocator;
}

Allocator::Allocator() : state_(new State()) {}

void* Allocator::allocate(size_t bytes) {
  State& s = *state_;
  if (bytes > (size_t{1} << 46)) return nullptr;
  int c = class_of(bytes + kRedZone);
  size_t size = block_bytes(c);
  int64_t now = s.in_use.fetch_add(static_cast<int64_t>(size), std::memory_order_relaxed) +
                static_cast<int64_t>(size);
  if (bytes > kNeverRefused && now > s.limit.load(std::memory_order_relaxed)) {
    s.in_use.fetch_sub(static_cast<int64_t>(size), std::memory_order_relaxed);
    return nullptr;
  }
  int64_t peak = s.peak.load(std::memory_order_relaxed);
  while (now > peak && !s.peak.compare_exchange_weak(peak, now, std::memory_order_relaxed)) {
  }
  s.allocations.fetch_add(1, std::memory_order_relaxed);
  FreeBlock* block = nullptr;
  {
    MutexLock lock(s.classes[c].mutex);
    block = s.classes[c].free;
    if (block) {
      unpoison_memory(block, sizeof(FreeBlock));
      s.classes[c].free = block->next;
    }
  }
  if (block) {
    if (size > kLargestInArena) s.idle_large -= static_cast<int64_t>(size);
    mark_in_use(block, bytes, size);
    return block;
  }
  void* fresh = size <= kLargestInArena ? s.from_arena(size) : s.from_system(size);
  if (!fresh && size > kLargestInArena) {
    trim();
    fresh = s.from_system(size);
  }
  if (fresh) {
    mark_in_use(fresh, bytes, size);
  } else {
    s.in_use.fetch_sub(static_cast<int64_t>(size), std::memory_order_relaxed);
  }
  return fresh;
}

void Allocator::free(void* block, size_t bytes) {
  State& s = *state_;
  int c = class_of(bytes + kRedZone);
  auto size = static_cast<int64_t>(block_bytes(c));
  s.in_use.fetch_sub(size, std::memory_order_relaxed);
  if (size > static_cast<int64_t>(kLargestInArena)) {
    if (s.idle_large.fetch_add(size) + size > kMaxIdleBytes) {
      s.idle_large -= size;
      s.to_system(block, size);
      return;
    }
  }
  auto* freed = static_cast<FreeBlock*>(block);
  unpoison_memory(freed, sizeof(FreeBlock));
  MutexLock lock(s.classes[c].mutex);
  freed->next = s.classes[c].free;
  s.classes[c].free = freed;
  poison_memory(freed, size);
}

MemoryStats Allocator::stats() const {
  MemoryStats stats;
  stats.in_use = state_->in_use;
  stats.peak_in_use = state_->peak;
  stats.held = state_->held;
  stats.num_allocations = state_->allocations;
  stats.num_system_allocations = state_->system;
  return stats;
}

void Allocator::reset_peak() { state_->peak = state_->in_use.load(); }

void Allocator::trim() {
  State& s = *state_;
  for (int c = class_of(kLargestInArena + 1); c < kNumClasses; ++c) {
    FreeBlock* block;
    {
      MutexLock lock(s.classes[c].mutex);
      block = std::exchange(s.classes[c].free, nullptr);
    }
    auto size = static_cast<int64_t>(block_bytes(c));
    while (block) {
      unpoison_memory(block, sizeof(FreeBlock));
      FreeBlock* next = block->next;
      s.to_system(block, size);
      s.idle_large -= size;
      block = next;
    }
  }
}

void Allocator::set_limit(int64_t bytes) { state_->limit = bytes; }
int64_t Allocator::limit() const { return state_->limit; }

}  // namespace graven::engine
