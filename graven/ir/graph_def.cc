#include "graven/ir/graph_def.h"

#include <algorithm>
#include <cctype>
#include <set>
#include <unordered_map>
#include <utility>

#include "graven/base/strings.h"
#include "graven/ir/attributes.h"
#include "graven/ir/bodies.h"
#include "graven/ir/body.h"
#include "graven/ir/graph.h"
#include "graven/ir/output_names.h"
#include "graven/ir/text.h"

namespace graven::engine {
namespace {

Shape without_terms(Shape shape) {
  for (int i = 0; i < shape.rank(); ++i) {
    if (!shape[i].is_number()) shape.set(i, Dim::unknown());
  }
  return shape;
}

// Names for the bodies that nodes hold, and their functions in the order of mention.
class Library {
 public:
  FunctionName name_of(const Body* body) {
    if (!body) return {};
    auto [at, is_new] = names_.try_emplace(body);
    if (!is_new) return {at->second};
    std::string name = body->name();
    for (int i = 1;; ++i) {
      auto [taken, is_free] = by_name_.try_emplace(name, body);
      if (is_free) bodies_.emplace_back(name, body);
      if (is_free || is_same(*taken->second, *body)) break;
      name = str_cat(body->name(), "_", i);
    }
    names_[body] = name;
    return {std::move(name)};
  }
  // Those that are mentioned by functions themselves are found on the way.
  std::vector<FunctionDef> functions();

