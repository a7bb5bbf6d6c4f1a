#include "graven/api/tensor_array.h"

#include <utility>
#include <vector>

#include "graven/api/location.h"
#include "graven/base/hash.h"
#include "graven/base/strings.h"
#include "graven/ir/infer_context.h"
#include "graven/ir/static_shape.h"
#include "graven/ir/structural_ops.h"
#include "graven/runtime/eager_builder.h"

namespace graven {
namespace {

// The type of an array; its tensor is the flow.
class TensorArrayType final : public engine::ForeignType {
 public:
  // Of an array without a flow.
  explicit TensorArrayType(engine::TensorArray array) : array_(std::move(array)) {}
  const engine::TensorArray& array() const { return array_; }

  bool is_subtype_of(const TraceType& other) const override {
    const auto* that = dynamic_cast<const TensorArrayType*>(&other);
    return that && has_options_of(*that) && element()->is_subtype_of(*that->element());
  }
  engine::TraceTypeRef common_supertype(const TraceType& other) const override {
    const auto* that = dynamic_cast<const TensorArrayType*>(&other);
    if (!that || !has_options_of(*that)) return nullptr;
    const auto common = element()->common_supertype(*that->element());
    engine::TensorArray made = array_;
    made.element_shape = static_cast<const engine::TensorType&>(*common).shape();
    return engine::make_ref<TensorArrayType>(std::move(made));
  }
  bool equals(const TraceType& other) const override {
    const auto* that = dynamic_cast<const TensorArrayType*>(&other);
    return that && has_options_of(*that) && element()->equals(*that->element());
  }
  uint64_t hash() const override { return engine::hash_combine(*skeleton(), element()->hash()); }
  std::optional<uint64_t> skeleton() const override {
    const uint64_t options = static_cast<uint64_t>(array_.dtype) << 2 |
                             uint64_t{array_.infer_shape} << 1 | uint64_t{array_.dynamic_size};
    return engine::hash_combine(static_cast<uint64_t>(Kind::kForeign), options);
  }
  void add_shapes(std::vector<Shape>& shapes) const override {
    shapes.push_back(array_.element_shape);
    shapes.push_back(Shape());
  }
  std::string repr() const override {
    return engine::str_cat("TensorArraySpec(", array_.element_shape.to_text(), ", tf.",
                           engine::dtype_name(array_.dtype), ", ",
                           array_.dynamic_size ? "True" : "False", ", ",
                           array_.infer_shape ? "True" : "False", ")");
  }
  engine::Result<engine::Value> placeholder(engine::PlaceholderContext& context) const override {
    return value_of(
        context.builder.add_placeholder(DType::kVariant, Shape(), context.name,
                                        engine::HandleData(array_.dtype, array_.element_shape)));
  }
  engine::Status to_tensors(const engine::Value& value,
                            std::vector<engine::Tensor>& tensors) const override {
    if (value.items.size() != 1) return engine::type_error("Expected an array for ", repr());
    tensors.push_back(value.items[0].tensor);
    return {};
  }

  engine::Value value_of(engine::Tensor flow) const {
    engine::Value value;
    value.kind = engine::Value::Kind::kTyped;
    value.type = engine::Ref<const engine::ValueType>(this);
    value.items.push_back(engine::Value::of_tensor(std::move(flow)));
    return value;
  }

