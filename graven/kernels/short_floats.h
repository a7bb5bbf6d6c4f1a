#pragma once
#include <cstdint>

#include "graven/kernels/scratch_block.h"
#include "graven/tensor/dtype.h"

namespace graven::engine {

// half and bfloat16, which kernels compute in float32.
constexpr bool is_short_float(DType dtype) {
  return dtype == DType::kHalf || dtype == DType::kBFloat16;
}

// Elements of a short float as floats, in scratch memory; get() is null if there is none left.
// Converts on the pool.
class Floats {
 public:
  // Uninitialised, for a result.
  explicit Floats(int64_t num_elements);
  Floats(DType dtype, const void* from, int64_t num_elements);

  float* get() const { return static_cast<float*>(scratch_.get()); }
  // Writes them rounded to nearest even.
  void round_to(DType dtype, void* to) const;

 private:
  int64_t num_elements_;
  ScratchBlock scratch_;
};

}  // namespace graven::engine
