#pragma once
#include <span>

#include "graven/base/export.h"
#include "graven/base/function_ref.h"
#include "graven/base/status.h"
#include "graven/ir/attributes.h"
#include "graven/ir/op.h"
#include "graven/tensor/device.h"
#include "graven/tensor/tensor.h"

namespace graven::engine {

// A rectangle of output 0 as a matrix, whose columns are the last axis and whose rows all others.
struct Panel {
  int64_t row, rows;
  int64_t column, columns;
};
using PanelDone = FunctionRef<void(const Panel& panel)>;

// What a kernel body is given: values, attributes, and the outputs. Outputs whose shapes
// inference knows are there before the kernel runs, not cleared; the others are made by the
// kernel. A kernel checks what only values can tell, and returns an error for it; it may be
// called by several threads at once, for different calls.
class GRAVEN_API KernelContext {
 public:
  KernelContext(const Op& op, AttrsRef attrs, std::span<const Tensor> inputs, Tensors& outputs,
                Ref<RefCounted>* state, std::span<const Shape> inferred = {},
                const PanelDone* done = nullptr, Queue& queue = Queue::host())
      : op_(op),
        attrs_(attrs),
        inputs_(inputs),
        outputs_(outputs),
        state_(state),
        inferred_(inferred),
        done_(done),
        queue_(queue) {}

  const Op& op() const { return op_; }
  template <typename A>
  const A& attrs() const {
    return attrs_.as<A>();
  }
  int num_inputs() const { return static_cast<int>(inputs_.size()); }
  const Tensor& input(int i) const { return inputs_[i]; }
  std::span<const Tensor> inputs() const { return inputs_; }
  template <typename T>
  std::span<const T> in(int i) const {
    return inputs_[i].data<T>();
  }

  int num_outputs() const { return static_cast<int>(outputs_.size()); }
  const Tensor& output(int i) const { return outputs_[i]; }
  template <typename T>
  std::span<T> out(int i) const {
    return outputs_[i].mutable_data<T>();
  }
  // What inference says of an output, for kernels that make their outputs themselves. Exact if it
  // is known from the inputs' shapes and the values that the record asks for.
  const Shape& inferred_shape(int i) const { return inferred_[i]; }
  // Makes an output whose shape inference could not know.
  Status allocate_output(int i, DType dtype, const Shape& shape);
  // Gives a tensor as output: a view of an input, a variable's value.
  void set_output(int i, Tensor value) { outputs_[i] = std::move(value); }

  // An object that belongs to this node of this Program, made by the kernel when it is null: the
  // counter of a random op. Null pointer in eager calls.
  Ref<RefCounted>* state() const { return state_; }

  // For kernels of records with .panels: what is to be told of each rectangle of output 0, once,
  // on the thread that computed it and when it is final. Null if nobody wants to know.
  const PanelDone* done() const { return done_; }
  // Of the device on which inputs and outputs are.
  Queue& queue() const { return queue_; }

 private:
  const Op& op_;
  AttrsRef attrs_;
  std::span<const Tensor> inputs_;
  Tensors& outputs_;
  Ref<RefCounted>* state_;
  std::span<const Shape> inferred_;
  const PanelDone* done_;
  Queue& queue_;
};

}  // namespace graven::engine
