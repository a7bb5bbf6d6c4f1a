#pragma once
#include <source_location>

#include "graven/base/export.h"
#include "graven/ir/location.h"

namespace graven::internal {

// While it lives, nodes that this thread adds to graphs of C++ functions are of this line.
class GRAVEN_API LocationScope {
 public:
  explicit LocationScope(const std::source_location& location);
  ~LocationScope();
  LocationScope(const LocationScope&) = delete;

 private:
  std::source_location outer_;
};

// What a frame asks for the line of the innermost LocationScope; for traces of C++ functions.
GRAVEN_API engine::LocationSource& cpp_locations();

}  // namespace graven::internal
