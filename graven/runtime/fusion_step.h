#pragma once
#include <vector>

#include "graven/ir/fusion.h"
#include "graven/runtime/compiler.h"
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
  FusionStep(const Node& node, Ref<const Fusion> fusion, Ref<const Kernel> kernel);
  using Symbols = InlineVector<int64_t, 8>;
  Status find_symbols(std::span<const Tensor* const> values, Symbols& symbols) const;
  // The error where the shapes of operands contradict the Fusion.
  Status misfit(std::span<const Tensor* const> values) const;
  Shape output_shape(int output, std::span<const int64_t> symbols) const;
  // An error of the member.
  Status failed(size_t member, const Status& status) const;

  const Ref<const Fusion> fusion_;
  const Ref<const Kernel> kernel_;
  std::vector<Shape> static_shapes_;  // of the outputs, if there are no symbols
};

}  // namespace graven::engine
