#pragma once
#include "graven/ir/location.h"

namespace graven::python {

// Gives the place in the user's Python code: the frames of modules outside of the package graven. A
// location keeps code objects and line numbers only, and is shared by nodes made at the same place.
engine::LocationSource& location_source();

}  // namespace graven::python
