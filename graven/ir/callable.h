#pragma once
#include <cstdint>
#include <span>
#include <string>

#include "graven/base/export.h"
#include "graven/base/ref.h"
#include "graven/base/status.h"
#include "graven/ir/value.h"

namespace graven::engine {

// A function of the user's program as an argument of a public function: a branch of cond, the body
// of a loop. The front ends implement it. It is called on the thread that made it, with no lock
// held, and lives as long as the call of the public function.
class GRAVEN_API Callable : public RefCounted {
 public:
  // The form in which a result crosses over.
  enum class As : uint8_t {
    kWhole,    // one value, which the front end gets back as the very object that it was
    kParts,    // containers are taken apart, their leaves stay as they are
    kTensors,  // containers are taken apart, and each leaf is a tensor or None
    kDense,    // the same, and rows of a larger tensor become that tensor
  };
  // Calls the function in the current frame. An exception of the user's is the Status's payload.
  virtual Result<Value> call(std::span<const Value> arguments, As as) = 0;
};

}  // namespace graven::engine
