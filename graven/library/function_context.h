#pragma once
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "graven/base/export.h"
#include "graven/base/inline_vector.h"
#include "graven/base/status.h"
#include "graven/ir/emitter.h"
#include "graven/library/parameters.h"
#include "graven/ops/formulas.h"
#include "graven/ops/sizes.h"
#include "graven/tensor/tensor.h"

namespace graven::engine {

// The context of a public function's body, beside its parameters. It applies ops as an Emitter,
// eagerly, into a graph and under tapes alike. A body does not read whole shapes. It calls
// rank_if_known and size_if_known if it can also do without the number, with the same bits, and
// static_size if it cannot.
class GRAVEN_API FunctionContext : public Emitter {
 public:
  // `name` is the name of the result's node: a scope with "/" at its end while a graph is built,
  // else empty.
  FunctionContext(Builder& builder, Builder& eager, std::string_view name)
      : Emitter(builder), eager_(eager), name_(name) {}

  std::string_view name() const { return name_; }
  bool is_graph() { return builder().graph() != nullptr; }
  // Whether a gradient of what is computed may be asked for: in graphs, and where tapes record.
  bool may_be_differentiated() { return is_graph() || &builder().unrecorded() != &builder(); }
  // A context for values that are known while a graph is built: it computes eagerly.
  FunctionContext at_once() const { return {eager_, eager_, {}}; }

  std::optional<int> rank_if_known(const Tensor& x) const;
  // The size of axis i, which may be negative. None where x has no such axis.
  std::optional<int64_t> size_if_known(const Tensor& x, int64_t i) const;
  // The same for a function that needs the number. It counts as a read of the size, so each size
  // gets its own trace.
  std::optional<int64_t> static_size(const Tensor& x, int64_t i) const;

  // All sizes, if they are numbers.
  std::optional<InlineVector<int64_t, 6>> sizes_if_known(const Tensor& x) const;
  // The integer that a scalar is known to hold.
  std::optional<int64_t> number_if_known(const Tensor& x) const;

  // The sizes of all axes of x, whose rank is known: numbers, or tensors with the size at run time.
  SizeList sizes(const Tensor& x);

  // Sets the error of the whole function. Returns an empty tensor, and so do all later ops.
  Tensor fail(Status status);

  Formula operator()(const Tensor& x) { return {*this, x}; }
  using Emitter::operator();
  // half and bfloat16 as float32, others as they are.
  Formula wide(const Tensor& x);
  Formula cast(const Tensor& x, DType dtype);

  // --- Constants: nodes while a graph is built.
  // A scalar: 0, false or "".
  Tensor zero(DType dtype);
  // A scalar of any plain dtype; an error for a number that an integer dtype does not hold.
  Tensor scalar(double value, DType dtype, std::string_view name = {});
  Tensor scalar(int64_t value, DType dtype = DType::kInt32, std::string_view name = {});
  Tensor scalar(int value, DType dtype = DType::kInt32, std::string_view name = {}) {
    return scalar(int64_t{value}, dtype, name);
  }
  // A tensor with one number, false, true or "" everywhere. In a graph a small one is a constant.
  Tensor filled(const Integers& shape, double value, DType dtype, std::string_view name = {});
  // A vector of int32, or of int64 where a number needs it.
  Tensor vector(std::span<const int64_t> values, std::string_view name = {});
  // The integers as a tensor, a scalar if the program gave a single one. They must not be None.
  Tensor tensor_of(const Integers& integers, std::string_view name = {});
  // The same for several, in one dtype: int64 if one of the tensors has it or a number needs it.
  std::vector<Tensor> tensors_of(
      std::initializer_list<std::pair<const Integers&, std::string_view>> all);
  // A number becomes a scalar of the dtype; a tensor is unchanged. None is an error.
  Tensor tensor_of(const Number& number, DType dtype, std::string_view name = {});

 private:
  template <typename Value>
  Tensor plain_scalar(Value value, DType dtype, std::string_view name);
  Builder& eager_;
  std::string_view name_;
};

}  // namespace graven::engine
