#pragma once
#include <memory>
#include <span>
#include <vector>

#include "graven/runtime/step.h"

namespace graven::engine {

// For each slot of steps in their order: which step reads it last, and may overwrite it once the
// other readers are done. Sets last_use, frees and adds to waits_for. What is returned, and
// constants, are overwritten by nobody; inputs only if the caller gives them up.
void plan_memory(std::span<const std::unique_ptr<Step>> steps, std::span<const int> returned,
                 int num_inputs, int first_made, int num_slots);

}  // namespace graven::engine
