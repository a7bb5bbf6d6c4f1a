#include "graven/runtime/loop_step.h"

#include <cstring>

#include "graven/base/interrupt.h"
#include "graven/base/stack.h"
#include "graven/ir/same_input.h"
#include "graven/runtime/run_bodies.h"
#include "graven/runtime/run_op.h"
#include "graven/runtime/scalar_bodies.h"

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
  step->find_scalar_loop();
  step->cost = kGuessedIterations * (step->condition_.cost() + step->body_.cost());
  return step;
}

void LoopStep::find_scalar_loop() {
  const Graph &condition = *condition_.body().graph(), &body = *body_.body().graph();
  for (size_t i = 0; i < changes_.size(); ++i) {
    if (changes_[i]) changed_.push_back(static_cast<int>(i));
  }
  const int only[] = {0};
  auto holds = scalar_body(condition, only);
  if (!holds || holds->expression.outputs()[0].dtype != DType::kBool) return;
  auto next = scalar_body(body, changed_);
  if (!next) return;
  scalar_ = ScalarLoop::compile(holds->expression, next->expression, changed_);
  condition_members_ = std::move(holds->members);
  body_members_ = std::move(next->members);
}

bool LoopStep::takes_scalars(std::span<const Tensor> values) const {
  for (size_t i = 0; i < values.size(); ++i) {
    // A scalar in the body is one in each run; but a body may be fed other shapes.
    const OutputType& type = body_.body().graph()->inputs()[i]->output(0);
    const bool is_scalar = type.shape.has_rank() && type.shape.rank() == 0;
    if (is_scalar && values[i].rank() != 0) return false;
  }
  return true;
}

Status LoopStep::repeat_scalars(std::span<Tensor> values) const {
  using Cell = ScalarLoop::Cell;
  InlineVector<Cell, 32> cells(scalar_->num_cells(), Cell{});
  for (size_t i = 0; i < values.size(); ++i) {
    const bool is_small = values[i].rank() == 0 && is_plain(values[i].dtype());
    if (is_small) std::memcpy(&cells[i], values[i].raw_data(), dtype_size(values[i].dtype()));
  }
  scalar_->prepare({cells.data(), cells.size()});
  const InterruptCheck interrupt = interrupt_check();
  constexpr int64_t kIterationsBetweenChecks = 10'000;
  const Trap* trap = nullptr;
  ScalarLoop::End end;
  bool is_first = true;
  do {
    if (interrupt && !is_first) RETURN_IF_ERROR(interrupt());
    is_first = false;
    end = scalar_->run({cells.data(), cells.size()}, kIterationsBetweenChecks, &trap);
  } while (end == ScalarLoop::End::kMoreToCome);
  if (end == ScalarLoop::End::kTrapped) return trapped_at(*trap);
  for (int i : changed_) {
    Tensor& value = values[static_cast<size_t>(i)];
    ASSIGN_OR_RETURN(Tensor made, Tensor::allocate(value.dtype(), Shape()));
    std::memcpy(made.mutable_raw_data(), &cells[static_cast<size_t>(i)], dtype_size(value.dtype()));
    value = std::move(made);
  }
  return {};
}

Status LoopStep::trapped_at(const Trap& trap) const {
  const std::span<const Trap> of_condition = scalar_->condition_traps();
  const bool is_in_condition = !of_condition.empty() && &trap >= of_condition.data() &&
                               &trap < of_condition.data() + of_condition.size();
  const Node& member = *(is_in_condition ? condition_members_ : body_members_)[trap.member];
  return failed_at(member, with_op_name(member.op(), trapped(trap)));
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
  if (scalar_ && takes_scalars(values)) return repeat_scalars(values);
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
