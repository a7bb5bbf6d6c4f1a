#pragma once
#include "graven/ir/location.h"

namespace graven::python {

// Tells where the user's Python code is: frames of code outside of the package graven. A location
// keeps code objects and instruction offsets only, and is shared by nodes made at the same place.
engine::LocationSource& location_source();

}  // namespace graven::python
