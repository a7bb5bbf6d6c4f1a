#include "graven/function/process_bytes.h"

#include <utility>

#include "graven/autodiff/gradient_runner.h"
#include "graven/autodiff/tangent_rule.h"
#include "graven/base/mutex.h"
#include "graven/function/cache_info.h"
#include "graven/ir/recorded_body_bytes.h"
#include "graven/kernels/constant_blocks.h"
#include "graven/kernels/convolution.h"
#include "graven/runtime/compiler.h"
#include "graven/runtime/run_composite.h"

namespace graven::engine {

namespace {

struct Added {
  Mutex mutex;
  std::vector<std::pair<std::string_view, int64_t (*)()>> lines GUARDED_BY(mutex);
};

Added& added() {
  static auto* lines = new Added();
  return *lines;
}

}  // namespace

std::vector<NamedBytes> process_bytes() {
  std::vector<NamedBytes> all = {{"recorded bodies", recorded_body_bytes()},
                                 {"kernels of bodies", body_kernel_bytes()},
                                 {"constant blocks", constant_block_bytes()},
                                 {"gradients asked for", bytes_of_gradients_asked_for()},
                                 {"tangents of ops", bytes_of_tangent_rules()},
                                 {"composites", composite_bytes()},
                                 {"convolutions", convolution_cache_stats().bytes},
                                 {"traces that went", History::bytes_of_all()}};
  MutexLock lock(added().mutex);
  for (const auto& [name, count] : added().lines) all.push_back({name, count()});
  return all;
}

void add_process_bytes(std::string_view name, int64_t (*count)()) {
  MutexLock lock(added().mutex);
  added().lines.emplace_back(name, count);
}

}  // namespace graven::engine
