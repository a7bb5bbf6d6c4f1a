#include "graven/kernels/onednn/plugin.h"

#include <dnnl.h>

#include "graven/kernels/onednn/convolution.h"
#include "graven/kernels/onednn/library_call.h"

namespace graven::engine {
namespace {

class Plugin final : public OneDnn {
 public:
  bool multiply(const FloatProduct& p) const override {
    LibraryCall call;
    return dnnl_sgemm(p.transpose_a ? 'T' : 'N', p.transpose_b ? 'T' : 'N', p.m, p.n, p.k, 1.0f,
                      p.a, p.lda, p.b, p.ldb, 0.0f, p.c, p.ldc) == dnnl_success;
  }

  std::unique_ptr<OneDnnConvolution> compile(const Convolution& shape,
                                             ConvolutionDirection direction) const override {
    return compile_convolution(shape, direction);
  }
};

}  // namespace

extern "C" __attribute__((visibility("default"))) const OneDnn* graven_onednn() {
  static const Plugin* plugin = new Plugin();
  return plugin;
}

}  // namespace graven::engine
