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

// The executable form of a graph: steps over numbered slots, made by plan_program. Constant once
// made, apart from the states of random ops; several threads may run it at once.
//
// Slots are numbered so that the inputs come first, then the constants, then the results of steps.
// A slot holds a tensor from the step that makes it to the last step that reads it. Then its memory
// goes back to the allocator, for the next step of that size. The last reader of an input of the
// right size writes its output into it.
class GRAVEN_API Program : public RefCounted {
 public:
  // Runs the program. inputs: the graph's inputs in order, of the graph's types; they are borrowed.
  // Each output is a tensor object of its own. Only if may_hand_out_inputs is set, an output that
  // is an input may be that very tensor. Errors of kernels carry the node's name and location for
  // the front end: see ExecutionError.
  Status run(std::span<const Tensor> inputs, Tensors& outputs,
             bool may_hand_out_inputs = false) const;
  // The same, but an input may be overwritten if its bit in given_up is set and it has no other
  // owner; its handle may be empty afterwards. Loops move their carried values this way.
  Status run(std::span<Tensor> inputs, std::span<const bool> given_up, Tensors& outputs) const;
  // False if an input does not have the shape to which the graph narrowed it (set_shape, or a call
  // of a Function that was traced for it). run refuses such an input.
  bool accepts(std::span<const Tensor> inputs) const;

  // The graph as the passes left it, which is what runs.
  const Graph& graph() const { return *graph_; }
  std::span<const std::unique_ptr<const Step>> steps() const { return steps_; }
  int num_slots() const { return num_slots_; }
  int64_t bytes() const;
  // Estimated time of a run in nanoseconds, and whether a step may block. A front end decides by
  // them whether to let other threads run meanwhile.
  double cost() const { return cost_; }
  bool may_block() const { return may_block_; }
  // "step 3: AddV2 %1 %2 -> %4, waits for 1 2" lines, for tests and dumps; with_costs: adds the
  // estimated time of each step, and of the whole.
  std::string to_text(bool with_costs = false) const;

 private:
  friend class Planner;
  friend class RepeatedBody;
  friend class RepeatedRun;
  Program() = default;
  Status run(ProgramRun run, Tensors& outputs, bool may_hand_out_inputs) const;
  Status run_steps(ProgramRun& run) const;
  Status check_inputs(std::span<const Tensor> inputs) const;
  void collect(ProgramRun& run, Tensors& outputs, bool may_hand_out_inputs) const;
  Ref<Graph> graph_;  // the optimised copy, kept for locations of errors
  std::vector<std::unique_ptr<const Step>> steps_;
  std::vector<Tensor> constants_;
  std::vector<int> outputs_;  // slots
  std::vector<std::pair<int, Shape>> checked_inputs_;
  std::vector<uint8_t> is_kept_;  // by slot: results whose tensors stay in runs in turn
  int num_inputs_ = 0, num_slots_ = 0;
  double cost_ = 0;
  bool may_block_ = false;
};

// Plans a graph that is optimised already; the Program keeps the graph. Shapes that are unknown now
// are found at run time. Nodes on which no output and no control output depends are left out.
GRAVEN_API Result<Ref<Program>> plan_program(Ref<Graph> graph);

// Sets how a Body gets its Program from a copy of its graph: optimised, then planned. The room
// above sets this, because runtime does not know the passes; null: only planned.
using ProgramMaker = Result<Ref<Program>> (*)(const Body& body, Ref<Graph> graph);
GRAVEN_API void set_program_maker(ProgramMaker make);
GRAVEN_API Result<Ref<Program>> program_of(const Ref<Body>& body);

// The node at which a run failed, as payload of the Status (Status::payload). If functions call
// each other, the node of the innermost one.
class GRAVEN_API ExecutionError : public Payload {
 public:
  std::string node_name;
  std::string function;    // the called one, not one that it calls; empty: none
  Ref<Location> location;  // may be null
};

}  // namespace graven::engine
