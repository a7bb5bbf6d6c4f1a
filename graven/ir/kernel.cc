#include "graven/ir/kernel.h"

namespace graven::engine {

Status KernelContext::allocate_output(int i, DType dtype, const Shape& shape) {
  ASSIGN_OR_RETURN(outputs_[i], Tensor::allocate(dtype, shape, queue_.device()));
  return {};
}

}  // namespace graven::engine
