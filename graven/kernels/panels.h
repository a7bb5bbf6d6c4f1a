#pragma once
#include <cstdint>

#include "graven/ir/kernel.h"

namespace graven::engine {

// What kernels tell of their results, rectangle by rectangle: see Panel. While `done` runs, the
// calling thread's scratch (scratch.h) is not the kernel's.

// Tells of a result of rows by columns that is final as a whole: in runs of rows on the pool, cut
// by shape alone. done: null if nobody wants to know.
void report_rows(const PanelDone* done, int64_t rows, int64_t columns);

}  // namespace graven::engine
