#include "graven/control/structures.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "graven/base/strings.h"
#include "graven/function/trace_type.h"
#include "graven/ir/frame.h"
#include "graven/ir/structural_ops.h"
#include "graven/ops/movement_ops.h"

namespace graven::engine {
namespace {

// The dtype that a number takes in the place of this value.
DType dtype_hint(const Value& like) {
  if (like.kind == Value::Kind::kTensor && like.tensor) return like.tensor.dtype();
  const auto* type = dynamic_cast<const TensorType*>(like.type.get());
  return type ? type->dtype() : DType::kInvalid;
}

bool is_number(DType dtype) { return is_integer(dtype) || is_floating(dtype) || is_complex(dtype); }

bool holds_integer(DType dtype, int64_t integer) {
  if (!is_plain(dtype) || dtype == DType::kBool) return false;
  return visit_plain(dtype, [&](auto zero) {
    if constexpr (std::is_integral_v<decltype(zero)> && !std::is_same_v<decltype(zero), bool>) {
      return std::in_range<decltype(zero)>(integer);
    }
    return true;
  });
}

// A number or truth of the program as a tensor of this dtype; null if it is none, or cannot be.
Tensor constant_like(FunctionContext& c, const Literal& literal, DType dtype) {
  if (const auto* integer = std::get_if<int64_t>(&literal); integer) {
    return holds_integer(dtype, *integer) ? c.scalar(*integer, dtype) : Tensor();
  }
  if (const auto* real = std::get_if<double>(&literal); real) {
    return is_floating(dtype) || is_complex(dtype) ? c.scalar(*real, dtype) : Tensor();
  }
  if (const auto* truth = std::get_if<bool>(&literal); truth && is_number(dtype)) {
    return c.scalar(static_cast<int64_t>(*truth), dtype);
  }
  return Tensor();
}

Tensor constant_of(FunctionContext& c, const Literal& literal) {
  if (const auto* truth = std::get_if<bool>(&literal)) return c.constant(Tensor::scalar(*truth));
  if (const auto* integer = std::get_if<int64_t>(&literal)) {
    const bool is_narrow = std::in_range<int32_t>(*integer);
    return c.scalar(*integer, is_narrow ? DType::kInt32 : DType::kInt64);
  }
  if (const auto* real = std::get_if<double>(&literal)) return c.scalar(*real, DType::kFloat32);
  if (const auto* text = std::get_if<std::string>(&literal)) {
    return c.constant(Tensor::string_scalar(*text));
  }
  if (const auto* bytes = std::get_if<Bytes>(&literal)) {
    return c.constant(Tensor::string_scalar(bytes->data));
  }
  return c.fail(type_error("A value of ", literal_repr(literal), " cannot become a tensor"));
}

void next_tensors(Value& value, std::span<const Tensor> tensors, size_t& next) {
  if (value.kind == Value::Kind::kTensor || value.kind == Value::Kind::kVariable) {
    value = Value::of_tensor(tensors[next++]);
  }
  for (size_t i = 0; i < value.items.size(); ++i) {
    next_tensors(value.item_in_order(i), tensors, next);
  }
}

std::string described(const Value& value) {
  switch (value.kind) {
    case Value::Kind::kTensor:
    case Value::Kind::kVariable:
      return str_cat("a tensor of dtype ", dtype_name(value.tensor.dtype()));
    case Value::Kind::kContainer: {
      constexpr std::string_view kNames[] = {"a list", "a tuple", "a named tuple", "an object",
                                             "a dict"};
      return str_cat(kNames[static_cast<size_t>(value.container->kind())], " of ",
                     value.items.size());
    }
    case Value::Kind::kTyped:
      return value.type ? own_type_of(value)->repr() : std::string("an object");
    case Value::Kind::kLiteral:
      return literal_repr(value.literal);
    case Value::Kind::kObject:
      break;
  }
  return value.object ? value.object->repr() : "an object";
}

}  // namespace

std::string name_of_body(const FunctionContext& c, std::string_view suffix) {
  std::string name(c.name());
  std::ranges::replace(name, '/', '_');
  return name.append(suffix);
}

std::vector<Tensor> tensors_of(const Value& value) {
  std::vector<Tensor> tensors;
  collect_tensors(value, tensors);
  return tensors;
}

Value with_tensor_leaves(FunctionContext& c, Value value) {
  switch (value.kind) {
    case Value::Kind::kTensor:
      break;
    case Value::Kind::kVariable:
      if (const auto* type = dynamic_cast<const VariableType*>(value.type.get())) {
        auto listeners = Frame::current().listeners;
        for (Listener* listener : listeners) listener->on_variable(value.tensor);
        return Value::of_tensor(c(kReadVariable, {value.tensor}, {type->dtype()}));
      }
      break;
    case Value::Kind::kLiteral:
      if (std::holds_alternative<None>(value.literal)) break;
      return Value::of_tensor(constant_of(c, value.literal));
    case Value::Kind::kContainer:
      for (Value& item : value.items) item = with_tensor_leaves(c, std::move(item));
      break;
    case Value::Kind::kTyped:
      break;  // its items are tensors
    case Value::Kind::kObject:
      c.fail(type_error("An object cannot become a tensor: ", described(value)));
      break;
  }
  return value;
}

Value with_tensor_leaves_like(FunctionContext& c, Value value, const Value& like) {
  if (value.kind == Value::Kind::kLiteral) {
    if (Tensor made = constant_like(c, value.literal, dtype_hint(like))) {
      return Value::of_tensor(std::move(made));
    }
  }
  const bool is_array = value.kind == Value::Kind::kTensor && value.object;
  if (is_array) {
    const DType hint = dtype_hint(like), own = value.tensor.dtype();
    const auto is_number_or_bool = [](DType type) {
      return is_number(type) || type == DType::kBool;
    };
    const bool loses_parts = is_complex(own) && !is_complex(hint);
    if (is_number_or_bool(own) && is_number_or_bool(hint) && own != hint && !loses_parts) {
      return Value::of_tensor(c.cast(value.tensor, hint).tensor());
    }
    if (is_number_or_bool(own)) return value;
  }
  if (value.kind != Value::Kind::kContainer || like.kind != Value::Kind::kContainer) {
    return with_tensor_leaves(c, std::move(value));
  }
  for (size_t i = 0; i < value.items.size(); ++i) {
    const int at = like.container->matching_position(*value.container, i);
    const bool is_there = at >= 0 && static_cast<size_t>(at) < like.items.size();
    value.items[i] = with_tensor_leaves_like(
        c, std::move(value.items[i]), is_there ? like.items[static_cast<size_t>(at)] : Value());
  }
  return value;
}

Tensor as_chooser(Emitter& emit, const Tensor& tensor) {
  const bool is_scalar = !tensor || (tensor.shape().has_rank() && tensor.shape().rank() == 0);
  return is_scalar ? tensor : emit(kSqueeze, {tensor});
}

Result<bool> truth_of(FunctionContext& c, const Value& value, std::string_view name) {
  if (value.kind == Value::Kind::kLiteral) {
    if (const auto* truth = std::get_if<bool>(&value.literal)) return *truth;
    if (const auto* integer = std::get_if<int64_t>(&value.literal)) return *integer != 0;
    if (const auto* real = std::get_if<double>(&value.literal)) return *real != 0;
    if (const auto* text = std::get_if<std::string>(&value.literal)) return !text->empty();
    if (std::holds_alternative<None>(value.literal)) return false;
  }
  if (value.kind == Value::Kind::kContainer) return !value.items.empty();
  const Value read = with_tensor_leaves(c, value);
  RETURN_IF_ERROR(c.status());
  const Tensor& tensor = read.tensor;
  if (!tensor || tensor.num_elements() != 1) {
    return value_error("The truth value of ", name, " must be that of one element");
  }
  if (tensor.dtype() == DType::kBool) return tensor.data<bool>()[0];
  if (tensor.dtype() == DType::kString) return !tensor.data<std::string>()[0].empty();
  const Tensor truth = c.cast(tensor, DType::kBool).tensor();
  RETURN_IF_ERROR(c.status());
  return truth.data<bool>()[0];
}

Value with_tensors(Value value, std::span<const Tensor> tensors) {
  size_t next = 0;
  next_tensors(value, tensors, next);
  return value;
}

std::optional<std::string> structural_difference(const Value& a, const Value& b) {
  const auto differ = [&] { return str_cat(described(a), " and ", described(b)); };
  if (a.kind != b.kind) return differ();
  switch (a.kind) {
    case Value::Kind::kTensor:
    case Value::Kind::kVariable:
      if (a.tensor.dtype() == b.tensor.dtype()) return std::nullopt;
      return differ();
    case Value::Kind::kLiteral:
      if (literals_identical(a.literal, b.literal)) return std::nullopt;
      return differ();
    case Value::Kind::kTyped:
      if (a.type && b.type && own_type_of(a)->common_supertype(*own_type_of(b))) {
        return std::nullopt;
      }
      return differ();
    case Value::Kind::kObject:
      return a.object == b.object ? std::nullopt : std::optional(differ());
    case Value::Kind::kContainer:
      break;
  }
  if (a.items.size() != b.items.size() || !a.container->is_like(*b.container)) return differ();
  for (size_t i = 0; i < a.items.size(); ++i) {
    const int at = b.container->matching_position(*a.container, i);
    if (at < 0) return differ();
    if (auto found = structural_difference(a.items[i], b.items[static_cast<size_t>(at)])) {
      return found;
    }
  }
  return std::nullopt;
}

Value with_common_types(Value value, const Value& b) {
  if (value.kind == Value::Kind::kTyped && b.kind == Value::Kind::kTyped) {
    value.type = own_type_of(value)->common_supertype(*own_type_of(b));
  } else if (value.kind == Value::Kind::kContainer) {
    for (size_t i = 0; i < value.items.size(); ++i) {
      const int at = b.container->matching_position(*value.container, i);
      if (at < 0) continue;  // a key whose == says something else each time
      value.items[i] =
          with_common_types(std::move(value.items[i]), b.items[static_cast<size_t>(at)]);
    }
  }
  return value;
}

Value with_types_learnt(Value value, const Value& after) {
  if (value.kind == Value::Kind::kTyped && after.kind == Value::Kind::kTyped && value.type &&
      after.type) {
    const bool is_list = std::ranges::all_of(
        tensors_of(value), [](const Tensor& part) { return part.dtype() == DType::kVariant; });
    if (is_list && own_type_of(after)->is_subtype_of(*own_type_of(value))) value.type = after.type;
  } else if (value.kind == Value::Kind::kContainer && after.kind == Value::Kind::kContainer) {
    for (size_t i = 0; i < value.items.size(); ++i) {
      const int at = after.container->matching_position(*value.container, i);
      if (at < 0) continue;
      value.items[i] =
          with_types_learnt(std::move(value.items[i]), after.items[static_cast<size_t>(at)]);
    }
  }
  return value;
}

Status check_composites_like(const Value& before, const Value& after) {
  if (before.kind == Value::Kind::kContainer && after.kind == Value::Kind::kContainer) {
    for (size_t i = 0; i < before.items.size(); ++i) {
      const int at = after.container->matching_position(*before.container, i);
      if (at < 0 || static_cast<size_t>(at) >= after.items.size()) continue;
      RETURN_IF_ERROR(check_composites_like(before.items[i], after.items[static_cast<size_t>(at)]));
    }
    return {};
  }
  const auto is_typed = [](const Value& value) {
    return value.kind == Value::Kind::kTyped && value.type;
  };
  if (!is_typed(before) && !is_typed(after)) return {};
  const auto text = [&](const Value& value) {
    return is_typed(value) ? own_type_of(value)->repr() : described(value);
  };
  if (is_typed(before) && is_typed(after) &&
      own_type_of(before)->common_supertype(*own_type_of(after))) {
    return {};
  }
  return type_error("A loop variable is ", text(before), " before the loop, but ", text(after),
                    " after an iteration: a composite tensor must keep all of its type but shapes");
}

Status check_nested_like(const Value& a, const Value& b, std::string_view message,
                         bool types_count) {
  const bool has_items = a.kind == Value::Kind::kContainer;
  if (has_items != (b.kind == Value::Kind::kContainer)) return value_error(message);
  if (!has_items) return {};
  if (a.items.size() != b.items.size()) return value_error(message);
  // The keys of dicts are items.
  const bool are_dicts = a.container->is_mapping() && b.container->is_mapping();
  if (types_count && !are_dicts && !a.container->is_like(*b.container)) {
    return type_error(message, ": ", described(a), " is not ", described(b));
  }
  for (size_t i = 0; i < a.items.size(); ++i) {
    const int at = b.container->matching_position(*a.container, i);
    if (at < 0) return value_error(message);
    RETURN_IF_ERROR(
        check_nested_like(a.items[i], b.items[static_cast<size_t>(at)], message, types_count));
  }
  return {};
}

}  // namespace graven::engine
