#include "graven/runtime/loop_step.h"

#include <algorithm>
#include <cstring>

#include "graven/base/interrupt.h"
#include "graven/base/stack.h"
#include "graven/ir/same_input.h"
#include "graven/runtime/part_of_body.h"
#include "graven/runtime/run_bodies.h"
#include "graven/runtime/run_op.h"
#include "graven/runtime/scalar_bodies.h"

namespace graven::engine {
namespace {

// The number of iterations that an estimate assumes.
constexpr double kGuessedIterations = 100;
constexpr double kNanosecondsBetweenChecks = 1e5;

// The variables that a body does not just return.
std::vector<int> changed_by(const Graph& body) {
  std::vector<int> changed;
  for (size_t i = 0; i < body.outputs().size(); ++i) {
    if (!returns_input(body, static_cast<int>(i))) changed.push_back(static_cast<int>(i));
  }
  return changed;
}

// The body that gives these of its outputs only: one that it just returned would be a new object in
// each iteration.
Ref<Body> giving(const Ref<Body>& body, std::span<const int> outputs) {
  const auto all = body->graph()->outputs();
  if (outputs.size() == all.size()) return body;
  std::vector<OutputRef> some;
  for (int i : outputs) some.push_back(all[static_cast<size_t>(i)]);
  return part_of_body(*body, some, std::vector<bool>(body->graph()->inputs().size(), true),
                      /*with_effects=*/true);
}

}  // namespace

Result<std::unique_ptr<LoopStep>> LoopStep::create(const Node& node, Ref<Body> condition,
                                                   Ref<Body> body) {
  ASSIGN_OR_RETURN(auto recompute, Recompute::create(*body));
  Ref<Body> rest = recompute ? recompute->rest() : body;
  std::optional<Scalars> scalars;
  if (!recompute) scalars = scalar_loop(*condition->graph(), *body->graph());
  std::optional<LoopCounters> counters;
  if (!scalars) counters = LoopCounters::create(*condition, *rest, changed_by(*rest->graph()));
  if (counters) rest = counters->rest();
  std::vector<int> changed = changed_by(*rest->graph());
  ASSIGN_OR_RETURN(PlannedBody planned_condition, PlannedBody::create(std::move(condition)));
  ASSIGN_OR_RETURN(PlannedBody planned_body, PlannedBody::create(giving(rest, changed)));
  std::unique_ptr<LoopStep> step(new LoopStep(node, std::move(planned_condition),
                                              std::move(planned_body), std::move(body),
                                              std::move(changed)));
  step->scalars_ = std::move(scalars);
  step->counters_ = std::move(counters);
  step->recompute_ = std::move(recompute);
  step->cost = kGuessedIterations * step->cost_of_iteration();
  return step;
}

std::optional<LoopStep::Scalars> LoopStep::scalar_loop(const Graph& condition, const Graph& body) {
  const int only[] = {0};
  auto holds = scalar_body(condition, only);
  if (!holds || holds->expression.outputs()[0].dtype != DType::kBool) return std::nullopt;
  const std::vector<int> changed = changed_by(body);
  auto next = scalar_body(body, changed);
  if (!next) return std::nullopt;
  auto loop = ScalarLoop::compile(holds->expression, next->expression, changed);
  if (!loop) return std::nullopt;
  return Scalars{std::move(*loop), std::move(holds->members), std::move(next->members)};
}

bool LoopStep::takes_scalars(std::span<const Tensor> values) const {
  for (size_t i = 0; i < values.size(); ++i) {
    // A scalar in the body is one in each run; but a body may be fed other shapes.
    const OutputType& type = body_.planned().body().graph()->inputs()[i]->output(0);
    const bool is_scalar = type.shape.has_rank() && type.shape.rank() == 0;
    if (is_scalar && values[i].rank() != 0) return false;
  }
  return true;
}

Status LoopStep::repeat_scalars(std::span<Tensor> values) const {
  using Cell = ScalarLoop::Cell;
  InlineVector<Cell, 32> cells(scalars_->loop.num_cells(), Cell{});
  for (size_t i = 0; i < values.size(); ++i) {
    const bool is_small = values[i].rank() == 0 && is_plain(values[i].dtype());
    if (is_small) std::memcpy(&cells[i], values[i].raw_data(), dtype_size(values[i].dtype()));
  }
  scalars_->loop.prepare({cells.data(), cells.size()});
  const InterruptCheck interrupt = interrupt_check();
  constexpr int64_t kIterationsBetweenChecks = 10'000;
  const Trap* trap = nullptr;
  ScalarLoop::End end;
  bool is_first = true;
  do {
    if (interrupt && !is_first) RETURN_IF_ERROR(interrupt());
    is_first = false;
    end = scalars_->loop.run({cells.data(), cells.size()}, kIterationsBetweenChecks, &trap);
  } while (end == ScalarLoop::End::kMoreToCome);
  if (end == ScalarLoop::End::kTrapped) return trapped_at(*trap);
  for (int i : body_.changed()) {
    Tensor& value = values[static_cast<size_t>(i)];
    ASSIGN_OR_RETURN(Tensor made, Tensor::allocate(value.dtype(), Shape()));
    std::memcpy(made.mutable_raw_data(), &cells[static_cast<size_t>(i)], dtype_size(value.dtype()));
    value = std::move(made);
  }
  return {};
}

Status LoopStep::trapped_at(const Trap& trap) const {
  const std::span<const Trap> of_condition = scalars_->loop.condition_traps();
  const bool is_in_condition = !of_condition.empty() && &trap >= of_condition.data() &&
                               &trap < of_condition.data() + of_condition.size();
  const Node& member =
      *(is_in_condition ? scalars_->condition_members : scalars_->body_members)[trap.member];
  return failed_at(member, with_op_name(member.op(), trapped(trap)));
}

Status LoopStep::run(ProgramRun& run) const {
  Status status = Stack::check("a loop", body_.planned().body().name());
  if (!status.ok()) return failed_at(*node, status);
  BodyInputs variables(*this, run, 0);
  InlineVector<bool, 8> is_changed(variables.values.size(), false);
  for (int i : body_.changed()) is_changed[static_cast<size_t>(i)] = true;
  for (size_t i = 0; i < is_changed.size(); ++i) variables.given_up[i] &= is_changed[i];
  status = repeat(variables.all(), variables.may_overwrite());
  if (!status.ok()) return failed_at(*node, with_op_name(node->op(), status));
  return put_all(run, *this, variables.all());
}

// For values that the rest was not made for.
Status LoopStep::repeat_whole_body(std::span<Tensor> values) const {
  const InterruptCheck interrupt = interrupt_check();
  Tensors made;
  for (;;) {
    RETURN_IF_ERROR(condition_.planned().run(std::span<const Tensor>(values), made));
    ASSIGN_OR_RETURN(const bool holds, condition_holds(made[0]));
    if (!holds) return {};
    RETURN_IF_ERROR(run_body(whole_body_, values, made));
    std::ranges::move(made, values.begin());
    if (interrupt) RETURN_IF_ERROR(interrupt());
  }
}

Status LoopStep::repeat(std::span<Tensor> values, std::span<bool> given_up) const {
  if ((scalars_ || counters_) && !takes_scalars(values)) return repeat_whole_body(values);
  if (scalars_) return repeat_scalars(values);
  const InterruptCheck interrupt = interrupt_check();
  const double cost = cost_of_iteration() + 100;
  double since_check = 0;
  std::optional<LoopCounters::Run> counters;
  if (counters_) counters.emplace(*counters_, values);
  std::optional<Recompute::Run> recompute;
  if (recompute_) {
    ASSIGN_OR_RETURN(Recompute::Run run, Recompute::Run::start(*recompute_, values));
    recompute = std::move(run);
  }
  Tensors made;
  SpareMemory spare;
  RepeatedRun condition(condition_, values, {});
  std::optional<RepeatedRun> body;  // of a loop that iterates
  for (;;) {
    bool holds = false;
    if (counters) {
      holds = counters->begin_iteration(values);
    } else {
      RETURN_IF_ERROR(condition.next(made));
      ASSIGN_OR_RETURN(holds, condition_holds(made[0]));
      condition.recycle(0, made[0]);
    }
    if (!holds) break;
    if (recompute) recompute->before_iteration(values);
    if (!body) body.emplace(body_, values, given_up);
    RETURN_IF_ERROR(body->next(made));
    for (size_t c = 0; c < body_.changed().size(); ++c) {
      const auto i = static_cast<size_t>(body_.changed()[c]);
      body->recycle(c, values[i]);
      values[i] = std::move(made[c]);
      given_up[i] = true;
    }
    // What is kept for computing again may be a variable that the rest does not read.
    if (counters) {
      RETURN_IF_ERROR(recompute ? counters->finish(values) : counters->end_iteration(values));
    }
    spare.end_iteration();
    if (interrupt && (since_check += cost) > kNanosecondsBetweenChecks) {
      since_check = 0;
      RETURN_IF_ERROR(interrupt());
    }
  }
  if (counters) RETURN_IF_ERROR(counters->finish(values));
  return recompute ? recompute->finish(values) : Status();
}

}  // namespace graven::engine
