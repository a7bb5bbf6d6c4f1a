#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>

#include "graven/autodiff/listeners.h"
#include "graven/base/export.h"
#include "graven/base/status.h"
#include "graven/ir/builder.h"
#include "graven/ir/frame.h"
#include "graven/tensor/tensor.h"

namespace graven::engine {

// Forward mode: computes, beside each op that is applied to a tensor with a tangent, the tangents
// of its outputs. Works on eager and on symbolic tensors alike. Used by one thread.
//
// The ops that compute tangents are told to the listeners that joined before this accumulator, not
// to itself and not to those that joined after it. So outer tapes and accumulators differentiate
// tangents, and inner tapes keep no value for them.
//
// A tangent that cannot be computed is an error when it is asked for, not when the op is applied.
class GRAVEN_API ForwardAccumulator final : public Listener {
 public:
  // Makes of an error one that can be held until a tangent is asked for, which may be never.
  using ToHold = Status (*)(const Status& error);
  // eager: the builder to use while no graph is being built.
  explicit ForwardAccumulator(Builder& eager, ToHold to_hold = nullptr)
      : eager_(eager), to_hold_(to_hold) {}
  ~ForwardAccumulator() override { stop(); }
  ForwardAccumulator(const ForwardAccumulator&) = delete;

  // Joins and leaves the current frame's listeners. The end of a frame stops it.
  void start();
  void stop();
  bool is_recording() const { return recording_in_ != nullptr; }

  // Gives a tensor, or a variable by its handle, a tangent of its dtype and shape; a second one is
  // added. Returns false, without effect, for dtypes that have no tangents.
  Result<bool> watch(const Tensor& primal, const Tensor& tangent);
  // The tangent of a tensor; empty if it has none. An error of kind kLookupError if an op without a
  // gradient is on the way to it.
  Result<Tensor> tangent(const Tensor& primal) const;
  // Lets go of an exception of the program that has been told; from now on its text is.
  void forget(const Status& told);

  // How many tensors have one, among them some that are gone.
  size_t num_tangents() const { return known_.size(); }

  void on_op(const Op& op, AttrsRef attrs, std::span<const Tensor> inputs,
             const Tensors& outputs) override;
  void on_step(std::span<const Tensor> inputs, std::span<const Tensor> outputs,
               const BackwardRef& backward) override;
  bool wants(std::span<const Tensor> inputs) const override;
  bool wants_higher_orders() const override { return true; }
  void on_frame_end() override { recording_in_ = nullptr; }
  void on_variable(const Tensor&) override {}
  const ListenerPlace& place() const { return place_; }

  // --- For code that computes values and tangents together.

  // The tangents of these tensors, empty where there is none. An error if one could not be
  // computed.
  Result<Tensors> tangents_of(std::span<const Tensor> tensors) const;
  // Notes the tangents of what was made of the inputs; empty ones are none. failed: empty, or an
  // error in place of some.
  void note(std::span<const Tensor> inputs, std::span<const Tensor> outputs,
            const Result<Tensors>& tangents, std::span<const Status> failed = {});

 private:
  struct Known {
    Tensor primal;  // an eager one: while another owner holds it, the tangent may be asked for
    Tensor tangent;
    Status status;
  };
  const Known* find(const Tensor& tensor) const;
  void add(const Tensor& primal, Known known);
  void drop_unreachable();

  Builder& eager_;
  const ToHold to_hold_;
  Frame* recording_in_ = nullptr;
  ListenerPlace place_;
  std::unordered_map<uint64_t, Known> known_;  // by TensorObject::id
  size_t num_after_drop_ = 0;                  // how many there were when some were last dropped
  int64_t bytes_since_drop_ = 0, bytes_after_drop_ = 0;
};

// The listener, if it is one; null if it is a tape.
ForwardAccumulator* accumulator_of(Listener* listener);

}  // namespace graven::engine
