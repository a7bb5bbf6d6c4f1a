#include "graven/base/heap_bytes.h"
#include "graven/kernels/reduce.h"
#include "graven/runtime/fused_kernels.h"

namespace graven::engine {
namespace {

class ReductionKernel final : public Kernel {
 public:
  using Programs = InlineVector<std::shared_ptr<const ReductionProgram>, 2>;
  ReductionKernel(const Fusion& fusion, Programs programs, double cost)
      : programs_(std::move(programs)), operands_(fusion), cost_(cost) {
    for (int axis : fusion.parts().reduced) reduced_ |= uint64_t{1} << axis;
  }

  Status run(const Arguments& arguments, TrapNotes& traps) const override {
    FusionOperands::Found found;
    RETURN_IF_ERROR(operands_.find(arguments, found));
    InlineVector<ReductionRoot, 2> roots;
    for (size_t i = 0; i < programs_.size(); ++i) {
      roots.push_back({programs_[i].get(), arguments.outputs[i]});
    }
    run_reductions(roots, found.operands, found.space(), reduced_, &traps);
    return {};
  }
  uint64_t may_overwrite(int) const override { return 0; }
  double cost() const override { return cost_; }
  int64_t bytes() const override {
    int64_t total = bytes_of_object<ReductionKernel>() + operands_.bytes() + heap_bytes(programs_);
    for (const auto& program : programs_) total += program->bytes();
    return total;
  }

 private:
  const Programs programs_;
  const FusionOperands operands_;
  const double cost_;
  uint64_t reduced_ = 0;
};

}  // namespace

Result<Ref<const Kernel>> compile_reduction(const Fusion& fusion) {
  ReductionKernel::Programs programs;
  double cost = 0;
  for (const int& root : fusion.outputs()) {
    ReductionParts parts = *fusion.body(root).reduction();
    // Of a reduction that is what it combines.
    parts.prepare = fused_expression(fusion, {&root, 1});
    cost += parts.prepare.cost();
    ASSIGN_OR_RETURN(auto program, ReductionProgram::compile(parts));
    programs.push_back(std::move(program));
  }
  return Ref<const Kernel>(make_ref<ReductionKernel>(fusion, std::move(programs), cost));
}

}  // namespace graven::engine
