#include "graven/api/config.h"

#include "graven/api/error.h"
#include "graven/base/thread_pool.h"
#include "graven/function/process_budget.h"
#include "graven/library/seeds.h"
#include "graven/tensor/allocator.h"

namespace graven::config {

void set_num_threads(int num_threads, std::source_location location) {
  if (num_threads < 0) {
    throw_error(engine::value_error("a number of threads is 0 or more, but got ", num_threads),
                location);
  }
  engine::ThreadPool::shared().set_num_threads(num_threads);
}

int get_num_threads() { return engine::ThreadPool::shared().wanted_threads(); }

void set_memory_limit(int64_t num_bytes, std::source_location location) {
  if (num_bytes <= 0) {
    throw_error(engine::value_error("A memory limit must be positive, not ", num_bytes, "."),
                location);
  }
  engine::Allocator::host().set_limit(num_bytes);
}

int64_t get_memory_limit() { return engine::Allocator::host().limit(); }

void set_trace_cache_bytes(int64_t num_bytes, std::source_location location) {
  if (num_bytes <= 0) {
    throw_error(engine::value_error("A limit of the traces must be positive, not ", num_bytes, "."),
                location);
  }
  engine::set_trace_cache_bytes(num_bytes);
}

int64_t get_trace_cache_bytes() { return engine::trace_cache_bytes(); }

void enable_op_determinism() { engine::require_seeds(); }

engine::ProcessCacheInfo trace_cache_info() { return engine::trace_cache_info(); }

}  // namespace graven::config
