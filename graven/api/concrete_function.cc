#include "graven/api/concrete_function.h"

#include <algorithm>

#include "graven/api/location.h"
#include "graven/api/watched.h"
#include "graven/ir/graph.h"

namespace graven {

std::vector<Tensor> ConcreteFunction::call_flat(const std::vector<Tensor>& arguments,
                                                std::source_location location) const {
  internal::LocationScope scope(location);
  for (const Tensor& argument : arguments) {
    if (argument.is_none()) {
      throw_error(engine::type_error("Expected a tensor for each argument, got None"), location);
    }
  }
  if (entry_->watches()) internal::note_concrete_call(*entry_->watches(), name(), location);
  std::vector<engine::Tensor> inputs(arguments.begin(), arguments.end());
  engine::Tensors outputs;
  throw_if_error(entry_->run_checked(inputs, outputs), location);
  return std::vector<Tensor>(outputs.begin(), outputs.end());
}

engine::Tensors ConcreteFunction::run(std::span<const engine::Tensor> arguments,
                                      const std::source_location& location) const {
  internal::LocationScope scope(location);
  if (entry_->watches()) internal::note_concrete_call(*entry_->watches(), name(), location);
  engine::Tensors outputs;
  throw_if_error(entry_->run(arguments, outputs), location);
  return outputs;
}

void ConcreteFunction::check_types(std::span<const engine::Value> arguments,
                                   const std::source_location& location) const {
  engine::TypingContext context{false, {}};
  const auto& parameters = entry_->type().parameters;
  for (size_t i = 0; i < arguments.size(); ++i) {
    auto type = value_or_throw(engine::type_of(arguments[i], context), location);
    if (type->is_subtype_of(*parameters[i].type)) continue;
    throw_error(
        engine::type_error("Binding inputs to tf.function failed due to `Can not cast ",
                           type->repr(), " to ", parameters[i].type->repr(), "`. Parameter ",
                           parameters[i].name, " of signature: ", entry_->type().signature(),
                           ". See docs/errors/binding-inputs.md"),
        location);
  }
}

std::vector<Tensor> ConcreteFunction::inputs() const {
  std::vector<Tensor> tensors;
  for (engine::Node* input : graph().inputs()) {
    tensors.push_back(engine::symbolic_tensor(entry_->graph(), {input, 0}));
  }
  return tensors;
}

std::vector<Tensor> ConcreteFunction::outputs() const {
  std::vector<Tensor> tensors;
  for (engine::OutputRef output : graph().outputs()) {
    tensors.push_back(engine::symbolic_tensor(entry_->graph(), output));
  }
  return tensors;
}

std::vector<Tensor> ConcreteFunction::captured_inputs() const {
  auto captured = entry_->captured_inputs();
  return std::vector<Tensor>(captured.begin(), captured.end());
}

void ConcreteFunction::set_external_captures(const std::vector<Tensor>& values,
                                             std::source_location location) const {
  throw_if_error(entry_->set_captured_inputs({values.begin(), values.end()}), location);
}

std::vector<Variable> ConcreteFunction::variables() const {
  std::vector<Variable> found;
  for (const engine::Tensor& captured : entry_->captured_inputs()) {
    if (captured.dtype() != DType::kResource || captured.is_symbolic()) continue;
    if (dynamic_cast<engine::Variable*>(captured.resource().get())) {
      found.push_back(Variable::of_handle(captured));
    }
  }
  return found;
}

std::vector<Variable> ConcreteFunction::trainable_variables() const {
  std::vector<Variable> found = variables();
  std::erase_if(found, [](const Variable& variable) { return !variable.trainable(); });
  return found;
}

}  // namespace graven
