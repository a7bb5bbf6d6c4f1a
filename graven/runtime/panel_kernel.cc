#include "graven/base/denormals.h"
#include "graven/base/heap_bytes.h"
#include "graven/kernels/block_program.h"
#include "graven/kernels/elementwise_panels.h"
#include "graven/runtime/fused_kernels.h"
#include "graven/runtime/run_op.h"

namespace graven::engine {
namespace {

class PanelKernel final : public Kernel {
 public:
  PanelKernel(const Fusion& fusion, std::shared_ptr<const BlockProgram> program)
      : program_(std::move(program)), operands_(fusion) {
    const DType result = fusion.members()[0].dtype;
    for (size_t i = 0; i < fusion.inputs().size(); ++i) {
      if (!fusion.inputs()[i].whole) parts_.push_back(static_cast<int>(i));
    }
    for (size_t o = 0; o < fusion.outputs().size(); ++o) {
      const int output = fusion.outputs()[o];
      if (output_of_result_ < 0 && fusion.members()[output].dtype == result) {
        output_of_result_ = static_cast<int>(o);
        may_overwrite_.push_back(0);  // it must keep off what the others still read
      } else {
        may_overwrite_.push_back(operands_.overwritable_by(fusion, output));
      }
    }
  }

  Status run(const Arguments& arguments, TrapNotes& traps) const override {
    FusionOperands::Found found;
    RETURN_IF_ERROR(operands_.find(arguments, found));
    InlineVector<StridedInput, 8> operands;
    for (int i : parts_) operands.push_back(found.operands[static_cast<size_t>(i)]);
    const Library& library = *arguments.library;
    operands.push_back({library.result, &found.space()});
    const FlushDenormals flush;
    // If the other members take longer than the library member, they run after it, in pieces of
    // their own, so that all threads get their share. The library member's pieces fit its own cost
    // only.
    const auto elements = static_cast<double>(found.space().num_elements());
    if (nanoseconds_of_blocks(elements, cost()) > library.nanoseconds) {
      RETURN_IF_ERROR(library.run(nullptr));
      return run_elementwise(*program_, operands, found.space(), arguments.outputs, &traps);
    }
    const ElementwisePanels panels(*program_, operands, found.space(), arguments.outputs, &traps);
    auto run_panel = [&](const Panel& panel) { panels.run(panel); };
    const PanelDone done(run_panel);
    RETURN_IF_ERROR(library.run(&done));
    return panels.status();
  }
  uint64_t may_overwrite(int output) const override { return may_overwrite_[output]; }
  int output_of_result() const override { return output_of_result_; }
  double cost() const override { return program_->cost(); }
  int64_t bytes() const override {
    return bytes_of_object<PanelKernel>() + program_->bytes() + operands_.bytes() +
           heap_bytes(parts_) + heap_bytes(may_overwrite_);
  }

 private:
  const std::shared_ptr<const BlockProgram> program_;
  const FusionOperands operands_;
  InlineVector<int, 8> parts_;  // the inputs that are not read whole
  InlineVector<uint64_t, 4> may_overwrite_;
  int output_of_result_ = -1;
};

}  // namespace

Result<Ref<const Kernel>> compile_panels(const Fusion& fusion) {
  RETURN_IF_ERROR(must_broadcast(fusion));
  ASSIGN_OR_RETURN(auto program, BlockProgram::compile(fused_expression(fusion, fusion.outputs())));
  return Ref<const Kernel>(make_ref<PanelKernel>(fusion, std::move(program)));
}

}  // namespace graven::engine
