#include "graven/function/generalizer.h"

#include <utility>

namespace graven::engine {

std::vector<ArgumentSize> Generalizer::choose(std::span<const Shape> shapes,
                                              std::span<const std::vector<Shape>> traced) {
  std::vector<ArgumentSize> free;  // the sizes that are not pinned
  for (uint32_t t = 0; t < shapes.size(); ++t) {
    for (uint32_t d = 0; d < static_cast<uint32_t>(shapes[t].rank()); ++d) {
      if (!is_pinned({t, d})) free.push_back({t, d});
    }
  }
  std::vector<ArgumentSize> fewest;
  for (const std::vector<Shape>& other : traced) {
    std::vector<ArgumentSize> open;
    for (ArgumentSize at : free) {
      const Dim size = shapes[at.tensor][static_cast<int>(at.dimension)];
      const Dim before = other[at.tensor][static_cast<int>(at.dimension)];
      if (!before.is_number() || (size.is_number() && before != size)) open.push_back(at);
    }
    if (!open.empty() && (fewest.empty() || open.size() <= fewest.size())) fewest = std::move(open);
  }
  if (fewest.empty()) return fewest;
  MutexLock lock(mutex_);
  if (chosen_.contains(fewest)) return fewest;
  if (chosen_.size() >= kMaxSets) return free;
  chosen_.insert(fewest);
  return fewest;
}

void Generalizer::pin(ArgumentSize size) {
  MutexLock lock(mutex_);
  pinned_.insert(size);
}

bool Generalizer::is_pinned(ArgumentSize size) const {
  MutexLock lock(mutex_);
  return pinned_.contains(size);
}

std::vector<ArgumentSize> Generalizer::pinned() const {
  MutexLock lock(mutex_);
  return {pinned_.begin(), pinned_.end()};
}

}  // namespace graven::engine
