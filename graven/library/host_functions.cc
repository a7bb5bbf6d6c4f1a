#include "graven/library/host_functions.h"

#include <cstddef>

#include "graven/ops/host_ops.h"
#include "graven/runtime/eager_builder.h"

namespace graven::engine {
namespace {

template <typename Attrs>
Result<std::vector<Tensor>> apply_op(const OpHandle<Attrs>& op,
                                     const std::shared_ptr<HostFunction>& function,
                                     std::span<const Tensor> inputs, std::span<const DType> results,
                                     std::string_view name) {
  Attrs attrs;
  attrs.token = HostFunctionToken(function);
  for (const Tensor& input : inputs) attrs.Tin.push_back(input.dtype());
  attrs.Tout.assign(results.begin(), results.end());
  ASSIGN_OR_RETURN(Tensors made, apply(*op, inputs, attrs, name));
  // What is behind the results is for gradients.
  const auto num_results = static_cast<std::ptrdiff_t>(results.size());
  return std::vector<Tensor>(made.begin(), made.begin() + num_results);
}

}  // namespace

std::string_view name_of(HostCall call) {
  if (call == HostCall::kWithGradient) return kEagerPyFunc.op->name();
  return call == HostCall::kWithoutGradient ? kPyFunc.op->name() : kPyFuncStateless.op->name();
}

Result<std::vector<Tensor>> apply_host_function(HostCall call,
                                                const std::shared_ptr<HostFunction>& function,
                                                std::span<const Tensor> inputs,
                                                std::span<const DType> results,
                                                std::string_view name) {
  if (call == HostCall::kWithGradient) {
    return apply_op(kEagerPyFunc, function, inputs, results, name);
  }
  const auto& op = call == HostCall::kWithoutGradient ? kPyFunc : kPyFuncStateless;
  return apply_op(op, function, inputs, results, name);
}

}  // namespace graven::engine
