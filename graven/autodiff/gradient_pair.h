#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "graven/base/export.h"
#include "graven/base/ref.h"
#include "graven/base/status.h"
#include "graven/ir/body.h"
#include "graven/ir/builder.h"
#include "graven/tensor/tensor.h"

namespace graven::engine {

// "__inference_f_12" is f.
std::string plain_function_name(std::string_view name);

// What a body is of. In the body of a loop gradients of reads of one row are IndexedSlices
// (row_gradient.h). The numbers in a branch do not tie its halves (GradientPair::State::tie).
enum class PairOf : uint8_t { kCall, kBranch, kLoop };

// The two halves of a differentiated Body, built once.
//
// forward: inputs of the body -> its outputs, then side outputs: the values that the backward half
// needs, inputs of the body among them. Effects and random numbers are in this half only. backward:
// gradients of outputs, then side values -> gradients of the inputs that have one.
//
// Making a pair. The thread that first asks for the pair does all of it; other threads wait for it,
// with no lock held, because users' gradients run (Body::get_or_make):
//
//   1. Copied. The body's graph is cloned as a ForwardGraph. Ops that are differentiated by their
//      parts are expanded. A node that runs a body once, and that a gradient may reach, becomes a
//      node of the same op that holds the forward half of that body's pair, which is made first. It
//      has that half's side outputs behind its own outputs. If that pair cannot be made, the node
//      stays, and a gradient that has to pass the node fails with the error.
//   2. Open. Backward halves are built for all differentiable outputs, in rounds. Each tensor that
//      a backward half needs of the forward half (values, shapes, the tie) becomes a side output,
//      and thereby one more output for the next round, until a round adds none. Two halves are
//      kept: the first round's, of the body's own outputs, and the last one's, of all outputs.
//   3. Closed. The forward half is frozen and becomes a Body. Now other threads see the pair. One
//      thing changes later: halves for other sets of outputs are added when a thread asks for
//      them, by that thread, one at a time. A half that would need more outputs of forward is not
//      made: zeros are fed to a kept one.
//
// Pairs of pairs. The set of side outputs is closed under differentiating again: the gradient of a
// forward call with respect to its side outputs needs only outputs of that call. So the pair of the
// forward half has the same two halves, and shares all their data. A backward half is a body like
// others, whose pair is made when it is differentiated.
//
// Slots. The body's slot owns the pair, which owns the forward half, whose slot holds a pair that
// does not own it: there is no circle of references. Backward halves belong to the data that both
// pairs share.
//
// Once it is made, any thread may use it.
class GRAVEN_API GradientPair : public RefCounted {
 public:
  // The outputs of a backward half that hold the gradient of an input: `dense`, or the others if it
  // is IndexedSlices; -1 for an absent output.
  struct InputGradient {
    int dense = -1, values = -1, indices = -1, dense_shape = -1;
  };
  struct BackwardHalf {
    Ref<Body> body;
    std::vector<int> outputs;              // outputs of forward whose gradients it takes, in order
    std::vector<int> side_values;          // then it takes these outputs of forward
    std::vector<InputGradient> gradients;  // one for each input of the body
    // An output that is a scalar zero, for the gradients of connected inputs that have none here:
    // gradients of gradients go through it. -1: there is none.
    int zero = -1;
    // Set if outputs have no gradient here: a path that leads through one is an error when it is
    // asked for, not when the pair is built.
    Status missing;
  };

  Ref<Body> forward() const { return Ref<Body>(forward_); }
  // The same, borrowed: it lives as long as the pair.
  Body& forward_body() const { return *forward_; }
  // The number of outputs of the body; the side outputs of forward follow them.
  int num_outputs() const { return num_outputs_; }
  // The half for gradients of just these outputs of forward, or of a few more (feed zeros for
  // those). An input that is_connected but has no gradient in the half has a zero gradient. Lives
  // as long as the pair. An op without a gradient on the way is a LookupError.
  Result<const BackwardHalf*> backward(const std::vector<bool>& has_gradient);
  // True if some output of the body has a gradient with respect to this input. A call gives all of
  // these inputs a gradient, whichever of its outputs has one.
  bool is_connected(int input) const;
  struct OutputUse {
    bool is_side_value = false;  // a backward half may take it
    // The input whose handle this output is; -1 if none. Gradients do not go through outputs that
    // are handles.
    int input_of_handle = -1;
  };
  // One for each output of forward.
  std::span<const OutputUse> output_uses() const;
  // The bytes of both halves and their slots.
  int64_t bytes() const;

 private:
  friend Result<Ref<GradientPair>> gradient_pair(const Ref<Body>& body, PairOf of);
  class State;
  GradientPair(Ref<State> state, Body* forward, int num_outputs);
  ~GradientPair() override;
  Ref<State> state_;
  Ref<Body> owned_forward_;  // null in the slot of the forward half itself
  Body* forward_;
  int num_outputs_;
};

// The pair of a body, kept in its slot. The caller that makes the pair says what the body is of.
GRAVEN_API Result<Ref<GradientPair>> gradient_pair(const Ref<Body>& body,
                                                   PairOf of = PairOf::kCall);

// Applies a call of the body. If the builder records (RecordingBuilder) and a tape of the current
// frame wants the call, this calls the forward half, and tells the tapes of one step whose gradient
// calls the backward half. If an accumulator wants it, this calls a body that computes tangents too
// (tangent_body.h). Of several listeners the inner ones come first: an accumulator outside of a
// tape sees a call of the forward half, a tape outside of an accumulator one of the body with
// tangents. If none wants it, it calls the body itself.
GRAVEN_API Result<Tensors> apply_call(Builder& builder, const Ref<Body>& body,
                                      std::span<const Tensor> inputs, std::string_view name = {});

}  // namespace graven::engine
