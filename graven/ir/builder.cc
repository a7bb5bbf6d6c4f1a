#include "graven/ir/builder.h"

#include "graven/ir/structural_ops.h"

namespace graven::engine {

Result<Tensors> Builder::call(const Ref<Body>& body, std::span<const Tensor> inputs,
                              std::string_view name) {
  return apply(*call_op(*body), inputs, call_attrs(body), name);
}

}  // namespace graven::engine
