#pragma once
#include <cstdint>

#include "graven/base/export.h"

namespace graven::engine {

// Switches flush-to-zero and denormals-are-zero off while it lives: for code of the program that a
// run calls back, which computes with its own libraries.
class GRAVEN_API KeepDenormals {
 public:
  KeepDenormals();
  ~KeepDenormals();
  KeepDenormals(const KeepDenormals&) = delete;

 private:
  uint32_t saved_;
};

}  // namespace graven::engine
