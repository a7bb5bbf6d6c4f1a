#pragma once
#include <atomic>

#include "graven/expr/expression.h"

namespace graven::engine {

// Which traps of a step held, noted by the threads that run its blocks. Kept is the one that
// comes first, by member, then as its body says; so it is the same for any number of threads. A
// trap says the same of every element, so no element comes before another.
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
  // Null if none held. Asked once all blocks ran.
  const Trap* first() const { return first_.load(); }

 private:
  static bool comes_before(const Trap& a, const Trap& b) {
    return a.member != b.member ? a.member < b.member : &a < &b;
  }
  std::atomic<const Trap*> first_{nullptr};
};

}  // namespace graven::engine
