#include "graven/api/convert.h"

namespace graven {

void Convert<Variable>::write_key(KeyWriter& key, const Variable& variable) {
  if (variable.is_none()) {
    throw_error(engine::type_error("A variable that was never made is no argument"),
                std::source_location());
  }
  key.add_variable(variable.handle(), variable.handle().resource().get(), variable.dtype(),
                   variable.shape(), variable.trainable());
}

engine::Value Convert<Variable>::to_value(const Variable& value) {
  engine::Value made;
  made.kind = engine::Value::Kind::kVariable;
  made.tensor = value.handle();
  made.type = engine::make_ref<engine::VariableType>(value.shape(), value.dtype(),
                                                     value.trainable(), 0, engine::Value());
  return made;
}

Variable Convert<Variable>::from_value(const engine::Value& value) {
  return Variable::of_handle(value.tensor);
}

}  // namespace graven
