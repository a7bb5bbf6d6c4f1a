#include "graven/runtime/open_run.h"

#include "graven/base/hash.h"

namespace graven::engine {

constinit thread_local std::span<const Tensor> OpenRun::t_arguments;

uint64_t OpenRun::hash_of_shapes() {
  if (!is_any()) return 0;
  uint64_t hash = t_arguments.size();
  for (const Tensor& argument : t_arguments) {
    const Shape& shape = argument.shape();
    hash = hash_combine(hash, static_cast<uint64_t>(shape.rank()));
    for (const Dim& dim : shape.dims()) {
      hash =
          hash_combine(hash, dim.is_number() ? static_cast<uint64_t>(dim.number()) : ~uint64_t{0});
    }
  }
  return hash | 1;
}

}  // namespace graven::engine
