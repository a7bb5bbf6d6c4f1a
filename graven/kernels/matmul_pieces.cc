#include "graven/kernels/matmul_pieces.h"

#include <algorithm>
#include <memory>

namespace graven::engine {
namespace {

// Nanoseconds: the largest product that is not worth cutting, the cost of starting a piece, and of
// waking other threads.
constexpr double kWorthCutting = 15e3, kStart = 800, kWake = 3e3;
constexpr int64_t kParts[] = {1, 2, 3, 4, 6, 8, 12, 16, 24, 32};
constexpr int64_t kMaxPieces = 64;
struct Threads {
  int64_t number;
  double weight;
};
// How much a machine with so many threads counts: each piece packs its inputs anew, so a cut that
// feeds sixteen threads costs two of them a tenth of their time.
constexpr Threads kThreads[] = {{2, 16}, {4, 4}, {8, 1}, {16, 0.25}};

int64_t divide_up(int64_t value, int64_t divisor) { return (value + divisor - 1) / divisor; }

// The size of one of `parts` of `size`: a multiple of the step, or all.
int64_t part_of(int64_t size, int64_t parts, int64_t step, int64_t largest) {
  return std::min({size, largest, divide_up(divide_up(size, parts), step) * step});
}

double time_of_piece(int64_t m, int64_t n, int64_t k, const ProductCosts& costs) {
  const double rows = m, columns = n, depth = k;
  return kStart + depth * (rows * columns * costs.multiplication + rows * costs.pack_a +
                           columns * costs.pack_b);
}

ProductPieces best_grid(int64_t m, int64_t n, int64_t k, int64_t batch, const ProductCosts& costs) {
  ProductPieces best = {m, n, m, n, 1, 1};
  double least = 0;
  for (int64_t down : kParts) {
    for (int64_t across : kParts) {
      if (down > 1 && down * across * batch > kMaxPieces) break;
      const int64_t rows = part_of(m, down, costs.row_step, costs.max_rows);
      const int64_t columns = part_of(n, across, costs.column_step, costs.max_columns);
      const ProductPieces grid = {m, n, rows, columns, divide_up(m, rows), divide_up(n, columns)};
      const int64_t pieces = batch * grid.down * grid.across;
      const double piece = time_of_piece(rows, columns, k, costs);
      double time = 0;
      for (const Threads& threads : kThreads) {
        const auto rounds = static_cast<double>(divide_up(pieces, threads.number));
        const double wake = pieces > 1 ? kWake : 0;
        time += threads.weight * static_cast<double>(threads.number) * (rounds * piece + wake);
      }
      if (least == 0 || time < least) {
        least = time;
        best = grid;
      }
    }
  }
  return best;
}

// The last grids of a thread: loops multiply matrices of the same sizes again and again, and the
// search takes a microsecond.
struct KnownGrid {
  int64_t m = 0, n = 0, k = 0, batch = 0;
  ProductCosts costs = {};
  ProductPieces grid = {};
};
constexpr size_t kKnownGrids = 8;

}  // namespace

ProductPieces cut_product(int64_t m, int64_t n, int64_t k, int64_t batch,
                          const ProductCosts& costs) {
  const double whole = time_of_piece(m, n, k, costs);
  const bool fits = m <= costs.max_rows && n <= costs.max_columns;
  if (fits && (whole < kWorthCutting || batch >= kMaxPieces)) {
    ProductPieces one = {m, n, m, n, 1, 1};
    one.products_in_chunk =
        std::clamp<int64_t>(static_cast<int64_t>(kWorthCutting / whole), 1, batch);
    return one;
  }
  // Not in the thread's static block: libraries that are opened later need what is left of it.
  thread_local const auto known = std::make_unique<KnownGrid[]>(kKnownGrids);
  KnownGrid& place = known[static_cast<size_t>(m * 5 + n * 3 + k) / 16 % kKnownGrids];
  if (place.m != m || place.n != n || place.k != k || place.batch != batch ||
      !(place.costs == costs)) {
    place = {m, n, k, batch, costs, best_grid(m, n, k, batch, costs)};
  }
  return place.grid;
}

}  // namespace graven::engine
