#include <algorithm>
#include <chrono>
#include <utility>

#include "graven/autodiff/gradient_pair.h"
#include "graven/base/heap_bytes.h"
#include "graven/base/strings.h"
#include "graven/function/check_sizes.h"
#include "graven/function/first_or_later.h"
#include "graven/function/function.h"
#include "graven/function/value_bytes.h"
#include "graven/ir/call_sizes.h"
#include "graven/ir/frame.h"
#include "graven/ir/out_of_scope.h"
#include "graven/runtime/eager_builder.h"
#include "graven/runtime/open_run.h"
#include "graven/runtime/program.h"
#include "graven/runtime/run_body.h"
#include "graven/runtime/run_op.h"
#include "graven/runtime/variable.h"
#include "graven/tensor/tensor_bytes.h"

namespace graven::engine {
namespace {

// Puts tensors in the place of a structure's leaves, in the order of collect_tensors.
void fill(Value& value, const Tensors& tensors, size_t& next) {
  if (value.kind == Value::Kind::kTensor) {
    value.tensor = tensors[next++];
    return;
  }
  for (size_t i = 0; i < value.items.size(); ++i) fill(value.item_in_order(i), tensors, next);
}

}  // namespace

Status Entry::set_captured_inputs(std::vector<Tensor> values) {
  if (values.size() != captured_.size()) {
    return value_error("The function captures ", captured_.size(), " tensors, got ", values.size());
  }
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i].dtype() == captured_[i].dtype()) continue;
    return value_error("Capture #", i, " of ", name(), " has dtype ",
                       dtype_name(captured_[i].dtype()), ", got ", dtype_name(values[i].dtype()));
  }
  return change_fed([&](std::vector<Fed>& fed) -> Status {
    for (size_t i = 0; i < values.size(); ++i) fed[i] = {std::move(values[i]), nullptr};
    return {};
  });
}

Status Entry::defer_capture(const Tensor& captured, const TensorType& type,
                            Ref<DeferredCapture> value) {
  return change_fed([&](std::vector<Fed>& fed) -> Status {
    auto at = std::find_if(fed.begin(), fed.end(),
                           [&](const Fed& one) { return one.tensor == captured; });
    if (at == fed.end()) return value_error("The function ", name(), " has no such capture");
    if (captured.dtype() != type.dtype() || !are_compatible(captured.shape(), type.shape())) {
      return value_error("The type of a deferred capture, ", type.repr(),
                         ", does not fit the captured tensor, ",
                         TensorType(captured.shape(), captured.dtype()).repr());
    }
    at->deferred = std::move(value);
    return {};
  });
}

Status Entry::change_fed(FunctionRef<Status(std::vector<Fed>& fed)> change) {
  std::vector<Fed> old;  // goes after the lock, as objects of the user's may go with it
  MutexLock lock(fed_mutex_);
  std::vector<Fed> changed = fed_;
  if (!captures_were_set_.load(std::memory_order_relaxed)) {
    for (const Tensor& captured : captured_) changed.push_back({captured, nullptr});
  }
  RETURN_IF_ERROR(change(changed));
  old = std::exchange(fed_, std::move(changed));
  captures_were_set_.store(true, std::memory_order_release);
  return {};
}

std::vector<Entry::Fed> Entry::fed() const {
  if (captures_were_set_.load(std::memory_order_acquire)) {
    MutexLock lock(fed_mutex_);
    return fed_;
  }
  std::vector<Fed> fed;
  for (const Tensor& captured : captured_) fed.push_back({captured, nullptr});
  return fed;
}

std::vector<Tensor> Entry::captured_inputs() const {
  std::vector<Tensor> tensors;
  for (Fed& fed : this->fed()) tensors.push_back(std::move(fed.tensor));
  return tensors;
}

Result<std::vector<Tensor>> Entry::current_captured_inputs() const {
  std::vector<Tensor> current;
  for (const Fed& fed : this->fed()) {
    current.push_back(fed.tensor);
    if (fed.deferred) {
      ASSIGN_OR_RETURN(current.back(), fed.deferred->value());
    }
  }
  return current;
}

