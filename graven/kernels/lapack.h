#pragma once
#include "graven/base/export.h"
#include "graven/base/status.h"
#include "graven/kernels/lapack/plugin.h"

namespace graven::engine {

// libgraven_lapack.so, which the first call opens; an error with the dynamic linker's reason where
// it cannot be opened.
GRAVEN_API Result<const Lapack*> lapack();

}  // namespace graven::engine
