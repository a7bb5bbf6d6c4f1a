#include "graven/kernels/onednn/plugin.h"

#include <dnnl.h>
#include <pthread.h>

#include <cstdlib>

#include "graven/kernels/onednn/convolution.h"
#include "graven/kernels/onednn/library_call.h"

// Exported by oneDNN like dnnl_sgemm, but not declared in its header. Null if a later one has it no
// more.
extern "C" [[gnu::weak]] dnnl_status_t dnnl_gemm_bf16bf16f32(
    char transa, char transb, dnnl_dim_t m, dnnl_dim_t n, dnnl_dim_t k, float alpha,
    const graven::engine::BFloat16* a, dnnl_dim_t lda, const graven::engine::BFloat16* b,
    dnnl_dim_t ldb, float beta, float* c, dnnl_dim_t ldc);

namespace graven::engine {
namespace {

class Plugin final : public OneDnn {
 public:
  bool multiply(const FloatProduct& p) const override {
    LibraryCall call;
    return dnnl_sgemm(p.transpose_a ? 'T' : 'N', p.transpose_b ? 'T' : 'N', p.m, p.n, p.k, 1.0f,
                      p.a, p.lda, p.b, p.ldb, 0.0f, p.c, p.ldc) == dnnl_success;
  }

  bool has_bfloat16() const override {
    return dnnl_gemm_bf16bf16f32 != nullptr &&
           (dnnl_get_effective_cpu_isa() & dnnl_cpu_isa_avx512_core_bf16) ==
               dnnl_cpu_isa_avx512_core_bf16;
  }
  bool multiply(const BFloat16Product& p) const override {
    LibraryCall call;
    return dnnl_gemm_bf16bf16f32(p.transpose_a ? 'T' : 'N', p.transpose_b ? 'T' : 'N', p.m, p.n,
                                 p.k, 1.0f, p.a, p.lda, p.b, p.ldb, 0.0f, p.c,
                                 p.ldc) == dnnl_success;
  }

  std::unique_ptr<OneDnnConvolution> compile(const Convolution& shape,
                                             ConvolutionDirection direction) const override {
    return compile_convolution(shape, direction);
  }
};

// oneDNN asks malloc for working memory at each product, a few hundred KiB, and gives it back at
// its end. As glibc starts out, so much that lies idle at the end of a heap goes back to the
// system, and the next product takes it from there again, page by page. A large block that is freed
// once raises what glibc keeps to twice its size ("dynamic mmap threshold" in mallopt(3)).
void let_malloc_keep_working_memory() {
  constexpr size_t kLarge = 8 << 20;
  void* block = std::malloc(kLarge);
  asm volatile("" : : "g"(block) : "memory");  // or the compiler leaves both calls out
  std::free(block);
}

}  // namespace

extern "C" {

__attribute__((visibility("default"))) const OneDnn* graven_onednn() {
  static const Plugin* plugin = [] {
    let_malloc_keep_working_memory();
    pthread_atfork(nullptr, nullptr, [] { LibraryCall::calls().forget(); });
    return new Plugin();
  }();
  return plugin;
}

__attribute__((visibility("default"))) void graven_end_calls() { LibraryCall::calls().end(); }

}  // extern "C"

}  // namespace graven::engine
