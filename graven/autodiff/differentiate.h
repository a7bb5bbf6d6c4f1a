#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "graven/autodiff/step.h"
#include "graven/base/status.h"
#include "graven/ir/builder.h"
#include "graven/ir/gradient_context.h"

namespace graven::engine {

// A tensor to differentiate, and its own gradient.
struct Target {
  Tensor tensor;
  Gradient dy;  // none stands for ones
};

// The gradients of the targets, summed, with respect to the sources (tensors by their ids): one
// each, none where there is no path. The steps are in an order in which makers come before users.
// Only the steps between sources and targets are run, the last first. Each step is dropped after
// its run, so a caller that gives up the only reference frees its memory.
//
// Terms are added in a fixed order, that of the steps backwards. An op without a gradient on the
// way is an error; if `missing` is given, the first such error goes there and the flow stops at
// the op.
Result<std::vector<Gradient>> differentiate(std::vector<TapeStepRef> steps,
                                            std::span<const Target> targets,
                                            std::span<const uint64_t> sources, Builder& builder,
                                            Status* missing = nullptr);

}  // namespace graven::engine
