#pragma once
#include <string>
#include <vector>

#include "graven/ir/op.h"
#include "graven/ir/structural_ops.h"

namespace graven::engine {

// Ops of identity that `ir` need not know by name.

struct PreventGradientAttrs {
  std::string message;
  static constexpr auto fields() {
    return std::tuple(field("message", &PreventGradientAttrs::message));
  }
};
GRAVEN_API inline OpHandle<PreventGradientAttrs> kPreventGradient;  // input -> output

struct EnsureShapeAttrs {
  Shape shape = Shape::unknown_rank();
  static constexpr auto fields() {
    return std::tuple(required_field("shape", &EnsureShapeAttrs::shape));
  }
};
GRAVEN_API inline OpHandle<EnsureShapeAttrs> kEnsureShape;  // input -> output

}  // namespace graven::engine
