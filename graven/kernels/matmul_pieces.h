#pragma once
#include <algorithm>
#include <atomic>
#include <cstdint>

#include "graven/base/thread_pool.h"
#include "graven/ir/kernel.h"

namespace graven::engine {

// The costs of a kernel of products on one core, in nanoseconds, and its limits on pieces. The
// figures need not be exact: they weigh pieces that pack their inputs seldom against pieces that
// keep many threads busy.
struct ProductCosts {
  double multiplication;          // for one of the m * n * k
  double pack_a, pack_b;          // for each element that a piece reads
  int64_t row_step, column_step;  // pieces begin at multiples of these
  int64_t max_rows, max_columns;  // of a piece
  bool operator==(const ProductCosts&) const = default;
};

// A batch of products, each cut into a grid of pieces, or several to a chunk of work.
struct ProductPieces {
  int64_t m, n;           // of one product
  int64_t rows, columns;  // of one piece; the last ones may be smaller
  int64_t down, across;   // pieces of one product
  int64_t products_in_chunk = 1;
};

// By the shape alone, never by the number of threads: the grid that is best on average on 2, 4, 8
// and 16 threads, two counting most.
ProductPieces cut_product(int64_t m, int64_t n, int64_t k, int64_t batch,
                          const ProductCosts& costs);

// Calls body(product, first row, first column) for every piece, on the pool, and reports the piece
// to `done`, unless the body returned false (no memory). Returns false if the body did for any
// piece.
template <typename F>
[[nodiscard]] bool for_each_piece(const ProductPieces& pieces, int64_t batch, const PanelDone* done,
                                  const F& body) {
  std::atomic<bool> failed{false};
  if (pieces.down * pieces.across > 1) {
    ThreadPool::shared().run(batch * pieces.down * pieces.across, [&](int64_t chunk) {
      const int64_t rest = chunk / pieces.across, product = rest / pieces.down;
      const int64_t row = rest % pieces.down * pieces.rows;
      const int64_t column = chunk % pieces.across * pieces.columns;
      if (!body(product, row, column)) {
        failed.store(true, std::memory_order_relaxed);
      } else if (done) {
        (*done)({product * pieces.m + row, std::min(pieces.rows, pieces.m - row), column,
                 std::min(pieces.columns, pieces.n - column)});
      }
    });
    return !failed;
  }
  const int64_t group = pieces.products_in_chunk;
  ThreadPool::shared().run((batch + group - 1) / group, [&](int64_t chunk) {
    const int64_t begin = chunk * group, end = std::min(batch, begin + group);
    bool is_final = true;
    for (int64_t i = begin; i < end; ++i) is_final &= body(i, 0, 0);
    if (!is_final) {
      failed.store(true, std::memory_order_relaxed);
    } else if (done) {
      (*done)({begin * pieces.m, (end - begin) * pieces.m, 0, pieces.n});
    }
  });
  return !failed;
}

}  // namespace graven::engine
