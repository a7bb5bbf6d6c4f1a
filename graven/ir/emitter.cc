#include "graven/ir/emitter.h"

#include <cassert>

#include "graven/ir/structural_ops.h"

namespace graven::engine {

Tensors Emitter::apply(const Op& op, std::span<const Tensor> inputs, AttrsRef attrs,
                       std::string_view name) {
  if (!status_.ok()) return {};
  for (const Tensor& input : inputs) {
    if (!input) {
      fail(internal_error("An input of ", op.name(), " is missing"));
      return {};
    }
  }
  auto outputs = builder_.apply(op, inputs, attrs, name);
  if (!outputs.ok()) {
    fail(outputs.status());
    return {};
  }
  return std::move(*outputs);
}

Tensor Emitter::constant(const Tensor& value, std::string_view name) {
  if (!builder_.graph()) return value;
  return (*this)(kConst, {}, {value, value.dtype()}, name);
}

void Emitter::fail(Status status) {
  if (status_.ok()) status_ = std::move(status);
}

Result<Tensors> expand_composite(Builder& builder, const Op& op, std::span<const Tensor> inputs,
                                 AttrsRef attrs) {
  // Types are checked as the composite op's, so that errors name the op that the user called.
  TypeBindings types;
  RETURN_IF_ERROR(op.bind_types(inputs, attrs, builder.graph() == nullptr, types));
  CompositeContext context(builder, op, inputs, attrs);
  op.record().body.composite()(context);
  RETURN_IF_ERROR(context.status());
  if (context.stays_whole()) {
    assert(context.outputs().empty());
    return Tensors();
  }
  return std::move(context.outputs());
}

}  // namespace graven::engine
