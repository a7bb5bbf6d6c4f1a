#pragma once
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "graven/base/export.h"
#include "graven/base/ref.h"
#include "graven/base/status.h"
#include "graven/ir/body.h"
#include "graven/ir/graph.h"
#include "graven/tensor/tensor.h"

namespace graven::engine {

class BlockProgram;
class ReductionProgram;

// What runs: a graph as steps over numbered slots, made by plan_program. Constant once made, apart
// from the states of random ops; several threads may run it at once.
//
// A slot holds a tensor from the step that makes it to the last step that reads it, when its
// memory goes back to the allocator and is used again by the next step of that size; a step that
// is the last reader of an input of the right size writes into it. Slots are numbered so that
// the inputs come first.
class GRAVEN_API Program : public RefCounted {
 public:
  // One step: an op, or a group of elementwise ops (and reductions) that fused.
  struct Step {
    const Op* op = nullptr;  // null for a fused group
    Attrs attrs;
    std::vector<int> inputs;     // slots
    std::vector<int> outputs;    // slots; -1: nobody wants it
    uint64_t last_use = 0;       // bit i: no later step reads input i, nor is it returned
    std::vector<int> waits_for;  // earlier steps whose effects or memory it needs
    int queue = 0;               // the device queue it belongs to; 0 is the host
    const Node* node = nullptr;  // for errors: where it comes from
    std::shared_ptr<const BlockProgram> fused;  // a chain of elementwise ops
    mutable Ref<RefCounted> state;              // of random ops
    double cost = 0;                            // estimate in nanoseconds
  };

  // Runs the program. inputs: the graph's inputs in order; they are borrowed. Errors of kernels
  // carry the node's location ("Graph execution error", S6.9) as a note for the front end:
  // see ExecutionError.
  Status run(std::span<const Tensor> inputs, Tensors& outputs) const;

  std::span<const Step> steps() const { return steps_; }
  int num_slots() const { return num_slots_; }
  int64_t bytes() const;
  // Estimated time of a run in nanoseconds, and whether a step may block: whether a front end
  // should let other threads run meanwhile.
  double cost() const { return cost_; }
  bool may_block() const { return may_block_; }
  // "step 3: AddV2 %1 %2 -> %4 (in place of %1), waits for 1 2" lines, for tests and dumps.
  std::string to_text() const;

 private:
  friend class Planner;
  Ref<Graph> graph_;  // the optimised copy, kept for locations of errors
  std::vector<Step> steps_;
  std::vector<std::pair<int, Tensor>> constants_;  // slot, value
  std::vector<int> outputs_;                       // slots
  int num_inputs_ = 0, num_slots_ = 0;
  double cost_ = 0;
  bool may_block_ = false;
};

// Steps for a graph that is optimised already, which the Program keeps. Elementwise ops that can
// compute in one pass are fused; shapes that are not known now are found when it runs, from the
// records.
GRAVEN_API Result<Ref<Program>> plan_program(Ref<Graph> graph);

// How a Body gets its Program: optimised on a copy, then planned. `optimize` is given by the room
// above, because runtime does not know the passes; null means none.
using OptimizeFunction = Status (*)(Graph& graph, Builder& evaluate);
GRAVEN_API void set_optimizer(OptimizeFunction optimize);
GRAVEN_API Result<Ref<Program>> program_of(const Ref<Body>& body);

// The node at which a run failed, travelling with the Status (Status::payload).
class GRAVEN_API ExecutionError : public Payload {
 public:
  std::string node_name;
  Ref<Location> location;
};

}  // namespace graven::engine
