#pragma once
#include "graven/base/export.h"
#include "graven/ir/op.h"

namespace graven::engine {

// Apart from the other structural ops, as the room `function` alone names it below `ops`: a call in
// a graph chooses by it whether it is the first one.
GRAVEN_API inline OpHandle<NoAttrs> kVarIsInitialized;  // resource -> is_initialized

}  // namespace graven::engine
