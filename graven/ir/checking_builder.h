#pragma once
#include <span>

#include "graven/base/export.h"
#include "graven/ir/builder.h"
#include "graven/ir/frame.h"

namespace graven::engine {

// Takes the place of the eager builder on one thread, and checks what its ops make. It is the first
// listener of all eager frames of the thread, though it hears nothing: so a frame without listeners
// need not ask for it.
class GRAVEN_API CheckingBuilder : public Builder, public Listener {
 public:
  // That of this thread; null without one.
  static CheckingBuilder* current();
  // Sets it for all eager frames of this thread, those to come too; null takes it away. It lives
  // until then. `eager` is the builder whose place it takes.
  static void set(CheckingBuilder* checking, Builder& eager);

  // The builder whose place it takes.
  virtual Builder& unchecked() = 0;
  virtual Status check(const Op& op, std::span<const Tensor> inputs, const Tensors& outputs) = 0;

  void on_op(const Op& op, AttrsRef attrs, std::span<const Tensor> inputs,
             const Tensors& outputs) final;
  void on_step(std::span<const Tensor> inputs, std::span<const Tensor> outputs,
               const BackwardRef& backward) final;
  bool wants(std::span<const Tensor> inputs) const final;
  bool wants_higher_orders() const final;
  void on_frame_end() final;
  void on_variable(const Tensor& handle) final;
};

}  // namespace graven::engine
