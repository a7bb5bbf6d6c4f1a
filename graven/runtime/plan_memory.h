#pragma once
#include <memory>
#include <span>
#include <vector>

#include "graven/runtime/step.h"

namespace graven::engine {

// Memory planning. For each slot of the ordered steps it finds the last reader, which may overwrite
// the slot once the other readers are done. Sets last_use and frees, and adds to waits_for.
// Returned slots and constants are never overwritten; inputs only if the caller gives them up.
void plan_memory(std::span<const std::unique_ptr<Step>> steps, std::span<const int> returned,
                 int num_inputs, int first_made, int num_slots);

// For runs in turn (RepeatedRun): by slot, whether its tensor stays for the next run to write.
// Small ones do, whose making costs more than their memory: larger ones take memory of others,
// which is in a cache.
std::vector<uint8_t> kept_slots(std::span<const std::unique_ptr<Step>> steps, int num_slots);

}  // namespace graven::engine
