#pragma once
#include <atomic>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "graven/base/export.h"
#include "graven/base/ref.h"
#include "graven/base/status.h"
#include "graven/ir/body.h"
#include "graven/ir/builder.h"
#include "graven/ir/graph.h"
#include "graven/tensor/tensor.h"

namespace graven::engine {

class BlockProgram;
class ReductionProgram;
class RowProgram;
enum class RowExtent : uint8_t;

// What runs: a graph as steps over numbered slots, made by plan_program. Constant once made, apart
// from the states of random ops; several threads may run it at once.
//
// Slots are numbered so that the inputs come first, then the constants, then what steps make. A
// slot holds a tensor from the step that makes it to the last step that reads it, when its memory
// goes back to the allocator and is used again by the next step of that size; a step that is the
// last reader of an input of the right size writes into it.
class GRAVEN_API Program : public RefCounted {
 public:
  // One step: an op, a call of another Program, or a group of elementwise ops that fused,
  // perhaps with the reduction of their result, or with reductions of rows among them.
  struct Step {
    enum class Kind {
      kOp,           // run_typed_op
      kView,         // output 0 shares the elements of input `view_of`
      kElementwise,  // a scalar body, or several that fused: `block`
      kReduction,    // a reduction of what scalar bodies compute; its axes are the last input
      kRows,         // scalar bodies and reductions over the last axes, row by row: `rows`
      kCall,         // `program`
    };
    // What is known of an output before the run.
    struct Output {
      int slot = -1;  // -1: nobody wants it
      DType dtype = DType::kInvalid;
      Shape shape;                   // exact where shapes_known, else what the graph says
      bool must_be_checked = false;  // the graph says more than inference does (set_shape)
    };
    // One of the ops of a step that computes in scalars, for the messages of traps and shape
    // errors. Its inputs are inputs of the step (i), or earlier members (-1 - m).
    struct Member {
      const Node* node;
      std::vector<int> inputs;
    };

    Kind kind = Kind::kOp;
    const Op* op = nullptr;  // null for a group of several ops
    Attrs attrs{attrs_type<NoAttrs>()};
    std::vector<int> inputs;  // slots
    std::vector<Output> outputs;
    bool shapes_known = false;   // else they are found from the inputs when it runs
    uint64_t last_use = 0;       // bit i: no later step reads input i, nor is it returned
    std::vector<int> frees;      // slots that nobody reads after this step
    std::vector<int> waits_for;  // earlier steps whose outputs, effects or memory it needs
    int queue = 0;               // the device queue it belongs to; 0 is the host
    const Node* node = nullptr;  // for errors: where it comes from
    double cost = 0;             // estimate in nanoseconds

    // --- For the executor.
    TypeBindings types;                         // kOp, and kElementwise unless it broadcasts
    bool broadcasts = true;                     // kElementwise: its shape is that of the inputs
    int view_of = -1;                           // kView
    std::shared_ptr<const BlockProgram> block;  // kElementwise
    std::shared_ptr<const ReductionProgram> reduction;  // kReduction
    Shape reduced_shape;  // kReduction and kRows: of what is reduced, where shapes_known
    std::shared_ptr<const RowProgram> rows;  // kRows
    int reduced_axes = 0;                    // kRows: how many axes make a row
    int matrix_input = -1;                   // kRows: an input that has the reduced shape
    std::vector<RowExtent> row_extents;      // kRows: of the inputs
    struct RowOutput {
      bool is_matrix;
      uint64_t may_overwrite;  // inputs over which it may be written
    };
    std::vector<RowOutput> row_outputs;  // kRows
    std::vector<Member> members;         // of a group
    Ref<Body> body;                      // kCall
    Ref<Program> program;                // kCall: the body's
    // What a random op keeps between runs; null for other ops.
    struct State {
      std::mutex mutex;                 // held by the run that makes the object
      std::atomic<bool> is_set{false};  // then the object is read without it
      Ref<RefCounted> object;
    };
    std::unique_ptr<State> state;
  };

  // Runs the program. inputs: the graph's inputs in order, of the types that the graph says; they
  // are borrowed. Each output is a tensor object of its own. Errors of kernels carry the node's
  // name and location for the front end: see ExecutionError.
  Status run(std::span<const Tensor> inputs, Tensors& outputs) const;
  // False if an input has another shape than the one to which the graph narrowed it (set_shape, or
  // a call of a Function that was traced for it): run refuses it then.
  bool accepts(std::span<const Tensor> inputs) const;

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
  friend class ProgramRun;
  Program() = default;
  Ref<Graph> graph_;  // the optimised copy, kept for locations of errors
  std::vector<Step> steps_;
  std::vector<Tensor> constants_;
  std::vector<int> outputs_;  // slots
  std::vector<std::pair<int, Shape>> checked_inputs_;
  int num_inputs_ = 0, num_slots_ = 0;
  double cost_ = 0;
  bool may_block_ = false;
};

// Steps for a graph that is optimised already, which the Program keeps. Elementwise ops that can
// compute in one pass are fused; shapes that are not known now are found when it runs, from the
// records. Nodes on which neither an output nor a control output depends are left out (S5.31).
GRAVEN_API Result<Ref<Program>> plan_program(Ref<Graph> graph);

// How a Body gets its Program: optimised on a copy, then planned. `optimize` is given by the room
// above, because runtime does not know the passes; null means none.
using OptimizeFunction = Status (*)(Graph& graph, Builder& evaluate);
GRAVEN_API void set_optimizer(OptimizeFunction optimize);
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
