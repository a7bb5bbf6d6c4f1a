#pragma once
#include <string>

#include "graven/ir/op.h"

namespace graven::engine {

// Elements repeated, turned round, or with others around them.

GRAVEN_API inline OpHandle<NoAttrs> kPad;        // input, paddings -> output
GRAVEN_API inline OpHandle<NoAttrs> kPadV2;      // input, paddings, constant_values -> output
GRAVEN_API inline OpHandle<NoAttrs> kTile;       // input, multiples -> output
GRAVEN_API inline OpHandle<NoAttrs> kReverseV2;  // tensor, axis -> output
GRAVEN_API inline OpHandle<NoAttrs> kRoll;       // input, shift, axis -> output

struct MirrorPadAttrs {
  std::string mode;  // "REFLECT": without the edge itself; "SYMMETRIC": with it
  static constexpr auto fields() {
    return std::tuple(required_field("mode", &MirrorPadAttrs::mode));
  }
};
GRAVEN_API inline OpHandle<MirrorPadAttrs> kMirrorPad, kMirrorPadGrad;  // input, paddings -> output

struct BitcastAttrs {
  DType type = DType::kInvalid;
  static constexpr auto fields() { return std::tuple(required_field("type", &BitcastAttrs::type)); }
};
GRAVEN_API inline OpHandle<BitcastAttrs> kBitcast;  // input -> output

}  // namespace graven::engine
