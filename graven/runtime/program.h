#pragma once
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "graven/base/export.h"
#include "graven/base/ref.h"
#include "graven/base/status.h"
#include "graven/ir/body.h"
#include "graven/ir/builder.h"
#include "graven/ir/graph.h"
#include "graven/runtime/step.h"
#include "graven/tensor/tensor.h"

namespace graven::engine {

// What runs: a graph as steps over numbered slots, made by plan_program. Constant once made, apart
// from the states of random ops; several threads may run it at once.
//
// Slots are numbered so that the inputs come first, then the constants, then what steps make. A
// slot holds a tensor from the step that makes it to the last step that reads it, when its memory
// goes back to the allocator and is used again by the next step of that size; a step that is the
// last reader of an input of the right size writes into it.
class GRAVEN_API Program : public RefCounted {
 public:
  // Runs the program. inputs: the graph's inputs in order, of the types that the graph says; they
  // are borrowed. Each output is a tensor object of its own, but that one which is an input may be
  // that very tensor if the caller says so. Errors of kernels carry the node's name and location
  // for the front end: see ExecutionError.
  Status run(std::span<const Tensor> inputs, Tensors& outputs,
             bool may_hand_out_inputs = false) const;
  // The same, where an input may be overwritten if its bit in given_up is set and nobody else
  // holds it; its handle may be empty afterwards. Loops move what they carry.
  Status run(std::span<Tensor> inputs, std::span<const bool> given_up, Tensors& outputs) const;
  // False if an input has another shape than the one to which the graph narrowed it (set_shape, or
  // a call of a Function that was traced for it): run refuses it then.
  bool accepts(std::span<const Tensor> inputs) const;

  std::span<const std::unique_ptr<const Step>> steps() const { return steps_; }
  int num_slots() const { return num_slots_; }
  int64_t bytes() const;
  // Estimated time of a run in nanoseconds, and whether a step may block: whether a front end
  // should let other threads run meanwhile.
  double cost() const { return cost_; }
  bool may_block() const { return may_block_; }
  // "step 3: AddV2 %1 %2 -> %4, waits for 1 2" lines, for tests and dumps; with_costs: what each
  // step, and the whole, is expected to take.
  std::string to_text(bool with_costs = false) const;

 private:
  friend class Planner;
  Program() = default;
  Status run(ProgramRun run, Tensors& outputs, bool may_hand_out_inputs) const;
  Status check_inputs(std::span<const Tensor> inputs) const;
  void collect(ProgramRun& run, Tensors& outputs, bool may_hand_out_inputs) const;
  Ref<Graph> graph_;  // the optimised copy, kept for locations of errors
  std::vector<std::unique_ptr<const Step>> steps_;
  std::vector<Tensor> constants_;
  std::vector<int> outputs_;  // slots
  std::vector<std::pair<int, Shape>> checked_inputs_;
  int num_inputs_ = 0, num_slots_ = 0;
  double cost_ = 0;
  bool may_block_ = false;
};

// Steps for a graph that is optimised already, which the Program keeps. Shapes that are not known
// now are found when it runs. Nodes on which neither an output nor a control output depends are
// left out.
GRAVEN_API Result<Ref<Program>> plan_program(Ref<Graph> graph);

// How a Body gets its Program: optimised on a copy, then planned. What makes it of the copy is
// given by the room above, because runtime does not know the passes; null means that it is only
// planned.
using ProgramMaker = Result<Ref<Program>> (*)(const Body& body, Ref<Graph> graph);
GRAVEN_API void set_program_maker(ProgramMaker make);
GRAVEN_API Result<Ref<Program>> program_of(const Ref<Body>& body);

// The node at which a run failed, travelling with the Status (Status::payload). That of the
// innermost function, if functions call each other.
class GRAVEN_API ExecutionError : public Payload {
 public:
  std::string node_name;
  std::string function;    // that was called, not one that it calls; empty if none was
  Ref<Location> location;  // may be null
};

}  // namespace graven::engine
