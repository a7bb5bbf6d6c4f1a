#include "graven/runtime/repeated_run.h"

#include "graven/runtime/placement.h"
#include "graven/runtime/program.h"

namespace graven::engine {
namespace {

// The output of a step that a slot holds.
const Step::Output* output_in(const Program& program, int slot) {
  for (const auto& step : program.steps()) {
    for (const Step::Output& output : step->outputs) {
      if (output.slot == slot) return &output;
    }
  }
  return nullptr;
}

}  // namespace

RepeatedBody::RepeatedBody(PlannedBody planned, std::vector<int> changed)
    : planned_(std::move(planned)), changed_(std::move(changed)) {
  const Program& program = planned_.program();
  is_kept_ = program.is_kept_;
  for (size_t i = 0; i < program.outputs_.size(); ++i) {
    const int slot = program.outputs_[i];
    const bool is_kept = program.is_kept_[static_cast<size_t>(slot)] != 0;
    written_.push_back(is_kept ? output_in(program, slot) : nullptr);
    if (i >= changed_.size()) continue;
    const auto input = static_cast<size_t>(changed_[i]);
    const OutputType& type = program.graph_->inputs()[input]->output(0);
    const bool is_same =
        is_kept && type.dtype == written_.back()->dtype && type.shape == written_.back()->shape;
    if (is_same) {
      is_kept_[input] = 1;
    } else {
      may_change_shapes_ = true;
    }
  }
}

RepeatedBody::RepeatedBody(PlannedBody condition, const RepeatedBody& body)
    : RepeatedBody(std::move(condition), std::vector<int>()) {
  may_change_shapes_ = body.may_change_shapes_;
}

RepeatedRun::RepeatedRun(const RepeatedBody& body, std::span<Tensor> values,
                         std::span<const bool> given_up)
    : body_(body),
      program_(body.planned_.program()),
      values_(values),
      given_up_(given_up),
      constants_(program_.constants_),
      run_(values, values, given_up, constants_, program_.num_slots_) {
  for (Tensor& value : values) handles_.push_back(&value);
  for (Tensor& constant : constants_) handles_.push_back(&constant);
  for (Tensor& made : run_.made_) handles_.push_back(&made);
  run_.lent_ = &lent_;
  run_.handles_ = handles_.data();
  run_.kept_ = body.is_kept_.data();
}

RepeatedRun::~RepeatedRun() {
  for (Tensor& made : run_.made_) SpareMemory::keep(made);
}

Status RepeatedRun::next(Tensors& outputs) {
  is_accepted_ = accepts_values();
  if (!is_accepted_) return body_.planned_.run(values_, given_up_, outputs);
  RETURN_IF_ERROR(program_.run_steps(run_));
  program_.collect(run_, outputs, /*may_hand_out_inputs=*/false);
  for (int slot : program_.outputs_) {
    if (Tensor* made = run_.made(slot)) SpareMemory::keep(*made);
  }
  return {};
}

bool RepeatedRun::accepts_values() {
  if (is_accepted_ && !body_.may_change_shapes_) return true;
  return !has_other_devices() && body_.planned_.accepts(values_);
}

void RepeatedRun::recycle(size_t i, Tensor& tensor) {
  const Step::Output* written = body_.written_[i];
  if (written && tensor && tensor.dtype() == written->dtype && tensor.shape() == written->shape) {
    Tensor& kept = run_.handle(written->slot);
    if (!kept) kept = ProgramRun::take_if_free(tensor);
  }
  SpareMemory::keep(tensor);
}

}  // namespace graven::engine
