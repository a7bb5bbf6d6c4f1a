#include "graven/control/row_types.h"

#include <utility>

#include "graven/base/strings.h"

namespace graven::engine {
namespace {

// A value of a type, with empty tensors.
Result<Value> empty_value(TraceTypeRef type) {
  const auto* composite = dynamic_cast<const CompositeType*>(type.get());
  if (!composite) return Value::of_tensor(Tensor());
  Value value;
  value.kind = Value::Kind::kTyped;
  ASSIGN_OR_RETURN(const auto types, composite->tensor_types());
  for (size_t i = 0; i < types.size(); ++i) value.items.push_back(Value::of_tensor(Tensor()));
  value.type = std::move(type);
  return value;
}

// The value with other types of its composite tensors, and empty tensors in these.
template <typename TypeOf>
Result<Value> with_types(Value value, const TypeOf& type_of) {
  if (value.kind == Value::Kind::kContainer) {
    for (Value& item : value.items) {
      ASSIGN_OR_RETURN(item, with_types(std::move(item), type_of));
    }
    return value;
  }
  const CompositeType* composite = composite_type_of(value);
  if (!composite || value.items.empty()) return value;
  ASSIGN_OR_RETURN(TraceTypeRef type, type_of(*composite));
  if (!type) return type_error("Values of ", composite->repr(), " have no rows, and are no rows");
  return empty_value(std::move(type));
}

}  // namespace

const CompositeType* composite_type_of(const Value& leaf) {
  return leaf.kind == Value::Kind::kTyped ? dynamic_cast<const CompositeType*>(leaf.type.get())
                                          : nullptr;
}

Result<std::vector<int>> ragged_ranks_of(const Value& rows, std::string_view cannot) {
  std::vector<int> ranks;
  if (rows.kind == Value::Kind::kTensor) ranks.push_back(0);
  if (rows.kind == Value::Kind::kContainer) {
    for (size_t i = 0; i < rows.items.size(); ++i) {
      ASSIGN_OR_RETURN(const auto own, ragged_ranks_of(rows.item_in_order(i), cannot));
      ranks.insert(ranks.end(), own.begin(), own.end());
    }
  }
  const CompositeType* composite = composite_type_of(rows);
  if (!composite || rows.items.empty()) return ranks;
  ASSIGN_OR_RETURN(const auto own, composite->ragged_ranks());
  if (!own) return type_error(cannot, " values of ", composite->repr(), ", which have no rows");
  return *own;
}

Result<Value> row_of(Value rows) {
  return with_types(std::move(rows), [](const CompositeType& type) { return type.type_of_row(); });
}

Result<Value> rows_of(Value row, std::optional<int64_t> count) {
  return with_types(std::move(row),
                    [&](const CompositeType& type) { return type.type_of_rows(count); });
}

Result<Value> signature_of_row(const Value& rows) {
  if (rows.kind == Value::Kind::kTensor) {
    return Value::of_type(make_ref<TensorType>(Shape::unknown_rank(), rows.tensor.dtype()));
  }
  Value value = rows;
  for (Value& item : value.items) {
    if (rows.kind != Value::Kind::kContainer) break;
    ASSIGN_OR_RETURN(item, signature_of_row(item));
  }
  const CompositeType* composite = composite_type_of(rows);
  if (!composite || rows.items.empty()) return value;
  ASSIGN_OR_RETURN(const TraceTypeRef open, composite->with_shape(Shape::unknown_rank()));
  const auto* open_type = dynamic_cast<const CompositeType*>(open.get());
  ASSIGN_OR_RETURN(TraceTypeRef row, (open_type ? open_type : composite)->type_of_row());
  return Value::of_type(std::move(row));
}

Result<Value> value_of(const Value& signature) {
  if (signature.kind == Value::Kind::kTyped && signature.items.empty()) {
    return empty_value(own_type_of(signature));
  }
  Value value = signature;
  for (Value& item : value.items) {
    ASSIGN_OR_RETURN(item, value_of(item));
  }
  return value;
}

Result<std::vector<Ref<const TensorType>>> tensor_types_of(const Value& signature) {
  std::vector<Ref<const TensorType>> types;
  if (const CompositeType* type = composite_type_of(signature)) return type->tensor_types();
  if (const auto* tensor = dynamic_cast<const TensorType*>(signature.type.get())) {
    types.emplace_back(tensor);
  }
  for (size_t i = 0; i < signature.items.size(); ++i) {
    ASSIGN_OR_RETURN(const auto own, tensor_types_of(signature.item_in_order(i)));
    types.insert(types.end(), own.begin(), own.end());
  }
  return types;
}

}  // namespace graven::engine
