#pragma once
#include "graven/ir/op.h"

namespace graven::engine {

struct MatMulAttrs {
  bool transpose_a = false, transpose_b = false;
  // Whether an input is itself a gradient: a hint for quantised kernels, of no effect here.
  bool grad_a = false, grad_b = false;
  static constexpr auto fields() {
    return std::tuple(field("transpose_a", &MatMulAttrs::transpose_a),
                      field("transpose_b", &MatMulAttrs::transpose_b),
                      field("grad_a", &MatMulAttrs::grad_a), field("grad_b", &MatMulAttrs::grad_b));
  }
};
GRAVEN_API inline OpHandle<MatMulAttrs> kMatMul;  // a, b -> product

struct BatchMatMulAttrs {
  bool adj_x = false, adj_y = false;    // the conjugate transpose
  bool grad_x = false, grad_y = false;  // as grad_a and grad_b of MatMul
  static constexpr auto fields() {
    return std::tuple(
        field("adj_x", &BatchMatMulAttrs::adj_x), field("adj_y", &BatchMatMulAttrs::adj_y),
        field("grad_x", &BatchMatMulAttrs::grad_x), field("grad_y", &BatchMatMulAttrs::grad_y));
  }
};
GRAVEN_API inline OpHandle<BatchMatMulAttrs> kBatchMatMul, kBatchMatMulV2;  // x, y -> output

}  // namespace graven::engine
