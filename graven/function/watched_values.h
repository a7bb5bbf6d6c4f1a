#pragma once
#include <string>
#include <utility>
#include <vector>

#include "graven/base/export.h"

namespace graven::engine {

// What watches of an entry (watch.h) implement besides, for explanations.
class GRAVEN_API HasWatchedValues {
 public:
  virtual ~HasWatchedValues() = default;
  // A line for each value that is watched: "rate = 0.5, read at f.py:3". Runs no code of the
  // program.
  virtual std::vector<std::string> watched_values() const = 0;
  // Plain values among them (numbers, text), and those in containers, by name: {"rate", "0.5"},
  // {"sizes[0]", "3"}. As the trace has read them, or as they are now; then of all others the
  // class. The same in each run of a program. Sorted.
  virtual std::vector<std::pair<std::string, std::string>> plain_values(bool now) const = 0;
};

}  // namespace graven::engine
