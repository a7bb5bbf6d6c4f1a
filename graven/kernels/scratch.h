#pragma once
#include <cstddef>
#include <cstdint>

#include "graven/base/denormals.h"
#include "graven/base/function_ref.h"
#include "graven/base/status.h"
#include "graven/base/thread_pool.h"

namespace graven::engine {

// Calls body(i, scratch) once for each i in [0, num_chunks), on the pool if there are several. Each
// call gets `bytes` bytes of scratch, 64-byte aligned, for the blocks that it computes. The scratch
// belongs to the chunk's thread, is kept for the thread's lifetime and grows, so it should be
// little, whatever the size of tensors; ScratchBlock is for more. kResourceExhausted if there is
// none; then some chunks did not run.
//
// There is such memory for each level of chunks within chunks (ThreadPool::depth), so a kernel may
// run inside another's chunk. Chunks that run one after the other on a thread share it.
template <typename Body>
Status run_chunks(int64_t num_chunks, size_t bytes, const Body& body);

// The same memory for a caller within another's chunk; null if there is none. A second request of
// the chunk replaces the memory of the first.
std::byte* thread_scratch(size_t bytes);

// The error for so many bytes of scratch that cannot be had.
Status out_of_scratch(size_t bytes);

// --- Implementation.

// Any number of chunks.
Status run_chunks_on_pool(int64_t num_chunks, size_t bytes,
                          FunctionRef<void(int64_t chunk, std::byte* scratch)> body);

template <typename Body>
Status run_chunks(int64_t num_chunks, size_t bytes, const Body& body) {
  if (num_chunks != 1) return run_chunks_on_pool(num_chunks, bytes, body);
  std::byte* scratch = thread_scratch(bytes);
  if (!scratch) return out_of_scratch(bytes);
  const FlushDenormals flush;
  body(0, scratch);
  return {};
}

}  // namespace graven::engine
