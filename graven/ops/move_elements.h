#pragma once
#include "graven/base/status.h"
#include "graven/ir/attributes.h"
#include "graven/ir/kernel.h"

namespace graven::engine {

// The kernel of ops that have no quicker one: output 0 as the record's `.reads` says, which must
// give a movement where all values are known.
Status move_elements(KernelContext& c, AttrsRef attrs);

template <typename A>
Status move_elements(KernelContext& c) {
  return move_elements(c, c.attrs<A>());
}

}  // namespace graven::engine
