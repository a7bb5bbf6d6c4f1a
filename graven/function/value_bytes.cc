#include "graven/function/value_bytes.h"

#include "graven/ir/graph.h"

namespace graven::engine {
namespace {

int64_t bytes_of(const Ref<const Container>& container, ByteCount& count) {
  return container && count.is_first(container.get()) ? container->num_bytes() : 0;
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
      break;
    case TraceType::Kind::kContainer: {
      const auto& container = static_cast<const ContainerType&>(*type);
      int64_t total = bytes_of_object<ContainerType>() + heap_bytes(container.items()) +
                      bytes_of(container.container(), count);
      for (const TraceTypeRef& item : container.items()) total += bytes_of(item, count);
      return total;
    }
  }
  return 0;  // the front end's
}

}  // namespace

int64_t heap_bytes_of(const Value& value, ByteCount& count) {
  int64_t total = heap_bytes(value.items) + bytes_of(value.container, count) +
                  heap_bytes_of(value.literal) + bytes_of(own_type_of(value), count);
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
