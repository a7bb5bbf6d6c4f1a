#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "graven/base/function_ref.h"
#include "graven/ir/emitter.h"
#include "graven/ir/gradient_context.h"
#include "graven/tensor/tensor.h"

namespace graven::engine {

// Arithmetic on sizes: numbers as far as they are known now, ops on int32 scalars for
// the rest, so that a gradient of known shapes adds no ops but the last constant.
class Size {
 public:
  Size(int64_t number) : number_(number) {}
  explicit Size(Tensor scalar) : tensor_(std::move(scalar)) {}
  bool is_number() const { return number_.has_value(); }
  int64_t number() const { return *number_; }
  // An int32 scalar; an error for a number that int32 does not hold.
  Tensor tensor(Emitter& emit) const;

 private:
  std::optional<int64_t> number_;
  Tensor tensor_;
};
using SizeList = std::vector<Size>;

// Numbers that leave 64 bits are an error.
Size multiply(Emitter& emit, const Size& a, const Size& b);
Size subtract(Emitter& emit, const Size& a, const Size& b);
Size add(Emitter& emit, const Size& a, const Size& b);
// Rounded down; a divisor of 0 is an error when it runs.
Size quotient(Emitter& emit, const Size& a, const Size& b);
Size maximum(Emitter& emit, const Size& a, const Size& b);
Size product(Emitter& emit, std::span<const Size> sizes);
// The sizes as an int32 vector; an error for a number that int32 does not hold.
Tensor vector_of(Emitter& emit, std::span<const Size> sizes);

// The sizes of input i, one for each axis; an error if its rank is not known.
SizeList sizes_of_x(GradientContext& c, int i);
// The same from a static shape and the tensor that holds its sizes at run time. `shape` is called
// only if a size is not known.
SizeList sizes_of(Emitter& emit, const Shape& known, FunctionRef<Tensor()> shape);
// Integers as int32, and an error if they are known to hold a number that int32 does not. What is
// known only when it runs is cut, as Cast does.
Tensor as_int32(Emitter& emit, const Tensor& x);
// Element i of an integer vector, as an int32 scalar. Negative i count from the end.
Tensor element_of(Emitter& emit, const Tensor& vector, int64_t i);

// --- Shapes whose rank is known only when the gradient runs: int32 vectors of sizes.

// The elements of a vector in [begin, end), which are int32 vectors of one element. Negative ones
// count from the end; an empty tensor as the end means all.
Tensor elements_between(Emitter& emit, const Tensor& vector, const Tensor& begin,
                        const Tensor& end = {});
// The product of a vector's elements.
Size product_of(Emitter& emit, const Tensor& vector);
Tensor joined(Emitter& emit, const Tensor& a, const Tensor& b);

// [n, d1, d2, ...]: the shape of the rows that n indices, of any shape, read from a tensor of the
// shape [d0, d1, ...]. `known` is its static shape, `shape` gives the unknown sizes.
Tensor shape_of_rows(Emitter& emit, const Tensor& indices, const Shape& known,
                     FunctionRef<Tensor()> shape);

}  // namespace graven::engine
