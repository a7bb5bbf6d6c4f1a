#pragma once
#include <span>
#include <string_view>

#include "graven/base/function_ref.h"
#include "graven/base/status.h"
#include "graven/tensor/tensor.h"

namespace graven::engine {

// A call, in the graph that is being built, of a Function whose variables (`handles`) may have no
// value when the graph runs, as their initial values depend on arguments of the first call: a node
// that runs `later` if all of them have one by then, and `first`, which gives them one, if not.
// Each adds a call to the graph of its branch. A ValueError that names the function if they give
// other numbers or dtypes of tensors.
Result<Tensors> call_first_or_later(std::string_view function, std::span<const Tensor> handles,
                                    FunctionRef<Status(Tensors& outputs)> first,
                                    FunctionRef<Status(Tensors& outputs)> later);

}  // namespace graven::engine
