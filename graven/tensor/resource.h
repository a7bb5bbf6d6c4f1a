#pragma once
#include <string_view>

#include "graven/base/export.h"
#include "graven/base/ref.h"

namespace graven::engine {

// Something that outlives a call and may change: a variable, a table, a random generator, an
// iterator. A scalar tensor of dtype resource holds one; so does each element of a variant.
class GRAVEN_API Resource : public RefCounted {
 public:
  // The kind, for messages: "Variable", "Generator", ...
  virtual std::string_view kind() const = 0;
};

}  // namespace graven::engine
