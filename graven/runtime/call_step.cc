#include "graven/runtime/call_step.h"

#include "graven/base/stack.h"

namespace graven::engine {

Status CallStep::run(ProgramRun& run) const {
  if (Status fits = Stack::check("a call", body_.body().name()); !fits.ok()) {
    return failed_at(*node, fits);
  }
  BodyInputs inputs_of_body(*this, run, 0);
  Tensors made;
  const Status status = body_.run(inputs_of_body.all(), inputs_of_body.may_overwrite(), made);
  if (!status.ok()) return failed_at(*node, status);
  return put_all(run, *this, {made.data(), made.size()});
}

}  // namespace graven::engine
