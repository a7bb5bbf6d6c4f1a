#include "graven/python/graph_object.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <charconv>
#include <memory>
#include <thread>
#include <unordered_map>

#include "graven/ir/body.h"
#include "graven/ir/frame.h"
#include "graven/ir/graph_builder.h"
#include "graven/library/static_value.h"
#include "graven/python/bind.h"
#include "graven/python/convert.h"
#include "graven/python/errors.h"
#include "graven/python/graph_def.h"
#include "graven/python/location.h"
#include "graven/python/object.h"
#include "graven/python/results.h"
#include "graven/python/tensor_object.h"

namespace nb = nanobind;

namespace graven::python {
namespace {

using engine::AttrValue;
using engine::Frame;
using engine::Graph;
using engine::Node;
using engine::OutputRef;
using engine::Ref;

// Adds nodes to a graph that belongs to no function: nothing is fed to it, so it captures nothing.
class OpenGraphBuilder final : public engine::GraphBuilder {
 public:
  using GraphBuilder::GraphBuilder;
  engine::Result<engine::Tensor> capture(const engine::Tensor& external,
                                         std::string_view name) override {
    using engine::ErrorKind;
    if (external.is_symbolic() && engine::symbolic(external).graph().get() != graph()) {
      return engine::value_error(engine::symbolic(external).node().name(),
                                 " must be from the same graph as the other inputs.");
    }
    if (!external.is_symbolic() && external.dtype() != engine::DType::kResource) {
      return engine::Status(engine::Code::kFailedPrecondition,
                            "Attempting to capture an EagerTensor without building a function.",
                            ErrorKind::kRuntimeError);
    }
    return GraphBuilder::capture(external, name);
  }
};

// The contents of Python objects of graphs and nodes. Tables find the object of a graph or node as
// long as Python has it; the GIL guards the tables.
struct GraphObject {
  Ref<Graph> graph;
  std::unique_ptr<OpenGraphBuilder> builder;  // of a graph that a program builds; null for others
  explicit GraphObject(Ref<Graph> g) : graph(std::move(g)) { live()[graph.get()] = this; }
  ~GraphObject() { live().erase(graph.get()); }
  GraphObject(const GraphObject&) = delete;
  static std::unordered_map<const Graph*, GraphObject*>& live() {
    static auto* map = new std::unordered_map<const Graph*, GraphObject*>();
    return *map;
  }
};
struct FuncGraph : GraphObject {
  using GraphObject::GraphObject;
};

// `with graph.as_default()`: ops add nodes to the graph. Frames lie on the stack of their thread.
struct GraphScope {
  nb::object graph;
  std::unique_ptr<Frame> frame;
  std::thread::id thread;
  explicit GraphScope(nb::object g) : graph(std::move(g)) {}
  ~GraphScope() {
    if (frame && thread != std::this_thread::get_id()) (void)frame.release();  // in use over there
  }
};

struct Operation {
  Ref<Graph> graph;
  Node* node;
  Operation(Ref<Graph> g, Node* n) : graph(std::move(g)), node(n) { live()[node] = this; }
  ~Operation() { live().erase(node); }
  Operation(const Operation&) = delete;
  static std::unordered_map<const Node*, Operation*>& live() {
    static auto* map = new std::unordered_map<const Node*, Operation*>();
    return *map;
  }
};

nb::object operation(const Ref<Graph>& graph, Node* node) {
  return steal(wrap_operation(graph, node));
}

nb::object tensor(const Ref<Graph>& graph, OutputRef output) {
  return steal(wrap(engine::symbolic_tensor(graph, output)));
}

nb::bytes bytes(const std::string& text) { return nb::bytes(text.data(), text.size()); }

template <typename T, typename F>
nb::list list_of(const std::vector<T>& values, F&& convert) {
  nb::list list;
  for (const T& value : values) list.append(convert(value));
  return list;
}

nb::object attribute(const AttrValue& value) {
  auto of_body = [](const Ref<engine::Body>& body) {
    nb::object result = nb::module_::import_("types").attr("SimpleNamespace")();
    result.attr("name") = body ? body->name() : std::string();
    // As in an AttrValue, whose func it is.
    result.attr("func") = nb::module_::import_("types").attr("SimpleNamespace")(
        nb::arg("name") = result.attr("name"));
    return result;
  };
  return std::visit(
      [&](const auto& v) -> nb::object {
        using T = std::decay_t<decltype(v)>;
        if constexpr (std::is_same_v<T, std::monostate>) {
          return nb::none();
        } else if constexpr (std::is_same_v<T, bool>) {
          return nb::bool_(v);
        } else if constexpr (std::is_same_v<T, int64_t>) {
          return nb::int_(v);
        } else if constexpr (std::is_same_v<T, double>) {
          return nb::float_(v);
        } else if constexpr (std::is_same_v<T, std::string>) {
          return bytes(v);
        } else if constexpr (std::is_same_v<T, engine::DType>) {
          return v == engine::DType::kInvalid ? nb::none() : steal(wrap(v));
        } else if constexpr (std::is_same_v<T, engine::Shape>) {
          return steal(wrap(v));
        } else if constexpr (std::is_same_v<T, engine::Tensor>) {
          return v ? steal(wrap(v)) : nb::none();
        } else if constexpr (std::is_same_v<T, Ref<engine::Body>>) {
          return of_body(v);
        } else if constexpr (std::is_same_v<T, Ref<const engine::Fusion>>) {
          return nb::none();  // only optimised copies have any, which Python never sees
        } else if constexpr (std::is_same_v<T, std::vector<std::string>>) {
          return list_of(v, bytes);
        } else if constexpr (std::is_same_v<T, std::vector<Ref<engine::Body>>>) {
          return list_of(v, of_body);
        } else if constexpr (std::is_same_v<T, std::vector<int64_t>> ||
                             std::is_same_v<T, std::vector<double>>) {
          return list_of(v, [](auto number) { return nb::cast(number); });
        } else {
          return list_of(v, [](const auto& item) { return steal(wrap(item)); });
        }
      },
      value);
}

// The graph around this one, while it is being built; it is not kept alive, so it is searched among
// graphs that certainly live.
nb::object outer_graph(const GraphObject& self) {
  Graph* outer = self.graph->outer();
  if (!outer) return nb::none();
  if (GraphObject::live().count(outer)) return steal(wrap(Ref<Graph>(outer)));
  for (Frame* frame = &Frame::current(); frame; frame = frame->below()) {
    if (frame->graph() == outer) return steal(wrap(Ref<Graph>(outer)));
  }
  return nb::none();
}

// --- What a graph shares with its trace.

// The ConcreteFunction of a graph that has been traced; it sets the attribute.
nb::object concrete_function_of(nb::handle self, const char* wanted) {
  nb::object concrete = nb::getattr(self, "_concrete_function", nb::none());
  if (!concrete.is_none()) return concrete;
  PyErr_Format(PyExc_RuntimeError,
               "FuncGraph.%s is known when the function has been traced, and by the graph of its "
               "ConcreteFunction only: `f.get_concrete_function(...).graph`.",
               wanted);
  throw nb::python_error();
}

engine::GraphBuilder* builder_of(const Graph& graph) {
  for (Frame* frame = &Frame::current(); frame; frame = frame->below()) {
    if (frame->graph() == &graph) return frame->graph_builder();
  }
  return nullptr;
}

// Pairs of the tensor outside and the one inside, in the order of capture.
nb::list captures(nb::handle self) {
  const Ref<Graph>& graph = nb::cast<const GraphObject&>(self).graph;
  nb::list pairs;
  if (engine::GraphBuilder* builder = builder_of(*graph)) {
    for (const engine::GraphBuilder::Capture& capture : builder->captures()) {
      pairs.append(
          nb::make_tuple(steal(wrap_same(capture.external)), steal(wrap(capture.internal))));
    }
    return pairs;
  }
  const auto outside =
      nb::cast<nb::list>(concrete_function_of(self, "captures").attr("captured_inputs"));
  const size_t num_arguments = graph->inputs().size() - outside.size();
  for (size_t i = 0; i < outside.size(); ++i) {
    pairs.append(
        nb::make_tuple(outside[i], tensor(graph, {graph->inputs()[num_arguments + i], 0})));
  }
  return pairs;
}

nb::list half_of_captures(nb::handle self, int half) {
  nb::list tensors;
  for (nb::handle pair : captures(self)) tensors.append(pair[half]);
  return tensors;
}

template <typename F>
nb::list of_outputs(const GraphObject& self, F&& part) {
  nb::list list;
  for (OutputRef output : self.graph->outputs()) {
    list.append(steal(part(output.node->output(output.index))));
  }
  return list;
}

[[noreturn]] void fail(PyObject* kind, const std::string& text) {
  PyErr_SetString(kind, text.c_str());
  throw nb::python_error();
}

// The tensor or Operation that an object is, or names.
nb::object graph_element(const GraphObject& self, nb::object object, bool allow_tensor,
                         bool allow_operation) {
  if (!allow_tensor && !allow_operation) {
    fail(PyExc_ValueError, "allow_tensor and allow_operation can't both be False.");
  }
  const Graph& graph = *self.graph;
  const bool is_name = nb::isinstance<nb::str>(object);
  const std::string name = is_name ? nb::cast<std::string>(object) : std::string();
  if (is_name) {
    const size_t colon = name.rfind(':');
    Node* node = graph.find(name.substr(0, colon));
    if (colon == std::string::npos) {
      if (!allow_operation) {
        fail(PyExc_ValueError,
             engine::str_cat("The name '", name, "' refers to an Operation, not a Tensor. Tensor ",
                             "names must be of the form \"<op_name>:<output_index>\"."));
      }
      if (node) return operation(self.graph, node);
      fail(PyExc_KeyError,
           engine::str_cat("The name '", name, "' refers to an Operation not in the graph."));
    }
    if (!allow_tensor) {
      fail(PyExc_ValueError,
           engine::str_cat("Name '", name, "' appears to refer to a Tensor, not a Operation."));
    }
    const char* const end = name.data() + name.size();
    int index = 0;
    const auto read = std::from_chars(name.data() + colon + 1, end, index);
    if (read.ec != std::errc() || read.ptr != end) {
      fail(PyExc_ValueError,
           engine::str_cat("The name '", name, "' looks like a Tensor name, but is not a valid ",
                           "one. Tensor names must be of the form \"<op_name>:<output_index>\"."));
    }
    if (node && index >= 0 && index < node->num_outputs()) return tensor(self.graph, {node, index});
    fail(PyExc_KeyError,
         engine::str_cat(
             "The name '", name, "' refers to a Tensor which does not exist. The ", "operation, '",
             name.substr(0, colon), "', ",
             node ? engine::str_cat("exists but only has ", node->num_outputs(), " outputs.")
                  : std::string("does not exist in the graph.")));
  }
  const bool is_element =
      (allow_tensor && is_tensor(object.ptr())) || (allow_operation && node_of(object.ptr()));
  if (!is_element) {
    const char* kinds = !allow_operation ? "Tensor"
                        : !allow_tensor  ? "Operation"
                                         : "Tensor or Operation";
    fail(PyExc_TypeError,
         engine::str_cat("Can not convert a ",
                         nb::cast<std::string>(nb::handle(object.type()).attr("__name__")),
                         " into a ", kinds, "."));
  }
  const Node* node = node_of(object.ptr());
  if (!node && tensor_of(object.ptr()).is_symbolic()) {
    node = &engine::symbolic(tensor_of(object.ptr())).node();
  }
  if (node && &node->graph() == &graph) return object;
  fail(PyExc_ValueError, engine::str_cat(nb::cast<std::string>(nb::str(object)),
                                         " is not an element of this graph."));
}

void check_name(nb::handle name, const char* kind) {
  if (nb::isinstance<nb::str>(name)) return;
  fail(PyExc_TypeError,
       engine::str_cat(kind, " names are strings (or similar), not ",
                       nb::cast<std::string>(nb::handle(name.type()).attr("__name__")), "."));
}

nb::object traceback_of(const Operation& self) {
  nb::list frames;
  nb::module_ traceback = nb::module_::import_("traceback");
  if (self.node->location()) {
    for (const engine::SourceFrame& frame : self.node->location()->frames()) {
      frames.append(traceback.attr("FrameSummary")(frame.file, frame.line, frame.function));
    }
  }
  return traceback.attr("StackSummary").attr("from_list")(frames);
}

GraphScope* scope_of(nb::object self) {
  if (!nb::cast<const GraphObject&>(self).builder) {
    PyErr_SetString(
        PyExc_RuntimeError,
        "Nodes can be added to a tf.Graph() only: this graph is the body of a function, "
        "or its tf.Graph object is gone.");
    throw nb::python_error();
  }
  return new GraphScope(std::move(self));
}

nb::object enter_graph(GraphScope& self) {
  if (self.frame) {
    PyErr_SetString(PyExc_RuntimeError, "as_default() gives a scope that is entered once.");
    throw nb::python_error();
  }
  self.thread = std::this_thread::get_id();
  self.frame = std::make_unique<Frame>(nb::cast<GraphObject&>(self.graph).builder.get());
  self.frame->locations = &location_source();
  return self.graph;
}

void leave_graph(GraphScope& self, nb::args) {
  if (self.frame && self.thread != std::this_thread::get_id()) {
    PyErr_SetString(PyExc_RuntimeError,
                    "The graph was made the default on another thread: it must be left there.");
    throw nb::python_error();
  }
  self.frame.reset();
}

std::string graph_text(nb::handle self) {
  if (!nb::isinstance<FuncGraph>(self)) {
    return engine::str_cat("<graven.Graph object, id=", reinterpret_cast<uintptr_t>(self.ptr()),
                           ">");
  }
  const auto& graph = *nb::cast<const GraphObject&>(self).graph;
  return engine::str_cat("FuncGraph(name=", graph.name(),
                         ", id=", reinterpret_cast<uintptr_t>(self.ptr()), ")");
}

}  // namespace

PyObject* wrap(const Ref<Graph>& graph) {
  auto at = GraphObject::live().find(graph.get());
  if (at != GraphObject::live().end()) return nb::find(at->second).release().ptr();
  if (graph->name().empty()) {
    return nb::cast(new GraphObject(graph), nb::rv_policy::take_ownership).release().ptr();
  }
  return nb::cast(new FuncGraph(graph), nb::rv_policy::take_ownership).release().ptr();
}

PyObject* wrap_operation(const Ref<Graph>& graph, Node* node) {
  auto at = Operation::live().find(node);
  if (at != Operation::live().end()) return nb::cast(at->second).release().ptr();
  return nb::cast(new Operation(graph, node), nb::rv_policy::take_ownership).release().ptr();
}

Node* node_of(PyObject* object) {
  Operation* found = nullptr;
  return nb::try_cast(nb::handle(object), found) && found ? found->node : nullptr;
}

PyObject* wrap_attribute(const AttrValue& value) { return attribute(value).release().ptr(); }

void bind_graph(nb::module_& m) {
  nb::class_<GraphScope>(m, "GraphScope")
      .def("__enter__", enter_graph)
      .def("__exit__", leave_graph);

  nb::class_<GraphObject>(
      m, "Graph", nb::dynamic_attr(), nb::is_weak_referenceable(),
      "A graph that a program builds: in `with graph.as_default()` ops add nodes to it.\n\n"
      "It takes constants and what is computed of them; nothing runs it. Functions are what "
      "runs.\n\n"
      "Source: tf.Graph.")
      .def("__init__",
           [](GraphObject* self) {
             new (self) GraphObject(engine::make_ref<Graph>(""));
             self->builder = std::make_unique<OpenGraphBuilder>(self->graph);
           })
      .def("as_default", scope_of, nb::rv_policy::take_ownership,
           "Returns a scope, in which ops add nodes to this graph; it is entered once.\n\n"
           "Raises:\n  RuntimeError: The graph is that of a function that has been traced.")
      .def_prop_ro(
          "building_function", [](nb::handle self) { return nb::isinstance<FuncGraph>(self); },
          "Whether it is the body of a function.")
      .def_prop_ro(
          "version", [](const GraphObject& self) { return self.graph->id_bound(); },
          "A number that grows with each node.")
      .def("as_graph_element", graph_element, nb::arg("obj"), nb::arg("allow_tensor") = true,
           nb::arg("allow_operation") = true,
           "Returns the tensor or Operation of this graph that an object is, or names.\n\n"
           "Args:\n  obj: A tensor, an Operation, \"<op>:<output>\" or \"<op>\".\n"
           "  allow_tensor: Whether it may be a tensor.\n"
           "  allow_operation: Whether it may be an Operation.\n\n"
           "Raises:\n  KeyError: There is none of this name.\n"
           "  TypeError: It is of another type.\n"
           "  ValueError: It is of another graph, or a name of what is not allowed.")
      .def(
          "get_operations",
          [](const GraphObject& self) {
            nb::list list;
            for (Node* node : self.graph->nodes()) list.append(operation(self.graph, node));
            return list;
          },
          "Returns the Operations in the order in which they were made.")
      .def(
          "get_operation_by_name",
          [](const GraphObject& self, nb::object name) {
            check_name(name, "Operation");
            return graph_element(self, name, /*allow_tensor=*/false, /*allow_operation=*/true);
          },
          nb::arg("name"),
          "Returns an Operation.\n\nArgs:\n  name: Its name.\n\n"
          "Raises:\n  KeyError: There is none of this name.\n  TypeError: It is no string.\n"
          "  ValueError: It is the name of a tensor.")
      .def(
          "get_tensor_by_name",
          [](const GraphObject& self, nb::object name) {
            check_name(name, "Tensor");
            return graph_element(self, name, /*allow_tensor=*/true, /*allow_operation=*/false);
          },
          nb::arg("name"),
          "Returns a tensor.\n\nArgs:\n  name: \"<op>:<output>\".\n\n"
          "Raises:\n  KeyError: There is none of this name.\n  TypeError: It is no string.\n"
          "  ValueError: It is no name of a tensor.")
      .def(
          "as_graph_def",
          [](const GraphObject& self, nb::handle from_version, bool add_shapes) {
            if (!from_version.is_none()) {
              PyErr_SetString(
                  PyExc_NotImplementedError,
                  "tf.Graph.as_graph_def: Graven does not support from_version; it gives "
                  "all nodes. See docs/errors/not-in-graven.md");
              throw nb::python_error();
            }
            return graph_def_record(engine::graph_def_of(*self.graph, add_shapes));
          },
          nb::arg("from_version") = nb::none(), nb::arg("add_shapes") = false,
          "Returns the nodes, and the functions that they call, as a record like TensorFlow's "
          "GraphDef.\n\n"
          "Args:\n"
          "  from_version: Refused unless None: all nodes are given.\n"
          "  add_shapes: Give each node the shapes of its outputs as \"_output_shapes\".\n\n"
          "Returns:\n  Plain Python with the message's fields, whose str() is its text form. "
          "tf.graph_util.import_graph_def takes it.")
      .def("__str__", graph_text)
      .def("__repr__", graph_text);

  nb::class_<FuncGraph, GraphObject>(m, "FuncGraph", "A graph that is the body of a function.")
      .def_prop_ro(
          "name", [](const GraphObject& self) { return self.graph->name(); },
          "The name of the function.")
      .def(
          "_function_def",
          [](const GraphObject& self) {
            const auto& graph = *self.graph;
            return function_def_record(engine::function_def_of(graph.name(), graph).function);
          },
          "The graph as a function of its inputs, like TensorFlow's FunctionDef.")
      .def_prop_ro("outer_graph", outer_graph, "The graph around it, or None.")
      .def_prop_ro(
          "inputs",
          [](const GraphObject& self) {
            nb::list list;
            for (Node* node : self.graph->inputs()) {
              list.append(tensor(self.graph, {node, 0}));
            }
            return list;
          },
          "The placeholders: of the arguments, then of the captures.")
      .def_prop_ro(
          "outputs",
          [](const GraphObject& self) {
            nb::list list;
            for (OutputRef output : self.graph->outputs()) {
              list.append(tensor(self.graph, output));
            }
            return list;
          },
          "The tensors that it gives, flat.")
      .def_prop_ro(
          "control_outputs",
          [](const GraphObject& self) {
            nb::list list;
            for (Node* node : self.graph->control_outputs()) {
              list.append(operation(self.graph, node));
            }
            return list;
          },
          "The Operations that run at each call, though no output needs them.")
      .def_prop_ro("captures", captures,
                   "Pairs of a tensor from outside and the placeholder that stands for it.")
      .def_prop_ro(
          "external_captures", [](nb::handle self) { return half_of_captures(self, 0); },
          "The tensors from outside that are fed beside the arguments.")
      .def_prop_ro(
          "internal_captures", [](nb::handle self) { return half_of_captures(self, 1); },
          "The placeholders that stand for them.")
      .def_prop_ro(
          "output_types",
          [](const GraphObject& self) {
            return of_outputs(self,
                              [](const engine::OutputType& type) { return wrap(type.dtype); });
          },
          "The dtypes of the outputs.")
      .def_prop_ro(
          "output_shapes",
          [](const GraphObject& self) {
            return of_outputs(self,
                              [](const engine::OutputType& type) { return wrap(type.shape); });
          },
          "The shapes of the outputs.")
      .def_prop_ro(
          "structured_outputs",
          [](nb::handle self) {
            return concrete_function_of(self, "structured_outputs").attr("structured_outputs");
          },
          "The result as it was returned, with symbolic tensors as leaves.")
      .def_prop_ro(
          "structured_input_signature",
          [](nb::handle self) {
            constexpr const char* kName = "structured_input_signature";
            return concrete_function_of(self, kName).attr(kName);
          },
          "The arguments as `(args, kwargs)`, with specs in the place of tensors.")
      .def_prop_ro(
          "variables",
          [](nb::handle self) { return concrete_function_of(self, "variables").attr("variables"); },
          "The variables that it reads or writes, arguments left out, in order of first use.")
      .def_prop_ro(
          "trainable_variables",
          [](nb::handle self) {
            constexpr const char* kName = "trainable_variables";
            return concrete_function_of(self, kName).attr(kName);
          },
          "Those of `variables` that are trainable.");

  nb::class_<Operation>(m, "Operation", nb::is_weak_referenceable(),
                        "A node of a graph.\n\nSource: tf.Operation.")
      .def_prop_ro(
          "name", [](const Operation& self) { return self.node->name(); },
          "The name, unique in its graph.")
      .def_prop_ro(
          "type", [](const Operation& self) { return self.node->op().name(); },
          "The name of the op's OpDef.")
      .def_prop_ro(
          "device", [](const Operation& self) { return self.node->device(); },
          "The device that was asked for, or the empty string.")
      .def_prop_ro(
          "graph", [](const Operation& self) { return steal(wrap(self.graph)); },
          "The graph that it belongs to.")
      .def_prop_ro(
          "inputs",
          [](const Operation& self) {
            nb::list list;
            for (OutputRef input : self.node->inputs()) {
              list.append(tensor(self.graph, input));
            }
            return nb::tuple(list);
          },
          "The tensors that it reads.")
      .def_prop_ro(
          "outputs",
          [](const Operation& self) {
            nb::list list;
            for (int i = 0; i < self.node->num_outputs(); ++i) {
              list.append(tensor(self.graph, {self.node, i}));
            }
            return list;
          },
          "The tensors that it makes.")
      .def(
          "values",
          [](nb::handle self) { return nb::tuple(nb::cast<nb::list>(self.attr("outputs"))); },
          "Returns the outputs as a tuple.")
      .def(
          "colocation_groups",
          [](const Operation& self) {
            nb::list groups;
            groups.append(bytes("loc:@" + self.node->name()));
            return groups;
          },
          "Returns the groups of Operations that share a device: it is alone in one.")
      .def_prop_ro("traceback", traceback_of,
                   "The lines of the program that made it, as a traceback.StackSummary, outermost "
                   "first.")
      .def_prop_ro(
          "control_inputs",
          [](const Operation& self) {
            nb::list list;
            for (Node* node : self.node->control_inputs()) {
              list.append(operation(self.graph, node));
            }
            return list;
          },
          "The Operations that run before it, though it reads nothing of theirs.")
      .def_prop_ro(
          "node_def",
          [](const Operation& self) { return node_def_record(engine::node_def_of(*self.node)); },
          "The node as a record like TensorFlow's NodeDef: name, op, input, attr.")
      .def(
          "get_attr",
          [](const Operation& self, const std::string& name) {
            AttrValue value = self.node->attribute(name);
            if (std::holds_alternative<std::monostate>(value)) {
              PyErr_Format(PyExc_ValueError, "Operation '%s' has no attr named '%s'.",
                           self.node->name().c_str(), name.c_str());
              throw nb::python_error();
            }
            return attribute(value);
          },
          nb::arg("name"),
          "Returns the value of an attribute.\n\nArgs:\n  name: Its name in the OpDef.\n\n"
          "Raises:\n  ValueError: There is none of this name.")
      .def("__repr__",
           [](const Operation& self) {
             return engine::str_cat("<tf.Operation '", self.node->name(),
                                    "' type=", self.node->op().name(), ">");
           })
      .def("__str__", [](const Operation& self) {
        return engine::str_cat("name: \"", self.node->name(), "\"\nop: \"", self.node->op().name(),
                               "\"\n");
      });
  m.def(
      "static_value",
      [](nb::handle tensor) {
        engine::Tensor value = engine::static_value(tensor_of(tensor.ptr()));
        return value ? nb::steal(wrap(std::move(value))) : nb::none();
      },
      "static_value(tensor)\n--\n\nThe value if it follows from constants and known shapes, or "
      "None.",
      nb::arg("tensor"));
}

}  // namespace graven::python
