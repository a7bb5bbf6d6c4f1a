#pragma once
#include <cstdint>

namespace graven::engine {

// What libgraven_onednn.so gives the engine. Everything runs on the calling thread alone: the
// engine cuts the work and calls from its own pool. Functions return false where oneDNN refuses
// (a shape it has no kernel for, no memory); the caller then has a kernel of its own.

// c = op(a) op(b), row-major; the leading dimensions are in elements.
struct FloatProduct {
  bool transpose_a, transpose_b;
  int64_t m, n, k;
  const float* a;
  int64_t lda;
  const float* b;
  int64_t ldb;
  float* c;
  int64_t ldc;
};

class OneDnn {
 public:
  virtual bool multiply(const FloatProduct& product) const = 0;

 protected:
  ~OneDnn() = default;
};

// The plugin's only exported symbol, of type OneDnnFactory. The object lives as long as the
// process.
using OneDnnFactory = const OneDnn*();
inline constexpr char kOneDnnFactoryName[] = "graven_onednn";

}  // namespace graven::engine
