#include "graven/kernels/constant_blocks.h"

#include <map>
#include <new>
#include <utility>

#include "graven/base/heap_bytes.h"
#include "graven/base/mutex.h"
#include "graven/kernels/block_functions.h"
#include "graven/kernels/block_program.h"

namespace graven::engine {
namespace {

constexpr std::align_val_t kAlignment{64};
using Key = std::pair<size_t, uint64_t>;

struct Blocks {
  Mutex mutex;
  std::map<Key, std::weak_ptr<const void>> known GUARDED_BY(mutex);
  static Blocks& global() {
    static auto* blocks = new Blocks();
    return *blocks;
  }
};

size_t size_of(Key key) { return key.first * kRowBlockElements; }

// The last program that held it goes.
void free_block(Key key, void* block) {
  {
    Blocks& blocks = Blocks::global();
    MutexLock lock(blocks.mutex);
    auto at = blocks.known.find(key);
    // Another may have been made meanwhile.
    if (at != blocks.known.end() && at->second.expired()) blocks.known.erase(at);
  }
  ::operator delete(block, kAlignment);
}

}  // namespace

ConstantBlock constant_block(size_t element_size, uint64_t bits) {
  const Key key{element_size, bits};
  Blocks& blocks = Blocks::global();
  MutexLock lock(blocks.mutex);
  std::weak_ptr<const void>& known = blocks.known[key];
  if (ConstantBlock there = known.lock()) return there;
  void* memory = ::operator new(size_of(key), kAlignment);
  splat_function(element_size)(memory, &bits, nullptr, nullptr, kRowBlockElements);
  ConstantBlock made(memory,
                     [key](const void* block) { free_block(key, const_cast<void*>(block)); });
  known = made;
  return made;
}

int64_t constant_block_bytes() {
  // Beside a block: the memory for its alignment, and its counts with the function that frees it.
  constexpr int64_t kBeside = 64 + bytes_of_block(56);
  Blocks& blocks = Blocks::global();
  MutexLock lock(blocks.mutex);
  int64_t total = heap_bytes(blocks.known);
  for (const auto& [key, block] : blocks.known) total += bytes_of_block(size_of(key)) + kBeside;
  return total;
}

}  // namespace graven::engine
