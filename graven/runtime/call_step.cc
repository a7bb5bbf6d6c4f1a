#include "graven/runtime/call_step.h"

#include "graven/base/stack.h"
#include "graven/runtime/run_body.h"

namespace graven::engine {

Status CallStep::run(ProgramRun& run) const {
  if (Status fits = Stack::check("a call", body_->name()); !fits.ok()) {
    return failed_at(*node, fits);
  }
  InlineVector<Tensor, 6> values;
  InlineVector<bool, 8> given_up;
  for (size_t i = 0; i < inputs.size(); ++i) {
    Tensor* own = run.last_handle(*this, i);
    given_up.push_back(own != nullptr);
    values.push_back(own ? std::move(*own) : run.input(*this, i));
  }
  Tensors made;
  const bool is_accepted = accepts_shapes(*body_, values) && program_->accepts(values);
  Status status = is_accepted ? program_->run({values.data(), values.size()},
                                              {given_up.data(), given_up.size()}, made)
                              : run_body(body_, values, made);
  if (!status.ok()) return failed_at(*node, status);
  for (size_t i = 0; i < outputs.size(); ++i) {
    RETURN_IF_ERROR(run.put(*this, i, std::move(made[i])));
  }
  return {};
}

}  // namespace graven::engine
