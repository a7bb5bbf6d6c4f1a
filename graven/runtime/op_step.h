#pragma once
#include <atomic>
#include <memory>

#include "graven/base/mutex.h"
#include "graven/ir/op.h"
#include "graven/runtime/step.h"

namespace graven::engine {

// Applies one op that has a kernel of its own.
class OpStep final : public Step {
 public:
  // shapes_known: the shapes of the outputs follow from numbers, so every run has those of the
  // graph; else each run infers them from the inputs. keeps_state: the kernel has an object of its
  // own from run to run.
  OpStep(const Node& node, TypeBindings types, bool shapes_known, bool may_block, bool keeps_state);
  Status run(ProgramRun& run) const override;
  std::string text() const override { return node->op().name(); }
  int64_t bytes() const override;
  bool may_block() const override { return may_block_; }
  bool writes_kept(size_t i) const override;
  bool shapes_known() const { return shapes_known_; }

 private:
  // One of runs in turn that keep all outputs: calls the kernel on handles that are only moved.
  Status run_kept(ProgramRun& run) const;
  Status apply(std::span<Tensor> inputs, uint64_t reusable, Tensors& made) const;
  Status apply_with(Ref<RefCounted>* state, std::span<Tensor> inputs, uint64_t reusable,
                    Tensors& made) const;
  const TypeBindings types_;
  const bool shapes_known_, may_block_;
  KernelFunction kernel_ = nullptr;  // set if no run has anything else to find out
  InlineVector<DType, 4> dtypes_;
  InlineVector<Shape, 2> shapes_;  // none unless they are known
  // The state of a random op between runs; null for other ops.
  struct State {
    Mutex mutex;                      // held by the run that makes the object
    std::atomic<bool> is_set{false};  // then the object is read without it
    Ref<RefCounted> object;
  };
  const std::unique_ptr<State> state_;
};

}  // namespace graven::engine
