#include "graven/runtime/op_step.h"

#include <algorithm>

#include "graven/base/heap_bytes.h"
#include "graven/base/waiting_lock.h"
#include "graven/ir/kernel.h"
#include "graven/runtime/placement.h"
#include "graven/runtime/run_body.h"
#include "graven/runtime/run_op.h"

namespace graven::engine {

OpStep::OpStep(const Node& node, TypeBindings types, bool shapes_known, bool may_block,
               bool keeps_state)
    : Step(node),
      types_(std::move(types)),
      shapes_known_(shapes_known),
      may_block_(may_block),
      state_(keeps_state ? std::make_unique<State>() : nullptr) {
  for (int i = 0; i < node.num_outputs(); ++i) {
    dtypes_.push_back(node.output(i).dtype);
    if (shapes_known_) shapes_.push_back(node.output(i).shape);
  }
  const OpRecord& record = node.op().record();
  if (!shapes_known_ || record.view_of >= 0 || node.inputs().empty()) return;
  const OutputRef last = node.inputs().back();
  const DType dtype = last.node->output(last.index).dtype;
  if (record.body.kind_for(dtype, node.attrs()) == OpBody::Kind::kKernel) {
    kernel_ = record.body.kernel();
  }
}

int64_t OpStep::bytes() const {
  return bytes_of_object<OpStep>() + heap_bytes(dtypes_) + heap_bytes(shapes_) +
         (state_ ? bytes_of_object<State>() : 0);
}

bool OpStep::writes_kept(size_t /*i*/) const {
  if (!kernel_ || state_ || node->op().record().allocates_outputs) return false;
  // A handle is at one place at a time.
  std::vector<int> slots = inputs;
  std::ranges::sort(slots);
  return slots.size() <= std::tuple_size_v<decltype(KernelHandles::inputs)> &&
         std::ranges::adjacent_find(slots) == slots.end();
}

Status OpStep::run(ProgramRun& run) const {
  if (keeps_outputs && run.lent()) return run_kept(run);
  InlineVector<Tensor, 6> values;
  const uint64_t own = run.last_handles(*this);
  for (size_t i = 0; i < inputs.size(); ++i) {
    const bool is_own = i < 64 && (own >> i & 1);
    if (is_own) {
      values.push_back(std::move(*run.last_handle(*this, i)));
    } else {
      values.push_back(run.input(*this, i));
    }
  }
  Tensors made;
  Status status = apply({values.data(), values.size()}, own, made);
  if (!status.ok()) return failed_at(*node, status);
  for (Tensor& value : values) SpareMemory::keep(value);
  for (size_t i = 0; i < outputs.size(); ++i) {
    RETURN_IF_ERROR(run.put(*this, i, std::move(made[i])));
  }
  return {};
}

Status OpStep::run_kept(ProgramRun& run) const {
  Tensors& made = run.lent()->outputs;
  if (made.size() != outputs.size()) made.resize(outputs.size());
  for (size_t i = 0; i < outputs.size(); ++i) {
    made[i] = run.kept(*this, i);
    if (made[i]) continue;
    auto allocated = Tensor::allocate(dtypes_[i], shapes_[i], queue->device());
    if (!allocated.ok()) return failed_at(*node, with_op_name(node->op(), allocated.status()));
    made[i] = std::move(*allocated);
  }
  const std::span<Tensor> values(run.lent()->inputs.data(), inputs.size());
  for (size_t i = 0; i < values.size(); ++i) values[i] = std::move(run.handle(inputs[i]));
  KernelContext context(node->op(), node->attrs(), values, made, /*state=*/nullptr, shapes_,
                        /*done=*/nullptr, *queue);
  Status status = kernel_(context);
  for (size_t i = 0; i < values.size(); ++i) run.handle(inputs[i]) = std::move(values[i]);
  if (status.ok()) status = check_made(node->op(), made, dtypes_);
  if (!status.ok()) return failed_at(*node, with_op_name(node->op(), status));
  for (size_t i = 0; i < outputs.size(); ++i) run.handle(outputs[i].slot) = std::move(made[i]);
  return {};
}

Status OpStep::apply(std::span<Tensor> values, uint64_t reusable, Tensors& made) const {
  if (!state_) return apply_with(nullptr, values, reusable, made);
  if (state_->is_set.load(std::memory_order_acquire)) {
    return apply_with(&state_->object, values, reusable, made);
  }
  WaitingLock lock(state_->mutex);
  Status status = apply_with(&state_->object, values, reusable, made);
  if (state_->object) state_->is_set.store(true, std::memory_order_release);
  return status;
}

Status OpStep::apply_with(Ref<RefCounted>* state, std::span<Tensor> values, uint64_t reusable,
                          Tensors& made) const {
  if (!kernel_) {
    const OutputTypes types{types_, dtypes_, shapes_known_ ? shapes_.data() : nullptr};
    return run_typed_op(*queue, node->op(), node->attrs(), values, types, reusable, state, made);
  }
#ifndef NDEBUG
  RETURN_IF_ERROR(check_places(node->op(), values, queue->device()));
#endif
  return run_kernel(*queue, node->op(), node->attrs(), kernel_, values, dtypes_, shapes_, reusable,
                    state, made);
}

}  // namespace graven::engine
