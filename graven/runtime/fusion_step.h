#pragma once
#include <vector>

#include "graven/ir/fusion.h"
#include "graven/runtime/compiler.h"
#include "graven/runtime/library_member.h"
#include "graven/runtime/step.h"

namespace graven::engine {

// Runs the kernel of a Fusion: finds the values of its symbols in the shapes of the inputs, and
// makes the outputs, in the memory of inputs where it may.
class FusionStep final : public Step {
 public:
  static Result<std::unique_ptr<FusionStep>> create(const Node& node, Ref<const Fusion> fusion);
  Status run(ProgramRun& run) const override;
  std::string text() const override;
  int64_t bytes() const override;
  bool writes_kept(size_t i) const override {
    return i < static_shapes_.size() && static_shapes_[i] == outputs[i].shape;
  }
  const Fusion& fusion() const { return *fusion_; }

 private:
  FusionStep(const Node& node, Ref<const Fusion> fusion, Ref<const Kernel> kernel,
             std::unique_ptr<LibraryMember> library);
  using Symbols = InlineVector<int64_t, 8>;
  using Values = std::span<const Tensor* const>;
  // result: the shape of the library member's result, if there is one.
  Status find_symbols(Values values, const Shape& result, Symbols& symbols) const;
  // Notes which symbols follow from no input: sizes of the outputs alone.
  void find_derived();
  // Computes the values of these symbols; returns whether all are sizes.
  bool note_derived(Symbols& symbols) const;
  // Finds values of symbols from the shape of the library member's result.
  bool note_space(const Shape& result, Symbols& symbols) const;
  // Finds the sizes of the space to which inputs broadcast.
  bool note_broadcasts(Values values, Symbols& symbols) const;
  // The error if the shapes of operands contradict the Fusion.
  Status misfit(Values values, const Shape& result) const;
  // Whether the step takes so long, by the sizes of this run, that other threads should run
  // meanwhile.
  bool is_long(Values values, std::span<const int64_t> symbols, const Shape& result) const;
  // Makes the outputs, in the memory of inputs where that is allowed.
  Status make_outputs(ProgramRun& run, std::span<const int64_t> symbols,
                      std::span<Tensor> made) const;
  // For a kernel that may overwrite some inputs: whether it reads the value of this input in
  // another way too, at another element than the output's or by the library member.
  bool is_read_elsewhere(int input, uint64_t overwritable) const;
  Status run_kernel(Values values, const Kernel::Arguments& arguments, const Shape& result_shape,
                    std::span<const Tensor> made, TrapNotes& traps) const;
  Shape output_shape(int output, std::span<const int64_t> symbols) const;
  // An error of the member.
  Status failed(size_t member, const Status& status) const;

  const Ref<const Fusion> fusion_;
  const Ref<const Kernel> kernel_;
  const std::unique_ptr<LibraryMember> library_;  // null if there is none
  std::vector<Shape> static_shapes_;              // of the outputs, if there are no symbols
  bool broadcasts_ = false;                       // some input may, to a size known at run time
  // Derived: a symbol of the Fusion that is a term of the graph. Known: a symbol of the Fusion that
  // is a symbol of the graph; those terms are made of these.
  struct Derived {
    int symbol;
    Dim size;
  };
  struct Known {
    int symbol;
    int64_t of_graph;
  };
  std::vector<Derived> derived_;
  std::vector<Known> known_;
};

}  // namespace graven::engine
