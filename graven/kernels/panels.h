#pragma once
#include <cstdint>

#include "graven/ir/kernel.h"

namespace graven::engine {

// Kernels report their results rectangle by rectangle: see Panel. While `done` runs, the calling
// thread's scratch (scratch.h) is not the kernel's.

// Reports a result of rows by columns that is final as a whole: in runs of rows on the pool, cut by
// shape alone. Null `done`: does nothing.
void report_rows(const PanelDone* done, int64_t rows, int64_t columns);

}  // namespace graven::engine
