#pragma once
#include <compare>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "graven/base/export.h"
#include "graven/base/mutex.h"
#include "graven/tensor/shape.h"

namespace graven::engine {

// A dimension of an argument: of the tensor or variable that is number `tensor` in the order of
// FunctionType::shapes.
struct ArgumentSize {
  uint32_t tensor, dimension;
  friend auto operator<=>(const ArgumentSize&, const ArgumentSize&) = default;
};

// Chooses the sizes that the next trace of a Function leaves open: those in which its arguments
// differ from those of a trace that is there, and those that are open in that one.
//
// A size that a body has read is pinned: each of its numbers gets a trace of its own from then on,
// as in TensorFlow. Pins belong to the Function and outlive its traces. There is at most one for
// each dimension of the largest call.
//
// Each set of open sizes costs a call that hits none of the exact rows one look-up. So the sets are
// few: after kMaxSets of them a trace leaves all sizes open that are not pinned.
class GRAVEN_API Generalizer {
 public:
  static constexpr size_t kMaxSets = 8;

  // The sizes to leave open for arguments of these shapes; none if nothing is to be. `traced` are
  // the shapes of the traces whose types differ from the arguments' in sizes only.
  std::vector<ArgumentSize> choose(std::span<const Shape> shapes,
                                   std::span<const std::vector<Shape>> traced);
  void pin(ArgumentSize size);
  bool is_pinned(ArgumentSize size) const;
  // In order.
  std::vector<ArgumentSize> pinned() const;

 private:
  mutable Mutex mutex_;
  std::set<ArgumentSize> pinned_ GUARDED_BY(mutex_);
  std::set<std::vector<ArgumentSize>> chosen_ GUARDED_BY(mutex_);
};

}  // namespace graven::engine