Status Entry::run(std::span<const Tensor> arguments, Tensors& outputs, bool any_shapes) {
  const OpenRun open_run(has_open_sizes_ ? arguments : std::span<const Tensor>());
  Status status = run_unnamed(arguments, outputs, any_shapes);
  if (status.ok()) return status;
  if (auto* error = dynamic_cast<ExecutionError*>(status.payload().get())) {
    error->function = name();
    // Where an exact trace had said it while tracing.
    if (has_open_sizes_ && !any_shapes && status.code() == Code::kInvalidArgument) {
      Status sooner = check_sizes(*graph(), arguments);
      if (!sooner.ok()) return sooner.with_payload(status.payload());
    }
  }
  return status;
}

Status Entry::run_unnamed(std::span<const Tensor> arguments, Tensors& outputs, bool any_shapes) {
  bool may_be_first = false;
  if (initializing_ && !initialized_.load(std::memory_order_acquire)) {
    bool all = true;
    for (const Tensor& handle : created_handles_) {
      all &= static_cast<Variable*>(handle.resource().get())->is_initialized();
    }
    if (all) {
      initialized_.store(true, std::memory_order_release);
    } else if (!Frame::current().is_graph()) {
      return initializing_->run(arguments, outputs);
    } else {
      may_be_first = true;
    }
  }
  const bool captures_were_set = captures_were_set_.load(std::memory_order_acquire);
  std::span<const Tensor> inputs = arguments;
  InlineVector<Tensor, 24> with_captures;  // counting handles costs more than a small call's key
  if (!captured_.empty()) {
    with_captures.reserve(arguments.size() + captured_.size());
    for (const Tensor& argument : arguments) with_captures.push_back(argument);
    if (captures_were_set) {
      ASSIGN_OR_RETURN(auto current, current_captured_inputs());
      for (Tensor& tensor : current) with_captures.push_back(std::move(tensor));
    } else {
      for (const Tensor& captured : captured_) with_captures.push_back(captured);
    }
    inputs = with_captures;
  }

  Frame& frame = Frame::current();
  if (!frame.is_graph()) {
    for (const Tensor& input : inputs) {
      if (input.is_symbolic()) return type_error(out_of_scope_text(input, nullptr));
    }
    if (frame.listeners.empty()) {
      if (body_->effects().stateful && CallSizes::any()) note_eager_effect();
      if (any_shapes || captures_were_set) return run_body(body_, inputs, outputs);
      // Without a reference of its own, which threads that call at once would all count.
      const Program* program = program_.load(std::memory_order_acquire);
      if (!program) {
        ASSIGN_OR_RETURN(Ref<Program> made, program_of(body_));
        program_.store(made.get(), std::memory_order_release);
        program = made.get();
      }
      if (!program->accepts(inputs)) return run_body(body_, inputs, outputs);
      return program->run(inputs, outputs);
    }
  }
  if (may_be_first) {
    ASSIGN_OR_RETURN(outputs,
                     call_first_or_later(
                         name(), created_handles_,
                         [&](Tensors& made) { return initializing_->run(arguments, made); },
                         [&](Tensors& made) -> Status {
                           ASSIGN_OR_RETURN(made, apply_call(current_builder(), body_, inputs));
                           return {};
                         }));
    return {};
  }
  auto listeners = frame.listeners;
  for (Listener* listener : listeners) {
    for (const Tensor& input : inputs) {
      if (input.dtype() == DType::kResource) listener->on_variable(input);
    }
  }
  // Once one run was quick there is nothing to find out.
  bool is_measured =
      !frame.is_graph() && taped_nanoseconds_.load(std::memory_order_relaxed) > kLongNanoseconds &&
      std::ranges::any_of(listeners, [&](const Listener* tape) { return tape->wants(inputs); });
  if (!is_measured) {
    ASSIGN_OR_RETURN(outputs, apply_call(current_builder(), body_, inputs));
    return {};
  }
  auto start = std::chrono::steady_clock::now();
  ASSIGN_OR_RETURN(outputs, apply_call(current_builder(), body_, inputs));
  std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - start;
  if (took.count() < taped_nanoseconds_.load(std::memory_order_relaxed)) {
    taped_nanoseconds_.store(took.count(), std::memory_order_relaxed);
  }
  return {};
}

