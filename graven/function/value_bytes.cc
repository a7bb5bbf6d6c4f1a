#include "graven/function/value_bytes.h"

#include "graven/ir/graph.h"

namespace graven::engine {
namespace {

int64_t heap_bytes_of(const Literal& literal) {
  if (const auto* text = std::get_if<std::string>(&literal)) return heap_bytes(*text);
  if (const auto* bytes = std::get_if<Bytes>(&literal)) return heap_bytes(bytes->data);
  return 0;
}

int64_t heap_bytes_of(const std::vector<std::string>& names, const std::vector<Literal>& keys) {
  int64_t total = heap_bytes(names) + heap_bytes(keys);
  for (const std::string& name : names) total += heap_bytes(name);
  for (const Literal& key : keys) total += heap_bytes_of(key);
  return total;
}

int64_t bytes_of(const TraceTypeRef& type, ByteCount& count) {
  if (!type || !count.is_first(type.get())) return 0;
  switch (type->kind()) {
    case TraceType::Kind::kTensor: {
      const auto& name = static_cast<const TensorType&>(*type).name();
      return bytes_of_object<TensorType>() + (name ? heap_bytes(*name) : 0);
    }
    case TraceType::Kind::kVariable:
      return bytes_of_object<VariableType>();
    case TraceType::Kind::kLiteral:
      return bytes_of_object<LiteralType>() +
             heap_bytes_of(static_cast<const LiteralType&>(*type).literal());
    case TraceType::Kind::kObject:
      return bytes_of_object<ObjectType>();
    case TraceType::Kind::kForeign:
      return 0;  // the front end's
    default: {
      const auto& container = static_cast<const ContainerType&>(*type);
      int64_t total = bytes_of_object<ContainerType>() + heap_bytes(container.items()) +
                      heap_bytes_of(container.names(), container.keys()) +
                      heap_bytes(container.class_name());
      for (const TraceTypeRef& item : container.items()) total += bytes_of(item, count);
      return total;
    }
  }
}

}  // namespace

int64_t heap_bytes_of(const Value& value, ByteCount& count) {
  int64_t total = heap_bytes(value.items) + heap_bytes_of(value.names, value.keys) +
                  heap_bytes(value.class_name) + heap_bytes_of(value.literal) +
                  bytes_of(own_type_of(value), count);
  if (value.tensor && value.tensor.is_symbolic() && count.is_first(value.tensor.get())) {
    total += bytes_of_object<SymbolicTensor>();
  }
  for (const Value& item : value.items) total += heap_bytes_of(item, count);
  return total;
}

int64_t heap_bytes_of(const FunctionType& type, ByteCount& count) {
  int64_t total =
      heap_bytes(type.parameters) + heap_bytes(type.captures) + bytes_of(type.output, count);
  for (const Parameter& parameter : type.parameters) {
    total += heap_bytes(parameter.name) + bytes_of(parameter.type, count);
  }
  for (const auto& [key, captured] : type.captures) total += bytes_of(captured, count);
  return total;
}

}  // namespace graven::engine
