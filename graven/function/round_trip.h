#pragma once
#include "graven/base/export.h"

namespace graven::engine {

// What becomes of each graph before it is optimised and planned, so that tests see whether a form
// of graphs says all that a graph is: nothing, or it is printed as text and parsed, or turned into
// data (ir/graph_def.h) and back. For tests; any thread.
enum class RoundTrip { kNone, kText, kData };
GRAVEN_API void set_round_trip(RoundTrip form);

}  // namespace graven::engine
