#include "graven/runtime/run_bodies.h"

#include <utility>

#include "graven/base/interrupt.h"
#include "graven/ir/chosen_body.h"
#include "graven/runtime/run_body.h"

namespace graven::engine {
namespace {

Status run_chosen(const NodeBodies& bodies, std::span<const Tensor> inputs, Tensors& outputs) {
  ASSIGN_OR_RETURN(const size_t chosen, chosen_body(inputs[0], bodies.is_list, bodies.all.size()));
  const NodeBody& one = bodies.all[chosen];
  return run_body(one.body, inputs.subspan(one.inputs.first, one.inputs.count), outputs);
}

Status run_loop(const NodeBodies& bodies, std::span<const Tensor> inputs, Tensors& outputs) {
  outputs.clear();
  for (const Tensor& input : inputs) outputs.push_back(input);
  Tensors made;
  for (;;) {
    const std::span<const Tensor> values(outputs.data(), outputs.size());
    RETURN_IF_ERROR(run_body(bodies.all[0].body, values, made));
    ASSIGN_OR_RETURN(const bool holds, condition_holds(made[0]));
    if (!holds) return {};
    RETURN_IF_ERROR(run_body(bodies.all[1].body, values, made));
    std::swap(outputs, made);
    if (InterruptCheck interrupt = interrupt_check()) RETURN_IF_ERROR(interrupt());
  }
}

}  // namespace

Result<bool> condition_holds(const Tensor& condition) {
  if (condition.rank() == 0 && condition.dtype() == DType::kBool) return condition.item<bool>();
  return invalid_argument("the condition of a loop must give a scalar of dtype bool, not of dtype ",
                          dtype_name(condition.dtype()), " and shape ",
                          condition.shape().to_message());
}

Status run_bodies(const NodeBodies& bodies, std::span<const Tensor> inputs, Tensors& outputs) {
  switch (bodies.run) {
    case BodyRun::kOnce:
      return run_body(bodies.all[0].body, inputs, outputs);
    case BodyRun::kOneOf:
      return run_chosen(bodies, inputs, outputs);
    case BodyRun::kWhile:
      return run_loop(bodies, inputs, outputs);
    case BodyRun::kAsTheOpLikes:
      break;
  }
  return internal_error("the op runs its bodies itself");
}

}  // namespace graven::engine
