#pragma once
#include <cstdint>
#include <span>

#include "graven/base/export.h"
#include "graven/base/status.h"
#include "graven/ir/kernel.h"
#include "graven/tensor/dtype.h"

namespace graven::engine {

// A batch of products of row-major matrices: c[i] = op(a[i]) op(b[i]), where op transposes
// (adjoint: and conjugates) on request. The offsets are in elements, one for each product, so
// that batches may broadcast; c is contiguous, batch after batch, and overlaps neither input.
struct MatMulArguments {
  DType dtype;
  int64_t m, n, k;  // op(a): [m, k], op(b): [k, n], c: [m, n]
  bool transpose_a = false, transpose_b = false;
  bool conjugate_a = false, conjugate_b = false;
  const void* a;
  const void* b;
  void* c;
  std::span<const int64_t> a_offsets, b_offsets;
  // Called for each rectangle of c, whose rows are those of all products. Not called for a product
  // that fails.
  const PanelDone* done = nullptr;
};

// All number dtypes. float32 (and other dtypes that oneDNN has) runs through oneDNN,
// single-threaded on slices of the product that are cut by shape alone, on our pool. Other dtypes,
// and float32 without oneDNN, run through one blocked kernel of ours (matrices times vectors: row
// by row). half and bfloat16 accumulate in float32, small integers wrap around in their own dtype.
// k = 0 gives zeros. One thread or two give the same bits.
GRAVEN_API Status matmul(const MatMulArguments& arguments);

}  // namespace graven::engine
