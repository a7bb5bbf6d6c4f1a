#include "graven/api/library_call.h"

#include <cassert>

#include "graven/api/variable.h"
#include "graven/ir/frame.h"
#include "graven/runtime/eager_builder.h"

namespace graven::internal {

const engine::PublicFunction& library_function(const char* name) {
  const engine::PublicFunction* function = engine::FunctionRegistry::global().find(name);
  assert(function);
  return *function;
}

LibraryCall::LibraryCall(const engine::PublicFunction& function,
                         const std::source_location& location)
    : function_(function),
      line_(location),
      location_(location),
      parameters_(function.parameters()) {}

void LibraryCall::set(size_t field, const std::vector<Tensor>& tensors) {
  engine::TensorList& list = member<engine::TensorList>(field);
  const bool may_be_none = function_.tensor_types()[field].may_be_none;
  for (const Tensor& tensor : tensors) {
    if (tensor.is_none() && !may_be_none) {
      throw_error(
          engine::value_error(function_.short_name(), ": a tensor of the list is no tensor (None)"),
          location_);
    }
    list.tensors.push_back(tensor);
  }
}

void LibraryCall::convert_operands() {
  throw_if_error(function_.check_dtypes(parameters_.get()), location_);
  const auto params = function_.type_params();
  engine::InlineVector<DType, 4> dtypes(params.size(), DType::kInvalid);
  for (size_t p = 0; p < params.size(); ++p) {
    dtypes[p] = params[p].only;
    if (params[p].dtype_field >= 0) {
      dtypes[p] = member<DType>(static_cast<size_t>(params[p].dtype_field));
    }
  }
  for (size_t i = 0; i < function_.parameters().fields.size(); ++i) {
    // Tensors in lists give the dtype of numbers beside them, too.
    const int param = function_.tensor_types()[i].type_param;
    const engine::ParameterField& field = function_.parameters().fields[i];
    if (param < 0 || !field.ref) continue;
    const engine::ParameterRef ref = field.ref(parameters_.get());
    auto* const* list = std::get_if<engine::TensorList*>(&ref);
    for (size_t k = 0; list && k < (*list)->tensors.size(); ++k) {
      const engine::Tensor& tensor = (*list)->tensors[k];
      DType& dtype = dtypes[static_cast<size_t>(param)];
      if (tensor && dtype == DType::kInvalid) dtype = tensor.dtype();
    }
  }
  for (const auto& [field, operand] : operands_) {
    const auto& type = function_.tensor_types()[field];
    const int param = type.type_param;
    if (param < 0 || type.is_like || type.is_each || operand->dtype() == DType::kInvalid) continue;
    DType& dtype = dtypes[static_cast<size_t>(param)];
    if (dtype == DType::kInvalid) dtype = operand->dtype();
  }
  for (const auto& [i, operand] : operands_) {
    const engine::ParameterField& field = function_.parameters().fields[i];
    const engine::PublicFunction::TensorType& type = function_.tensor_types()[i];
    const bool is_optional = field.role == engine::ParameterRole::kOptional || type.may_be_none;
    if (is_optional && operand->is_none()) continue;
    if (is_optional && operand->is_number() && !type.may_be_none &&
        engine::is_default(field.default_number, operand->number())) {
      continue;
    }
    if (operand->is_variable() &&
        std::holds_alternative<engine::TensorOrVariable*>(field.ref(parameters_.get()))) {
      Variable::of_handle(operand->handle()).tell_tapes();
      member<engine::TensorOrVariable>(i) = {.handle = operand->handle(),
                                             .dtype = operand->dtype()};
      continue;
    }
    const int param = type.type_param;
    Tensor tensor = operand->as_tensor(param < 0 ? type.fixed : dtypes[static_cast<size_t>(param)]);
    if (param >= 0 && dtypes[static_cast<size_t>(param)] == DType::kInvalid && !type.is_like &&
        !type.is_each) {
      dtypes[static_cast<size_t>(param)] = tensor.dtype();
    }
    if (std::holds_alternative<engine::TensorOrVariable*>(field.ref(parameters_.get()))) {
      member<engine::TensorOrVariable>(i).tensor = std::move(tensor);
    } else {
      member<engine::Tensor>(i) = std::move(tensor);
    }
  }
}

engine::Outputs LibraryCall::run() {
  LocationScope scope(location_);
  const std::string& scope_name = function_.record().scope;
  std::optional<engine::NameScope> name_scope;
  const bool is_graph = engine::Frame::current().is_graph();
  if (is_graph && !scope_name.empty()) name_scope.emplace(scope_name);
  convert_operands();
  const std::string name = name_scope ? engine::Frame::current().name_scope : std::string();
  engine::FunctionContext context(engine::current_builder(), engine::eager_builder(), name);
  return value_or_throw(function_.call(context, parameters_.get()), location_);
}

std::vector<Tensor> LibraryCall::list() {
  const engine::Tensors outputs = run().tensors;
  return std::vector<Tensor>(outputs.begin(), outputs.end());
}

}  // namespace graven::internal
