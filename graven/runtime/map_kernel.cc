#include "graven/base/heap_bytes.h"
#include "graven/kernels/block_program.h"
#include "graven/kernels/elementwise.h"
#include "graven/runtime/fused_kernels.h"

namespace graven::engine {
namespace {

class MapKernel final : public Kernel {
 public:
  MapKernel(const Fusion& fusion, std::shared_ptr<const BlockProgram> program)
      : program_(std::move(program)), operands_(fusion) {
    for (int output : fusion.outputs()) {
      may_overwrite_.push_back(operands_.overwritable_by(fusion, output));
    }
  }

  Status run(const Arguments& arguments, TrapNotes& traps) const override {
    FusionOperands::Found found;
    RETURN_IF_ERROR(operands_.find(arguments, found));
    return run_elementwise(*program_, found.operands, found.space(), arguments.outputs, &traps);
  }
  uint64_t may_overwrite(int output) const override { return may_overwrite_[output]; }
  double cost() const override { return program_->cost(); }
  int64_t bytes() const override {
    return bytes_of_object<MapKernel>() + program_->bytes() + operands_.bytes() +
           heap_bytes(may_overwrite_);
  }

 private:
  const std::shared_ptr<const BlockProgram> program_;
  const FusionOperands operands_;
  InlineVector<uint64_t, 4> may_overwrite_;
};

}  // namespace

Result<Ref<const Kernel>> compile_map(const Fusion& fusion) {
  ASSIGN_OR_RETURN(auto program, BlockProgram::compile(fused_expression(fusion, fusion.outputs())));
  return Ref<const Kernel>(make_ref<MapKernel>(fusion, std::move(program)));
}

}  // namespace graven::engine
