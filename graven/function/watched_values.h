#pragma once
#include <string>
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
};

}  // namespace graven::engine
