#pragma once
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "graven/base/export.h"
#include "graven/base/ref.h"
#include "graven/base/status.h"
#include "graven/tensor/tensor.h"
#include "graven/tensor/variant.h"

namespace graven::engine {

// Some tensors or nothing, in a variant: the value of TensorFlow's Optional ops.
class GRAVEN_API Optional final : public Variant {
 public:
  static constexpr std::string_view kName = "Optional";

  Optional() = default;  // nothing
  explicit Optional(std::vector<Tensor> values) : values_(std::move(values)) {}

  std::string_view kind() const override { return kName; }
  std::vector<std::pair<DType, Shape>> components() const override;
  Result<Ref<Resource>> zeros_like() const override;
  // Adds tensor by tensor; strings and handles stay. Nothing is a zero.
  Status add(const Variant& other) override;
  Ref<Variant> clone() const override;

  bool has_value() const { return values_.has_value(); }
  // For one that has a value.
  std::span<const Tensor> values() const { return *values_; }

 private:
  std::optional<std::vector<Tensor>> values_;
};

}  // namespace graven::engine
