#pragma once
#include <optional>
#include <string>

#include "graven/base/export.h"
#include "graven/ir/literal.h"

namespace graven::engine {

// What handles of a front end's objects, and types that it defines, implement besides: the name of
// the object's class, which is the same in each run of a program. Lets no exception out.
class GRAVEN_API HasClassName {
 public:
  virtual ~HasClassName() = default;
  virtual std::string class_name() const = 0;  // "models.Config"
};

// What handles of objects implement that know how they differ from others.
class GRAVEN_API HasDifference {
 public:
  virtual ~HasDifference() = default;
  // "another function: its captured `k` is 3, was 2". Empty if they are equal; none if nothing is
  // known of the other one. Runs no code of the program.
  virtual std::optional<std::string> difference_from(const Opaque& before) const = 0;
};

}  // namespace graven::engine
