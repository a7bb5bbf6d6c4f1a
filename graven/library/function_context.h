#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "graven/base/export.h"
#include "graven/base/inline_vector.h"
#include "graven/base/status.h"
#include "graven/ir/emitter.h"
#include "graven/library/parameters.h"
#include "graven/ops/formulas.h"
#include "graven/ops/sizes.h"
#include "graven/tensor/tensor.h"

namespace graven::engine {

// What the body of a public function is given beside its parameters. It applies ops as an Emitter,
// eagerly, into a graph and under tapes alike. A body does not ask for the shape of a tensor as a
// whole: it says by rank_if_known and size_if_known that it also has a way without, with the same
// bits, and by static_size that it has none.
class GRAVEN_API FunctionContext : public Emitter {
 public:
  // `name` is that of the node of the result: a scope with "/" at its end while a graph is built,
  // else empty.
  FunctionContext(Builder& builder, Builder& eager, std::string_view name)
      : Emitter(builder), eager_(eager), name_(name) {}

  std::string_view name() const { return name_; }
  bool is_graph() { return builder().graph() != nullptr; }
  // One that computes with values that are known while a graph is built.
  FunctionContext at_once() const { return {eager_, eager_, {}}; }

  std::optional<int> rank_if_known(const Tensor& x) const;
  // Of axis i, which may be negative. None where x has no such axis.
  std::optional<int64_t> size_if_known(const Tensor& x, int64_t i) const;
  // The same, where the function cannot do without: it counts as a read of the size, so that a
  // trace is made for each.
  std::optional<int64_t> static_size(const Tensor& x, int64_t i) const;

  // All of them, if they are numbers.
  std::optional<InlineVector<int64_t, 6>> sizes_if_known(const Tensor& x) const;
  // The integer that a scalar is known to hold.
  std::optional<int64_t> number_if_known(const Tensor& x) const;

  // Of all axes of x, whose rank is known: numbers, or what ops find when the function runs.
  SizeList sizes(const Tensor& x);

  // The error of the whole function: all that follows gives no tensors, and nor does this.
  Tensor fail(Status status);

  Formula operator()(const Tensor& x) { return {*this, x}; }
  using Emitter::operator();
  // half and bfloat16 as float32, others as they are.
  Formula wide(const Tensor& x);
  Formula cast(const Tensor& x, DType dtype);

  // --- Constants: nodes while a graph is built.
  // A scalar: 0, false or "".
  Tensor zero(DType dtype);
  // Of any plain dtype.
  Tensor scalar(double value, DType dtype, std::string_view name = {});
  Tensor scalar(int64_t value, DType dtype = DType::kInt32, std::string_view name = {});
  Tensor scalar(int value, DType dtype = DType::kInt32, std::string_view name = {}) {
    return scalar(int64_t{value}, dtype, name);
  }
  // A tensor with one number, false, true or "" everywhere. In a graph a small one is a constant.
  Tensor filled(const Integers& shape, double value, DType dtype, std::string_view name = {});
  // Of int32, or of int64 where a number needs it.
  Tensor vector(std::span<const int64_t> values, std::string_view name = {});
  // The numbers or the tensor of integers that are not None; a scalar if they were no list.
  Tensor tensor_of(const Integers& integers, std::string_view name = {});
  // The number as a scalar of the dtype, or the tensor as it is.
  Tensor tensor_of(const Number& number, DType dtype, std::string_view name = {});

 private:
  template <typename Value>
  Tensor plain_scalar(Value value, DType dtype, std::string_view name);
  Builder& eager_;
  std::string_view name_;
};

}  // namespace graven::engine
