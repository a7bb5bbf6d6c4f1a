#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "graven/base/export.h"
#include "graven/function/cache_info.h"

// The budget of all Functions of the process together. It costs nothing on a hit. After the first
// run of a trace the bytes of its Function are added to a sum, and one entry of another Function is
// counted again, in turn. Only while the sum is over the limit are all entries looked at.
namespace graven::engine {

class Cache;

// Any thread; takes effect at the next trace. `bytes` is positive.
GRAVEN_API void set_trace_cache_bytes(int64_t bytes);
// The limit; before it is set a quarter of the limit of the memory of tensors.
GRAVEN_API int64_t trace_cache_bytes();
// Counts all bytes anew.
GRAVEN_API ProcessCacheInfo trace_cache_info();

// --- For caches.

void register_cache(const std::shared_ptr<Cache>& cache);
void forget_cache(Cache& cache);
// Those of all Functions that live, in the order in which they were made.
std::vector<std::shared_ptr<Cache>> live_caches();
// After the first run of an entry, a newcomer: its serial number, and the hash of its arguments.
// Returns a report for the log, once for a cache, if a trace that went is made again.
std::optional<std::string> settle_in_process(Cache& cache, uint64_t serial, uint64_t key,
                                             bool is_made_again);

}  // namespace graven::engine
