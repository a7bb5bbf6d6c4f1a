#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>

#include "graven/kernels/convolution.h"
#include "graven/tensor/half.h"

namespace graven::engine {

// The interface of libgraven_onednn.so. Everything runs on the calling thread alone: the engine
// cuts the work and calls from its own pool. Functions return false where oneDNN refuses (a shape
// it has no kernel for, no memory); the caller then uses a kernel of its own.

// c = op(a) op(b), row-major; the leading dimensions are in elements.
template <typename T>
struct ProductOf {
  bool transpose_a, transpose_b;
  int64_t m, n, k;
  const T* a;
  int64_t lda;
  const T* b;
  int64_t ldb;
  float* c;
  int64_t ldc;
};
using FloatProduct = ProductOf<float>;
using BFloat16Product = ProductOf<BFloat16>;

enum class ConvolutionDirection : uint8_t { kForward, kInputGradient, kFilterGradient };

// A float32 convolution in one direction, compiled for one shape. Any number of threads may run
// it at once.
class OneDnnConvolution {
 public:
  virtual ~OneDnnConvolution() = default;
  // The filter in oneDNN's own layout, and scratch memory for one run.
  virtual size_t packed_filter_bytes() const = 0;
  virtual size_t scratch_bytes() const = 0;
  virtual bool pack_filter(const float* filter, void* packed) const = 0;
  virtual bool unpack_filter(const void* packed, float* filter) const = 0;
  // Reads two of the three and writes the one that the direction names.
  virtual bool run(float* input, void* packed_filter, float* output, void* scratch) const = 0;
};

class OneDnn {
 public:
  virtual bool multiply(const FloatProduct& product) const = 0;
  // Whether the processor multiplies bfloat16; elsewhere oneDNN is slow at it.
  virtual bool has_bfloat16() const = 0;
  virtual bool multiply(const BFloat16Product& product) const = 0;
  // Null where oneDNN has no fast kernel for it.
  virtual std::unique_ptr<OneDnnConvolution> compile(const Convolution& shape,
                                                     ConvolutionDirection direction) const = 0;

 protected:
  ~OneDnn() = default;
};

// The plugin's only exported symbol, of type OneDnnFactory. The object lives as long as the
// process.
using OneDnnFactory = const OneDnn*();
inline constexpr char kOneDnnFactoryName[] = "graven_onednn";

}  // namespace graven::engine
