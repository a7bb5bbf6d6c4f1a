#include "graven/python/variable_object.h"

#include "graven/ir/structural_ops.h"
#include "graven/runtime/eager_builder.h"

namespace graven::python {

PyTypeObject* variable_base_type = nullptr;

engine::Result<engine::Tensor> read_variable(VariableObject* variable) {
  const engine::Tensor inputs[] = {variable->handle};
  ASSIGN_OR_RETURN(engine::Tensors outputs,
                   engine::apply(*engine::kReadVariable, inputs,
                                 engine::ReadVariableAttrs{variable->variable()->dtype()}));
  return std::move(outputs[0]);
}

}  // namespace graven::python
