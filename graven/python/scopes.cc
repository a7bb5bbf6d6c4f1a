#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <memory>
#include <optional>
#include <thread>
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
  std::thread::id thread;  // the thread that has the frame on its stack
  ~InitScopeContext() {
    if (frame && thread != std::this_thread::get_id()) (void)frame.release();  // in use over there
  }
};

struct DeviceContext {
  std::string device, saved;
};

struct ControlDependenciesContext {
  bool is_reset = false;  // forget those of the scopes around
  std::vector<Node*> nodes;
  uint64_t frame_of_nodes = 0;
  uint64_t entered_frame = 0;  // 0: none that builds a graph
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
           [](InitScopeContext& self) {
             self.thread = std::this_thread::get_id();
             self.frame = std::make_unique<Frame>(nullptr);
           })
      .def("__exit__", [](InitScopeContext& self, nb::args) {
        if (self.frame && self.thread != std::this_thread::get_id()) {
          PyErr_SetString(PyExc_RuntimeError,
                          "init_scope was entered on another thread: it must be left there");
          throw nb::python_error();
        }
        self.frame.reset();
      });

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
            self->frame_of_nodes = Frame::current().id();
            for (nb::handle input : inputs) {
              Node* node = node_of(input.ptr());
              if (!node && is_tensor(input.ptr()) && tensor_of(input.ptr()).is_symbolic()) {
                node = &engine::symbolic(tensor_of(input.ptr())).node();
              }
              // A tensor that is no node of this graph was computed already.
              if (node && &node->graph() == graph) self->nodes.push_back(node);
            }
          },
          nb::arg("control_inputs").none())
      .def("__enter__",
           [](ControlDependenciesContext& self) {
             GraphBuilder* builder = Frame::current().graph_builder();
             if (!builder) return;
             self.entered_frame = Frame::current().id();
             self.saved = builder->control_inputs;
             if (self.is_reset) builder->control_inputs.clear();
             // In another graph these have happened already.
             if (self.frame_of_nodes != self.entered_frame) return;
             for (Node* node : self.nodes) builder->control_inputs.push_back(node);
           })
      .def("__exit__", [](ControlDependenciesContext& self, nb::args) {
        Frame* frame = self.entered_frame ? Frame::find(self.entered_frame) : nullptr;
        if (frame) frame->graph_builder()->control_inputs = self.saved;
      });

  m.def(
      "executing_eagerly", [] { return !Frame::current().is_graph(); },
      "Tells whether ops compute at once; while a function is traced they add nodes.\n\n"
      "Source: tf.executing_eagerly.");
  m.def(
      "inside_function",
      [] {
        for (Frame* frame = &Frame::current(); frame; frame = frame->below()) {
          if (frame->is_graph() && !frame->graph()->name().empty()) return true;
        }
        return false;  // a tf.Graph(), which has no name, is no function's
      },
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
      "The graph that is being built, or None.");

  using engine::ThreadPool;
  m.def("set_num_threads", [](int n) { ThreadPool::shared().set_num_threads(n); });
  m.def(
      "num_threads", [] { return ThreadPool::shared().wanted_threads(); },
      "The number that was set; 0 means one for each core.");
}

}  // namespace graven::python
