#include "graven/runtime/loop_step.h"

#include "graven/base/interrupt.h"
#include "graven/base/stack.h"
#include "graven/ir/same_input.h"
#include "graven/runtime/run_bodies.h"
#include "graven/runtime/run_op.h"

namespace graven::engine {
namespace {

// The number of iterations that an estimate assumes.
constexpr double kGuessedIterations = 100;
constexpr double kNanosecondsBetweenChecks = 1e5;

}  // namespace

Result<std::unique_ptr<LoopStep>> LoopStep::create(const Node& node, Ref<Body> condition,
                                                   Ref<Body> body) {
  std::vector<bool> changes;
  for (size_t i = 0; i < body->graph()->outputs().size(); ++i) {
    changes.push_back(!returns_input(*body->graph(), static_cast<int>(i)));
  }
  ASSIGN_OR_RETURN(PlannedBody planned_condition, PlannedBody::create(std::move(condition)));
  ASSIGN_OR_RETURN(PlannedBody planned_body, PlannedBody::create(std::move(body)));
  std::unique_ptr<LoopStep> step(new LoopStep(node, std::move(planned_condition),
                                              std::move(planned_body), std::move(changes)));
  step->cost = kGuessedIterations * (step->condition_.cost() + step->body_.cost());
  return step;
}

Status LoopStep::run(ProgramRun& run) const {
  Status status = Stack::check("a loop", body_.body().name());
  if (!status.ok()) return failed_at(*node, status);
  BodyInputs variables(*this, run, 0);
  for (size_t i = 0; i < changes_.size(); ++i) variables.given_up[i] &= changes_[i];
  status = repeat(variables.all(), variables.may_overwrite());
  if (!status.ok()) return failed_at(*node, with_op_name(node->op(), status));
  return put_all(run, *this, variables.all());
}

Status LoopStep::repeat(std::span<Tensor> values, std::span<bool> given_up) const {
  const InterruptCheck interrupt = interrupt_check();
  const double cost = condition_.cost() + body_.cost() + 100;
  double since_check = 0;
  Tensors made;
  for (;;) {
    RETURN_IF_ERROR(condition_.run(values, made));
    ASSIGN_OR_RETURN(const bool holds, condition_holds(made[0]));
    if (!holds) return {};
    RETURN_IF_ERROR(body_.run(values, given_up, made));
    for (size_t i = 0; i < values.size(); ++i) {
      if (!changes_[i]) continue;
      values[i] = std::move(made[i]);
      given_up[i] = true;
    }
    if (interrupt && (since_check += cost) > kNanosecondsBetweenChecks) {
      since_check = 0;
      RETURN_IF_ERROR(interrupt());
    }
  }
}

}  // namespace graven::engine
