#include "graven/api/apply.h"

#include "graven/api/location.h"
#include "graven/base/inline_vector.h"
#include "graven/runtime/eager_builder.h"

namespace graven::internal {
namespace {

// The dtype that a number becomes as an input of this kind.
DType dtype_for_number(const engine::Op& op, const engine::ArgSpec& input,
                       std::initializer_list<Operand> operands, engine::AttrsRef attrs) {
  if (input.type_param < 0) return input.fixed;
  const Operand* operand = operands.begin();
  for (const engine::ArgSpec& other : op.inputs()) {
    if (operand == operands.end()) break;
    if (other.type_param == input.type_param && operand->dtype() != DType::kInvalid) {
      return operand->dtype();
    }
    ++operand;
  }
  auto given = attrs.get(op.type_params()[input.type_param].name);
  const auto* dtype = std::get_if<DType>(&given);
  return dtype ? *dtype : DType::kInvalid;
}

[[noreturn]] void throw_none(const engine::Op& op, const std::source_location& location) {
  throw_error(engine::value_error("[", op.name(), "] an input is no tensor (None)"), location);
}

}  // namespace

engine::Tensors apply(const engine::Op& op, std::initializer_list<Operand> operands,
                      engine::AttrsRef attrs, std::string_view name) {
  engine::InlineVector<engine::Tensor, 4> inputs;
  for (const Operand& operand : operands) {
    if (operand.is_number()) {
      DType dtype = dtype_for_number(op, op.inputs()[inputs.size()], operands, attrs);
      // Of two numbers the first decides.
      for (size_t i = 0; i < inputs.size() && dtype == DType::kInvalid; ++i) {
        bool shares = op.inputs()[i].type_param == op.inputs()[inputs.size()].type_param;
        if (shares && inputs[i].object()) dtype = inputs[i].dtype();
      }
      inputs.push_back(operand.as_tensor(dtype));
    } else {
      if (operand.is_none()) throw_none(op, operand.location());
      inputs.push_back(operand.as_tensor());
    }
  }
  return apply(op, {inputs.data(), inputs.size()}, attrs,
               operands.size() ? operands.begin()->location() : std::source_location(), name);
}

engine::Tensors apply(const engine::Op& op, std::span<const engine::Tensor> inputs,
                      engine::AttrsRef attrs, const std::source_location& location,
                      std::string_view name) {
  LocationScope scope(location);
  for (const engine::Tensor& input : inputs) {
    if (!input.object()) throw_none(op, location);
  }
  return value_or_throw(engine::apply(op, inputs, attrs, name), location);
}

}  // namespace graven::internal
