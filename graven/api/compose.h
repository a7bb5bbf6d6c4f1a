#pragma once
#include <cstdint>
#include <source_location>
#include <span>
#include <vector>

#include "graven/api/location.h"
#include "graven/api/operand.h"
#include "graven/api/tensor.h"
#include "graven/ir/frame.h"

// How functions are written that are made of other functions; not for users.

namespace graven::internal {

// While it lives, what this thread applies, and what fails, is of this line, whatever line it
// names itself; the nodes are in a name scope. The outermost one says the line.
class Composite {
 public:
  Composite(const char* name, const std::source_location& line) : line_(line), scope_(name) {}

 private:
  LineScope line_;
  engine::NameScope scope_;
};

inline Operand at(const Tensor& tensor, const std::source_location& location) {
  return Operand(tensor, location);
}

// The dtypes of tensors, for an attribute that lists them. Throws if one is none.
std::vector<DType> dtypes_of(std::span<const engine::Tensor> tensors,
                             const std::source_location& location);

// Integers as an int32 vector, or int64 if one of them needs it.
Tensor integers(const std::vector<int64_t>& values, const std::source_location& location);

}  // namespace graven::internal
