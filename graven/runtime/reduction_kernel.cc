#include "graven/base/heap_bytes.h"
#include "graven/kernels/reduce.h"
#include "graven/runtime/fused_kernels.h"

namespace graven::engine {
namespace {

class ReductionKernel final : public Kernel {
 public:
  struct Root {
    std::shared_ptr<const ReductionProgram> program;
    InlineVector<int, 8> reads;
  };
  ReductionKernel(const Fusion& fusion, std::vector<Root> roots, double cost)
      : roots_(std::move(roots)), operands_(fusion), cost_(cost) {
    for (int axis : fusion.parts().reduced) reduced_ |= uint64_t{1} << axis;
  }

  Status run(const Arguments& arguments, TrapNotes& traps) const override {
    FusionOperands::Found found;
    RETURN_IF_ERROR(operands_.find(arguments, found));
    InlineVector<ReductionRoot, 4> roots;
    for (size_t i = 0; i < roots_.size(); ++i) {
      roots.push_back({roots_[i].program.get(), arguments.outputs[i], roots_[i].reads});
    }
    return run_reductions(roots, found.operands, found.space(), reduced_, &traps);
  }
  uint64_t may_overwrite(int) const override { return 0; }
  double cost() const override { return cost_; }
  int64_t bytes() const override {
    int64_t total = bytes_of_object<ReductionKernel>() + operands_.bytes() + heap_bytes(roots_);
    for (const Root& root : roots_) total += root.program->bytes() + heap_bytes(root.reads);
    return total;
  }

 private:
  const std::vector<Root> roots_;
  const FusionOperands operands_;
  const double cost_;
  uint64_t reduced_ = 0;
};

}  // namespace

Result<Ref<const Kernel>> compile_reduction(const Fusion& fusion) {
  const std::vector<bool> all = needed_members(fusion, fusion.outputs());
  std::vector<ReductionKernel::Root> roots;
  double cost = 0;
  for (const int& output : fusion.outputs()) {
    std::vector<int> needed = {output};
    // Members that no root needs may still refuse a value: the first root computes them too.
    for (size_t m = 0; m < all.size() && roots.empty(); ++m) {
      if (!all[m]) needed.push_back(static_cast<int>(m));
    }
    const std::vector<bool> members = needed_members(fusion, needed);
    ReductionKernel::Root root;
    ReductionParts parts = *fusion.body(output).reduction();
    // For a reduction, that is the expression of the values that it combines.
    parts.prepare = fused_expression(fusion, {&output, 1}, members, &root.reads);
    cost += parts.prepare.cost();
    ASSIGN_OR_RETURN(root.program, ReductionProgram::compile(parts));
    roots.push_back(std::move(root));
  }
  return Ref<const Kernel>(make_ref<ReductionKernel>(fusion, std::move(roots), cost));
}

}  // namespace graven::engine
