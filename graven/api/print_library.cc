#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <variant>

#include "graven/api/print_text.h"
#include "graven/base/strings.h"
#include "graven/library/function.h"

namespace graven::engine {
namespace {

// The type of a parameter, and its default.
struct Declared {
  std::string type, value = {};
};

struct Declare {
  const ParameterField& field;

  Declared operator()(const Tensor*) const {
    const bool may_be_none = field.type.ends_with(" or None");
    const char* const type = may_be_none ? "const MaybeOperand&" : "const Operand&";
    if (const auto* number = std::get_if<int64_t>(&field.default_number)) {
      return {type, str_cat(*number)};
    }
    if (const auto* number = std::get_if<double>(&field.default_number)) {
      return {type, shortest(*number)};
    }
    const bool is_required = field.role == ParameterRole::kRequired;
    if (is_required && !may_be_none) return {"const Operand&"};
    if (is_required) return {"const MaybeOperand&"};
    return {"const MaybeOperand&", "{}"};
  }
  Declared operator()(const TensorOrVariable*) const { return {"const Operand&"}; }
  Declared operator()(const TensorList*) const { return {"const std::vector<Tensor>&", "{}"}; }
  Declared operator()(const Axes*) const { return {"const Axes&", "{}"}; }
  Declared operator()(const Sizes* v) const {
    if (v->numbers && v->numbers->empty()) return {"const Sizes&", "std::vector<int64_t>()"};
    return {"const Sizes&", "std::nullopt"};
  }
  Declared operator()(const OpenSizes*) const { return {"const OpenSizes&", "{}"}; }
  Declared operator()(const AxisPairs* v) const {
    return {"const AxisPairs&", str_cat(v->count.value_or(0))};
  }
  Declared operator()(const Number* v) const {
    return {"const Number&", shortest(v->number.value_or(0))};
  }
  Declared operator()(const NumberOrText* v) const {
    const auto* text = std::get_if<std::string>(v);
    return {"const NumberOrText&", text ? quoted(*text) : shortest(std::get<double>(*v))};
  }
  Declared operator()(const Window*) const { return {"const Window&", "{}"}; }
  Declared operator()(const Padding* v) const { return {"const Padding&", quoted(v->kind)}; }
  Declared operator()(const DType* v) const { return {"DType", dtype_constant(*v)}; }
  Declared operator()(const Shape*) const { return {"const Shape&", "Shape::unknown_rank()"}; }
  Declared operator()(const bool* v) const { return {"bool", *v ? "true" : "false"}; }
  Declared operator()(const int64_t* v) const { return {"int64_t", str_cat(*v)}; }
  // Functions with these are written by hand (api/control_flow.h), and not printed.
  Declared operator()(const Ref<Callable>*) const { return {}; }
  Declared operator()(const Choices*) const { return {}; }
  Declared operator()(const Value*) const { return {}; }
  Declared operator()(const ShapeStructure*) const { return {}; }
  Declared operator()(const double* v) const { return {"double", shortest(*v)}; }
  Declared operator()(const std::string* v) const { return {"const std::string&", quoted(*v)}; }
  template <typename T>
  Declared operator()(const std::optional<T>*) const {
    const T value{};
    std::string type = (*this)(&value).type;
    if (type == "const std::string&") type = "std::string";
    return {"const std::optional<" + type + ">&", "std::nullopt"};
  }
};

struct Parameter {
  size_t field;
  std::string name;
  Declared declared;
};

// "clip_by_norm" as "ClipByNorm".
std::string camel_case(std::string_view name) {
  std::string type;
  bool begins_word = true;
  for (char c : name) {
    if (c != '_') type += begins_word ? static_cast<char>(std::toupper(c)) : c;
    begins_word = c == '_';
  }
  return type;
}

// The C++ signature of a function: required parameters, then optional ones; more than five optional
// ones are an aggregate.
struct Signature {
  std::string result, location;
  std::vector<Parameter> required, optional;
  bool has_options() const { return optional.size() > 5; }
  std::string options_type(const std::string& function) const {
    return camel_case(function) + "Options";
  }
};

// Several results are a struct of the function's name, or of their own.
std::string results_type(const PublicFunction& function) {
  const std::string& own = function.record().results.type_name;
  return own.empty() ? camel_case(function.short_name()) : own;
}

Signature signature_of(const PublicFunction& function) {
  Signature signature;
  ParameterValues defaults(function.parameters());
  const auto fields = function.parameters().fields;
  for (size_t i = 0; i < fields.size(); ++i) {
    if (!fields[i].ref) continue;
    const ParameterRef ref = fields[i].ref(defaults.get());
    const Declared declared = std::visit([&](auto* p) { return Declare{fields[i]}(p); }, ref);
    const bool is_required =
        fields[i].role == ParameterRole::kRequired || fields[i].role == ParameterRole::kVariadic;
    auto& list = is_required ? signature.required : signature.optional;
    list.push_back({i, identifier(fields[i].name), declared});
    if (is_required && signature.location.empty() && std::holds_alternative<Tensor*>(ref)) {
      signature.location = list.back().name + ".location()";
    }
  }
  const auto& parts = function.record().results.parts;
  std::vector<std::string> types;
  for (const auto& part : parts) types.push_back(part.is_list ? "std::vector<Tensor>" : "Tensor");
  signature.result = types.empty() ? "void" : types.size() == 1 ? types[0] : results_type(function);
  return signature;
}

std::string parameters_of(const Signature& signature, const std::string& name, bool with_defaults) {
  std::vector<std::string> all;
  const auto add = [&](const std::string& type, const std::string& parameter,
                       const std::string& value) {
    all.push_back(str_cat(type, " ", parameter,
                          with_defaults && !value.empty() ? " = " + value : std::string()));
  };
  for (const Parameter& p : signature.required) add(p.declared.type, p.name, "");
  if (signature.has_options()) {
    add(str_cat("const ", signature.options_type(name), "&"), "options", "{}");
  } else {
    for (const Parameter& p : signature.optional) add(p.declared.type, p.name, p.declared.value);
  }
  if (signature.location.empty()) add("Here", "location", "Here::current()");
  return "(" + str_join(all, ", ") + ")";
}

std::string text_of(const PublicFunction& function) {
  const FunctionRecord& record = function.record();
  std::string text = record.summary;
  if (!record.details.empty()) text += "\n\n" + record.details;
  text += "\n";
  for (const ParameterField& field : function.parameters().fields) {
    if (field.ref) text += str_cat("\n  ", field.name, ": ", field.doc);
  }
  text += "\n\nReturns: " + record.returns;
  for (const auto& [error, when] : record.raises) text += str_cat("\n", error, ": ", when);
  if (!record.source.empty()) text += "\nSource: " + record.source + ".";
  return text;
}

std::string options_of(const Signature& signature, const std::string& name) {
  std::string text = str_cat("struct ", signature.options_type(name), " {\n");
  for (const Parameter& p : signature.optional) {
    std::string type = p.declared.type;
    if (type.starts_with("const ")) type = type.substr(6, type.size() - 7);
    text += str_cat("  ", type, " ", p.name, " = ", p.declared.value, ";\n");
  }
  return text + "};\n";
}

std::string results_of(const PublicFunction& function) {
  std::string text = str_cat("struct ", results_type(function), " {\n");
  for (const auto& part : function.record().results.parts) {
    text += str_cat("  ", part.is_list ? "std::vector<Tensor>" : "Tensor", " ",
                    identifier(part.name), ";\n");
  }
  return text + "};\n";
}

std::string declaration(const PublicFunction& function, const std::string& name) {
  const Signature signature = signature_of(function);
  const bool has_struct = function.record().results.parts.size() > 1;
  return str_cat(has_struct ? results_of(function) : std::string(),
                 signature.has_options() ? options_of(signature, name) : std::string(),
                 comment(text_of(function)), "GRAVEN_API ", signature.result, " ", name,
                 parameters_of(signature, name, true), ";\n");
}

std::string definition(const PublicFunction& function, const std::string& name) {
  const Signature signature = signature_of(function);
  std::string text = str_cat(signature.result, " ", name, parameters_of(signature, name, false),
                             " {\n  static const engine::PublicFunction& function = "
                             "internal::library_function(\"",
                             function.name(), "\");\n  internal::LibraryCall call(function, ",
                             signature.location.empty() ? "location" : signature.location, ");\n");
  const auto set = [&](const Parameter& p, std::string_view of) {
    const bool is_operand = p.declared.type.ends_with("Operand&");
    text += str_cat("  call.", is_operand ? "operand(" : "set(", p.field, ", ", of, p.name, ");\n");
  };
  for (const Parameter& p : signature.required) set(p, "");
  for (const Parameter& p : signature.optional) set(p, signature.has_options() ? "options." : "");
  const auto& parts = function.record().results.parts;
  if (parts.empty()) return text + "  call.run();\n}\n";
  if (parts.size() == 1) {
    return text + (parts[0].is_list ? "  return call.list();\n}\n" : "  return call.one();\n}\n");
  }
  // A list takes the results that the parts before and behind it leave.
  text += "  const engine::Tensors all = call.run().tensors;\n";
  std::vector<std::string> results;
  bool is_behind_list = false;
  for (size_t i = 0; i < parts.size(); ++i) {
    const size_t behind = parts.size() - 1 - i;
    if (parts[i].is_list) {
      is_behind_list = true;
      results.push_back(
          str_cat("std::vector<Tensor>(all.begin() + ", i, ", all.end() - ", behind, ")"));
    } else {
      results.push_back(is_behind_list ? str_cat("all[all.size() - ", behind + 1, "]")
                                       : str_cat("all[", i, "]"));
    }
  }
  return str_cat(text, "  return {", str_join(results, ", "), "};\n}\n");
}

}  // namespace

void print_library(PrintedFunctions& out, std::set<std::string>& taken) {
  for (const auto& function : FunctionRegistry::global().functions()) {
    std::vector<std::string> names(function->names().begin(), function->names().end());
    std::erase_if(names, [&](const std::string& name) { return !taken.insert(name).second; });
    if (names.empty()) continue;
    print_names(
        out, std::move(names),
        [&](const std::string& name) { return declaration(*function, name); },
        [&](const std::string& name) { return definition(*function, name); });
  }
}

}  // namespace graven::engine
