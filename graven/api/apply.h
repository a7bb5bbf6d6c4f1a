#pragma once
#include <initializer_list>
#include <source_location>
#include <span>
#include <string_view>
#include <vector>

#include "graven/api/operand.h"
#include "graven/api/tensor.h"
#include "graven/base/export.h"
#include "graven/ir/op.h"

// The calls behind the functions of ops; not for users.

namespace graven::internal {

// Applies an op. Its line is the user's, that of the first operand if none is given. Each operand
// is one input of the record; a number takes the dtype of a tensor with the same type parameter.
// Throws.
GRAVEN_API engine::Tensors apply(const engine::Op& op, std::initializer_list<Operand> operands,
                                 engine::AttrsRef attrs = {}, std::string_view name = {});
GRAVEN_API engine::Tensors apply(const engine::Op& op, std::span<const engine::Tensor> inputs,
                                 engine::AttrsRef attrs, const std::source_location& location,
                                 std::string_view name = {});

template <typename A>
Tensor apply(const engine::OpHandle<A>& op, std::initializer_list<Operand> operands,
             const std::type_identity_t<A>& attrs = {}, std::string_view name = {}) {
  return std::move(apply(*op, operands, engine::AttrsRef(attrs), name)[0]);
}

}  // namespace graven::internal
