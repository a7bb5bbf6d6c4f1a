// Prints the C++ functions of ops and of the library from their records: a build tool.
//
//     graven_print_functions HEADER SOURCE WRITTEN...
//
// Each record with a public name becomes a documented function in HEADER and its definition in
// SOURCE, unless a header WRITTEN by hand declares a function of that name, which is then the one
// that users have.
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include "graven/api/print_text.h"
#include "graven/base/strings.h"
#include "graven/ir/op.h"

namespace graven::engine {
namespace {

// "nn.relu" for Tensor relu(...) in namespace graven::nn.
std::set<std::string> names_declared_in(const std::string& path) {
  static const std::regex kNamespace(R"(^namespace (?:graven::)?(\w+) \{)");
  static const std::regex kFunction(R"(^GRAVEN_API .*?(\w+)\(.*|^using graven::(?:\w+::)*(\w+);)");
  std::ifstream file(path);
  std::set<std::string> names;
  std::string line, scope;
  for (std::smatch found; std::getline(file, line);) {
    if (std::regex_match(line, found, kNamespace) && found[1] != "graven")
      scope = found.str(1) + ".";
    if (line.starts_with("}  // namespace")) scope.clear();
    if (std::regex_match(line, found, kFunction)) {
      names.insert(scope + (found[1].matched ? found.str(1) : found.str(2)));
    }
  }
  return names;
}

// How an attribute is declared: its type as a parameter, and its default. Empty: it cannot be one.
struct ParameterType {
  std::string type, value;
};

struct ParameterPrinter {
  ParameterType operator()(bool v) const { return {"bool", v ? "true" : "false"}; }
  ParameterType operator()(int64_t v) const { return {"int64_t", str_cat(v)}; }
  ParameterType operator()(double v) const { return {"double", shortest(static_cast<float>(v))}; }
  ParameterType operator()(const std::string& v) const { return {"const std::string&", quoted(v)}; }
  ParameterType operator()(DType v) const { return {"DType", dtype_constant(v)}; }
  ParameterType operator()(const Shape& v) const {
    return {"const Shape&", v.has_rank() ? "Shape()" : "Shape::unknown_rank()"};
  }
  ParameterType operator()(const std::vector<int64_t>& v) const {
    return {"const std::vector<int64_t>&", "{" + str_join(v, ", ") + "}"};
  }
  ParameterType operator()(const std::vector<double>& v) const {
    return {"const std::vector<double>&", "{" + str_join(v, ", ") + "}"};
  }
  ParameterType operator()(const std::vector<std::string>&) const {
    return {"const std::vector<std::string>&", "{}"};
  }
  ParameterType operator()(const std::vector<DType>&) const {
    return {"const std::vector<DType>&", "{}"};
  }
  template <typename Other>
  ParameterType operator()(const Other&) const {
    return {};
  }
};

ParameterType parameter_of(const AttrValue& value) { return std::visit(ParameterPrinter(), value); }

// Attributes that follow from the inputs are no parameters.
bool follows_from_inputs(const Op& op, int field) {
  std::string_view name = op.attrs_type().fields[field].name;
  return std::any_of(op.inputs().begin(), op.inputs().end(), [&](const ArgSpec& input) {
    if (input.type_list_attr == field || input.count_attr == field) return true;
    return input.type_param >= 0 && op.type_params()[input.type_param].name == name;
  });
}

std::string parameter_identifier(const Op& op, std::string_view name) {
  return identifier(op.parameter_name(std::string(name)));
}

// A function that can be printed.
struct OpFunction {
  const Op* op = nullptr;
  std::string result;
  std::vector<std::string> parameters;                          // "const Operand& x"
  std::vector<std::pair<std::string, std::string>> attributes;  // parameter, default or ""
  std::vector<std::string> attribute_names;                     // as in the record
  bool has_operand = false;
};

bool describe(const Op& op, OpFunction& function) {
  function.op = &op;
  for (const ArgSpec& input : op.inputs()) {
    if (input.fixed == DType::kResource || input.fixed == DType::kVariant) return false;
    function.has_operand |= !input.is_list;
    function.parameters.push_back(
        str_cat(input.is_list ? "const std::vector<Tensor>& " : "const Operand& ",
                parameter_identifier(op, input.name)));
  }
  Attrs defaults(op.attrs_type());
  std::vector<int> fields;  // required ones come first
  for (bool is_required : {true, false}) {
    for (int i = 0; i < static_cast<int>(op.attrs_type().fields.size()); ++i) {
      if (op.attrs_type().fields[static_cast<size_t>(i)].is_required == is_required) {
        fields.push_back(i);
      }
    }
  }
  for (int i : fields) {
    if (follows_from_inputs(op, i)) continue;
    const AttrField& field = op.attrs_type().fields[static_cast<size_t>(i)];
    std::string_view name = field.name;
    ParameterType type = parameter_of(static_cast<AttrsRef>(defaults).get(name));
    if (type.type.empty()) return false;
    function.attributes.emplace_back(str_cat(type.type, " ", parameter_identifier(op, name)),
                                     field.is_required ? "" : type.value);
    function.attribute_names.emplace_back(name);
  }
  auto outputs = op.outputs();
  bool is_list =
      std::any_of(outputs.begin(), outputs.end(), [](const ArgSpec& out) { return out.is_list; });
  if (outputs.empty()) {
    function.result = "void";
  } else if (is_list) {
    function.result = "std::vector<Tensor>";
  } else if (outputs.size() == 1) {
    function.result = "Tensor";
  } else {
    std::vector<std::string> parts(outputs.size(), "Tensor");
    function.result = "std::tuple<" + str_join(parts, ", ") + ">";
  }
  return true;
}

std::string parameters_of(const OpFunction& function, bool with_defaults) {
  std::vector<std::string> all = function.parameters;
  for (const auto& [parameter, value] : function.attributes) {
    all.push_back(with_defaults && !value.empty() ? parameter + " = " + value : parameter);
  }
  if (!function.has_operand) {
    std::string location = "std::source_location location";
    all.push_back(with_defaults ? location + " = std::source_location::current()" : location);
  }
  return "(" + str_join(all, ", ") + ")";
}

std::string declaration(const OpFunction& function, const std::string& name) {
  const OpRecord& record = function.op->record();
  std::string text = record.summary;
  if (!record.details.empty()) text += "\n\n" + record.details;
  text += "\n\nSource: OpDef \"" + record.name + "\".";
  return str_cat(comment(text), "GRAVEN_API ", function.result, " ", name,
                 parameters_of(function, true), ";\n");
}

std::string definition(const OpFunction& function, const std::string& name) {
  const Op& op = *function.op;
  std::string location = "location",
              text = str_cat(function.result, " ", name, parameters_of(function, false), " {\n");
  text += str_cat("  static const engine::Op& the_op = *engine::OpRegistry::global().find(\"",
                  op.name(), "\");\n  std::vector<engine::Tensor> flat_inputs;\n");
  std::string first_list;
  // A number takes the dtype of the inputs that share its type parameter.
  for (const ArgSpec& input : op.inputs()) {
    std::string parameter = parameter_identifier(op, input.name);
    if (input.is_list) {
      if (!first_list.empty()) {
        text += str_cat("  if (", parameter, ".size() != ", first_list,
                        ".size()) {\n    throw_if_error(engine::value_error(\"", op.name(),
                        ": the lists ", first_list, " and ", parameter,
                        " differ in length\"), location);\n  }\n");
      }
      first_list = parameter;
      text += str_cat("  flat_inputs.insert(flat_inputs.end(), ", parameter, ".begin(), ",
                      parameter, ".end());\n");
      continue;
    }
    if (location == "location" && function.has_operand) location = parameter + ".location()";
    std::vector<std::string> others;
    for (const ArgSpec& other : op.inputs()) {
      if (&other == &input || other.is_list || input.type_param < 0) continue;
      if (other.type_param == input.type_param)
        others.push_back("&" + parameter_identifier(op, other.name));
    }
    std::string dtype = input.type_param < 0 ? dtype_constant(input.fixed)
                        : others.empty()     ? "DType::kInvalid"
                                             : "dtype_among({" + str_join(others, ", ") + "})";
    text += str_cat("  flat_inputs.push_back(", parameter, ".as_tensor(", dtype, "));\n");
  }
  text += "  engine::Attrs the_attrs(the_op.attrs_type());\n";
  for (size_t i = 0; i < function.attribute_names.size(); ++i) {
    const std::string& attribute = function.attribute_names[i];
    text += str_cat("  throw_if_error(the_attrs.set(\"", attribute, "\", engine::AttrValue(",
                    parameter_identifier(op, attribute), ")), ", location, ");\n");
  }
  std::string call = str_cat("internal::apply(the_op, flat_inputs, the_attrs, ", location, ")");
  if (function.result == "void") {
    text += str_cat("  ", call, ";\n");
  } else if (function.result == "Tensor") {
    text += str_cat("  return ", call, "[0];\n");
  } else {
    text += str_cat("  engine::Tensors the_outputs = ", call, ";\n");
    std::vector<std::string> parts;
    for (size_t i = 0; i < op.outputs().size(); ++i)
      parts.push_back(str_cat("the_outputs[", i, "]"));
    bool is_tuple = function.result.starts_with("std::tuple");
    text += is_tuple ? str_cat("  return {", str_join(parts, ", "), "};\n")
                     : "  return std::vector<Tensor>(the_outputs.begin(), the_outputs.end());\n";
  }
  return text + "}\n";
}

int print(const std::string& header_path, const std::string& source_path,
          std::span<char* const> written) {
  std::set<std::string> taken;
  for (const char* path : written) {
    std::set<std::string> names = names_declared_in(path);
    if (names.empty()) {
      std::fprintf(stderr, "graven_print_functions: no functions in %s\n", path);
      return 1;
    }
    taken.merge(names);
  }
  PrintedFunctions out;
  print_library(out, taken);
  for (const auto& op : OpRegistry::global().ops()) {
    std::vector<std::string> names = split(op->record().python, ", ");
    std::erase_if(
        names, [&](const std::string& name) { return name.empty() || !taken.insert(name).second; });
    OpFunction function;
    if (names.empty() || !describe(*op, function)) continue;
    print_names(
        out, std::move(names), [&](const std::string& name) { return declaration(function, name); },
        [&](const std::string& name) { return definition(function, name); });
  }
  std::ofstream header(header_path), source(source_path);
  header << "#pragma once\n#include <cstdint>\n#include <source_location>\n#include <string>\n"
            "#include <tuple>\n#include <vector>\n\n#include \"graven/api/arguments.h\"\n"
            "#include \"graven/api/operand.h\"\n"
            "#include \"graven/api/tensor.h\"\n#include \"graven/base/export.h\"\n\n"
            "// Printed from the records of ops and of the library by graven/api/print_ops.cc.\n\n";
  source << "#include \"graven/api/op_functions.h\"\n\n#include \"graven/api/apply.h\"\n"
            "#include \"graven/api/library_call.h\"\n"
            "#include \"graven/ir/op.h\"\n\nnamespace graven {\nnamespace {\n\n"
            "// The dtype of the first that is a tensor; kInvalid if all are numbers.\n"
            "[[maybe_unused]] DType dtype_among(std::initializer_list<const Operand*> operands) {\n"
            "  for (const Operand* operand : operands) {\n"
            "    if (operand->dtype() != DType::kInvalid) return operand->dtype();\n  }\n"
            "  return DType::kInvalid;\n}\n\n}  // namespace\n}  // namespace graven\n\n";
  for (const auto& [scope, text] : out.declarations) {
    header << "namespace graven" << scope << " {\n\n"
           << text << "}  // namespace graven" << scope << "\n\n";
    source << "namespace graven" << scope << " {\n\n"
           << out.definitions[scope] << "}  // namespace graven" << scope << "\n\n";
  }
  for (const auto& [scope, text] : out.aliases) {
    header << "namespace graven" << scope << " {\n"
           << text << "}  // namespace graven" << scope << "\n";
  }
  return header.flush() && source.flush() ? 0 : 1;
}

}  // namespace
}  // namespace graven::engine

int main(int argc, char** argv) {
  if (argc < 4) {
    std::fprintf(stderr, "usage: graven_print_functions HEADER SOURCE WRITTEN...\n");
    return 2;
  }
  return graven::engine::print(argv[1], argv[2], std::span(argv + 3, argv + argc));
}
