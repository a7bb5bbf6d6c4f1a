#pragma once
#include "graven/ir/location.h"

namespace graven::python {

// Tells where the user's Python code is: frames of modules that are not of the
// package graven. A location keeps code objects and line numbers only, and is shared by nodes made
// at the same place.
engine::LocationSource& location_source();

}  // namespace graven::python
