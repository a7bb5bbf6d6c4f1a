#pragma once
#include <cstddef>

namespace graven::engine {

// Memory of the calling thread, 64-byte aligned, kept and grown for its lifetime: what blocks
// stay in while they are computed. A second request replaces what the first one got, so each
// user asks once, for all it needs. There are two, because a kernel keeps something of its own
// while its chunks, on the same thread, use theirs; and two for each level of chunks within chunks
// (ThreadPool::depth), so that a kernel may run inside another's chunk.
enum class ScratchUse { kChunk, kWholeKernel };
std::byte* thread_scratch(ScratchUse use, size_t bytes);

}  // namespace graven::engine
