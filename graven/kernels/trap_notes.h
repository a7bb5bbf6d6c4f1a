#pragma once
#include <atomic>

#include "graven/expr/expression.h"

namespace graven::engine {

// The traps of a step that held, noted by the threads that run its blocks. Only the first is kept,
// by member, then in the order of its body; so it is the same for any number of threads. A trap has
// one message for all elements, so no element comes before another.
//
// The traps of one member stand in one expression, which lives longer than the notes.
class TrapNotes {
 public:
  void note(const Trap& trap) {
    const Trap* first = first_.load();
    while (!first || comes_before(trap, *first)) {
      if (first_.compare_exchange_weak(first, &trap)) return;
    }
  }
  // Null if none held. Called after all blocks ran.
  const Trap* first() const { return first_.load(); }

 private:
  static bool comes_before(const Trap& a, const Trap& b) {
    return a.member != b.member ? a.member < b.member : &a < &b;
  }
  std::atomic<const Trap*> first_{nullptr};
};

}  // namespace graven::engine
