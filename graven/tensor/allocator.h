#pragma once
#include <cstddef>
#include <cstdint>

#include "graven/base/export.h"

namespace graven::engine {

// Counts of the process' tensor memory, in bytes.
struct MemoryStats {
  int64_t in_use = 0;                  // in live buffers, rounded up to their size classes
  int64_t peak_in_use = 0;             // the largest in_use since the start or reset_peak
  int64_t held = 0;                    // taken from the system: in use or kept for reuse
  int64_t num_allocations = 0;         // since the start
  int64_t num_system_allocations = 0;  // of these, the ones that had to ask the system
};

// The source of buffers: blocks in size classes (four to each power of two), 64-byte aligned, kept
// for reuse when they are freed, small ones cut from larger arenas. So a loop in steady state takes
// no memory from the system. Any thread may call any member.
class GRAVEN_API Allocator {
 public:
  static Allocator& host();

  // At least `bytes` bytes, not cleared; null if that would exceed the limit or the system
  // refuses. allocate(0) is a valid pointer that may not be read.
  void* allocate(size_t bytes);
  // `bytes` is the size given to allocate.
  void free(void* block, size_t bytes);

  MemoryStats stats() const;
  void reset_peak();
  // Gives blocks that are kept for reuse back to the system.
  void trim();

  // An allocation that would make in_use exceed this fails (a ResourceExhaustedError). The
  // default is the container's limit, or the machine's memory where there is none.
  void set_limit(int64_t bytes);
  int64_t limit() const;

 private:
  Allocator();
  struct State;
  State* state_;  // leaked on purpose: buffers may outlive static destruction
};

}  // namespace graven::engine