 private:
  bool has_options_of(const TensorArrayType& other) const {
    return array_.dtype == other.array_.dtype && array_.infer_shape == other.array_.infer_shape &&
           array_.dynamic_size == other.array_.dynamic_size;
  }
  engine::Ref<engine::TensorType> element() const {
    return engine::make_ref<engine::TensorType>(array_.element_shape, array_.dtype);
  }
  const engine::TensorArray array_;
};

// A number as an operand of the elements' dtype.
Tensor as_element(const Operand& value, DType dtype) {
  return value.as_tensor(value.is_number() ? dtype : DType::kInvalid);
}

}  // namespace

const engine::TensorArray& TensorArray::existing(const std::source_location& location) const {
  if (is_none()) {
    throw_error(engine::value_error("There is no TensorArray here: it was never assigned"),
                location);
  }
  return array_;
}

// What f gives for an Emitter, or throws.
template <typename F>
auto TensorArray::emitted(const std::source_location& location, F&& f) const {
  internal::LocationScope scope(location);
  engine::Emitter emit(engine::current_builder());
  auto result = f(emit);
  throw_if_error(emit.status(), location);
  if constexpr (std::is_same_v<decltype(result), engine::TensorArray>) {
    return TensorArray(std::move(result));
  } else {
    return Tensor(std::move(result));
  }
}

TensorArray::TensorArray(DType dtype, const Operand& size, const TensorArrayOptions& options) {
  engine::TensorArray kind;
  kind.dtype = dtype;
  kind.infer_shape = options.infer_shape;
  kind.dynamic_size = options.dynamic_size;
  if (options.element_shape) kind.element_shape = engine::static_shape(*options.element_shape);
  const Tensor count = size.as_tensor();
  *this =
      emitted(size.location(), [&](engine::Emitter& emit) { return kind.reserved(emit, count); });
  // In a graph a number is a constant, whose value is known all the same.
  if (size.is_number()) array_.known_size = static_cast<int64_t>(size.number());
}

Tensor TensorArray::size(std::source_location location) const {
  return emitted(location, [&](engine::Emitter& emit) { return existing(location).size(emit); });
}

Tensor TensorArray::read(const Operand& index) const {
  const Tensor number = index.as_tensor();
  return emitted(index.location(), [&](engine::Emitter& emit) {
    return existing(index.location()).read(emit, number);
  });
}

Tensor TensorArray::stack(std::source_location location) const {
  return emitted(location, [&](engine::Emitter& emit) { return existing(location).stack(emit); });
}

Tensor TensorArray::gather(const Operand& indices) const {
  const Tensor numbers = indices.as_tensor();
  return emitted(indices.location(), [&](engine::Emitter& emit) {
    return existing(indices.location()).gather(emit, numbers);
  });
}

Tensor TensorArray::concat(std::source_location location) const {
  return emitted(location, [&](engine::Emitter& emit) { return existing(location).concat(emit); });
}

TensorArray TensorArray::write(const Operand& index, const Operand& value) const {
  const Tensor number = index.as_tensor(), element = as_element(value, array_.dtype);
  return emitted(index.location(), [&](engine::Emitter& emit) {
    return existing(index.location()).write(emit, number, element);
  });
}

TensorArray TensorArray::unstack(const Operand& value) const {
  const Tensor elements = as_element(value, array_.dtype);
  return emitted(value.location(), [&](engine::Emitter& emit) {
    return existing(value.location()).unstack(emit, elements);
  });
}

TensorArray TensorArray::scatter(const Operand& indices, const Operand& value) const {
  const Tensor numbers = indices.as_tensor(), elements = as_element(value, array_.dtype);
  return emitted(indices.location(), [&](engine::Emitter& emit) {
    return existing(indices.location()).scatter(emit, numbers, elements);
  });
}

TensorArray TensorArray::split(const Operand& value, const Operand& lengths) const {
  const Tensor whole = as_element(value, array_.dtype), parts = lengths.as_tensor();
  return emitted(value.location(), [&](engine::Emitter& emit) {
    const Tensor wide = parts.dtype() == DType::kInt64
                            ? parts
                            : Tensor(emit(engine::kCast, {parts}, {.DstT = DType::kInt64}));
    return existing(value.location()).split(emit, whole, wide);
  });
}

void Convert<TensorArray>::write_key(KeyWriter& key, const TensorArray& array) {
  if (array.is_none()) return key.add_none();
  key.begin(KeyTag::kAttrs, 5);
  key.add_text("graven::TensorArray");
  key.add_bool(array.array_.infer_shape);
  key.add_bool(array.array_.dynamic_size);
  key.add_spec(array.array_.dtype, array.array_.element_shape, /*is_named=*/false);
  key.add_tensor(array.array_.flow);
}

engine::Value Convert<TensorArray>::to_value(const TensorArray& array) {
  if (array.is_none()) return engine::Value();
  engine::TensorArray kind = array.array_;
  kind.flow = {};
  kind.known_size.reset();
  return engine::make_ref<TensorArrayType>(std::move(kind))->value_of(array.array_.flow);
}

TensorArray Convert<TensorArray>::from_value(const engine::Value& value) {
  const auto* type = dynamic_cast<const TensorArrayType*>(value.type.get());
  if (!type) return TensorArray();
  engine::TensorArray array = type->array();
  array.flow = value.items[0].tensor;
  return TensorArray(std::move(array));
}

}  // namespace graven
