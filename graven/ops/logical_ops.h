#pragma once
#include "graven/ir/op.h"
#include "graven/ir/structural_ops.h"

namespace graven::engine {

// Comparisons, logic, bits and choices, element by element. Binary ops broadcast.

GRAVEN_API inline OpHandle<NoAttrs> kLessEqual, kGreaterEqual;  // x, y -> z

struct EqualAttrs {
  bool incompatible_shape_error = true;
  static constexpr auto fields() {
    return std::tuple(field("incompatible_shape_error", &EqualAttrs::incompatible_shape_error));
  }
};
GRAVEN_API inline OpHandle<EqualAttrs> kEqual, kNotEqual;  // x, y -> z

struct ApproximateEqualAttrs {
  float tolerance = 1e-5f;
  static constexpr auto fields() {
    return std::tuple(field("tolerance", &ApproximateEqualAttrs::tolerance));
  }
};
GRAVEN_API inline OpHandle<ApproximateEqualAttrs> kApproximateEqual;  // x, y -> z

GRAVEN_API inline OpHandle<NoAttrs> kLogicalOr;   // x, y -> z
GRAVEN_API inline OpHandle<NoAttrs> kLogicalNot;  // x -> y

GRAVEN_API inline OpHandle<NoAttrs> kBitwiseAnd, kBitwiseOr, kBitwiseXor;  // x, y -> z
GRAVEN_API inline OpHandle<NoAttrs> kLeftShift, kRightShift;               // x, y -> z
GRAVEN_API inline OpHandle<NoAttrs> kInvert, kPopulationCount;             // x -> y

GRAVEN_API inline OpHandle<NoAttrs> kSelectV2, kSelect;  // condition, t, e -> output
GRAVEN_API inline OpHandle<NoAttrs> kWhere;              // input -> index

}  // namespace graven::engine
