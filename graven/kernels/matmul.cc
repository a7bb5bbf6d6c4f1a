#include "graven/kernels/matmul.h"

#include <algorithm>
#include <atomic>
#include <complex>
#include <cstring>
#include <optional>

#include "graven/base/thread_pool.h"
#include "graven/kernels/band_copy.h"
#include "graven/kernels/blocked_matmul.h"
#include "graven/kernels/matmul_pieces.h"
#include "graven/kernels/narrow_product.h"
#include "graven/kernels/onednn.h"
#include "graven/kernels/onednn/plugin.h"
#include "graven/kernels/panels.h"
#include "graven/kernels/scratch.h"
#include "graven/kernels/scratch_block.h"
#include "graven/kernels/vector_product.h"

namespace graven::engine {
namespace {

template <typename T>
T* at(T* base, int64_t elements, size_t size) {
  using Byte = std::conditional_t<std::is_const_v<T>, const std::byte, std::byte>;
  return static_cast<Byte*>(base) + elements * static_cast<int64_t>(size);
}

Status out_of_memory() {
  return Status(Code::kResourceExhausted,
                "[MatMul] no memory for the packed blocks of the product");
}

// The whole product i of the batch.
ProductBlock block_of(const MatMulArguments& p, int64_t i) {
  const size_t size = dtype_size(p.dtype);
  ProductBlock block;
  block.dtype = p.dtype;
  block.rows = p.m;
  block.columns = p.n;
  block.depth = p.k;
  block.a_row_stride = p.transpose_a ? 1 : p.k;
  block.a_depth_stride = p.transpose_a ? p.m : 1;
  block.b_depth_stride = p.transpose_b ? 1 : p.n;
  block.b_column_stride = p.transpose_b ? p.k : 1;
  block.a = at(p.a, p.a_offsets[i], size);
  block.b = at(p.b, p.b_offsets[i], size);
  block.conjugate_a = p.conjugate_a;
  block.conjugate_b = p.conjugate_b;
  block.c = at(p.c, i * p.m * p.n, size);
  block.c_stride = p.n;
  return block;
}

// The piece of the i-th product that begins there.
ProductBlock piece_of(const MatMulArguments& p, const ProductPieces& pieces, int64_t i, int64_t row,
                      int64_t column) {
  const size_t size = dtype_size(p.dtype);
  ProductBlock block = block_of(p, i);
  block.rows = std::min(pieces.rows, p.m - row);
  block.columns = std::min(pieces.columns, p.n - column);
  block.a = at(block.a, row * block.a_row_stride, size);
  block.b = at(block.b, column * block.b_column_stride, size);
  block.c = at(block.c, row * p.n + column, size);
  return block;
}

// Products of matrices so small that packing them would take longer than multiplying.
void multiply_small(const MatMulArguments& p, int64_t batch) {
  const ProductPieces pieces = cut_product(p.m, p.n, p.k, batch,
                                           {.multiplication = 0.03,
                                            .pack_a = 0,
                                            .pack_b = 0.1,
                                            .row_step = p.m,
                                            .column_step = p.n,
                                            .max_rows = p.m,
                                            .max_columns = p.n});
  (void)for_each_piece(pieces, batch, p.done, [&](int64_t i, int64_t, int64_t) {
    multiply_small_block(block_of(p, i));
    return true;
  });
}

// Products of few rows.
Status multiply_narrow(const MatMulArguments& p, int64_t batch) {
  ProductPieces pieces = cut_product(p.m, p.n, p.k, batch,
                                     {.multiplication = 0.018,
                                      .pack_a = p.transpose_b ? 0.5 : 0,
                                      .pack_b = 0,
                                      .row_step = 16,
                                      .column_step = 48,
                                      .max_rows = p.m,
                                      .max_columns = p.n});
  // The last piece of a row has enough columns, too.
  for (int64_t rest = p.n % pieces.columns; rest > 0 && rest < kMinNarrowColumns;
       rest = p.n % pieces.columns) {
    pieces.columns = std::min(pieces.columns + kMinNarrowColumns, p.n);
    pieces.across = (p.n + pieces.columns - 1) / pieces.columns;
  }
  const size_t bytes = narrow_product_scratch(p.transpose_b, pieces.rows, p.k);
  const bool done =
      for_each_piece(pieces, batch, p.done, [&](int64_t i, int64_t row, int64_t column) {
        const ProductBlock block = piece_of(p, pieces, i, row, column);
        std::byte* scratch = bytes > 0 ? thread_scratch(bytes) : nullptr;
        if (bytes > 0 && !scratch) return false;
        multiply_narrow_block(block, scratch);
        return true;
      });
  return done ? Status() : out_of_memory();
}

// Each piece through the engine's own kernel.
Status multiply_blocked(const MatMulArguments& p, int64_t batch) {
  const ProductPieces pieces = cut_product(p.m, p.n, p.k, batch,
                                           {.multiplication = 0.02,
                                            .pack_a = 0.3,
                                            .pack_b = 0.1,
                                            .row_step = 16,
                                            .column_step = 48,
                                            .max_rows = 128,
                                            .max_columns = 240});
  const size_t scratch_bytes = product_block_scratch(p.dtype, pieces.rows, pieces.columns, p.k);
  const bool done =
      for_each_piece(pieces, batch, p.done, [&](int64_t i, int64_t row, int64_t column) {
        const ProductBlock block = piece_of(p, pieces, i, row, column);
        const ScratchBlock scratch(scratch_bytes);
        if (!scratch.get()) return false;
        multiply_block(block, scratch.get());
        return true;
      });
  return done ? Status() : out_of_memory();
}

// Few rows times a large matrix: memory is the limit, and a run of whole rows of b is read faster
// than a band of columns. So the depth is cut, and the partial sums are added in index order.
constexpr int64_t kFewRows = 16, kElementsOfBand = 128 << 10, kElementsOfSum = 16 << 10;

Status multiply_few_rows(const OneDnn& library, const MatMulArguments& p) {
  const int64_t wanted = std::clamp<int64_t>(p.k * p.n / kElementsOfBand, 1, 16);
  const int64_t depth = std::max<int64_t>(16, ((p.k + wanted - 1) / wanted + 15) / 16 * 16);
  const int64_t bands = (p.k + depth - 1) / depth, size = p.m * p.n;
  const ScratchBlock sums(static_cast<size_t>(bands * size) * sizeof(float));
  if (!sums.get()) return out_of_memory();
  auto* partial = static_cast<float*>(sums.get());
  std::atomic<bool> failed{false};
  ThreadPool::shared().run(bands, [&](int64_t band) {
    const int64_t first = band * depth;
    FloatProduct piece;
    piece.transpose_a = p.transpose_a;
    piece.transpose_b = false;
    piece.m = p.m;
    piece.n = p.n;
    piece.k = std::min(depth, p.k - first);
    piece.lda = p.transpose_a ? p.m : p.k;
    piece.ldb = p.n;
    piece.ldc = p.n;
    piece.a = static_cast<const float*>(p.a) + p.a_offsets[0] + first * (p.transpose_a ? p.m : 1);
    piece.b = static_cast<const float*>(p.b) + p.b_offsets[0] + first * p.n;
    piece.c = partial + band * size;
    if (!library.multiply(piece)) failed.store(true, std::memory_order_relaxed);
  });
  if (failed) return out_of_memory();
  const int64_t columns = std::max<int64_t>(1, kElementsOfSum / p.m);
  ThreadPool::shared().run((p.n + columns - 1) / columns, [&](int64_t chunk) {
    const Panel panel = {0, p.m, chunk * columns, std::min(columns, p.n - chunk * columns)};
    for (int64_t row = 0; row < p.m; ++row) {
      const int64_t first = row * p.n + panel.column;
      float* c = static_cast<float*>(p.c) + first;
      std::memcpy(c, partial + first, static_cast<size_t>(panel.columns) * sizeof(float));
      for (int64_t band = 1; band < bands; ++band) {
        const float* sum = partial + band * size + first;
        for (int64_t i = 0; i < panel.columns; ++i) c[i] += sum[i];
      }
    }
    if (p.done) (*p.done)(panel);
  });
  return {};
}

// Whether oneDNN packs its inputs before it multiplies pieces of this size. From smaller ones it
// reads them where they are. (Its rule for AVX2; with AVX-512 it packs more.)
bool is_packed_by_onednn(const ProductPieces& pieces) {
  return 1.0 / static_cast<double>(pieces.rows) + 1.0 / static_cast<double>(pieces.columns) <
         0.0038;
}

// The piece of product i of a batch that begins at a row and a column, but for its c.
template <typename T>
ProductOf<T> piece_of(const MatMulArguments& p, const ProductPieces& pieces, int64_t i, int64_t row,
                      int64_t column) {
  ProductOf<T> piece;
  piece.transpose_a = p.transpose_a;
  piece.transpose_b = p.transpose_b;
  piece.m = std::min(pieces.rows, p.m - row);
  piece.n = std::min(pieces.columns, p.n - column);
  piece.k = p.k;
  piece.lda = p.transpose_a ? p.m : p.k;
  piece.ldb = p.transpose_b ? p.k : p.n;
  piece.a = static_cast<const T*>(p.a) + p.a_offsets[i] + row * (p.transpose_a ? 1 : p.k);
  piece.b = static_cast<const T*>(p.b) + p.b_offsets[i] + column * (p.transpose_b ? p.k : 1);
  return piece;
}

// One piece of a product. Some inputs are copied first: bands of columns whose rows collide in the
// caches, because oneDNN walks down the columns. Without memory for a copy the input is read in
// place.
bool multiply_piece(const OneDnn& library, FloatProduct piece, bool copy_a, bool copy_b) {
  std::optional<BandCopy> a, b;
  if (copy_a) {
    a.emplace(FloatBand{piece.a, piece.k, piece.m, piece.lda});
    if (a->is_made()) {
      piece.a = a->data();
      piece.lda = a->stride();
    }
  }
  if (copy_b) {
    b.emplace(FloatBand{piece.b, piece.k, piece.n, piece.ldb});
    if (b->is_made()) {
      piece.b = b->data();
      piece.ldb = b->stride();
    }
  }
  return library.multiply(piece);
}

// Each piece through oneDNN, which refuses only when it has no memory.
Status multiply_onednn(const OneDnn& library, const MatMulArguments& p, int64_t batch) {
  const bool collide_a = p.transpose_a && rows_collide(p.m);
  const bool collide_b = !p.transpose_b && rows_collide(p.n);
  // Measured on one Zen 5 core with oneDNN 2.6.3 (copies: on Zen 3, and scaled). Cut at multiples
  // of 16, its bits are those of the uncut product with AVX-512; narrow pieces are slow, twice so
  // if b is transposed.
  constexpr double kCopy = 0.08;
  const ProductPieces pieces =
      cut_product(p.m, p.n, p.k, batch,
                  {.multiplication = 0.009,
                   .pack_a = (p.transpose_a ? 0.3 : 0.13) + (collide_a ? kCopy : 0),
                   .pack_b = (p.transpose_b ? 0.13 : 0.07) + (collide_b ? kCopy : 0),
                   .row_step = 16,
                   .column_step = 128,
                   .max_rows = p.m,
                   .max_columns = p.n});
  constexpr int64_t kWorthCopying = 32;  // how often each element of the copy is read, at least
  const bool packed = is_packed_by_onednn(pieces);
  constexpr int64_t kMaxCopied = (16 << 20) / sizeof(float);  // elements, for each thread
  auto is_worth = [&](int64_t columns, int64_t reads) {
    return !packed && reads >= kWorthCopying && p.k * columns <= kMaxCopied;
  };
  const bool copy_a = collide_a && is_worth(pieces.rows, pieces.columns);
  const bool copy_b = collide_b && is_worth(pieces.columns, pieces.rows);
  const bool done =
      for_each_piece(pieces, batch, p.done, [&](int64_t i, int64_t row, int64_t column) {
        auto piece = piece_of<float>(p, pieces, i, row, column);
        piece.c = static_cast<float*>(p.c) + (i * p.m + row) * p.n + column;
        piece.ldc = p.n;
        return multiply_piece(library, piece, copy_a, copy_b);
      });
  return done ? Status() : out_of_memory();
}

// The same for bfloat16: sums are float32 and rounded once.
Status multiply_bfloat16(const OneDnn& library, const MatMulArguments& p, int64_t batch) {
  // Measured on one Zen 5 core with oneDNN 2.6.3.
  const ProductPieces pieces = cut_product(p.m, p.n, p.k, batch,
                                           {.multiplication = 0.0047,
                                            .pack_a = 0.13,
                                            .pack_b = 0.1,
                                            .row_step = 16,
                                            .column_step = 128,
                                            .max_rows = p.m,
                                            .max_columns = p.n});
  const bool done =
      for_each_piece(pieces, batch, p.done, [&](int64_t i, int64_t row, int64_t column) {
        auto piece = piece_of<BFloat16>(p, pieces, i, row, column);
        const ScratchBlock sums(static_cast<size_t>(piece.m * piece.n) * sizeof(float));
        piece.c = static_cast<float*>(sums.get());
        piece.ldc = piece.n;
        if (!piece.c || !library.multiply(piece)) return false;
        auto* c = static_cast<BFloat16*>(p.c) + (i * p.m + row) * p.n + column;
        for (int64_t r = 0; r < piece.m; ++r) {
          const float* from = piece.c + r * piece.n;
          std::transform(from, from + piece.n, c + r * p.n, [](float x) { return BFloat16(x); });
        }
        return true;
      });
  return done ? Status() : out_of_memory();
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
    // The sum of nothing is zero.
    std::memset(p.c, 0, static_cast<size_t>(batch * p.m * p.n) * dtype_size(p.dtype));
    report_rows(p.done, batch * p.m, p.n);
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
  if (is_small_product(p.dtype, p.m, p.n, p.k)) {
    multiply_small(p, batch);
    return {};
  }
  if (is_vector_product(arguments)) {  // each product of the batch by itself, as it was given
    multiply_vectors(arguments);
    return {};
  }
  if (is_narrow_product(p.dtype, p.transpose_b, p.m, p.n, p.k)) {
    return multiply_narrow(p, batch);
  }
  if (p.dtype == DType::kFloat32) {
    if (const OneDnn* library = onednn()) {
      const bool few_rows = batch == 1 && p.m < kFewRows && !p.transpose_b;
      if (few_rows && p.k >= 2 * p.m && p.k * p.n >= 2 * kElementsOfBand) {
        return multiply_few_rows(*library, p);
      }
      return multiply_onednn(*library, p, batch);
    }
  }
  if (p.dtype == DType::kBFloat16) {
    if (const OneDnn* library = onednn(); library && library->has_bfloat16()) {
      return multiply_bfloat16(*library, p, batch);
    }
  }
  return multiply_blocked(p, batch);
}

}  // namespace graven::engine
