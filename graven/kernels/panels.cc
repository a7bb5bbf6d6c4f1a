#include "graven/kernels/panels.h"

#include <algorithm>

#include "graven/base/thread_pool.h"

namespace graven::engine {

void report_rows(const PanelDone* done, int64_t rows, int64_t columns) {
  if (!done || rows == 0 || columns == 0) return;
  constexpr int64_t kElementsOfPanel = 16 << 10;
  const int64_t height = std::max<int64_t>(1, kElementsOfPanel / columns);
  ThreadPool::shared().run((rows + height - 1) / height, [&](int64_t i) {
    const int64_t first = i * height;
    (*done)({first, std::min(height, rows - first), 0, columns});
  });
}

}  // namespace graven::engine
