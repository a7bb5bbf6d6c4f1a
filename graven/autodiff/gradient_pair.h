#pragma once
#include <span>
#include <string_view>
#include <vector>

#include "graven/base/export.h"
#include "graven/base/ref.h"
#include "graven/base/status.h"
#include "graven/ir/body.h"
#include "graven/ir/builder.h"
#include "graven/tensor/tensor.h"

namespace graven::engine {

// The two halves of a differentiated Body, built once.
//
// forward: inputs of the body -> its outputs, then side outputs: what the backward half needs,
// among them inputs of the body. Effects and random numbers are in this half only. backward:
// gradients of outputs, then side values -> gradients of the inputs that have one.
//
// How it is made, all by the thread that first asks for the pair; others wait for it, with no lock
// held, as gradients of users run (Body::get_or_make):
//
//   1. Copied. The body's graph is cloned as a ForwardGraph. What is differentiated by its parts
//      becomes its parts. Each node that runs a body once, and that a gradient may reach, is made a
//      node of the same op that holds the forward half of that body's pair, which is made first,
//      and has that half's side outputs behind its own outputs. If that pair cannot be made, the
//      node stays, and its error is that of a gradient that has to pass it.
//   2. Open. Backward halves are built for all differentiable outputs, in rounds. What one asks of
//      the forward half (values, shapes, the tie) becomes a side output of it, and thereby one more
//      output for the next round, until a round adds none. The first round's half, of the body's
//      own outputs, and the last one's, of all outputs, are kept.
//   3. Closed. The forward half is frozen and becomes a Body. From here on others see the pair, and
//      nothing changes but that halves for other sets of outputs are added when they are asked for,
//      by the thread that asks, one at a time. A half that would need what forward does not give is
//      not made: zeros are fed to a kept one.
//
// Pairs of pairs. The set of side outputs is closed under differentiating again: the
// gradient of a forward call with respect to its side outputs needs nothing that is not an output
// of it. So the pair of the forward half has the same two halves, and shares all that was made. A
// backward half is a body like others, whose pair is made when it is differentiated.
//
// Slots. The body's slot owns the pair, which owns the forward half, whose slot holds a pair that
// does not own it: there is no circle of references. Backward halves belong to what both share.
//
// Once it is made, any thread may use it.
class GRAVEN_API GradientPair : public RefCounted {
 public:
  // Which outputs of a backward half hold the gradient of an input: one of them if it is dense,
  // the others if it is IndexedSlices; -1 for what is not there.
  struct InputGradient {
    int dense = -1, values = -1, indices = -1, dense_shape = -1;
  };
  struct Half {
    Ref<Body> body;
    std::vector<int> outputs;              // outputs of forward whose gradients it takes, in order
    std::vector<int> side_values;          // then it takes these outputs of forward
    std::vector<InputGradient> gradients;  // one for each input of the body
    // Outputs without a gradient here: a path that leads through one is an error when it is asked
    // for, not when the pair is built.
    Status missing;
  };

  Ref<Body> forward() const { return Ref<Body>(forward_); }
  // The same, borrowed: it lives as long as the pair.
  Body& forward_body() const { return *forward_; }
  // Of the body whose pair it is; the side outputs of forward follow.
  int num_outputs() const { return num_outputs_; }
  // The half for gradients of just these outputs of forward, or of a few more (which are then
  // zeros). Where it has none for an input that is_connected, that is zero too. Lives as long as
  // the pair. An op without a gradient on the way is a LookupError.
  Result<const Half*> backward(const std::vector<bool>& has_gradient);
  // True if some output of the body has a gradient with respect to this input. A call gives all of
  // these inputs a gradient, whichever of its outputs has one.
  bool is_connected(int input) const;
  struct OutputUse {
    bool is_side_value = false;  // a backward half may take it
    // The input whose handle it is; -1 if it is none. Gradients do not go through outputs that are
    // handles.
    int input_of_handle = -1;
  };
  // Of each output of forward.
  std::span<const OutputUse> output_uses() const;
  // Of both halves, with what was made of them.
  int64_t bytes() const;

 private:
  friend Result<Ref<GradientPair>> gradient_pair(const Ref<Body>& body);
  class State;
  GradientPair(Ref<State> state, Body* forward, int num_outputs);
  ~GradientPair() override;
  Ref<State> state_;
  Ref<Body> owned_forward_;  // null in the slot of the forward half itself
  Body* forward_;
  int num_outputs_;
};

// The pair of a body, kept in its slot.
GRAVEN_API Result<Ref<GradientPair>> gradient_pair(const Ref<Body>& body);

// Applies a call of the body. If the builder records (RecordingBuilder) and a listener of the
// current frame wants it, the forward half is called, and the listeners are told of one step
// whose gradient calls the backward half; otherwise the body itself.
GRAVEN_API Result<Tensors> apply_call(Builder& builder, const Ref<Body>& body,
                                      std::span<const Tensor> inputs, std::string_view name = {});

}  // namespace graven::engine
