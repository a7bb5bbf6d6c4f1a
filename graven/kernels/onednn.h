#pragma once
#include <string>

#include "graven/base/export.h"

namespace graven::engine {

class OneDnn;

// Whether libgraven_onednn.so could be opened. The first call of any of these functions tries,
// once. Without it every product and convolution runs through the engine's own kernels, slower.
GRAVEN_API bool onednn_is_available();
// The dynamic linker's reason if it could not be opened; empty if it could.
GRAVEN_API const std::string& onednn_unavailable_reason();

// The library, or null. For the kernels of this room.
const OneDnn* onednn();

}  // namespace graven::engine
