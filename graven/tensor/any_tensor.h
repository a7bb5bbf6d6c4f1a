#pragma once
#include "graven/base/export.h"

namespace graven::engine {

// True once the process has made a tensor of values: from then on TensorFlow's settings of threads
// and devices are fixed. Any thread may ask.
GRAVEN_API bool has_made_tensors();

}  // namespace graven::engine
