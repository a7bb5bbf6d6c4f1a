#pragma once
#include <span>

#include "graven/base/export.h"
#include "graven/ir/emitter.h"
#include "graven/ir/gradient_context.h"
#include "graven/tensor/tensor.h"

namespace graven::engine {

// A tensor in a formula: operators on it apply ops through an Emitter, so that gradients and
// composites read as their mathematics:
//
//   Formula y(c, c.y(0)), dy(c, c.dy());
//   c.set_dx(0, dy * y * (1.0 - y));
//
// A number takes the dtype of the other operand.
class GRAVEN_API Formula {
 public:
  Formula(Emitter& emit, Tensor value) : emit_(&emit), value_(std::move(value)) {}
  operator const Tensor&() const { return value_; }
  const Tensor& tensor() const { return value_; }
  Emitter& emit() const { return *emit_; }
  DType dtype() const { return value_ ? value_.dtype() : DType::kInvalid; }

 private:
  Emitter* emit_;
  Tensor value_;
};
GRAVEN_API Formula operator+(const Formula& a, const Formula& b);
GRAVEN_API Formula operator-(const Formula& a, const Formula& b);
GRAVEN_API Formula operator*(const Formula& a, const Formula& b);
GRAVEN_API Formula operator/(const Formula& a, const Formula& b);  // no integers
GRAVEN_API Formula operator-(const Formula& a);
GRAVEN_API Formula operator+(const Formula& a, double b);
GRAVEN_API Formula operator-(const Formula& a, double b);
GRAVEN_API Formula operator-(double a, const Formula& b);
GRAVEN_API Formula operator*(double a, const Formula& b);

// An op of one or two inputs, as a function: call(kExp, x).
template <typename A>
Formula call(const OpHandle<A>& op, const Formula& x, const std::type_identity_t<A>& attrs = {}) {
  return {x.emit(), x.emit()(op, {x.tensor()}, attrs)};
}
template <typename A>
Formula call(const OpHandle<A>& op, const Formula& x, const Formula& y,
             const std::type_identity_t<A>& attrs = {}) {
  return {x.emit(), x.emit()(op, {x.tensor(), y.tensor()}, attrs)};
}

// A tensor as a constant: a Const node in a graph (and no capture), itself otherwise.
GRAVEN_API Tensor constant(Emitter& emit, Tensor value);
// A scalar of x's dtype.
GRAVEN_API Formula constant_like(const Formula& x, double value);
// An int32 vector.
GRAVEN_API Tensor int32_vector(Emitter& emit, std::span<const int32_t> values);
GRAVEN_API Tensor cast(Emitter& emit, const Tensor& x, DType dtype);
// The complex conjugate; a real x itself.
GRAVEN_API Formula conj(const Formula& x);
// The value of a tensor that is eager or a constant of its graph, else an empty tensor.
GRAVEN_API Tensor known_value(const Tensor& x);

// The gradient dy of a value that input `input` was broadcast to, summed down to the shape of the
// input. With static shapes it is dy itself, or a Sum (and a Reshape if needed); otherwise the
// axes are found at run time.
GRAVEN_API Tensor reduce_to_shape(GradientContext& c, const Tensor& dy, int input);

}  // namespace graven::engine
