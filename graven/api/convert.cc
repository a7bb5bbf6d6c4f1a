#include "graven/api/convert.h"

#include <algorithm>
#include <cstring>

namespace graven {

void KeyWriter::add_variable(const Variable& variable) {
  if (variable.is_none()) {
    throw_error(engine::type_error("A variable that was never made is no argument"),
                std::source_location());
  }
  const engine::Resource* resource = variable.handle().resource().get();
  auto at = std::find(variables_.begin(), variables_.end(), resource);
  words_.push_back(static_cast<uint64_t>(at - variables_.begin()) << 1 |
                   static_cast<uint64_t>(variable.trainable()));
  add_type(variable.dtype(), variable.shape());
  if (at != variables_.end()) return;
  variables_.push_back(resource);
  tensors_.push_back(variable.handle());
}

void KeyWriter::add_text(const std::string& text) {
  words_.push_back(text.size());
  for (size_t i = 0; i < text.size(); i += sizeof(uint64_t)) {
    uint64_t word = 0;
    std::memcpy(&word, text.data() + i, std::min(sizeof word, text.size() - i));
    words_.push_back(word);
  }
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
