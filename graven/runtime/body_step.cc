#include "graven/runtime/body_step.h"

#include "graven/runtime/broadcast.h"
#include "graven/runtime/placement.h"
#include "graven/runtime/run_body.h"
#include "graven/runtime/run_op.h"

namespace graven::engine {

Status BodyStep::run(ProgramRun& run) const {
  InlineVector<Tensor*, 8> operands;
  // What is not the run's own is only read.
  for (size_t i = 0; i < inputs.size(); ++i) {
    operands.push_back(const_cast<Tensor*>(&run.input(*this, i)));
  }
#ifndef NDEBUG
  for (const Tensor* operand : operands) {
    RETURN_IF_ERROR(check_places(node->op(), {operand, 1}, queue->device()));
  }
#endif
  ASSIGN_OR_RETURN(Shape shape, shape_of(operands));
  Tensor made;
  TrapNotes traps;
  Status status = run_map(*queue, kernel_, operands, run.last_handles(*this), body_->output(),
                          shape, made, traps);
  if (status.ok() && traps.first()) status = trapped(*traps.first());
  if (!status.ok()) return failed_at(*node, with_op_name(node->op(), status));
  return run.put(*this, 0, std::move(made));
}

Result<Shape> BodyStep::shape_of(std::span<Tensor* const> operands) const {
  Shape shape;
  if (!broadcasts_) {
    InlineVector<Tensor, 4> values;
    for (const Tensor* operand : operands) values.push_back(*operand);
    Status status = infer_shapes(node->op(), node->attrs(), values, types_, {&shape, 1});
    if (!status.ok()) return failed_at(*node, status);
    return shape;
  }
  shape = operands[0]->shape();
  for (const Tensor* operand : operands.subspan(1)) {
    if (broadcast_into(shape, operand->shape())) continue;
    return failed_at(*node, with_op_name(node->op(), no_broadcast(shape, operand->shape())));
  }
  return shape;
}

}  // namespace graven::engine
