#pragma once
#include "graven/base/export.h"
#include "graven/ir/op.h"

namespace graven::engine {

// Apart from the other structural ops, as few rooms below `ops` name it: a list whose elements are
// rows becomes rows of lists, and back, by it.
GRAVEN_API inline OpHandle<NoAttrs> kTranspose;  // x, perm -> y

}  // namespace graven::engine
