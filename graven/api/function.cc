#include "graven/api/function.h"

#include <algorithm>
#include <cstdio>

#include "graven/base/strings.h"

namespace graven {
namespace {

engine::FunctionOptions engine_options(const FunctionOptions& options) {
  engine::FunctionOptions made;
  made.name = options.name;
  made.qualified_name = options.name;
  made.locations = &internal::cpp_locations();
  made.reduce_retracing = options.reduce_retracing;
  made.budget = {options.max_traces, options.max_bytes};
  made.literals_equal_as_numbers = false;
  return made;
}

}  // namespace

FunctionBase::FunctionBase(FunctionOptions options, size_t num_parameters,
                           std::unique_ptr<engine::Tracer> tracer, CaptureList captures,
                           const std::source_location& location)
    : function_(engine::make_ref<engine::Function>(engine_options(options), std::move(tracer))),
      told_(std::make_shared<const CaptureList>(std::move(captures))) {
  for (const auto& [name, given] :
       {std::pair("max_traces", options.max_traces), std::pair("max_bytes", options.max_bytes)}) {
    if (given && *given <= 0) {
      throw_error(engine::value_error(name, " must be positive, not ", *given), location);
    }
  }
  const auto& signature = options.input_signature;
  if (signature && signature->size() != num_parameters) {
    throw_error(engine::type_error("The input_signature has ", signature->size(),
                                   " types for a function of ", num_parameters, " parameters"),
                location);
  }
  if (!options.parameters.empty() && options.parameters.size() != num_parameters) {
    throw_error(engine::value_error("There are ", options.parameters.size(), " names for ",
                                    num_parameters, " parameters"),
                location);
  }
  engine::FunctionType type;
  for (size_t i = 0; i < num_parameters; ++i) {
    std::string name = options.parameters.empty() ? engine::str_cat("x", i) : options.parameters[i];
    type.parameters.push_back({std::move(name), engine::ParameterKind::kPositionalOnly, false,
                               signature ? (*signature)[i].type() : nullptr});
  }
  type_ = std::make_shared<const engine::FunctionType>(std::move(type));
}

FunctionBase::FunctionBase(engine::Ref<engine::Function> function)
    : function_(std::move(function)),
      type_(std::make_shared<const engine::FunctionType>()),
      told_(std::make_shared<const CaptureList>()) {}

void FunctionBase::throw_foreign() const {
  throw_error(engine::unimplemented(name(),
                                    " is a function of another language: ask it there for "
                                    "a concrete function"),
              {});
}

void FunctionBase::check_arguments(std::span<const engine::Value> arguments,
                                   const std::source_location& location) const {
  engine::TypingContext context{false, {}};
  for (size_t i = 0; i < arguments.size(); ++i) {
    const engine::Parameter& parameter = type_->parameters[i];
    if (!parameter.type) continue;
    auto type = value_or_throw(engine::type_of(arguments[i], context), location);
    if (type->is_subtype_of(*parameter.type)) continue;
    throw_error(engine::type_error("Binding inputs to tf.function failed due to `Can not cast ",
                                   type->repr(), " to ", parameter.type->repr(), "`. Parameter ",
                                   parameter.name, " of signature: ", type_->signature(),
                                   ". See docs/errors/binding-inputs.md"),
                location);
  }
}

Explanation FunctionBase::explain_call(std::span<const engine::Value> arguments,
                                       const KeyWriter& key) const {
  check_arguments(arguments, {});
  Explanation explanation = explain();
  explanation.functions.front().call =
      value_or_throw(function_->explain_call(*type_, arguments, engine::CallRow::of(key)), {});
  return explanation;
}

engine::Ref<engine::Entry> FunctionBase::resolve(std::span<const engine::Value> arguments,
                                                 engine::Function::Purpose purpose,
                                                 const KeyWriter& key,
                                                 const std::source_location& location,
                                                 NewTrace& new_trace) const {
  check_arguments(arguments, location);
  auto resolved = function_->resolve(*type_, arguments, purpose, engine::CallRow::of(key));
  engine::Function::Resolved found = value_or_throw(std::move(resolved), location);
  if (found.has_traced) new_trace.entry_ = found.entry;
  return std::move(found.entry);
}

bool CaptureList::covers(const engine::Tensor& captured) const {
  // Handles of a variable are compared by the variable that they hold.
  auto is_same = [&](const engine::Tensor& other) {
    if (other == captured) return true;
    bool are_handles = captured.dtype() == DType::kResource && other.dtype() == captured.dtype() &&
                       !captured.is_symbolic() && !other.is_symbolic();
    return are_handles && captured.resource() == other.resource();
  };
  if (std::ranges::any_of(tensors_, is_same)) return true;
  return std::ranges::any_of(functions_, [&](const engine::Ref<engine::Function>& function) {
    return std::ranges::any_of(function->entries(), [&](const engine::Ref<engine::Entry>& entry) {
      return std::ranges::any_of(entry->captured_inputs(), is_same);
    });
  });
}

std::vector<Tensor> FunctionBase::untold_captures() const {
  std::vector<Tensor> untold;
  for (const auto& entry : function_->entries()) {
    for (const engine::Tensor& captured : entry->captured_inputs()) {
      bool is_listed = std::ranges::any_of(
          untold, [&](const Tensor& other) { return other.object() == captured.object(); });
      if (!is_listed && !told_->covers(captured)) untold.push_back(Tensor(captured));
    }
  }
  return untold;
}

void FunctionBase::NewTrace::settle() {
  if (auto report = function_.settle(std::move(entry_))) {
    std::fprintf(stderr, "graven: %s\n", report->c_str());
  }
}

std::string FunctionBase::pretty_printed_concrete_signatures(bool verbose) const {
  std::string text;
  for (const auto& entry : function_->entries()) {
    if (!text.empty()) text += verbose ? "\n\n" : "\n";
    text += entry->signature_text(verbose);
  }
  return text;
}

}  // namespace graven
