#include "graven/ir/value.h"

#include <utility>

namespace graven::engine {

Value Value::of_tensor(Tensor tensor) {
  Value value;
  value.kind = Kind::kTensor;
  value.tensor = std::move(tensor);
  return value;
}

Value Value::of_literal(Literal literal) {
  Value value;
  value.literal = std::move(literal);
  return value;
}

Value Value::of_container(Ref<const Container> container, std::vector<Value> items) {
  Value value;
  value.kind = Kind::kContainer;
  value.container = std::move(container);
  value.items = std::move(items);
  return value;
}

Value Value::of_type(Ref<const ValueType> type) {
  Value value;
  value.kind = Kind::kTyped;
  value.type = std::move(type);
  value.is_spec = true;
  return value;
}

const Value& Value::item_in_order(size_t i) const {
  return items[container ? container->position(i) : i];
}
Value& Value::item_in_order(size_t i) { return items[container ? container->position(i) : i]; }

void collect_tensors(const Value& value, std::vector<Tensor>& tensors) {
  if (value.kind == Value::Kind::kTensor || value.kind == Value::Kind::kVariable) {
    tensors.push_back(value.tensor);
    return;
  }
  for (size_t i = 0; i < value.items.size(); ++i) {
    collect_tensors(value.item_in_order(i), tensors);
  }
}

}  // namespace graven::engine
