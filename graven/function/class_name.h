#pragma once
#include <string>

#include "graven/base/export.h"

namespace graven::engine {

// What handles of a front end's objects, and types that it defines, implement besides: the name of
// the object's class, which is the same in each run of a program. Lets no exception out.
class GRAVEN_API HasClassName {
 public:
  virtual ~HasClassName() = default;
  virtual std::string class_name() const = 0;  // "models.Config"
};

}  // namespace graven::engine
