#pragma once
#include <optional>
#include <span>
#include <vector>

#include "graven/autodiff/step.h"
#include "graven/base/status.h"
#include "graven/ir/builder.h"
#include "graven/ir/gradient_context.h"

namespace graven::engine {

// The gradients of a step that reads one row of a tensor, x[i], as IndexedSlices of that row; none
// if the step is no such read. Which ops are follows from their records (`reads`). The op's own
// gradient is as large as the whole tensor; a loop that reads a row in each iteration gathers rows
// instead.
//
// The step is one of a graph. An index that counts from the end becomes one that counts from the
// start.
Result<std::optional<std::vector<Gradient>>> gradient_of_row(const TapeStep& step,
                                                             std::span<const Gradient> dy,
                                                             const std::vector<bool>& wants,
                                                             Builder& builder);

}  // namespace graven::engine
