#include "graven/runtime/branch_step.h"

#include "graven/base/stack.h"
#include "graven/ir/chosen_body.h"
#include "graven/runtime/run_op.h"

namespace graven::engine {

Status BranchStep::run(ProgramRun& run) const {
  auto chosen = chosen_body(run.input(*this, 0), is_list_, branches_.size());
  if (!chosen.ok()) return failed_at(*node, with_op_name(node->op(), chosen.status()));
  const PlannedBody& branch = branches_[*chosen];
  if (Status fits = Stack::check("a branch", branch.body().name()); !fits.ok()) {
    return failed_at(*node, fits);
  }
  BodyInputs inputs_of_body(*this, run, 1);
  Tensors made;
  const Status status = branch.run(inputs_of_body.all(), inputs_of_body.may_overwrite(), made);
  if (!status.ok()) return failed_at(*node, status);
  return put_all(run, *this, {made.data(), made.size()});
}

}  // namespace graven::engine
