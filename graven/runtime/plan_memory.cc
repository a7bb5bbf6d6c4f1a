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

namespace {

bool is_small(const Step::Output& output) {
  constexpr int64_t kMaxBytes = 4096;
  if (!is_plain(output.dtype) || output.is_promised) return false;
  const auto elements = output.shape.checked_num_elements();
  return elements && *elements <= kMaxBytes / static_cast<int64_t>(dtype_size(output.dtype));
}

}  // namespace

std::vector<uint8_t> kept_slots(std::span<const std::unique_ptr<Step>> steps, int num_slots) {
  std::vector<uint8_t> is_kept(static_cast<size_t>(num_slots), 0);
  for (const auto& step : steps) {
    const bool is_on_host = step->queue->device().is_host();
    step->keeps_outputs = !step->outputs.empty();
    for (size_t i = 0; i < step->outputs.size(); ++i) {
      const Step::Output& output = step->outputs[i];
      const bool keeps = is_on_host && output.slot >= 0 && is_small(output) && step->writes_kept(i);
      step->keeps_outputs &= keeps;
      if (keeps) is_kept[static_cast<size_t>(output.slot)] = 1;
    }
  }
  return is_kept;
}

}  // namespace graven::engine
