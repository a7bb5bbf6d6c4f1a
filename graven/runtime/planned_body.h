#pragma once
#include <span>
#include <utility>

#include "graven/base/ref.h"
#include "graven/base/status.h"
#include "graven/ir/body.h"
#include "graven/runtime/program.h"
#include "graven/runtime/run_body.h"
#include "graven/runtime/step.h"

namespace graven::engine {

// A body that a step runs by its Program, or node by node where that does not accept the shapes of
// a run.
class PlannedBody {
 public:
  static Result<PlannedBody> create(Ref<Body> body) {
    ASSIGN_OR_RETURN(Ref<Program> program, program_of(body));
    return PlannedBody(std::move(body), std::move(program));
  }
  // `values`, one for each input of the body, may be overwritten where given_up says so.
  Status run(std::span<Tensor> values, std::span<const bool> given_up, Tensors& outputs) const {
    return accepts(values) ? program_->run(values, given_up, outputs)
                           : run_body(body_, values, outputs);
  }
  // The same for values that stay as they are.
  Status run(std::span<const Tensor> values, Tensors& outputs) const {
    return accepts(values) ? program_->run(values, outputs) : run_body(body_, values, outputs);
  }
  // Whether the Program may run on these values.
  bool accepts(std::span<const Tensor> values) const {
    return accepts_shapes(*body_, values) && program_->accepts(values);
  }
  const Body& body() const { return *body_; }
  const Program& program() const { return *program_; }
  double cost() const { return program_->cost(); }
  bool may_block() const { return program_->may_block(); }

 private:
  PlannedBody(Ref<Body> body, Ref<Program> program)
      : body_(std::move(body)), program_(std::move(program)) {}
  Ref<Body> body_;
  Ref<Program> program_;
};

// The values of a step's inputs from `first` on, with handles of the run's own where the step reads
// them last: those may be overwritten.
struct BodyInputs {
  BodyInputs(const Step& step, ProgramRun& run, size_t first) {
    for (size_t i = first; i < step.inputs.size(); ++i) {
      Tensor* own = run.last_handle(step, i);
      given_up.push_back(own != nullptr);
      if (own) {
        values.push_back(std::move(*own));
      } else {
        values.push_back(run.input(step, i));
      }
    }
  }
  std::span<Tensor> all() { return {values.data(), values.size()}; }
  std::span<bool> may_overwrite() { return {given_up.data(), given_up.size()}; }
  InlineVector<Tensor, 6> values;
  InlineVector<bool, 8> given_up;
};

// Gives the outputs of a step these values.
inline Status put_all(ProgramRun& run, const Step& step, std::span<Tensor> values) {
  for (size_t i = 0; i < step.outputs.size(); ++i) {
    RETURN_IF_ERROR(run.put(step, i, std::move(values[i])));
  }
  return {};
}

}  // namespace graven::engine
