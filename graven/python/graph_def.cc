#include "graven/python/graph_def.h"

#include <nanobind/stl/string.h>

#include <map>
#include <utility>
#include <variant>
#include <vector>

#include "graven/ir/frame.h"
#include "graven/ir/graph_builder.h"
#include "graven/ir/import_graph_def.h"
#include "graven/python/bind.h"
#include "graven/python/convert.h"
#include "graven/python/errors.h"
#include "graven/python/graph_object.h"
#include "graven/python/results.h"
#include "graven/python/tensor_object.h"
#include "graven/runtime/eager_builder.h"

// The engine's view of a graph as data, from and to the tuples that _graph_def.py describes.
// _import_graph_def.py has checked the types of what comes in.

namespace nb = nanobind;

namespace graven::python {
namespace {

using engine::AttrDef;
using engine::AttrDefs;
using engine::DType;
using engine::EmptyList;
using engine::FunctionName;
using engine::Shape;
using engine::Tensor;

// --- To Python.

nb::object sizes_of(const Shape& shape) {
  if (!shape.has_rank()) return nb::none();
  nb::list sizes;
  for (engine::Dim dim : shape.dims()) sizes.append(dim.is_number() ? dim.number() : int64_t{-1});
  return sizes;
}

// An item's kind, and its value.
struct ToPython {
  const char* kind = "";
  nb::object operator()(bool v) { return with("b", nb::bool_(v)); }
  nb::object operator()(int64_t v) { return with("i", nb::int_(v)); }
  nb::object operator()(double v) { return with("f", nb::float_(v)); }
  nb::object operator()(const std::string& v) { return with("s", nb::bytes(v.data(), v.size())); }
  nb::object operator()(DType v) { return with("type", steal(wrap(v))); }
  nb::object operator()(const Shape& v) { return with("shape", sizes_of(v)); }
  nb::object operator()(const Tensor& v) { return with("tensor", steal(wrap(v))); }
  nb::object operator()(const FunctionName& v) { return with("func", nb::cast(v.name)); }
  nb::object with(const char* name, nb::object value) {
    kind = name;
    return value;
  }
};

nb::object kind_and_value(const AttrDef& def) {
  return std::visit(
      [](const auto& v) -> nb::object {
        using T = std::decay_t<decltype(v)>;
        ToPython convert;
        if constexpr (std::is_same_v<T, EmptyList>) {
          return nb::make_tuple("list()", nb::list());
        } else if constexpr (requires { ToPython()(v); }) {
          nb::object value = convert(v);
          return nb::make_tuple(convert.kind, value);
        } else {
          nb::list items;
          for (const auto& item : v) items.append(convert(item));
          return nb::make_tuple(engine::str_cat("list(", convert.kind, ")"), items);
        }
      },
      def);
}

nb::dict attributes_of(const AttrDefs& attributes) {
  nb::dict made;
  for (const auto& [name, def] : attributes) made[nb::cast(name)] = kind_and_value(def);
  return made;
}

nb::tuple plain(const engine::NodeDef& node) {
  nb::list inputs;
  for (const std::string& input : node.inputs) inputs.append(input);
  return nb::make_tuple(node.name, node.op, node.device, inputs, attributes_of(node.attributes));
}

nb::list plain(const std::vector<engine::NodeDef>& nodes) {
  nb::list list;
  for (const engine::NodeDef& node : nodes) list.append(plain(node));
  return list;
}

nb::tuple plain(const engine::ArgDef& argument) {
  nb::list held;
  for (const auto& [dtype, shape] : argument.handle_data) {
    held.append(nb::make_tuple(steal(wrap(dtype)), sizes_of(shape)));
  }
  return nb::make_tuple(argument.name, steal(wrap(argument.dtype)), sizes_of(argument.shape), held,
                        attributes_of(argument.attributes));
}

nb::tuple plain(const engine::FunctionDef& function) {
  nb::list inputs, outputs, control_results;
  for (const engine::ArgDef& argument : function.inputs) inputs.append(plain(argument));
  for (const engine::ArgDef& output : function.outputs) outputs.append(plain(output));
  for (const auto& [name, node] : function.control_results) {
    control_results.append(nb::make_tuple(name, node));
  }
  nb::dict results;
  for (const auto& [name, tensor] : function.results) results[nb::cast(name)] = nb::cast(tensor);
  return nb::make_tuple(function.name, inputs, outputs, function.is_stateful, plain(function.nodes),
                        results, control_results, attributes_of(function.attributes));
}

nb::object record(const char* kind, nb::object plain) {
  return nb::module_::import_("graven._graph_def").attr(kind)(plain);
}

// --- From Python.

Shape shape_of(nb::handle sizes) {
  if (sizes.is_none()) return Shape::unknown_rank();
  std::vector<int64_t> numbers;
  for (nb::handle size : sizes) numbers.push_back(nb::cast<int64_t>(size));
  return Shape(numbers);
}

DType dtype_of(nb::handle dtype) { return value_or_raise(to_dtype(dtype.ptr())); }

std::string bytes_of(nb::handle value) {
  const auto bytes = nb::cast<nb::bytes>(value);
  return std::string(bytes.c_str(), bytes.size());
}

FunctionName function_of(nb::handle value) { return {nb::cast<std::string>(value)}; }

template <typename F>
auto list_of(nb::handle items, F&& convert) {
  std::vector<decltype(convert(items))> list;
  for (nb::handle item : items) list.push_back(convert(item));
  return list;
}

AttrDef attr_def(const std::string& kind, nb::handle value) {
  const auto int_of = [](nb::handle v) { return nb::cast<int64_t>(v); };
  const auto float_of = [](nb::handle v) { return nb::cast<double>(v); };
  if (kind == "b") return nb::cast<bool>(value);
  if (kind == "i") return int_of(value);
  if (kind == "f") return float_of(value);
  if (kind == "s") return bytes_of(value);
  if (kind == "type") return dtype_of(value);
  if (kind == "shape") return shape_of(value);
  if (kind == "tensor") return tensor_of(value.ptr());
  if (kind == "func") return function_of(value);
  if (kind == "list(i)") return list_of(value, int_of);
  if (kind == "list(f)") return list_of(value, float_of);
  if (kind == "list(s)") return list_of(value, bytes_of);
  if (kind == "list(type)") return list_of(value, dtype_of);
  if (kind == "list(shape)") return list_of(value, shape_of);
  if (kind == "list(func)") return list_of(value, function_of);
  return EmptyList();
}

AttrDefs attr_defs(nb::handle attributes) {
  AttrDefs made;
  for (auto [name, pair] : nb::cast<nb::dict>(attributes)) {
    made.emplace(nb::cast<std::string>(name), attr_def(nb::cast<std::string>(pair[0]), pair[1]));
  }
  return made;
}

std::vector<engine::NodeDef> nodes_of(nb::handle nodes) {
  return list_of(nodes, [](nb::handle node) {
    return engine::NodeDef{
        .name = nb::cast<std::string>(node[0]),
        .op = nb::cast<std::string>(node[1]),
        .device = nb::cast<std::string>(node[2]),
        .inputs = list_of(node[3], [](nb::handle name) { return nb::cast<std::string>(name); }),
        .attributes = attr_defs(node[4])};
  });
}

std::vector<engine::ArgDef> arguments_of(nb::handle arguments) {
  return list_of(arguments, [](nb::handle argument) {
    engine::ArgDef made{.name = nb::cast<std::string>(argument[0]),
                        .dtype = dtype_of(argument[1]),
                        .shape = shape_of(argument[2])};
    for (nb::handle held : nb::object(argument[3])) {
      made.handle_data.emplace_back(dtype_of(held[0]), shape_of(held[1]));
    }
    made.attributes = attr_defs(argument[4]);
    return made;
  });
}

engine::FunctionDef function_def(nb::handle function) {
  engine::FunctionDef made{.name = nb::cast<std::string>(function[0]),
                           .inputs = arguments_of(function[1]),
                           .outputs = arguments_of(function[2]),
                           .is_stateful = nb::cast<bool>(function[3]),
                           .nodes = nodes_of(function[4])};
  for (auto [name, tensor] : nb::cast<nb::dict>(function[5])) {
    made.results.emplace(nb::cast<std::string>(name), nb::cast<std::string>(tensor));
  }
  for (nb::handle pair : nb::object(function[6])) {
    made.control_results.emplace_back(nb::cast<std::string>(pair[0]),
                                      nb::cast<std::string>(pair[1]));
  }
  made.attributes = attr_defs(function[7]);
  return made;
}

engine::GraphDef graph_def_of(nb::handle plain) {
  engine::GraphDef made{.nodes = nodes_of(plain[0]), .functions = list_of(plain[1], function_def)};
  made.producer = static_cast<int>(nb::cast<int64_t>(plain[2]));
  made.min_consumer = static_cast<int>(nb::cast<int64_t>(plain[3]));
  return made;
}

nb::list import_graph_def(nb::tuple plain, const std::string& prefix, nb::dict input_map,
                          nb::list return_elements) {
  engine::ImportOptions options{.prefix = prefix};
  for (auto [name, tensor] : input_map) {
    options.input_map.emplace(nb::cast<std::string>(name), tensor_of(tensor.ptr()));
  }
  for (nb::handle name : return_elements) {
    options.return_elements.push_back(nb::cast<std::string>(name));
  }
  const auto elements = value_or_raise(
      engine::import_graph_def(graph_def_of(plain), options, engine::current_builder()));
  const auto& graph = engine::Frame::current().graph_builder()->graph_ref();
  nb::list made;
  for (const engine::ImportedElement& element : elements) {
    if (const auto* tensor = std::get_if<Tensor>(&element)) {
      made.append(steal(wrap(*tensor)));
    } else {
      made.append(steal(wrap_operation(graph, std::get<engine::Node*>(element))));
    }
  }
  return made;
}

}  // namespace

nb::object graph_def_record(const engine::GraphDef& graph_def) {
  nb::list functions;
  for (const engine::FunctionDef& function : graph_def.functions) {
    functions.append(plain(function));
  }
  return record("graph_def", nb::make_tuple(plain(graph_def.nodes), functions, graph_def.producer,
                                            graph_def.min_consumer));
}

nb::object node_def_record(const engine::NodeDef& node) { return record("node_def", plain(node)); }

nb::object function_def_record(const engine::FunctionDef& function) {
  return record("function_def", plain(function));
}

void bind_graph_def(nb::module_& m) {
  m.def("import_graph_def", import_graph_def, nb::arg("graph_def"), nb::arg("prefix"),
        nb::arg("input_map"), nb::arg("return_elements"),
        "Adds nodes to the current graph: the inner half of "
        "graven._import_graph_def.import_graph_def.");
}

}  // namespace graven::python