 private:
  // Those of two imports are.
  static bool is_same(const Body& a, const Body& b) {
    return print_graph(*a.graph()) == print_graph(*b.graph());
  }
  std::unordered_map<const Body*, std::string> names_;
  std::map<std::string, const Body*> by_name_;
  std::vector<std::pair<std::string, const Body*>> bodies_;
};

// None for an attribute that is not set: a dtype, tensor or function that an op need not have.
std::optional<AttrDef> attr_def(const AttrValue& value, Library& library) {
  return std::visit(
      [&](const auto& v) -> std::optional<AttrDef> {
        using T = std::decay_t<decltype(v)>;
        if constexpr (std::is_same_v<T, std::monostate> || std::is_same_v<T, Ref<const Fusion>>) {
          return std::nullopt;  // a Fusion is in optimised copies only
        } else if constexpr (std::is_same_v<T, DType>) {
          return v == DType::kInvalid ? std::nullopt : std::optional<AttrDef>(v);
        } else if constexpr (std::is_same_v<T, Shape>) {
          return without_terms(v);
        } else if constexpr (std::is_same_v<T, Tensor>) {
          return v ? std::optional<AttrDef>(v) : std::nullopt;
        } else if constexpr (std::is_same_v<T, Ref<Body>>) {
          return v ? std::optional<AttrDef>(library.name_of(v.get())) : std::nullopt;
        } else if constexpr (std::is_same_v<T, std::vector<Ref<Body>>>) {
          std::vector<FunctionName> names;
          for (const Ref<Body>& body : v) names.push_back(library.name_of(body.get()));
          return names;
        } else if constexpr (std::is_same_v<T, std::vector<Shape>>) {
          std::vector<Shape> shapes;
          for (const Shape& shape : v) shapes.push_back(without_terms(shape));
          return shapes;
        } else {
          return AttrDef(v);
        }
      },
      value);
}

AttrDefs attr_defs(const Node& node, Library& library) {
  AttrDefs all;
  for (const auto& [name, value] : node.attributes()) {
    if (auto def = attr_def(value, library)) all.emplace(name, *std::move(def));
  }
  // The gradient itself is a function of the program: what imports the node is told that there is
  // one.
  if (node.custom_gradient()) all.emplace("_gradient_op_type", std::string("CustomGradient"));
  return all;
}

std::string graph_input(OutputRef input) {
  if (input.index == 0) return input.node->name();
  return str_cat(input.node->name(), ":", input.index);
}

NodeDef node_def(const Node& node, Library& library) {
  NodeDef def{.name = node.name(), .op = node.op().name(), .device = node.device()};
  for (OutputRef input : node.inputs()) def.inputs.push_back(graph_input(input));
  for (const Node* before : node.control_inputs()) def.inputs.push_back("^" + before->name());
  def.attributes = attr_defs(node, library);
  return def;
}

// "name", "name_1", ...
std::string unique(std::set<std::string>& used, const std::string& name) {
  std::string made = name;
  for (int i = 1; !used.insert(made).second; ++i) made = str_cat(name, "_", i);
  return made;
}

FunctionDef function_def(std::string name, const Graph& graph, Library& library) {
  FunctionDef function{.name = std::move(name)};
  // Arguments and nodes share one space of names.
  std::set<std::string> used, used_outputs;
  for (const Node* node : graph.nodes()) {
    if (!graph.is_input(node)) used.insert(node->name());
  }
  std::unordered_map<const Node*, std::string> arguments;
  for (const Node* input : graph.inputs()) {
    const OutputType& type = input->output(0);
    ArgDef argument{.name = unique(used, argument_name(input->name())),
                    .dtype = type.dtype,
                    .shape = without_terms(type.shape)};
    if (type.handle_data) {
      for (const HeldType& held : type.handle_data->components) {
        argument.handle_data.emplace_back(held.dtype, without_terms(held.shape));
      }
    }
    for (const auto& [key, value] : input->extra_attributes()) {
      if (auto def = attr_def(value, library)) argument.attributes.emplace(key, *std::move(def));
    }
    arguments.emplace(input, argument.name);
    function.inputs.push_back(std::move(argument));
  }
  auto tensor_name = [&](OutputRef tensor) {
    auto argument = arguments.find(tensor.node);
    return argument != arguments.end() ? argument->second
                                       : str_cat(tensor.node->name(), ":", output_name(tensor));
  };
  for (const Node* node : graph.nodes()) {
    if (arguments.count(node)) continue;
    function.is_stateful |= node->op().record().effects(node->op(), node->attrs()).stateful;
    NodeDef def{.name = node->name(), .op = node->op().name(), .device = node->device()};
    for (OutputRef input : node->inputs()) def.inputs.push_back(tensor_name(input));
    for (const Node* before : node->control_inputs()) {
      // An argument is there before the function runs.
      if (!arguments.count(before)) def.inputs.push_back("^" + before->name());
    }
    def.attributes = attr_defs(*node, library);
    function.nodes.push_back(std::move(def));
  }
  for (OutputRef output : graph.outputs()) {
    const OutputType& type = output.node->output(output.index);
    ArgDef result{.name = unique(used_outputs, argument_name(output.node->name())),
                  .dtype = type.dtype};
    function.results.emplace(result.name, tensor_name(output));
    function.outputs.push_back(std::move(result));
  }
  for (const Node* node : graph.control_outputs()) {
    if (!arguments.count(node)) function.control_results.emplace_back(node->name(), node->name());
  }
  return function;
}

std::vector<FunctionDef> Library::functions() {
  std::vector<FunctionDef> made;
  for (size_t i = 0; i < bodies_.size(); ++i) {  // grows
    auto [name, body] = bodies_[i];
    made.push_back(function_def(std::move(name), *body->graph(), *this));
  }
  return made;
}

std::string text_of(const AttrDef& value) {
  return std::visit(
      [](const auto& v) -> std::string {
        using T = std::decay_t<decltype(v)>;
        if constexpr (std::is_same_v<T, FunctionName>) {
          return "@" + v.name;
        } else if constexpr (std::is_same_v<T, EmptyList>) {
          return "[]";
        } else if constexpr (std::is_same_v<T, std::vector<FunctionName>>) {
          std::vector<std::string> names;
          for (const FunctionName& name : v) names.push_back("@" + name.name);
          return str_cat("[", str_join(names, ", "), "]");
        } else {
          return to_text(AttrValue(v));
        }
      },
      value);
}

std::string text_of(const AttrDefs& attributes) {
  std::vector<std::string> texts;
  for (const auto& [name, value] : attributes) texts.push_back(str_cat(name, "=", text_of(value)));
  return str_cat(" {", str_join(texts, ", "), "}\n");
}

std::string text_of(const FunctionDef& function) {
  std::string text = str_cat("function ", function.name, function.is_stateful ? " stateful" : "",
                             text_of(function.attributes));
  for (const ArgDef& argument : function.inputs) {
    text += str_cat("  input ", argument.name, ": ", dtype_name(argument.dtype),
                    argument.shape.to_message());
    for (const auto& [dtype, shape] : argument.handle_data) {
      text += str_cat(" <", dtype_name(dtype), shape.to_message(), ">");
    }
    text += text_of(argument.attributes);
  }
  for (const NodeDef& node : function.nodes) {
    text += str_cat("  ", node.name, " = ", node.op, "(", str_join(node.inputs, ", "), ") on \"",
                    node.device, "\"", text_of(node.attributes));
  }
  for (const ArgDef& output : function.outputs) {
    text += str_cat("  output ", output.name, ": ", dtype_name(output.dtype), " = ",
                    function.results.at(output.name), "\n");
  }
  for (const auto& [name, node] : function.control_results) {
    text += str_cat("  control output ", name, " = ", node, "\n");
  }
  return text;
}

}  // namespace

GraphDef graph_def_of(const Graph& graph, bool add_shapes) {
  GraphDef def;
  Library library;
  for (const Node* node : graph.nodes()) {
    def.nodes.push_back(node_def(*node, library));
    if (!add_shapes || node->num_outputs() == 0) continue;
    std::vector<Shape> shapes;
    for (int i = 0; i < node->num_outputs(); ++i) {
      shapes.push_back(without_terms(node->output(i).shape));
    }
    def.nodes.back().attributes["_output_shapes"] = std::move(shapes);
  }
  def.functions = library.functions();
  // Functions came with the 12th version of the format.
  if (!def.functions.empty()) def.min_consumer = 12;
  return def;
}

NodeDef node_def_of(const Node& node) {
  Library library;
  return node_def(node, library);
}

FunctionAndLibrary function_def_of(std::string name, const Graph& graph) {
  Library library;
  FunctionAndLibrary made{function_def(std::move(name), graph, library), {}};
  made.library = library.functions();
  return made;
}

std::string to_text(const FunctionAndLibrary& data) {
  std::string text = text_of(data.function);
  for (const FunctionDef& function : data.library) text += text_of(function);
  return text;
}

std::string argument_name(std::string_view name) {
  std::string made;
  for (char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    made += std::isalnum(byte) ? static_cast<char>(std::tolower(byte)) : '_';
  }
  // A name begins with a letter.
  const size_t letter = made.find_first_of("abcdefghijklmnopqrstuvwxyz");
  return letter == std::string::npos ? "unknown" : made.substr(letter);
}

}  // namespace graven::engine
