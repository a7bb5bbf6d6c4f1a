#include "graven/ops/formulas.h"

#include <complex>

#include "graven/ir/graph.h"
#include "graven/ir/structural_ops.h"
#include "graven/ops/math_ops.h"
#include "graven/ops/reduction_ops.h"
#include "graven/ops/shape_ops.h"

namespace graven::engine {

Formula operator+(const Formula& a, const Formula& b) { return call(kAddV2, a, b); }
Formula operator-(const Formula& a, const Formula& b) { return call(kSub, a, b); }
Formula operator*(const Formula& a, const Formula& b) { return call(kMul, a, b); }
Formula operator/(const Formula& a, const Formula& b) { return call(kRealDiv, a, b); }
Formula operator-(const Formula& a) { return call(kNeg, a); }
Formula operator+(const Formula& a, double b) { return a + constant_like(a, b); }
Formula operator-(const Formula& a, double b) { return a - constant_like(a, b); }
Formula operator-(double a, const Formula& b) { return constant_like(b, a) - b; }
Formula operator*(double a, const Formula& b) { return constant_like(b, a) * b; }

Tensor constant(Emitter& emit, Tensor value) {
  if (!emit.builder().graph() || !value) return value;
  DType dtype = value.dtype();
  return emit(kConst, {}, {std::move(value), dtype});
}

Formula constant_like(const Formula& x, double value) {
  if (!x.tensor()) return x;  // after an error
  if (!is_plain(x.dtype())) {
    x.emit().fail(type_error("There is no number of ", dtype_name(x.dtype())));
    return {x.emit(), {}};
  }
  Tensor scalar = visit_plain(x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
      return Tensor::scalar(T(static_cast<float>(value)));
    } else {
      return Tensor::scalar(static_cast<T>(value));
    }
  });
  return {x.emit(), constant(x.emit(), std::move(scalar))};
}

Tensor int32_vector(Emitter& emit, std::span<const int32_t> values) {
  return constant(emit, Tensor::vector(values));
}

Tensor cast(Emitter& emit, const Tensor& x, DType dtype) {
  if (!x || x.dtype() == dtype) return x;
  return emit(kCast, {x}, {.DstT = dtype});
}

Formula conj(const Formula& x) { return is_complex(x.dtype()) ? call(kConj, x) : x; }

Tensor known_value(const Tensor& x) {
  if (!x || !x.is_symbolic()) return x;
  const Node& node = symbolic(x).node();
  return &node.op() == kConst.op ? node.attrs().as<ConstAttrs>().value : Tensor();
}

namespace {

// The axes of dy over which the input was repeated; false if sizes leave it open.
bool broadcast_axes(const Shape& x, const Shape& dy, InlineVector<int32_t, 6>& axes) {
  if (!x.has_rank() || !dy.has_rank() || dy.rank() < x.rank()) return false;
  int offset = dy.rank() - x.rank();
  for (int i = 0; i < offset; ++i) axes.push_back(i);
  for (int i = 0; i < x.rank(); ++i) {
    if (x[i] == dy[offset + i] && !x[i].is_unknown()) continue;
    if (x[i] != Dim(1)) return false;
    axes.push_back(offset + i);
  }
  return true;
}

}  // namespace

Tensor reduce_to_shape(GradientContext& c, const Tensor& dy, int input) {
  if (!dy) return dy;  // after an error
  const Shape& x = c.static_shape_of_x(input);
  InlineVector<int32_t, 6> axes;
  if (broadcast_axes(x, dy.shape(), axes)) {
    if (axes.empty()) return dy;
    bool only_leading = static_cast<int>(axes.size()) == dy.rank() - x.rank();
    bool keeps_rank = dy.rank() == x.rank();
    Tensor sum = c(kSum, {dy, int32_vector(c, {axes.data(), axes.size()})},
                   {.keep_dims = keeps_rank && !only_leading});
    return only_leading || keeps_rank ? sum : c(kReshape, {sum, c.shape_of_x(input)});
  }
  Tensor shape_of_x = c.shape_of_x(input);
  Tensor shape_of_dy = c(kShape, {dy});
  Tensor reduced = c(kBroadcastGradientArgs, {shape_of_x, shape_of_dy});
  return c(kReshape, {c(kSum, {dy, reduced}), shape_of_x});
}

}  // namespace graven::engine