Status Entry::run_checked(std::span<const Tensor> arguments, Tensors& outputs) {
  if (static_cast<int>(arguments.size()) != num_arguments_) {
    return value_error("The function ", name(), " takes ", num_arguments_, " tensors, got ",
                       arguments.size());
  }
  for (int i = 0; i < num_arguments_; ++i) {
    DType expected = graph()->inputs()[i]->output(0).dtype, got = arguments[i].dtype();
    if (got != expected) {
      return invalid_argument("cannot compute ", name(), " as input #", i,
                              "(zero-based) was expected to be a ", dtype_op_def_name(expected),
                              " tensor but is a ", dtype_op_def_name(got), " tensor [Op:", name(),
                              "]");
    }
  }
  if (Frame::current().is_graph()) {
    for (int i = 0; i < num_arguments_; ++i) {
      const OutputType& expected = graph()->inputs()[i]->output(0);
      if (are_compatible(arguments[i].shape(), expected.shape)) continue;
      return type_error("The shape ", arguments[i].shape().to_text(), " of argument #", i, " of ",
                        name(),
                        " is not compatible with the shape this function was "
                        "traced with, ",
                        expected.shape.to_text());
    }
  }
  return run(arguments, outputs, /*any_shapes=*/true);
}

bool Entry::is_long() const {
  const Frame& frame = Frame::current();
  if (frame.is_graph()) return !frame.listeners.empty();
  // A run under a tape uses other Programs, whose cost is not known before: it was measured.
  if (!frame.listeners.empty()) {
    return body_->effects().may_block ||
           taped_nanoseconds_.load(std::memory_order_relaxed) > kLongNanoseconds;
  }
  const Program* program = program_.load(std::memory_order_acquire);
  return !program || program->cost() > kLongNanoseconds || program->may_block();
}

Ref<Program> Entry::program_if_made() const {
  return Ref<Program>(program_.load(std::memory_order_acquire));
}

Value Entry::pack(const Tensors& outputs) const {
  Value value = outputs_;
  size_t next = 0;
  fill(value, outputs, next);
  return value;
}

std::string Entry::signature_text(bool verbose) const {
  if (!verbose) return type_.signature();
  std::string text = "Input Parameters:\n";
  for (const Parameter& parameter : type_.parameters) {
    text += str_cat("  ", parameter.name, " (", parameter_kind_name(parameter.kind),
                    "): ", parameter.type->repr(), "\n");
  }
  text += str_cat("Output Type:\n  ", type_.output ? type_.output->repr() : "None", "\nCaptures:");
  if (type_.captures.empty()) text += "\n  None";
  for (const auto& [key, type] : type_.captures) text += str_cat("\n  ", key, ": ", type->repr());
  return text;
}

int64_t Entry::bytes() const {
  ByteCount count;
  int64_t total = bytes_of_object<Entry>() + heap_bytes_of(type_, count) + heap_bytes(captures_) +
                  heap_bytes(captured_) + heap_bytes(created_handles_) +
                  heap_bytes_of(outputs_, count) + heap_bytes_of(account_.miss) + body_->bytes() +
                  captured_bytes() + (watches_ ? watches_->bytes() : 0);
  for (const GraphBuilder::Capture& capture : captures_) {
    if (count.is_first(capture.internal.get())) total += bytes_of_object<SymbolicTensor>();
  }
  MutexLock lock(fed_mutex_);
  return total + heap_bytes(fed_);
}

int64_t Entry::captured_bytes() const {
  ByteCount count;
  int64_t total = 0;
  auto add = [&](const Tensor& captured) {
    if (captured.dtype() != DType::kResource) total += bytes_of_tensor(captured, count);
  };
  for (const Tensor& captured : captured_) add(captured);
  MutexLock lock(fed_mutex_);
  for (const Fed& fed : fed_) add(fed.tensor);
  return total;
}

bool Entry::is_held(std::span<const Entry* const> announced) const {
  return !is_unique() || !body_->is_unique() || std::ranges::binary_search(announced, this) ||
         is_needed_to_initialize();
}

bool Entry::is_needed_to_initialize() const {
  if (!may_initialize_.load(std::memory_order_acquire) || initialized_.load()) return false;
  return std::ranges::any_of(created_handles_, [](const Tensor& handle) {
    return !static_cast<Variable*>(handle.resource().get())->is_initialized();
  });
}

}  // namespace graven::engine
