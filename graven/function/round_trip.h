#pragma once
#include "graven/base/export.h"

namespace graven::engine {

// While it is on, each graph is printed and parsed again before it is optimised and planned, so
// that tests see whether the text form says all that a graph is. For tests; any thread.
GRAVEN_API void set_round_trip(bool on);

}  // namespace graven::engine
