#include "graven/api/config.h"

#include "graven/api/error.h"
#include "graven/tensor/allocator.h"

namespace graven::config {

void set_memory_limit(int64_t num_bytes, std::source_location location) {
  if (num_bytes <= 0) {
    throw_error(engine::value_error("A memory limit must be positive, not ", num_bytes, "."),
                location);
  }
  engine::Allocator::host().set_limit(num_bytes);
}

int64_t get_memory_limit() { return engine::Allocator::host().limit(); }

}  // namespace graven::config
