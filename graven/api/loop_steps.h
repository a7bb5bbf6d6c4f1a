#pragma once
#include <span>
#include <vector>

#include "graven/ir/frame.h"
#include "graven/tensor/tensor.h"

namespace graven::internal {

// The steps of a loop on staged(), for tapes of the runs that go on behind it. Not for users.
class LoopSteps final : public engine::Listener {
 public:
  // Listens to the current frame while it lives. None: does nothing.
  class Listening {
   public:
    explicit Listening(LoopSteps* steps);
    ~Listening();
    Listening(const Listening&) = delete;

   private:
    LoopSteps* const steps_;
    engine::Frame& frame_;
  };

  void tell(engine::Listener& listener) const;

  void on_op(const engine::Op&, engine::AttrsRef, std::span<const engine::Tensor> inputs,
             const engine::Tensors& outputs) override;
  void on_step(std::span<const engine::Tensor> inputs, std::span<const engine::Tensor> outputs,
               const engine::BackwardRef& backward) override;
  bool wants(std::span<const engine::Tensor>) const override { return true; }
  bool wants_higher_orders() const override { return true; }
  void on_frame_end() override {}
  void on_variable(const engine::Tensor& handle) override { variables_.push_back(handle); }

 private:
  struct Step {
    std::vector<engine::Tensor> inputs;
    engine::Tensors outputs;
    engine::BackwardRef backward;  // none for an op
  };
  void add(std::span<const engine::Tensor> inputs, std::span<const engine::Tensor> outputs,
           const engine::BackwardRef& backward);
  std::vector<engine::Tensor> variables_;
  std::vector<Step> steps_;
};

}  // namespace graven::internal
