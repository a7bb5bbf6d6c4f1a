#pragma once
#include <vector>

#include "graven/ir/value.h"
#include "graven/library/parameters.h"
#include "graven/tensor/shape.h"

namespace graven::internal {

// The shapes that the variables of a loop on staged() have before it and after each iteration that
// was traced. Not for users.
class LoopShapes {
 public:
  // Takes what an iteration leaves for the next. True if that has other shapes than the variables
  // had: then sizes that differ are left open, or the rank is.
  bool widen(const std::vector<engine::Value>& variables, const engine::Value& after);
  // The shapes as while_loop takes them, None if they are those of the variables before the loop.
  engine::ShapeStructure invariants(const std::vector<engine::Value>& variables) const;

 private:
  // Those of some variables; the others have those before the loop.
  std::vector<engine::Value> shapes_of_all(const std::vector<engine::Value>& variables) const;
  std::vector<engine::Value> shapes_;  // in the structure of the variables; empty at first
};

}  // namespace graven::internal
