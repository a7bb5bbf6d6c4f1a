#pragma once
#include <optional>
#include <string>

#include "graven/api/tensor.h"
#include "graven/base/export.h"
#include "graven/function/trace_type.h"

namespace graven {

// The type of a tensor for which a function is traced (tf.TensorSpec). Dim::unknown() and
// Shape::unknown_rank() stand for any size and any rank.
struct GRAVEN_API TensorSpec {
  Shape shape;
  DType dtype = DType::kFloat32;
  std::optional<std::string> name = std::nullopt;

  static TensorSpec of(const Tensor& tensor) { return {tensor.shape(), tensor.dtype()}; }
  bool is_compatible_with(const Tensor& tensor) const;
  bool is_subtype_of(const TensorSpec& other) const;
  // None if the dtypes or the names differ.
  std::optional<TensorSpec> most_specific_common_supertype(const TensorSpec& other) const;
  std::string to_string() const;  // "TensorSpec(shape=(None,), dtype=tf.int32, name=None)"
  engine::TraceTypeRef type() const;
  friend bool operator==(const TensorSpec& a, const TensorSpec& b) = default;
};

}  // namespace graven
