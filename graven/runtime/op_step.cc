#include "graven/runtime/op_step.h"

#include "graven/base/heap_bytes.h"
#include "graven/base/waiting_lock.h"
#include "graven/runtime/run_body.h"
#include "graven/runtime/run_op.h"

namespace graven::engine {

OpStep::OpStep(const Node& node, TypeBindings types, bool shapes_known, bool may_block,
               bool keeps_state)
    : Step(node),
      types_(std::move(types)),
      shapes_known_(shapes_known),
      may_block_(may_block),
      state_(keeps_state ? std::make_unique<State>() : nullptr) {}

int64_t OpStep::bytes() const {
  return bytes_of_object<OpStep>() + (state_ ? bytes_of_object<State>() : 0);
}

Status OpStep::run(ProgramRun& run) const {
  InlineVector<Tensor, 6> values;
  for (size_t i = 0; i < inputs.size(); ++i) {
    Tensor* own = run.last_handle(*this, i);
    values.push_back(own ? std::move(*own) : run.input(*this, i));
  }
  Tensors made;
  Status status = apply({values.data(), values.size()}, run.last_handles(*this), made);
  if (!status.ok()) return failed_at(*node, status);
  for (size_t i = 0; i < outputs.size(); ++i) {
    RETURN_IF_ERROR(run.put(*this, i, std::move(made[i])));
  }
  return {};
}

Status OpStep::apply(std::span<Tensor> values, uint64_t reusable, Tensors& made) const {
  InlineVector<DType, 4> dtypes;
  InlineVector<Shape, 2> shapes;
  for (const Output& output : outputs) {
    dtypes.push_back(output.dtype);
    if (shapes_known_) shapes.push_back(output.shape);
  }
  OutputTypes types{types_, dtypes, shapes_known_ ? shapes.data() : nullptr};
  auto apply_with = [&](Ref<RefCounted>* state) {
    return run_typed_op(*queue, node->op(), node->attrs(), values, types, reusable, state, made);
  };
  if (!state_) return apply_with(nullptr);
  if (state_->is_set.load(std::memory_order_acquire)) return apply_with(&state_->object);
  WaitingLock lock(state_->mutex);
  Status status = apply_with(&state_->object);
  if (state_->object) state_->is_set.store(true, std::memory_order_release);
  return status;
}

}  // namespace graven::engine
