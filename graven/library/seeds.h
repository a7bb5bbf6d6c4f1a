#pragma once
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "graven/base/export.h"
#include "graven/base/status.h"

namespace graven::engine {

class Graph;

// The source of the seeds of stateful random ops: one state for the process, which all front ends
// share. Any thread may call these.

// Implements set_seed: later seeds follow from this one, and all streams start anew.
GRAVEN_API void start_seeds(int64_t seed);

// Numbers that no program foresees are errors from now on, for all of the process.
GRAVEN_API void require_seeds();
GRAVEN_API bool seeds_are_required();

// The attributes `seed` and `seed2` of an op, derived from its own seed, if any, and the global
// seed as TensorFlow does. Without either they are 0 and 0, and its numbers are unpredictable: a
// RuntimeError if seeds are required.
GRAVEN_API Result<std::pair<int64_t, int64_t>> seeds_of_op(std::optional<int64_t> op_seed);

// Gives ops without a seed of their own the same numbers in each run of a body that is run several
// times in one graph. Works on this thread while it lives, for the graph that is being built when
// it is made; the innermost of a graph counts.
class GRAVEN_API SeedsOfRuns {
 public:
  SeedsOfRuns();
  ~SeedsOfRuns();
  SeedsOfRuns(const SeedsOfRuns&) = delete;
  void start_run() { next_ = 0; }
  // The number of the next op without a seed in a graph.
  static int64_t next(Graph& graph);

 private:
  SeedsOfRuns* outer_;
  const Graph* graph_;
  std::vector<int64_t> given_;
  size_t next_ = 0;
};

}  // namespace graven::engine
