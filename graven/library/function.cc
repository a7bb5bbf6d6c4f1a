#include "graven/library/function.h"

#include <algorithm>

#include "graven/library/define_functions.h"

namespace graven::engine {
namespace {

bool take_prefix(std::string_view& text, std::string_view prefix) {
  const bool is_there = text.starts_with(prefix);
  if (is_there) text.remove_prefix(prefix.size());
  return is_there;
}
bool take_suffix(std::string_view& text, std::string_view suffix) {
  const bool is_there = text.ends_with(suffix);
  if (is_there) text.remove_suffix(suffix.size());
  return is_there;
}

}  // namespace

Results tuple(std::initializer_list<std::string_view> names) { return named_tuple({}, names); }

Results named_tuple(std::string_view type_name, std::initializer_list<std::string_view> names) {
  Results results{.type_name = std::string(type_name)};
  for (std::string_view name : names) {
    const bool is_list = name.ends_with("...");
    if (is_list) name.remove_suffix(3);
    results.parts.push_back({std::string(name), is_list});
  }
  return results;
}

ParameterValues::ParameterValues(const ParametersType& type) : type_(type) {
  data_ = type.size <= sizeof(inline_) ? inline_ : ::operator new(type.size);
  type.construct(data_);
}

ParameterValues::~ParameterValues() {
  type_.destroy(data_);
  if (data_ != inline_) ::operator delete(data_);
}

std::string_view PublicFunction::short_name() const {
  const size_t point = name().rfind('.');
  return std::string_view(name()).substr(point == std::string::npos ? 0 : point + 1);
}

void PublicFunction::find_types() {
  const auto fields = parameters().fields;
  for (const TypeConstraint& type : record_.types) {
    TypeParam param{.name = type.name};
    for (int d = 1; d < kNumDTypes; ++d) {
      if (type.allowed == DTypeSet{static_cast<DType>(d)}) param.only = static_cast<DType>(d);
    }
    type_params_.push_back(param);
  }
  for (const ParameterField& field : fields) {
    TensorType type;
    std::string_view name = field.type;
    type.is_mutual = take_prefix(name, "mutual ");
    type.is_like = take_prefix(name, "like ");
    type.is_each = take_prefix(name, "each ");
    type.is_common = take_prefix(name, "common ");
    type.is_sole = take_prefix(name, "sole ");
    type.is_own = take_prefix(name, "own ");
    type.may_be_none = take_suffix(name, " or None");
    if (const auto fixed = dtype_from_name(name)) {
      type.fixed = *fixed;
    } else if (!name.empty() && name != "any") {
      auto at = std::ranges::find(type_params_, name, &TypeParam::name);
      if (at == type_params_.end()) {
        at = type_params_.insert(at, {.name = name});
      }
      type.type_param = static_cast<int>(at - type_params_.begin());
    }
    tensor_types_.push_back(type);
  }
  for (TypeParam& param : type_params_) {
    const auto source = std::ranges::find(fields, param.name, &ParameterField::name);
    if (source != fields.end()) param.dtype_field = static_cast<int>(source - fields.begin());
  }
}

Status PublicFunction::check_dtypes(void* parameters) const {
  for (const TypeConstraint& type : record_.types) {
    for (const ParameterField& field : this->parameters().fields) {
      if (field.name != type.name || !field.ref) continue;
      const ParameterRef ref = field.ref(parameters);
      DType* const* dtype = std::get_if<DType*>(&ref);
      if (!dtype || **dtype == DType::kInvalid || type.allowed.contains(**dtype)) continue;
      std::vector<std::string_view> names;
      for (int d = 1; d < kNumDTypes; ++d) {
        const auto each = static_cast<DType>(d);
        if (type.allowed.contains(each)) names.push_back(dtype_name(each));
      }
      return value_error("Argument `", field.name, "` got invalid value ", dtype_name(**dtype),
                         ". Accepted dtypes are ", str_join(names, ", "));
    }
  }
  return {};
}

Result<Outputs> PublicFunction::call(FunctionContext& c, const void* parameters) const {
  Outputs outputs = record_.body(c, parameters);
  RETURN_IF_ERROR(c.status());
  const bool may_be_none = std::ranges::any_of(record_.results.parts, &Results::Part::may_be_none);
  for (const Tensor& tensor : outputs.tensors) {
    if (!tensor && !may_be_none) {
      return internal_error(name(), " gives no tensor and no error");
    }
  }
  return outputs;
}

FunctionRegistry& FunctionRegistry::global() {
  static auto* registry = [] {
    auto* all = new FunctionRegistry();
    define_functions(*all);
    return all;
  }();
  return *registry;
}

void FunctionRegistry::define(FunctionRecord record) {
  auto function = std::make_unique<PublicFunction>();
  std::string_view names = record.names;
  while (!names.empty()) {
    const size_t comma = std::min(names.find(", "), names.size());
    const std::string_view name = names.substr(0, comma);
    if (find(name)) errors_.push_back(str_cat(name, " is defined twice"));
    function->names_.emplace_back(name);
    names.remove_prefix(std::min(comma + 2, names.size()));
  }
  if (record.summary.empty() || function->names_.empty()) {
    errors_.push_back(str_cat("\"", record.names, "\" lacks a name or a summary"));
  }
  function->record_ = std::move(record);
  function->find_types();
  functions_.push_back(std::move(function));
}

const PublicFunction* FunctionRegistry::find(std::string_view name) const {
  for (const auto& function : functions_) {
    if (std::ranges::find(function->names_, name) != function->names_.end()) return function.get();
  }
  return nullptr;
}

}  // namespace graven::engine
