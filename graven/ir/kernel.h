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

// A rectangle of output 0 as a matrix: its columns are the last axis, its rows all others.
struct Panel {
  int64_t row, rows;
  int64_t column, columns;
};
using PanelDone = FunctionRef<void(const Panel& panel)>;

// The argument of a kernel body: values, attributes, and the outputs. Outputs with an inferred
// shape are allocated before the kernel runs, not cleared; the kernel makes the others. A kernel
// checks the values that inference does not see, and returns an error for them. Several threads may
// call it at once, for different calls.
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
  // The inferred shape of an output, for kernels that make their outputs themselves. Exact if it
  // follows from the inputs' shapes and the values that the record asks for.
  const Shape& inferred_shape(int i) const { return inferred_[i]; }
  // Makes an output whose shape inference could not know.
  Status allocate_output(int i, DType dtype, const Shape& shape);
  // Gives a tensor as output: a view of an input, a variable's value.
  void set_output(int i, Tensor value) { outputs_[i] = std::move(value); }

  // An object that belongs to this node of this Program, made by the kernel when it is null: the
  // counter of a random op. Null pointer in eager calls.
  Ref<RefCounted>* state() const { return state_; }

  // For kernels of records with .panels: a callback for each rectangle of output 0, called once,
  // when the rectangle is final, on the thread that computed it. Null if there is no listener.
  const PanelDone* done() const { return done_; }
  // The queue of the device on which inputs and outputs are.
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
