#pragma once
#include <concepts>
#include <functional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "graven/base/export.h"
#include "graven/base/status.h"
#include "graven/expr/expression.h"
#include "graven/expr/rows.h"
#include "graven/expr/scalar.h"
#include "graven/ir/attributes.h"
#include "graven/tensor/dtype.h"
#include "graven/tensor/tensor.h"

namespace graven::engine {

class CompositeContext;
class KernelContext;

using ElementwiseFunction = std::function<Scalar(std::span<const Scalar> x, AttrsRef attrs)>;
using KernelFunction = Status (*)(KernelContext& context);
// The body of an op that goes row by row over the last axis of its inputs, which have one shape;
// its output has that shape too.
using RowsFunction = Result<RowsExpression> (*)(std::span<const DType> inputs, AttrsRef attrs);
using CompositeFunction = void (*)(CompositeContext& context);

// A reduction over axes, in scalars. Input 0 is reduced; input 1 holds the axes, and without input
// 1 all axes are reduced; the attribute keep_dims keeps them with size 1.
struct ReductionBody {
  // The first value of the accumulator, and so the accumulator of an empty reduction.
  Scalar (*identity)(Scalar like);
  Scalar (*combine)(Scalar accumulator, Scalar value);
  // Applied to each element before it is combined, in the accumulator's dtype.
  Scalar (*prepare)(Scalar x) = nullptr;
  // Makes the result from the accumulator and the number of elements (a float64 scalar).
  Scalar (*finish)(Scalar accumulator, Scalar count) = nullptr;
  // The dtype to accumulate in. Default: half and bfloat16 in float32, others in their own.
  DType (*accumulator)(DType x) = nullptr;
};

// How an op is computed.
class OpBody {
 public:
  enum class Kind {
    kNone,         // the executor knows the op by its record: placeholders, calls, control flow
    kElementwise,  // an expression for each element of inputs that broadcast
    kReduction,
    kRows,       // expressions and reductions over the last axis
    kKernel,     // a function over whole tensors, its own lowering
    kComposite,  // other ops
  };
  OpBody() = default;

  Kind kind() const { return kind_; }
  // The kind if the last input has this dtype: see with_kernel_for.
  Kind kind_for(DType last_input, AttrsRef attrs) const {
    bool is_kernel = kernel_types_.contains(last_input) || (kernel_when_ && kernel_when_(attrs));
    return is_kernel ? Kind::kKernel : kind_;
  }
  const ElementwiseFunction& elementwise() const { return elementwise_; }
  const ReductionBody& reduction() const { return reduction_; }
  RowsFunction rows() const { return rows_; }
  KernelFunction kernel() const { return kernel_; }
  CompositeFunction composite() const { return composite_; }

  // The same body, but a kernel where the last input has one of these dtypes, which expressions do
  // not have: strings.
  OpBody with_kernel_for(DTypeSet types, KernelFunction f) && {
    kernel_types_ = types;
    kernel_ = f;
    return std::move(*this);
  }
  // The same body, but a kernel where the attributes say so.
  OpBody with_kernel_when(bool (*applies)(AttrsRef attrs), KernelFunction f) && {
    kernel_when_ = applies;
    kernel_ = f;
    return std::move(*this);
  }

 private:
  friend OpBody elementwise_body(ElementwiseFunction f);
  friend OpBody reduction(ReductionBody body);
  friend OpBody rows(RowsFunction f);
  friend OpBody kernel(KernelFunction f);
  friend OpBody composite(CompositeFunction f);
  Kind kind_ = Kind::kNone;
  ElementwiseFunction elementwise_;
  ReductionBody reduction_ = {};
  RowsFunction rows_ = nullptr;
  KernelFunction kernel_ = nullptr;
  CompositeFunction composite_ = nullptr;
  DTypeSet kernel_types_;
  bool (*kernel_when_)(AttrsRef attrs) = nullptr;
};

inline OpBody elementwise_body(ElementwiseFunction f) {
  OpBody body;
  body.kind_ = OpBody::Kind::kElementwise;
  body.elementwise_ = std::move(f);
  return body;
}
inline OpBody reduction(ReductionBody parts) {
  OpBody body;
  body.kind_ = OpBody::Kind::kReduction;
  body.reduction_ = parts;
  return body;
}
inline OpBody rows(RowsFunction f) {
  OpBody body;
  body.kind_ = OpBody::Kind::kRows;
  body.rows_ = f;
  return body;
}
inline OpBody kernel(KernelFunction f) {
  OpBody body;
  body.kind_ = OpBody::Kind::kKernel;
  body.kernel_ = f;
  return body;
}
inline OpBody composite(CompositeFunction f) {
  OpBody body;
  body.kind_ = OpBody::Kind::kComposite;
  body.composite_ = f;
  return body;
}

// elementwise([](auto x, auto y) { return x + y; }): a lambda over as many scalars as the op has
// inputs. elementwise<Attrs>([](const Attrs& a, auto x) {...}) also sees the attributes.
template <typename F>
OpBody elementwise(F f) {
  return elementwise_body([f](std::span<const Scalar> x, AttrsRef) -> Scalar {
    if constexpr (std::is_invocable_v<F, Scalar>) {
      return f(x[0]);
    } else if constexpr (std::is_invocable_v<F, Scalar, Scalar>) {
      return f(x[0], x[1]);
    } else {
      return f(x[0], x[1], x[2]);
    }
  });
}
template <typename A, typename F>
OpBody elementwise(F f) {
  return elementwise_body([f](std::span<const Scalar> x, AttrsRef attrs) -> Scalar {
    if constexpr (std::is_invocable_v<F, const A&, Scalar>) {
      return f(attrs.as<A>(), x[0]);
    } else if constexpr (std::is_invocable_v<F, const A&, Scalar, Scalar>) {
      return f(attrs.as<A>(), x[0], x[1]);
    } else {
      return f(attrs.as<A>(), x[0], x[1], x[2]);
    }
  });
}

// The expression of an elementwise body for inputs of the given dtypes.
GRAVEN_API Result<Expression> record_expression(const OpBody& body, std::span<const DType> inputs,
                                                AttrsRef attrs);

}  // namespace graven::engine
