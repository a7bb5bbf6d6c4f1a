// Gradients of products of matrices, of einsum, of diagonals and bands.
#include <doctest/doctest.h>

#include "graven/ops/diagonal_ops.h"
#include "graven/ops/einsum_ops.h"
#include "graven/ops/linear_algebra_ops.h"
#include "op_gradients.h"

namespace graven::engine {

TEST_CASE("gradients of matrix products, transposed in any way") {
  for (DType dtype : {kReals, kComplexes}) {
    for (int i = 0; i < 4; ++i) {
      MatMulAttrs attrs = {.transpose_a = (i & 1) != 0, .transpose_b = (i & 2) != 0};
      check(kMatMul,
            {random_tensor(dtype, attrs.transpose_a ? Shape{2, 3} : Shape{3, 2}, -1, 1),
             random_tensor(dtype, attrs.transpose_b ? Shape{4, 2} : Shape{2, 4}, -1, 1)},
            attrs);
    }
  }
}

TEST_CASE("gradients of batched matrix products, that broadcast or not") {
  for (DType dtype : {kReals, kComplexes}) {
    for (int i = 0; i < 4; ++i) {
      BatchMatMulAttrs attrs = {.adj_x = (i & 1) != 0, .adj_y = (i & 2) != 0};
      check(kBatchMatMulV2,
            {random_tensor(dtype, attrs.adj_x ? Shape{2, 1, 2, 3} : Shape{2, 1, 3, 2}, -1, 1),
             random_tensor(dtype, attrs.adj_y ? Shape{3, 1, 2} : Shape{3, 2, 1}, -1, 1)},
            attrs);
    }
  }
}

TEST_CASE("gradients of sums of products in Einstein's notation") {
  for (DType dtype : {kReals, kComplexes}) {
    const auto random = [&](const Shape& shape) { return random_tensor(dtype, shape, 0.5, 1.5); };
    for (const char* equation : {"ij,jk->ik", "ij,jk->ki", "ij,jk->j", "ij,jk->"}) {
      check(kEinsum, {random({2, 3}), random({3, 2})}, {equation});
    }
    check(kEinsum, {random({2, 2, 3}), random({3, 2, 2})}, {"bij,jkb->bik"});
    check(kEinsum, {random({2, 1, 2, 3}), random({3, 3})}, {"...ij,j...->...i"});
    check(kEinsum, {random({3, 1}), random({2, 2, 3})}, {"i...,b...i->...b"});
    check(kEinsum, {random({2, 2, 3}), random({3, 2})}, {"iij,jk->ik"});
    check(kEinsum, {random({2, 3, 2, 2})}, {"iaii->ai"});
    check(kEinsum, {random({2, 3})}, {"ij->j"});
  }
}

TEST_CASE("gradients of diagonals, bands and cross products") {
  for (DType dtype : {kReals, kComplexes}) {
    const auto random = [&](const Shape& shape) { return random_tensor(dtype, shape, 0.5, 1.5); };
    for (const char* align : {"RIGHT_LEFT", "LEFT_RIGHT"}) {
      check(kMatrixSetDiagV3, {random({2, 3, 4}), random({2, 4, 3}), ints({-1, 2})}, {align});
    }
    check(kMatrixBandPart,
          {random({3, 4}), Tensor::scalar(int64_t{1}), Tensor::scalar(int64_t{0})});
    check(kDiag, {random({2, 2})});
    check(kDiagPart, {random({2, 2, 2, 2})});
  }
  check(kCross, {random_tensor(kReals, {2, 3}, -1, 1), random_tensor(kReals, {2, 3}, -1, 1)});
}

}  // namespace graven::engine
