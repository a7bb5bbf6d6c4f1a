#include "graven/base/heap_bytes.h"
#include "graven/kernels/reduce.h"
#include "graven/runtime/fused_kernels.h"

namespace graven::engine {
namespace {

class ReductionKernel final : public Kernel {
 public:
  ReductionKernel(const Fusion& fusion, const ReductionParts& parts,
                  std::shared_ptr<const ReductionProgram> program)
      : program_(std::move(program)), operands_(fusion), cost_(parts.prepare.cost()) {
    for (int axis : fusion.parts().reduced) reduced_ |= uint64_t{1} << axis;
  }

  Status run(const Arguments& arguments, TrapNotes& traps) const override {
    FusionOperands::Found found;
    RETURN_IF_ERROR(operands_.find(arguments, found));
    run_reduction(*program_, found.operands, found.space(), reduced_, arguments.outputs[0], &traps);
    return {};
  }
  uint64_t may_overwrite(int) const override { return 0; }
  double cost() const override { return cost_; }
  int64_t bytes() const override {
    return bytes_of_object<ReductionKernel>() + program_->bytes() + operands_.bytes();
  }

 private:
  const std::shared_ptr<const ReductionProgram> program_;
  const FusionOperands operands_;
  const double cost_;
  uint64_t reduced_ = 0;
};

}  // namespace

Result<Ref<const Kernel>> compile_reduction(const Fusion& fusion) {
  const int last = static_cast<int>(fusion.members().size()) - 1;
  ReductionParts parts = *fusion.body(last).reduction();
  // Of a reduction that is what it combines.
  parts.prepare = fused_expression(fusion, fusion.outputs());
  ASSIGN_OR_RETURN(auto program, ReductionProgram::compile(parts));
  return Ref<const Kernel>(make_ref<ReductionKernel>(fusion, parts, std::move(program)));
}

}  // namespace graven::engine
