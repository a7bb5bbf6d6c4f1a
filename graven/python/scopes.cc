#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <memory>
#include <optional>
#include <vector>

#include "graven/base/thread_pool.h"
#include "graven/ir/frame.h"
#include "graven/ir/graph_builder.h"
#include "graven/python/bind.h"
#include "graven/python/graph_object.h"
#include "graven/python/object.h"
#include "graven/python/tensor_object.h"

// Scopes of Python's `with` over the engine's stack of frames. Each object is entered once.

namespace nb = nanobind;

namespace graven::python {
namespace {

using engine::Frame;
using engine::GraphBuilder;
using engine::Node;

struct NameScopeContext {
  std::string name;
  std::unique_ptr<engine::NameScope> scope;
};

// tf.init_scope: an eager frame over whatever is being built.
struct InitScopeContext {
  std::unique_ptr<Frame> frame;
};

struct DeviceContext {
  std::string device, saved;
};

struct ControlDependenciesContext {
  bool is_reset = false;  // forget those of the scopes around
  std::vector<Node*> nodes;
  GraphBuilder* builder = nullptr;
  std::vector<Node*> saved;
};

}  // namespace

void bind_scopes(nb::module_& m) {
  nb::class_<NameScopeContext>(m, "NameScope")
      .def(
          "__init__",
          [](NameScopeContext* self, std::string name) {
            new (self) NameScopeContext{std::move(name), nullptr};
          },
          nb::arg("name"))
      .def("__enter__",
           [](NameScopeContext& self) {
             self.scope = std::make_unique<engine::NameScope>(self.name);
             return Frame::current().name_scope;
           })
      .def("__exit__", [](NameScopeContext& self, nb::args) { self.scope.reset(); });

  nb::class_<InitScopeContext>(m, "InitScope")
      .def("__init__", [](InitScopeContext* self) { new (self) InitScopeContext(); })
      .def("__enter__",
           [](InitScopeContext& self) { self.frame = std::make_unique<Frame>(nullptr); })
      .def("__exit__", [](InitScopeContext& self, nb::args) { self.frame.reset(); });

  nb::class_<DeviceContext>(m, "DeviceScope")
      .def(
          "__init__",
          [](DeviceContext* self, std::string device) {
            new (self) DeviceContext{std::move(device), {}};
          },
          nb::arg("device"))
      .def("__enter__",
           [](DeviceContext& self) {
             self.saved = Frame::current().device;
             Frame::current().device = self.device;
           })
      .def("__exit__", [](DeviceContext& self, nb::args) { Frame::current().device = self.saved; });

  nb::class_<ControlDependenciesContext>(m, "ControlDependencies")
      .def(
          "__init__",
          [](ControlDependenciesContext* self, nb::object inputs) {
            new (self) ControlDependenciesContext();
            self->is_reset = inputs.is_none();
            if (self->is_reset || !Frame::current().is_graph()) return;
            engine::Graph* graph = Frame::current().graph();
            for (nb::handle input : inputs) {
              Node* node = node_of(input.ptr());
              if (!node && is_tensor(input.ptr()) && tensor_of(input.ptr()).is_symbolic()) {
                node = &engine::symbolic(tensor_of(input.ptr())).node();
              }
              // What is no node of this graph has happened already.
              if (node && &node->graph() == graph) self->nodes.push_back(node);
            }
          },
          nb::arg("control_inputs").none())
      .def("__enter__",
           [](ControlDependenciesContext& self) {
             self.builder = Frame::current().graph_builder();
             if (!self.builder) return;
             self.saved = self.builder->control_inputs;
             if (self.is_reset) self.builder->control_inputs.clear();
             for (Node* node : self.nodes) self.builder->control_inputs.push_back(node);
           })
      .def("__exit__", [](ControlDependenciesContext& self, nb::args) {
        if (self.builder) self.builder->control_inputs = self.saved;
      });

  m.def(
      "executing_eagerly", [] { return !Frame::current().is_graph(); },
      "Tells whether ops compute at once; while a function is traced they add nodes.\n\n"
      "Source: tf.executing_eagerly.");
  m.def(
      "inside_function", [] { return Frame::inside_function(); },
      "Tells whether a function is being traced, within init_scope too.\n\n"
      "Source: tf.inside_function.");
  m.def("current_name_scope", [] { return Frame::current().name_scope; });
  m.def("current_device", [] { return Frame::current().device; });
  m.def(
      "current_graph",
      []() -> nb::object {
        Frame& frame = Frame::current();
        if (!frame.is_graph()) return nb::none();
        PyObject* graph = wrap(frame.graph_builder()->graph_ref());
        if (!graph) throw nb::python_error();
        return nb::steal(graph);
      },
      "The FuncGraph that is being built, or None.");

  using engine::ThreadPool;
  m.def("set_num_threads", [](int n) { ThreadPool::shared().set_num_threads(n); });
  m.def(
      "num_threads", [] { return ThreadPool::shared().wanted_threads(); },
      "The number that was set; 0 means one for each core.");
}

}  // namespace graven::python
