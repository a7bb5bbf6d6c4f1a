#pragma once
#include "graven/ir/op.h"

namespace graven::engine {

// Element by element. Binary ops broadcast.
GRAVEN_API inline OpHandle<NoAttrs> kNeg, kConj, kAddV2, kSub, kMul, kFloorMod;

}  // namespace graven::engine
