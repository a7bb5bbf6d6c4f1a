#include "graven/ops/sizes.h"

#include <algorithm>
#include <utility>

#include "graven/base/strings.h"
#include "graven/ir/structural_ops.h"
#include "graven/ops/elements.h"
#include "graven/ops/formulas.h"
#include "graven/ops/join_ops.h"
#include "graven/ops/math_ops.h"
#include "graven/ops/reduction_ops.h"
#include "graven/ops/shape_ops.h"
#include "graven/ops/slice_ops.h"

namespace graven::engine {

namespace {

bool check_int32(Emitter& emit, int64_t number) {
  if (std::in_range<int32_t>(number)) return true;
  emit.fail(invalid_argument("A size or an axis is of int32, which does not hold ", number));
  return false;
}

// The number that arithmetic gives, unless it overflows.
Size checked(Emitter& emit, bool overflows, int64_t number) {
  if (!overflows) return number;
  emit.fail(invalid_argument("A size goes beyond 64 bits"));
  return 0;
}

}  // namespace

Tensor Size::tensor(Emitter& emit) const {
  if (!number_) return tensor_;
  if (!check_int32(emit, *number_)) return {};
  return constant(emit, Tensor::scalar(static_cast<int32_t>(*number_)));
}

Size multiply(Emitter& emit, const Size& a, const Size& b) {
  if (a.is_number() && b.is_number()) {
    int64_t number = 0;
    const bool overflows = __builtin_mul_overflow(a.number(), b.number(), &number);
    return checked(emit, overflows, number);
  }
  if (a.is_number() && a.number() == 1) return b;
  if (b.is_number() && b.number() == 1) return a;
  return Size(emit(kMul, {a.tensor(emit), b.tensor(emit)}));
}

Size subtract(Emitter& emit, const Size& a, const Size& b) {
  if (a.is_number() && b.is_number()) {
    int64_t number = 0;
    const bool overflows = __builtin_sub_overflow(a.number(), b.number(), &number);
    return checked(emit, overflows, number);
  }
  if (b.is_number() && b.number() == 0) return a;
  return Size(emit(kSub, {a.tensor(emit), b.tensor(emit)}));
}

Size add(Emitter& emit, const Size& a, const Size& b) {
  if (a.is_number() && b.is_number()) {
    int64_t number = 0;
    const bool overflows = __builtin_add_overflow(a.number(), b.number(), &number);
    return checked(emit, overflows, number);
  }
  if (b.is_number() && b.number() == 0) return a;
  return Size(emit(kAddV2, {a.tensor(emit), b.tensor(emit)}));
}

Size quotient(Emitter& emit, const Size& a, const Size& b) {
  if (a.is_number() && b.is_number() && b.number() != 0) {
    const int64_t towards_zero = a.number() / b.number();
    const bool is_below = a.number() % b.number() != 0 && (a.number() < 0) != (b.number() < 0);
    return towards_zero - (is_below ? 1 : 0);
  }
  return Size(emit(kFloorDiv, {a.tensor(emit), b.tensor(emit)}));
}

Size maximum(Emitter& emit, const Size& a, const Size& b) {
  if (a.is_number() && b.is_number()) return std::max(a.number(), b.number());
  return Size(emit(kMaximum, {a.tensor(emit), b.tensor(emit)}));
}

Size product(Emitter& emit, std::span<const Size> sizes) {
  Size all(1);
  for (const Size& size : sizes) all = multiply(emit, all, size);
  return all;
}

Tensor vector_of(Emitter& emit, std::span<const Size> sizes) {
  std::vector<int32_t> numbers;
  for (const Size& size : sizes) {
    if (!size.is_number()) continue;
    if (!check_int32(emit, size.number())) return {};
    numbers.push_back(static_cast<int32_t>(size.number()));
  }
  if (numbers.size() == sizes.size()) return int32_vector(emit, numbers);
  std::vector<Tensor> scalars;
  for (const Size& size : sizes) scalars.push_back(size.tensor(emit));
  Tensors packed = emit.apply(*kPack, scalars, PackAttrs());
  return packed.empty() ? Tensor() : packed[0];
}

Tensor as_int32(Emitter& emit, const Tensor& x) {
  if (!x || x.dtype() == DType::kInt32) return x;
  const Tensor known = x.dtype() == DType::kInt64 ? known_value(x) : Tensor();
  for (int64_t i = 0; known && i < known.num_elements(); ++i) {
    if (!check_int32(emit, integer_at(known, i))) return {};
  }
  return cast(emit, x, DType::kInt32);
}

Tensor element_of(Emitter& emit, const Tensor& vector, int64_t i) {
  const int32_t begin[] = {static_cast<int32_t>(i)}, end[] = {static_cast<int32_t>(i + 1)},
                one[] = {1};
  const Tensor element =
      emit(kStridedSlice,
           {vector, int32_vector(emit, begin), int32_vector(emit, end), int32_vector(emit, one)},
           {.shrink_axis_mask = 1});
  return as_int32(emit, element);
}

SizeList sizes_of(Emitter& emit, const Shape& known, FunctionRef<Tensor()> shape) {
  SizeList sizes;
  Tensor vector;
  for (int i = 0; i < known.rank(); ++i) {
    if (known[i].is_number()) {
      sizes.push_back(known[i].number());
      continue;
    }
    if (!vector) vector = shape();
    sizes.push_back(Size(element_of(emit, vector, i)));
  }
  return sizes;
}

SizeList sizes_of_x(GradientContext& c, int i) {
  const Shape& known = c.static_shape_of_x(i);
  if (!known.has_rank()) {
    c.fail(invalid_argument("[", c.op().name(), "] the gradient needs input ", i,
                            " to have a known rank"));
    return {};
  }
  return sizes_of(c, known, [&] { return c.shape_of_x(i); });
}

Tensor elements_between(Emitter& emit, const Tensor& vector, const Tensor& begin,
                        const Tensor& end) {
  const int32_t one[] = {1};
  return emit(kStridedSlice, {vector, begin, end ? end : begin, int32_vector(emit, one)},
              {.end_mask = end ? 0 : 1});
}

Size product_of(Emitter& emit, const Tensor& vector) {
  const int32_t axis[] = {0};
  return Size(emit(kProd, {vector, int32_vector(emit, axis)}));
}

Tensor joined(Emitter& emit, const Tensor& a, const Tensor& b) {
  return emit(kConcatV2, {a, b, Size(0).tensor(emit)});
}

Tensor shape_of_rows(Emitter& emit, const Tensor& indices, const Shape& known,
                     FunctionRef<Tensor()> shape) {
  if (!known.has_rank()) {
    const int32_t one[] = {1};
    const Size n(emit(kSize, {indices}));
    return joined(emit, vector_of(emit, {&n, 1}),
                  elements_between(emit, shape(), int32_vector(emit, one)));
  }
  SizeList sizes = sizes_of(emit, known, shape);
  bool may_be_empty = false;
  for (size_t i = 1; i < sizes.size(); ++i) {
    may_be_empty |= !sizes[i].is_number() || sizes[i].number() == 0;
  }
  // Nothing can be inferred from empty rows.
  if (!sizes.empty()) sizes[0] = may_be_empty ? Size(emit(kSize, {indices})) : Size(-1);
  return vector_of(emit, sizes);
}

}  // namespace graven::engine
