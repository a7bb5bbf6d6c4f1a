#include "graven/function/process_bytes.h"

#include "graven/autodiff/gradient_runner.h"
#include "graven/ir/recorded_body_bytes.h"
#include "graven/kernels/constant_blocks.h"
#include "graven/kernels/convolution.h"
#include "graven/runtime/compiler.h"

namespace graven::engine {

std::vector<NamedBytes> process_bytes() {
  return {{"recorded bodies", recorded_body_bytes()},
          {"kernels of bodies", body_kernel_bytes()},
          {"constant blocks", constant_block_bytes()},
          {"gradients asked for", bytes_of_gradients_asked_for()},
          {"convolutions", convolution_cache_stats().bytes}};
}

}  // namespace graven::engine
