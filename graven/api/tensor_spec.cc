#include "graven/api/tensor_spec.h"

namespace graven {

engine::TraceTypeRef TensorSpec::type() const {
  return engine::make_ref<engine::TensorType>(shape, dtype, name);
}

bool TensorSpec::is_compatible_with(const Tensor& tensor) const {
  return tensor.dtype() == dtype && engine::are_compatible(tensor.shape(), shape);
}

bool TensorSpec::is_subtype_of(const TensorSpec& other) const {
  return type()->is_subtype_of(*other.type());
}

std::optional<TensorSpec> TensorSpec::most_specific_common_supertype(
    const TensorSpec& other) const {
  engine::TraceTypeRef common = type()->common_supertype(*other.type());
  if (!common) return std::nullopt;
  const auto& tensor = static_cast<const engine::TensorType&>(*common);
  return TensorSpec{tensor.shape(), tensor.dtype(), tensor.name()};
}

std::string TensorSpec::to_string() const { return type()->repr(); }

}  // namespace graven
