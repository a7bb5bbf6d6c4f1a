#include "graven/runtime/plan_memory.h"

#include <algorithm>

namespace graven::engine {

void plan_memory(std::span<const std::unique_ptr<Step>> steps, std::span<const int> returned,
                 int num_inputs, int first_made, int num_slots) {
  std::vector<std::vector<int>> readers(num_slots);
  for (size_t s = 0; s < steps.size(); ++s) {
    for (int slot : steps[s]->inputs) {
      if (readers[slot].empty() || readers[slot].back() != static_cast<int>(s)) {
        readers[slot].push_back(static_cast<int>(s));
      }
    }
  }
  std::vector<bool> is_kept(num_slots, false);
  for (int slot : returned) is_kept[slot] = true;
  for (int slot = num_inputs; slot < first_made; ++slot) is_kept[slot] = true;
  for (size_t s = 0; s < steps.size(); ++s) {
    Step& step = *steps[s];
    for (size_t i = 0; i < step.inputs.size(); ++i) {
      const int slot = step.inputs[i];
      if (is_kept[slot] || readers[slot].back() != static_cast<int>(s)) continue;
      // The last mention counts, as the handle is given up there.
      const bool is_again = std::find(step.inputs.begin() + static_cast<int64_t>(i) + 1,
                                      step.inputs.end(), slot) != step.inputs.end();
      if (is_again) continue;
      step.frees.push_back(slot);
      if (i >= 64) continue;
      step.last_use |= uint64_t{1} << i;
      step.waits_for.insert(step.waits_for.end(), readers[slot].begin(), readers[slot].end() - 1);
    }
    std::ranges::sort(step.waits_for);
    const auto rest = std::ranges::unique(step.waits_for);
    step.waits_for.erase(rest.begin(), rest.end());
  }
}

}  // namespace graven::engine
