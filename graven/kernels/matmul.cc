#include "graven/kernels/matmul.h"

#include <algorithm>
#include <atomic>
#include <complex>
#include <cstring>

#include "graven/base/thread_pool.h"
#include "graven/kernels/blocked_matmul.h"
#include "graven/kernels/epilogue.h"
#include "graven/kernels/onednn.h"
#include "graven/kernels/onednn/plugin.h"
#include "graven/kernels/scratch_block.h"

namespace graven::engine {
namespace {

// Multiplications that are worth a chunk of their own, about ten microseconds.
constexpr int64_t kWorthAChunk = 1 << 20;
constexpr int64_t kMaxPieces = 32;
// Pieces are cut at multiples of this: oneDNN then gives the bits of the uncut product.
constexpr int64_t kCut = 16;

constexpr int64_t divide_up(int64_t value, int64_t divisor) {
  return (value + divisor - 1) / divisor;
}
constexpr int64_t round_up(int64_t value, int64_t multiple) {
  return divide_up(value, multiple) * multiple;
}

// One product of the batch, cut into a grid of pieces; or several products to a chunk.
struct Pieces {
  int64_t rows, columns;          // of one piece
  int64_t down, across;           // pieces of one product
  int64_t products_in_chunk = 1;  // with more than one, a product is one piece
};

// What a product costs, in multiplications. Reading an element from memory costs as much as
// eight, which counts for products with few rows or columns.
double cost_of(int64_t m, int64_t n, int64_t k) {
  const double rows = m, columns = n, depth = k;
  return rows * columns * depth + 8 * (rows * depth + depth * columns + rows * columns);
}

Pieces cut(int64_t m, int64_t n, int64_t k, int64_t batch, int64_t max_rows, int64_t max_columns) {
  const double cost = cost_of(m, n, k);
  Pieces best = {std::min(m, max_rows), std::min(n, max_columns), 0, 0};
  const auto wanted = static_cast<int64_t>(std::min<double>(
      cost / kWorthAChunk, static_cast<double>(std::max<int64_t>(1, kMaxPieces / batch))));
  // Of the grids with about the wanted number of pieces the one that packs least: every column of
  // pieces packs a again, every row of pieces b.
  double least = 0;
  for (int64_t down = 1; down <= wanted; ++down) {
    const int64_t across = divide_up(wanted, down);
    const int64_t rows = std::min({m, max_rows, round_up(divide_up(m, down), kCut)});
    const int64_t columns = std::min({n, max_columns, round_up(divide_up(n, across), 3 * kCut)});
    const int64_t real_down = divide_up(m, rows), real_across = divide_up(n, columns);
    if (real_down * real_across < wanted * 3 / 4 && best.down != 0) continue;
    const double packed = static_cast<double>(real_across) * m + static_cast<double>(real_down) * n;
    if (best.down == 0 || packed < least) {
      least = packed;
      best = {rows, columns, real_down, real_across};
    }
  }
  best.down = divide_up(m, best.rows);
  best.across = divide_up(n, best.columns);
  if (best.down * best.across == 1) {
    best.products_in_chunk =
        std::clamp<int64_t>(static_cast<int64_t>(kWorthAChunk / cost), 1, batch);
  }
  return best;
}

// Calls body(product, first_row, first_column) for every piece, on the pool.
template <typename F>
void for_each_piece(const Pieces& pieces, int64_t batch, const F& body) {
  const int64_t group = pieces.products_in_chunk;
  if (group > 1 || pieces.down * pieces.across == 1) {
    ThreadPool::shared().run(divide_up(batch, group), [&](int64_t chunk) {
      const int64_t end = std::min(batch, (chunk + 1) * group);
      for (int64_t i = chunk * group; i < end; ++i) body(i, 0, 0);
    });
    return;
  }
  ThreadPool::shared().run(batch * pieces.down * pieces.across, [&](int64_t chunk) {
    const int64_t across = chunk % pieces.across, rest = chunk / pieces.across;
    body(rest / pieces.down, rest % pieces.down * pieces.rows, across * pieces.columns);
  });
}

template <typename T>
T* at(T* base, int64_t elements, size_t size) {
  using Byte = std::conditional_t<std::is_const_v<T>, const std::byte, std::byte>;
  return static_cast<Byte*>(base) + elements * static_cast<int64_t>(size);
}

Status out_of_memory() {
  return Status(Code::kResourceExhausted,
                "[MatMul] no memory for the packed blocks of the product");
}

// Each piece through the engine's own kernel.
Status multiply_blocked(const MatMulArguments& p, int64_t batch) {
  const size_t size = dtype_size(p.dtype);
  const Pieces pieces = cut(p.m, p.n, p.k, batch, 128, 240);
  const size_t scratch_bytes = product_block_scratch(p.dtype, pieces.rows, pieces.columns, p.k);
  std::atomic<bool> failed{false};
  for_each_piece(pieces, batch, [&](int64_t i, int64_t row, int64_t column) {
    ProductBlock block;
    block.dtype = p.dtype;
    block.rows = std::min(pieces.rows, p.m - row);
    block.columns = std::min(pieces.columns, p.n - column);
    block.depth = p.k;
    block.a_row_stride = p.transpose_a ? 1 : p.k;
    block.a_depth_stride = p.transpose_a ? p.m : 1;
    block.b_depth_stride = p.transpose_b ? 1 : p.n;
    block.b_column_stride = p.transpose_b ? p.k : 1;
    block.a = at(p.a, p.a_offsets[i] + row * block.a_row_stride, size);
    block.b = at(p.b, p.b_offsets[i] + column * block.b_column_stride, size);
    block.conjugate_a = p.conjugate_a;
    block.conjugate_b = p.conjugate_b;
    block.c = at(p.c, (i * p.m + row) * p.n + column, size);
    block.c_stride = p.n;
    block.bias = p.epilogue.bias ? at(p.epilogue.bias, column, size) : nullptr;
    block.relu = p.epilogue.relu;
    ScratchBlock scratch(scratch_bytes);
    if (!scratch.get()) {
      failed.store(true, std::memory_order_relaxed);
      return;
    }
    multiply_block(block, scratch.get());
  });
  return failed ? out_of_memory() : Status();
}

// Each piece through oneDNN, which computes what it refuses (it has no memory) never.
Status multiply_onednn(const OneDnn& library, const MatMulArguments& p, int64_t batch) {
  const Pieces pieces = cut(p.m, p.n, p.k, batch, p.m, p.n);
  const auto* bias = static_cast<const float*>(p.epilogue.bias);
  std::atomic<bool> failed{false};
  for_each_piece(pieces, batch, [&](int64_t i, int64_t row, int64_t column) {
    FloatProduct piece;
    piece.transpose_a = p.transpose_a;
    piece.transpose_b = p.transpose_b;
    piece.m = std::min(pieces.rows, p.m - row);
    piece.n = std::min(pieces.columns, p.n - column);
    piece.k = p.k;
    piece.lda = p.transpose_a ? p.m : p.k;
    piece.ldb = p.transpose_b ? p.k : p.n;
    piece.ldc = p.n;
    piece.a = static_cast<const float*>(p.a) + p.a_offsets[i] + row * (p.transpose_a ? 1 : p.k);
    piece.b = static_cast<const float*>(p.b) + p.b_offsets[i] + column * (p.transpose_b ? p.k : 1);
    piece.c = static_cast<float*>(p.c) + (i * p.m + row) * p.n + column;
    if (!library.multiply(piece)) {
      failed.store(true, std::memory_order_relaxed);
      return;
    }
    apply_epilogue(p.dtype, piece.c, p.n, piece.m, piece.n, bias ? bias + column : nullptr,
                   p.epilogue.relu);
  });
  return failed ? out_of_memory() : Status();
}

}  // namespace

Status matmul(const MatMulArguments& arguments) {
  MatMulArguments p = arguments;
  if (!kNumberTypes.contains(p.dtype)) {
    return invalid_argument("[MatMul] takes a dtype of numbers, but got ", dtype_name(p.dtype));
  }
  if (p.a_offsets.size() != p.b_offsets.size()) {
    return internal_error("[MatMul] ", p.a_offsets.size(), " offsets of a and ", p.b_offsets.size(),
                          " of b");
  }
  auto batch = static_cast<int64_t>(p.a_offsets.size());
  if (batch == 0 || p.m == 0 || p.n == 0) return {};
  if (p.k == 0) {
    // The sum of nothing is zero, and the epilogue still applies.
    std::memset(p.c, 0, static_cast<size_t>(batch * p.m * p.n) * dtype_size(p.dtype));
    apply_epilogue(p.dtype, p.c, p.n, batch * p.m, p.n, p.epilogue.bias, p.epilogue.relu);
    return {};
  }
  // Neighbouring matrices times one matrix are one tall matrix times it.
  if (batch > 1 && !p.transpose_a) {
    bool one_b = true;
    for (int64_t i = 1; i < batch && one_b; ++i) {
      one_b = p.b_offsets[i] == p.b_offsets[0] && p.a_offsets[i] == p.a_offsets[0] + i * p.m * p.k;
    }
    if (one_b) {
      p.m *= batch;
      batch = 1;
    }
  }
  if (p.dtype == DType::kFloat32) {
    if (const OneDnn* library = onednn()) return multiply_onednn(*library, p, batch);
  }
  return multiply_blocked(p, batch);
}

}  // namespace graven::engine
