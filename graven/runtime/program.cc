#include "graven/runtime/program.h"

#include <algorithm>
#include <atomic>

#include "graven/base/denormals.h"
#include "graven/base/heap_bytes.h"
#include "graven/base/interrupt.h"
#include "graven/base/stack.h"
#include "graven/base/strings.h"
#include "graven/base/waiting_lock.h"
#include "graven/ir/bodies.h"
#include "graven/ir/host_function.h"
#include "graven/runtime/host_execution_error.h"
#include "graven/runtime/run_body.h"
#include "graven/runtime/run_op.h"
#include "graven/tensor/device_queues.h"
#include "graven/tensor/tensor_bytes.h"

namespace graven::engine {
namespace {

std::atomic<ProgramMaker> g_maker{nullptr};
constexpr double kNanosecondsBetweenChecks = 1e5;

}  // namespace

Status failed_at(const std::string& node, const Ref<Location>& location, const Status& status) {
  const auto* host = dynamic_cast<const HostError*>(status.payload().get());
  if (status.payload() && !host) return status;
  auto where = host ? Ref<ExecutionError>(make_ref<HostExecutionError>(host->cause()))
                    : make_ref<ExecutionError>();
  where->node_name = node;
  where->location = location;
  return status.with_payload(where);
}

Status failed_at(const Node& node, const Status& status) {
  return failed_at(node.name(), node.location(), status);
}

void set_program_maker(ProgramMaker make) { g_maker = make; }

Result<Ref<Program>> program_of(const Ref<Body>& body) {
  return body->get_or_make<Program>(Body::kProgram, [&]() -> Result<Ref<Program>> {
    RETURN_IF_ERROR(Stack::check("the optimisation", body->name()));
    if (holds_itself(*body)) {
      return Status(Code::kUnimplemented,
                    str_cat("The function ", body->name(), " calls itself, and cannot be run"),
                    ErrorKind::kRecursionError);
    }
    Ref<Graph> graph = body->graph()->clone();
    const ProgramMaker make = g_maker.load();
    return make ? make(*body, std::move(graph)) : plan_program(std::move(graph));
  });
}

Status ProgramRun::put(const Step& step, size_t i, Tensor tensor) {
  const Step::Output& output = step.outputs[i];
  if (output.is_promised && !is_subshape(tensor.shape(), output.shape)) {
    return failed_at(
        *step.node,
        with_op_name(step.node->op(), invalid_argument("the result was declared to have shape ",
                                                       output.shape.to_message(), ", but has ",
                                                       tensor.shape().to_message())));
  }
  if (output.slot < 0) {
    SpareMemory::keep(tensor);
  } else {
    made_[static_cast<size_t>(output.slot - first_made_)] = std::move(tensor);
  }
  return {};
}

bool Program::accepts(std::span<const Tensor> inputs) const {
  return std::ranges::all_of(checked_inputs_, [&](const auto& checked) {
    return is_subshape(inputs[checked.first].shape(), checked.second);
  });
}

Status Program::check_inputs(std::span<const Tensor> inputs) const {
  if (static_cast<int>(inputs.size()) != num_inputs_) {
    return internal_error("A program of ", num_inputs_, " inputs was given ", inputs.size());
  }
  for (const auto& [input, shape] : checked_inputs_) {
    if (is_subshape(inputs[input].shape(), shape)) continue;
    const Node& node = *graph_->inputs()[input];
    return failed_at(node, invalid_argument("'", node.name(), "' was declared to have shape ",
                                            shape.to_message(), ", but is fed a tensor of ",
                                            inputs[input].shape().to_message()));
  }
  return {};
}

Status Program::run(std::span<const Tensor> inputs, Tensors& outputs,
                    bool may_hand_out_inputs) const {
  RETURN_IF_ERROR(check_inputs(inputs));
  if (has_other_devices()) {
    std::vector<Tensor> on_host;
    for (const Tensor& input : inputs) {
      ASSIGN_OR_RETURN(Tensor there, on_device(input, Device::host()));
      on_host.push_back(std::move(there));
    }
    return run(ProgramRun(on_host, {}, {}, constants_, num_slots_), outputs, may_hand_out_inputs);
  }
  return run(ProgramRun(inputs, {}, {}, constants_, num_slots_), outputs, may_hand_out_inputs);
}

Status Program::run(std::span<Tensor> inputs, std::span<const bool> given_up,
                    Tensors& outputs) const {
  RETURN_IF_ERROR(check_inputs(inputs));
  if (has_other_devices()) {
    for (Tensor& input : inputs) {
      ASSIGN_OR_RETURN(input, on_device(input, Device::host()));
    }
  }
  return run(ProgramRun(inputs, inputs, given_up, constants_, num_slots_), outputs, false);
}

Status Program::run(ProgramRun run, Tensors& outputs, bool may_hand_out_inputs) const {
  FlushDenormals flush;
  LetOthersRun others(cost_ > kLongNanoseconds || may_block_);
  RETURN_IF_ERROR(run_steps(run));
  collect(run, outputs, may_hand_out_inputs);
  return {};
}

Status Program::run_steps(ProgramRun& run) const {
  InterruptCheck interrupt = cost_ > kNanosecondsBetweenChecks ? interrupt_check() : nullptr;
  double since_check = 0;
  for (const auto& step : steps_) {
    RETURN_IF_ERROR(step->run(run));
    for (int slot : step->frees) run.release(slot);
    if (interrupt && (since_check += step->cost) > kNanosecondsBetweenChecks) {
      since_check = 0;
      RETURN_IF_ERROR(interrupt());
    }
  }
  return {};
}

void Program::collect(ProgramRun& run, Tensors& outputs, bool may_hand_out_inputs) const {
  outputs.clear();
  outputs.reserve(outputs_.size());
  for (int slot : outputs_) {
    if (may_hand_out_inputs && slot < num_inputs_) {
      outputs.push_back(run.value(slot));
      continue;
    }
    Tensor* made = run.made(slot);
    if (made && *made && made->object()->is_unique()) {
      outputs.push_back(std::move(*made));
      continue;
    }
    // An output that is an input, or is returned twice, becomes an object of its own.
    const bool is_given_away = made && !*made;
    const Tensor& tensor =
        is_given_away
            ? outputs[static_cast<size_t>(std::ranges::find(outputs_, slot) - outputs_.begin())]
            : run.value(slot);
    outputs.push_back(tensor.with_shape(tensor.shape()));
  }
}

int64_t Program::bytes() const {
  ByteCount count;
  int64_t total = bytes_of_object<Program>() + graph_->bytes() + heap_bytes(steps_) +
                  heap_bytes(constants_) + heap_bytes(outputs_) + heap_bytes(checked_inputs_) +
                  heap_bytes(is_kept_);
  for (const Tensor& constant : constants_) total += bytes_of_tensor(constant, count);
  for (const auto& step : steps_) {
    total += heap_bytes(step->inputs) + heap_bytes(step->outputs) + heap_bytes(step->frees) +
             heap_bytes(step->waits_for) + step->bytes();
  }
  return total;
}

std::string Program::to_text(bool with_costs) const {
  std::string out;
  for (size_t s = 0; s < steps_.size(); ++s) {
    const Step& step = *steps_[s];
    out += str_cat("step ", s, ": ", step.text());
    for (int slot : step.inputs) out += str_cat(" %", slot);
    out += " ->";
    for (const Step::Output& output : step.outputs) {
      out += output.slot < 0 ? std::string(" _") : str_cat(" %", output.slot);
    }
    if (!step.waits_for.empty()) {
      out += ", waits for";
      for (int other : step.waits_for) out += str_cat(" ", other);
    }
    if (with_costs) out += str_cat(", ", static_cast<int64_t>(step.cost), " ns");
    out += "\n";
  }
  out += "return";
  for (int slot : outputs_) out += str_cat(" %", slot);
  if (with_costs) out += str_cat(", ", static_cast<int64_t>(cost_), " ns in all");
  return out + "\n";
}

}  // namespace graven::engine
