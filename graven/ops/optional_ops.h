#pragma once
#include <tuple>
#include <vector>

#include "graven/ir/op.h"
#include "graven/tensor/dtype.h"
#include "graven/tensor/shape.h"

namespace graven::engine {

// Values that may be there or not (tensor/optional.h), in variants.

struct OptionalFromValueAttrs {
  std::vector<DType> Toutput_types;
  static constexpr auto fields() {
    return std::tuple(field("Toutput_types", &OptionalFromValueAttrs::Toutput_types));
  }
};
// components: Toutput_types -> optional
GRAVEN_API inline OpHandle<OptionalFromValueAttrs> kOptionalFromValue;

GRAVEN_API inline OpHandle<NoAttrs> kOptionalNone;      // -> optional
GRAVEN_API inline OpHandle<NoAttrs> kOptionalHasValue;  // optional -> has_value

struct OptionalGetValueAttrs {
  std::vector<DType> output_types;
  std::vector<Shape> output_shapes;
  static constexpr auto fields() {
    return std::tuple(required_field("output_types", &OptionalGetValueAttrs::output_types),
                      required_field("output_shapes", &OptionalGetValueAttrs::output_shapes));
  }
};
// optional -> components: output_types
GRAVEN_API inline OpHandle<OptionalGetValueAttrs> kOptionalGetValue;

}  // namespace graven::engine
