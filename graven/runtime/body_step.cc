#include "graven/runtime/body_step.h"

#include "graven/runtime/broadcast.h"
#include "graven/runtime/placement.h"
#include "graven/runtime/run_body.h"
#include "graven/runtime/run_op.h"

namespace graven::engine {

Status BodyStep::run(ProgramRun& run) const {
  InlineVector<Tensor*, 8> operands;
  // Handles that are not the run's own are only read.
  for (size_t i = 0; i < inputs.size(); ++i) {
    operands.push_back(const_cast<Tensor*>(&run.input(*this, i)));
  }
#ifndef NDEBUG
  for (const Tensor* operand : operands) {
    RETURN_IF_ERROR(check_places(node->op(), {operand, 1}, queue->device()));
  }
#endif
  Shape found;
  const bool is_in_graph = result_shape_ == ResultShape::kInGraph;
  if (!is_in_graph) RETURN_IF_ERROR(find_shape(operands, found));
  const Shape& shape = is_in_graph ? outputs[0].shape : found;
  Tensor made = run.kept(*this, 0);
  TrapNotes traps;
  Status status = run_map(*queue, kernel_, operands, run.last_handles(*this), body_->output(),
                          shape, made, traps);
  if (status.ok() && traps.first()) status = trapped(*traps.first());
  if (!status.ok()) return failed_at(*node, with_op_name(node->op(), status));
  return run.put(*this, 0, std::move(made));
}

Status BodyStep::find_shape(std::span<Tensor* const> operands, Shape& shape) const {
  if (result_shape_ == ResultShape::kByInference) {
    InlineVector<Tensor, 4> values;
    for (const Tensor* operand : operands) values.push_back(*operand);
    Status status = infer_shapes(node->op(), node->attrs(), values, types_, {&shape, 1});
    return status.ok() ? status : failed_at(*node, status);
  }
  shape = operands[0]->shape();
  for (const Tensor* operand : operands.subspan(1)) {
    if (broadcast_into(shape, operand->shape())) continue;
    return failed_at(*node, with_op_name(node->op(), no_broadcast(shape, operand->shape())));
  }
  return {};
}

}  // namespace graven::engine
