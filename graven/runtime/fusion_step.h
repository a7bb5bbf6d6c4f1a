#pragma once
#include <vector>

#include "graven/ir/fusion.h"
#include "graven/runtime/compiler.h"
#include "graven/runtime/library_member.h"
#include "graven/runtime/step.h"

namespace graven::engine {

// Runs the kernel of a Fusion: finds what its symbols are in the shapes of the inputs, makes the
// outputs, over inputs where it may.
class FusionStep final : public Step {
 public:
  static Result<std::unique_ptr<FusionStep>> create(const Node& node, Ref<const Fusion> fusion);
  Status run(ProgramRun& run) const override;
  std::string text() const override;
  int64_t bytes() const override;
  const Fusion& fusion() const { return *fusion_; }

 private:
  FusionStep(const Node& node, Ref<const Fusion> fusion, Ref<const Kernel> kernel,
             std::unique_ptr<LibraryMember> library);
  using Symbols = InlineVector<int64_t, 8>;
  using Values = std::span<const Tensor* const>;
  // result: the shape of the library member's, if there is one.
  Status find_symbols(Values values, const Shape& result, Symbols& symbols) const;
  // Notes which symbols no input tells: sizes of the outputs alone.
  void find_derived();
  // Computes them; whether all are sizes.
  bool note_derived(Symbols& symbols) const;
  // What a space that a library member gives says of the symbols.
  bool note_space(const Shape& result, Symbols& symbols) const;
  // The sizes of the space to which inputs broadcast.
  bool note_broadcasts(Values values, Symbols& symbols) const;
  // The error where the shapes of operands contradict the Fusion.
  Status misfit(Values values, const Shape& result) const;
  // Whether sizes that only this run knows make it take so long that others should run meanwhile.
  bool is_long(Values values, std::span<const int64_t> symbols, const Shape& result) const;
  // The outputs, over inputs where that may be.
  Status make_outputs(ProgramRun& run, std::span<const int64_t> symbols,
                      std::span<Tensor> made) const;
  // Whether a kernel that may overwrite some inputs reads the value of this one by another too:
  // elsewhere than where the output's element goes, or by the library member.
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
  bool broadcasts_ = false;                       // some input may, to a size known when it runs
  // Of the Fusion's symbols, the terms of the graph that some are, and the graph's symbols that
  // others are, which those terms are made of.
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
