#pragma once
#include <optional>
#include <string_view>
#include <utility>

#include "graven/base/export.h"
#include "graven/base/ref.h"
#include "graven/tensor/dtype.h"
#include "graven/tensor/shape.h"

namespace graven::engine {

// An object that outlives a call and may change: a variable, a table, a random generator, an
// iterator. A scalar tensor of dtype resource holds one; so does each element of a variant.
class GRAVEN_API Resource : public RefCounted {
 public:
  // The kind, for messages: "Variable", "Generator", ...
  virtual std::string_view kind() const = 0;
  // The dtype and declared shape of the value that it holds, if it holds one: a variable's.
  virtual std::optional<std::pair<DType, Shape>> value_type() const { return std::nullopt; }
  // True for a variable that tapes watch when it is read.
  virtual bool is_trainable() const { return false; }
};

}  // namespace graven::engine
